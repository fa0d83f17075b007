"""Settings of the standard library and of IPython: read, kept and set.

A ``read_...`` function returns JSON values, and runs none of the user's code. A ``keep_...``
function returns a function that restores the present setting exactly, including objects. A
``write_...`` function sets JSON values.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from ipytorchseed.determinism.environment import set_variable
from ipytorchseed.determinism.flag import PLAIN

Undo = Callable[[], object]


def plain_values(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return settings as JSON values, and other values as text."""
    return {str(n): each if type(each) in PLAIN else str(each) for n, each in values.items()}


def read_attributes(names: Iterable[str], config: Any) -> dict[str, Any]:
    """Return attributes of an object as JSON values; missing ones are left out."""
    return plain_values({name: getattr(config, name) for name in names if hasattr(config, name)})


def keep_contents(held: list[Any] | dict[Any, Any]) -> Undo:
    """Return a function that restores the present items of a list or dictionary."""
    kept: Any = held.copy()

    def undo() -> None:
        held.clear()
        (held.extend if isinstance(held, list) else held.update)(kept)

    return undo


def keep_attributes(owner: Any, *names: str) -> Undo:
    """Return a function that restores the present attributes of an object.

    If a value is a list or dictionary, its items are restored too.
    """
    held = {name: getattr(owner, name) for name in names}
    contents = [keep_contents(each) for each in held.values() if isinstance(each, list | dict)]

    def undo() -> None:
        for name, each in held.items():
            if getattr(owner, name, None) is not each:
                setattr(owner, name, each)
        for restore in contents:
            restore()

    return undo


def value_of(text: Any) -> Any:
    """Return the value of a recorded text, or the text if it is not a literal."""
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(text) if type(text) is str else text
    return text


# Attributes of a context of decimal. The first four are recorded.
OF_DECIMAL = "prec", "rounding", "Emin", "Emax", "capitals", "clamp", "flags", "traps"


def keep_decimal(decimal: Any) -> Undo:
    """Return a function that restores this thread's context and its content."""
    context, kept = decimal.getcontext(), decimal.getcontext().copy()

    def undo() -> None:
        decimal.setcontext(context)
        for name in OF_DECIMAL:
            setattr(context, name, getattr(kept, name))

    return undo


def loggers(logging: Any) -> dict[str, Any]:
    """Return the loggers by name."""
    known = {"root": logging.root, **dict.copy(logging.root.manager.loggerDict)}
    return {name: each for name, each in known.items() if isinstance(each, logging.Logger)}


def read_logs(logging: Any) -> dict[str, Any]:
    """Return the level and handlers of each logger that has any."""
    told: dict[str, Any] = {}
    for name, log in loggers(logging).items():
        level = [logging.getLevelName(log.level)] if log.level else []
        if parts := [*level, *(type(each).__name__ for each in log.handlers)]:
            told[name] = ", ".join(parts)
    return {**told, "disable": logging.root.manager.disable}


def keep_logs(logging: Any) -> Undo:
    """Return a function that restores level, handlers and switches of all loggers."""
    names = "level", "handlers", "propagate", "disabled"
    known, disable = loggers(logging), logging.root.manager.disable
    undos = [keep_attributes(each, *names) for each in known.values()]

    def undo() -> None:
        for name, each in loggers(logging).items():
            if name not in known:
                vars(each).update(level=0, handlers=[], propagate=True, disabled=False)
        for restore in undos:
            restore()
        logging.disable(disable)  # also clears the loggers' caches of levels

    return undo


def write_logs(logging: Any, values: Mapping[str, Any]) -> None:
    """Set the levels, and remove handlers that are not among the values.

    Handlers that were removed since are not restored, as a name is not enough to create one.
    """
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


def read_time_zone(_: object) -> dict[str, str]:
    """Return ``TZ`` if it is set, and the names of the current time zone."""
    told = {"tzname": " ".join(time.tzname)}
    return {**told, "TZ": os.environ["TZ"]} if "TZ" in os.environ else told


def write_time_zone(_: object, value: Mapping[str, str]) -> None:
    """Set the time zone through ``TZ``."""
    set_variable("TZ", value.get("TZ"))
    time.tzset()


def read_arguments(_: object) -> list[str]:
    """Return the arguments of the process, without a kernel's connection file."""
    given = [*sys.argv] if type(sys.argv) is list else []
    own = any("ipykernel" in each or "kernel-" in each for each in given if type(each) is str)
    return [] if own else [each for each in given if type(each) is str]


def read_warnings(_: object) -> dict[str, str]:
    """Return the classes of warnings that are raised as errors."""
    raised = (each for each in warnings.filters if each[0] == "error")
    return {getattr(each[2], "__name__", str(each[2])): "raised" for each in raised}


def write_warnings(_: object, values: Mapping[str, str]) -> None:
    """Raise these classes of warnings as errors, and no others."""
    filters: Any = warnings.filters
    there = {getattr(each[2], "__name__", ""): each for each in filters if each[0] == "error"}
    gone = {id(there[name][2]) for name in there.keys() - values.keys()}
    filters[:] = [each for each in filters if each[0] != "error" or id(each[2]) not in gone]
    for name in values.keys() - there.keys():
        warnings.simplefilter("error", getattr(builtins, name))


FORMATS = ("float_format", "max_seq_length", "max_width", "pprint")


def _shell() -> Any:
    return sys.modules["IPython.core.interactiveshell"].InteractiveShell._instance  # noqa: SLF001 -- no code of the user's runs


def formatter_traits() -> dict[str, Any] | None:
    """Return the attributes of the formatter of results; None before the first result."""
    made = _shell().display_formatter._trait_values.get("formatters")  # noqa: SLF001 -- asking makes them
    return None if made is None else made["text/plain"]._trait_values  # noqa: SLF001 -- as above


def read_formatter(_: object) -> dict[str, Any]:
    """Return the format of results, which ``%precision`` and ``%pprint`` set."""
    values = formatter_traits()
    if values is None:
        kind = sys.modules["IPython.core.formatters"].PlainTextFormatter
        values = {name: getattr(kind, name).default_value for name in FORMATS}
        values |= _shell().config.get("PlainTextFormatter", {})
    return plain_values({name: values.get(name) for name in FORMATS})


def keep_formatter(_: object) -> Undo | None:
    """Return a function that restores the format of results exactly.

    Return None if there is no formatter yet, because no result was shown.
    """
    held = formatter_traits()
    return None if held is None else keep_contents(held)


def write_formatter(_: object, values: Mapping[str, Any]) -> None:
    """Set the format of results."""
    formatter = _shell().display_formatter.formatters["text/plain"]
    for name in FORMATS:
        if values.get(name) is not None:
            setattr(formatter, name, values[name])


def read_variables(prefixes: tuple[str, ...], _: object) -> dict[str, str]:
    """Return the environment variables with these prefixes."""
    return {name: value for name, value in os.environ.items() if name.startswith(prefixes)}


def write_variables(prefixes: tuple[str, ...], _: object, values: Mapping[str, str]) -> None:
    """Set the environment variables of a record, and unset others with these prefixes."""
    for name in [each for each in os.environ if each.startswith(prefixes) and each not in values]:
        del os.environ[name]
    os.environ.update(values)


# Variables that set how Polars shows tables. Polars stores other settings in native code.
_POLARS_SHOWS = ("POLARS_FMT_", "POLARS_TABLE_WIDTH")


def read_polars(polars: Any) -> dict[str, Any]:
    """Return how Polars shows tables: variables, and setters with their values."""
    state = {name: value for name, value in polars.Config.state().items() if name.islower()}
    return state | read_variables(_POLARS_SHOWS, polars)


def write_polars(polars: Any, values: Mapping[str, Any]) -> None:
    """Set the variables and call the setters that ``read_polars`` returned."""
    write_variables(_POLARS_SHOWS, polars, {n: it for n, it in values.items() if n.isupper()})
    for name in filter(str.islower, values):
        getattr(polars.Config, name)(values[name])
