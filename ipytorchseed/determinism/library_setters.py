"""Restores settings of libraries from this process, or sets those of a record.

A ``keep_...`` function returns a function that restores the present settings exactly, including
objects. A ``write_...`` function sets JSON values from a function of ``library_readers``.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

from ipytorchseed.determinism.flag import PLAIN
from ipytorchseed.determinism.library_readers import (
    FORMATS,
    NOT_DRAWN,
    OF_DIALECTS,
    PICTURES,
    blas_libraries,
    formatter_traits,
    keras_names,
    loggers,
    pandas_options,
    read_inline,
    read_keras,
    read_rc,
)

Undo = Callable[[], object]


def keep_contents(held: list[Any] | dict[Any, Any]) -> Undo:
    """Keep the items of a list or dictionary."""
    kept: Any = held.copy()

    def undo() -> None:
        if isinstance(held, list):
            held[:] = kept
        else:
            held.clear()
            held.update(kept)

    return undo


def keep_attributes(owner: Any, *names: str) -> Undo:
    """Keep attributes of an object, and the items of lists and dictionaries."""
    held = {name: getattr(owner, name) for name in names}
    contents = [keep_contents(each) for each in held.values() if isinstance(each, list | dict)]

    def undo() -> None:
        for name, each in held.items():
            if getattr(owner, name, None) is not each:
                setattr(owner, name, each)
        for restore in contents:
            restore()

    return undo


def write_each(write: Callable[[str, Any], object], values: Mapping[str, Any]) -> None:
    """Set values by name."""
    for name, value in values.items():
        write(name, value)


def write_variables(prefixes: tuple[str, ...], _: object, values: Mapping[str, str]) -> None:
    """Set the environment variables of a record, and unset others with these prefixes."""
    for name in [each for each in os.environ if each.startswith(prefixes) and each not in values]:
        del os.environ[name]
    os.environ.update(values)


def _value_of(text: Any) -> Any:
    """Return the value of a recorded text, or the text if it is not a literal."""
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(text) if type(text) is str else text
    return text


# --------------------------------------------------------------------------------------------------
# The standard library


def keep_decimal(decimal: Any) -> Undo:
    """Keep the context of this thread: the object and its content."""
    context, kept = decimal.getcontext(), decimal.getcontext().copy()
    names = "prec", "rounding", "Emin", "Emax", "capitals", "clamp"

    def undo() -> None:
        decimal.setcontext(context)
        write_each(partial(setattr, context), {name: getattr(kept, name) for name in names})
        context.flags.update(kept.flags)
        context.traps.update(kept.traps)

    return undo


def write_dialects(csv: Any, values: Mapping[str, str]) -> None:
    """Register the dialects of a record, and no others."""
    for name in {*csv.list_dialects()} - values.keys():
        csv.unregister_dialect(name)
    for name, form in values.items():
        csv.register_dialect(name, **dict(zip(OF_DIALECTS, _value_of(form), strict=True)))


def keep_logs(logging: Any) -> Undo:
    """Keep the level, handlers and switches of each logger."""
    names = "level", "handlers", "propagate", "disabled"
    known, disable = loggers(logging), logging.root.manager.disable
    undos = [keep_attributes(each, *names) for each in known.values()]

    def undo() -> None:
        for name, each in loggers(logging).items():
            if name not in known:
                new: Any = 0, [], True, False
                write_each(partial(setattr, each), dict(zip(names, new, strict=True)))
        for restore in undos:
            restore()
        logging.disable(disable)  # also clears what loggers cache of the levels

    return undo


def write_logs(logging: Any, values: Mapping[str, Any]) -> None:
    """Set the levels, and remove other handlers; none can be created from its name."""
    logging.disable(values["disable"])
    for name, logger in loggers(logging).items():
        told = str(values.get(name, "")).split(", ")
        level = logging.getLevelName(told[0])
        logger.setLevel(level if type(level) is int else logging.NOTSET)
        kept = []
        for handler in logger.handlers:
            if type(handler).__name__ in told:
                told.remove(type(handler).__name__)
                kept.append(handler)
        logger.handlers[:] = kept


def write_time_zone(_: object, value: Mapping[str, str]) -> None:
    """Set the time zone through ``TZ``."""
    if "TZ" in value:
        os.environ["TZ"] = value["TZ"]
    else:
        os.environ.pop("TZ", None)
    time.tzset()


def write_warnings(_: object, values: Mapping[str, str]) -> None:
    """Raise these classes of warnings as errors, and no others."""
    filters: Any = warnings.filters
    there = {getattr(each[2], "__name__", ""): each for each in filters if each[0] == "error"}
    gone = {id(there[name][2]) for name in there.keys() - values.keys()}
    filters[:] = [each for each in filters if each[0] != "error" or id(each[2]) not in gone]
    for name in values.keys() - there.keys():
        warnings.simplefilter("error", getattr(builtins, name))


# --------------------------------------------------------------------------------------------------
# torch


def keep_hooks(module: str) -> Undo:
    """Keep the hooks that a module of torch has for all modules or optimizers."""
    owner = sys.modules[module]
    return keep_attributes(owner, *(name for name in vars(owner) if name.startswith("_global_")))


def remove_hooks(module: str, *_: object) -> None:
    """Remove these hooks; none can be created from its name."""
    for name, held in vars(sys.modules[module]).items():
        if name.startswith("_global_") and hasattr(held, "clear"):
            held.clear()


# --------------------------------------------------------------------------------------------------
# Libraries for numbers


def keep_pandas(pandas: Any) -> Undo:
    """Keep all options."""
    return partial(write_pandas, pandas, pandas_options(pandas))


def write_pandas(pandas: Any, values: Mapping[str, Any], group: str = "") -> None:
    """Set those options that differ from recorded or kept values."""
    now = pandas_options(pandas)
    for name, value in values.items():
        held = now.get(group + name)
        if held is not value and (held if type(held) in PLAIN else str(held)) != value:
            with suppress(ValueError):  # a function, recorded as text
                pandas.set_option(group + name, value)


def write_blas(threadpoolctl: Any, count: int) -> None:
    """Set the threads of every BLAS library."""
    for each in blas_libraries(threadpoolctl):
        each.set_num_threads(count)


def write_keras(keras: Any, values: Mapping[str, Any]) -> None:
    """Set the dtypes and constants of Keras; the backend cannot be changed."""
    now = read_keras(keras)
    for name, value in values.items():
        if name != "backend" and now.get(name) != value:
            getattr(keras.config, f"set_{name}")(value)


def write_keras_names(_: object, values: Mapping[str, int]) -> None:
    """Set the counters by which Keras names layers."""
    held = keras_names()
    held.clear()
    held.update({name.removeprefix("names of "): count for name, count in values.items()})


def keep_pyro(pyro: Any) -> Undo:
    """Keep the parameters: the names and the numbers."""
    store = pyro.get_param_store()
    undos = [keep_contents(each) for each in vars(store).values() if type(each) is dict]
    numbers = [(each, each.detach().clone()) for each in store._params.values()]  # noqa: SLF001 -- as read

    def undo() -> None:
        for restore in undos:
            restore()
        for tensor, before in numbers:
            if not tensor.detach().equal(before):
                tensor.detach().copy_(before)

    return undo


# --------------------------------------------------------------------------------------------------
# Pictures and results


def keep_rc(matplotlib: Any) -> Undo:
    """Keep matplotlib's settings, except those for windows and keys.

    It skips their validation.
    """
    kept = {
        name: [*each] if type(each) is list else each
        for name, each in dict.items(matplotlib.rcParams)
        if not name.startswith(NOT_DRAWN)
    }
    return lambda: dict.update(matplotlib.rcParams, kept)


def write_rc(matplotlib: Any, values: Mapping[str, Any]) -> None:
    """Set the settings of a record, and all others to their defaults."""
    now = read_rc(matplotlib)
    for name in now.keys() - values.keys():
        usual = dict.get(matplotlib.rcParamsDefault, name)
        dict.update(matplotlib.rcParams, {name: usual})
    for name, value in values.items():
        if now.get(name) != value and not name.startswith(NOT_DRAWN):
            matplotlib.rcParams[name] = _value_of(value)


def keep_figures(pyplot: Any) -> Undo:
    """Keep the figures, their axes and content, and which figure is current."""
    held = pyplot._pylab_helpers.Gcf  # noqa: SLF001 -- asking pyplot may make one
    kept = [*held.figs.items()]
    figures = [vars(manager.canvas.figure) for _, manager in kept]
    axes = [each["_localaxes"] for each in figures]
    stacks = [vars(each["_axstack"])["_axes"] for each in figures]  # the current axes are last
    drawn = [vars(each)["_children"] for each in chain(*axes)]
    undos = [keep_contents(each) for each in (*axes, *stacks, *drawn)]

    def undo() -> None:
        if [*held.figs.items()] != kept:
            for number in {*held.figs} - dict(kept).keys():
                held.destroy(number)
            held.figs.clear()
            held.figs.update(kept)
        for restore in undos:
            restore()

    return undo


def write_inline(inline: Any, values: Mapping[str, Any]) -> None:
    """Set the settings of the inline backend."""
    kind = inline.InlineBackend
    if kind._instance is None:  # noqa: SLF001 -- asking makes it
        return
    now, made = read_inline(inline), kind.instance()
    for name in PICTURES:
        if now.get(name) != values.get(name):
            usual = getattr(kind, name).default()
            value = _value_of(values[name]) if name in values else usual
            setattr(made, name, {*value} if type(usual) is set else value)


def keep_formatter(_: object) -> Undo | None:
    """Keep the format of results exactly; None before the formatter exists."""
    held = formatter_traits()
    return None if held is None else keep_contents(held)


def write_formatter(_: object, values: Mapping[str, Any]) -> None:
    """Set the format of results."""
    shell = sys.modules["IPython.core.interactiveshell"].InteractiveShell._instance  # noqa: SLF001
    formatter = shell.display_formatter.formatters["text/plain"]
    for name in FORMATS:
        if values.get(name) is not None:
            setattr(formatter, name, values[name])
