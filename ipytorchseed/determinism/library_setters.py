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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from types import ModuleType
from typing import Any

from ipytorchseed.determinism.flag import PLAIN
from ipytorchseed.determinism.library_readers import (
    FORMATS,
    NOT_DRAWN,
    OF_DIALECTS,
    OF_POLARS,
    PICTURES,
    blas_libraries,
    read_inline,
    read_rc,
)

Undo = Callable[[], object]


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

    def undo() -> None:
        decimal.setcontext(context)
        for name in ("prec", "rounding", "Emin", "Emax", "capitals", "clamp"):
            setattr(context, name, getattr(kept, name))
        context.flags.update(kept.flags)
        context.traps.update(kept.traps)

    return undo


def write_decimal(decimal: Any, values: Mapping[str, Any]) -> None:
    """Set precision, rounding and bounds."""
    for name, value in values.items():
        setattr(decimal.getcontext(), name, value)


def keep_dialects(csv: Any) -> Undo:
    """Keep the registered dialects."""
    kept = {name: csv.get_dialect(name) for name in csv.list_dialects()}
    return lambda: _register(csv, {name: {"dialect": each} for name, each in kept.items()})


def write_dialects(csv: Any, values: Mapping[str, str]) -> None:
    """Register the dialects of a record, and no others."""
    forms = {n: dict(zip(OF_DIALECTS, _value_of(each), strict=True)) for n, each in values.items()}
    _register(csv, forms)


def _register(csv: Any, dialects: Mapping[str, Mapping[str, Any]]) -> None:
    for name in {*csv.list_dialects()} - dialects.keys():
        csv.unregister_dialect(name)
    for name, form in dialects.items():
        csv.register_dialect(name, **form)


def keep_arguments(_: object) -> Undo:
    """Keep the arguments of the process: the list and its items."""
    given = sys.argv
    kept = [*given]

    def undo() -> None:
        sys.argv = given
        given[:] = kept

    return undo


def keep_logs(logging: Any) -> Undo:
    """Keep the level, handlers and switches of each logger."""

    def loggers() -> Iterator[Any]:
        known = [logging.root, *dict.copy(logging.root.manager.loggerDict).values()]
        return (each for each in known if isinstance(each, logging.Logger))

    kept = {
        id(each): (each, each.level, [*each.handlers], each.propagate, each.disabled)
        for each in loggers()
    }
    disable = logging.root.manager.disable

    def undo() -> None:
        logging.disable(disable)
        for each in loggers():
            new: Any = each, logging.NOTSET, [], True, False
            _, level, handlers, each.propagate, each.disabled = kept.get(id(each), new)
            each.handlers[:] = handlers
            if each.level != level:
                each.setLevel(level)

    return undo


def write_logs(logging: Any, values: Mapping[str, Any]) -> None:
    """Set the levels, and remove other handlers; none can be created from its name."""
    logging.disable(values["disable"])
    known = {"root": logging.root, **dict.copy(logging.root.manager.loggerDict)}
    for name, logger in known.items():
        if isinstance(logger, logging.Logger):
            told = str(values.get(name, "")).split(", ")
            level = logging.getLevelName(told[0])
            logger.setLevel(level if type(level) is int else logging.NOTSET)
            logger.handlers[:] = [h for h in logger.handlers if type(h).__name__ in told]


def write_time_zone(_: object, value: Mapping[str, str]) -> None:
    """Set the time zone through ``TZ``."""
    if "TZ" in value:
        os.environ["TZ"] = value["TZ"]
    else:
        os.environ.pop("TZ", None)
    time.tzset()


def write_umask(_: object, value: str) -> None:
    """Set the umask from its octal digits."""
    os.umask(int(value, 8))


def keep_warnings(_: object) -> Undo:
    """Keep the list of filters, its entries, and the function that shows warnings."""
    filters: Any = warnings.filters
    kept, show = [*filters], warnings.showwarning

    def undo() -> None:
        warnings.filters = filters
        filters[:] = kept
        warnings.showwarning = show

    return undo


def write_warnings(_: object, values: Mapping[str, str]) -> None:
    """Raise these classes of warnings as errors, and no others."""
    filters: Any = warnings.filters
    there = {getattr(each[2], "__name__", ""): each for each in filters if each[0] == "error"}
    for name in there.keys() - values.keys():
        filters[:] = [
            each for each in filters if each[0] != "error" or each[2] is not there[name][2]
        ]
    for name in values.keys() - there.keys():
        warnings.simplefilter("error", getattr(builtins, name))


# --------------------------------------------------------------------------------------------------
# torch


def _keep_hooks(module: ModuleType) -> Undo:
    held = {name: each for name, each in vars(module).items() if name.startswith("_global_")}
    kept = {name: each.copy() if hasattr(each, "copy") else each for name, each in held.items()}

    def undo() -> None:
        for name, each in held.items():
            if not hasattr(each, "copy"):
                setattr(module, name, each)
            elif each != kept[name]:
                each.clear()
                each.update(kept[name])

    return undo


def keep_module_hooks(torch: Any) -> Undo:
    """Keep the hooks that run in every module."""
    return _keep_hooks(torch.nn.modules.module)


def keep_optimizer_hooks(_: object) -> Undo:
    """Keep the hooks that run around the steps of every optimizer."""
    return _keep_hooks(sys.modules["torch.optim.optimizer"])


def write_module_hooks(torch: Any, _: object) -> None:
    """Remove the hooks that run in every module; none can be created from its name."""
    _remove_hooks(torch.nn.modules.module)


def write_optimizer_hooks(_: object, __: object) -> None:
    """Remove the hooks that run around the steps of every optimizer."""
    _remove_hooks(sys.modules["torch.optim.optimizer"])


def _remove_hooks(module: ModuleType) -> None:
    for name, held in vars(module).items():
        if name.startswith("_global_") and hasattr(held, "clear"):
            held.clear()


def keep_anomaly(torch: Any) -> Undo:
    """Keep whether autograd detects anomalies, and NaN."""
    kept = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    return lambda: torch.autograd.set_detect_anomaly(*kept)


def keep_torch_printing(torch: Any) -> Undo:
    """Keep the print options of tensors."""
    options = vars(torch._tensor_str.PRINT_OPTS)  # noqa: SLF001 -- there is no public getter
    kept = {**options}
    return lambda: options.update(kept)


# --------------------------------------------------------------------------------------------------
# numpy, scikit-learn, pandas, Polars


def keep_numpy_printing(numpy: Any) -> Undo:
    """Keep the print options of arrays."""
    kept = numpy.get_printoptions()
    return lambda: numpy.set_printoptions(**kept)


def keep_sklearn(package: Any) -> Undo:
    """Keep the configuration."""
    kept = package.get_config()
    return lambda: package.set_config(**kept)


def _options(held: Mapping[str, Any], group: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in held.items():
        if type(value) is dict:
            yield from _options(value, f"{group}{name}.")
        else:
            yield f"{group}{name}", value


def keep_pandas(pandas: Any) -> Undo:
    """Keep all options."""
    held = pandas._config.config._global_config  # noqa: SLF001 -- access by name may warn
    kept = dict(_options(held))

    def undo() -> None:
        now = dict(_options(held))
        for name, value in kept.items():
            if now.get(name) is not value:
                pandas.set_option(name, value)

    return undo


def write_pandas(pandas: Any, values: Mapping[str, Any], group: str = "") -> None:
    """Set options from a record."""
    now = dict(_options(pandas._config.config._global_config))  # noqa: SLF001 -- as above
    for name, value in values.items():
        held = now.get(group + name)
        if (held if type(held) in PLAIN else str(held)) != value:
            with suppress(ValueError):  # a function, recorded as text
                pandas.set_option(group + name, value)


def write_polars(_: object, values: Mapping[str, str]) -> None:
    """Set the options for showing tables, which are in the environment."""
    _write_variables([each for each in os.environ if each.startswith("POLARS_FMT_")], values)


def write_polars_engine(_: object, values: Mapping[str, str]) -> None:
    """Set the variables by which Polars splits work."""
    _write_variables(OF_POLARS, values)


def _write_variables(names: Iterable[str], values: Mapping[str, str]) -> None:
    for name in names:
        if name not in values:
            os.environ.pop(name, None)
    os.environ.update(values)


def write_jax(jax: Any, values: Mapping[str, Any]) -> None:
    """Set settings of JAX."""
    for name, value in values.items():
        jax.config.update(name, value)


def write_keras(keras: Any, values: Mapping[str, Any]) -> None:
    """Set the dtypes and constants of Keras; the backend cannot be changed."""
    for name in values.keys() - {"backend"}:
        getattr(keras.config, f"set_{name}")(values[name])


def write_attributes(config: Any, values: Mapping[str, Any]) -> None:
    """Set settings that are attributes of an object."""
    for name, value in values.items():
        setattr(config, name, value)


def write_blas(threadpoolctl: Any, count: int) -> None:
    """Set the threads of every BLAS library."""
    for each in blas_libraries(threadpoolctl):
        each.set_num_threads(count)


# --------------------------------------------------------------------------------------------------
# Process-wide state of libraries


def _keep_items(held: dict[str, Any]) -> Undo:
    kept = {**held}

    def undo() -> None:
        held.clear()
        held.update(kept)

    return undo


def keep_accelerator(accelerate: Any) -> Undo:
    """Keep the shared state of accelerators."""
    return _keep_items(accelerate.state.AcceleratorState._shared_state)  # noqa: SLF001 -- as read


def keep_mlflow(fluent: Any) -> Undo:
    """Keep the list of active runs; logged values stay."""
    stack = fluent._active_run_stack.get()  # noqa: SLF001 -- as read
    kept = [*stack]
    return lambda: stack.__setitem__(slice(None), kept)


def keep_keras_state(module: Any) -> Undo:
    """Keep Keras's state."""
    return _keep_items(module.GLOBAL_STATE_TRACKER.__dict__)


def keep_pyro(pyro: Any) -> Undo:
    """Keep the parameters: the names and the numbers."""
    store = pyro.get_param_store()
    undos = [_keep_items(each) for each in vars(store).values() if type(each) is dict]
    numbers = [(each, each.detach().clone()) for each in store._params.values()]  # noqa: SLF001 -- as read

    def undo() -> None:
        for each in undos:
            each()
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
    drawn = [(items, [*items]) for items in axes]
    drawn += [(vars(each)["_children"], [*vars(each)["_children"]]) for each in chain(*axes)]
    stacks = [vars(each["_axstack"])["_axes"] for each in figures]  # the current axes are last
    stacked = [(stack, {**stack}) for stack in stacks]

    def undo() -> None:
        if [*held.figs.items()] != kept:
            for number in {*held.figs} - dict(kept).keys():
                held.destroy(number)
            held.figs.clear()
            held.figs.update(kept)
        for items, before in drawn:
            items[:] = before
        for stack, order in stacked:
            stack.clear()
            stack.update(order)

    return undo


def write_figures(pyplot: Any, _: object) -> None:
    """Remove all figures; none can be drawn again."""
    pyplot._pylab_helpers.Gcf.figs.clear()  # noqa: SLF001 -- not closed, since they are restored later


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


def keep_formatter(read: Callable[[object], dict[str, Any]]) -> Callable[[object], Undo]:
    """Return the function that keeps the format of results, given its reader."""

    def keep(_: object) -> Undo:
        values, held = read(None), _formatter_traits()
        kept = None if held is None else {**held}

        def undo() -> None:
            now = _formatter_traits()
            if now is not None and now is held and kept is not None:
                now.clear()
                now.update(kept)
            elif now is not None:
                now.update(values)

        return undo

    return keep


def write_formatter(_: object, values: Mapping[str, Any]) -> None:
    """Set the format of results."""
    shell = sys.modules["IPython.core.interactiveshell"].InteractiveShell._instance  # noqa: SLF001
    formatter = shell.display_formatter.formatters["text/plain"]
    for name in FORMATS:
        if values.get(name) is not None:
            setattr(formatter, name, values[name])


def _formatter_traits() -> dict[str, Any] | None:
    shell = sys.modules["IPython.core.interactiveshell"].InteractiveShell._instance  # noqa: SLF001
    made = shell.display_formatter._trait_values.get("formatters")  # noqa: SLF001 -- asking makes it
    return None if made is None else made["text/plain"]._trait_values  # noqa: SLF001 -- exactly
