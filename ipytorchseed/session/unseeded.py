"""Finds the function that makes numpy seed a generator from entropy.

Without a seed, ``numpy.random.SeedSequence`` calls ``secrets.randbits``. numpy's compiled code has
no frames, so the called function is found in the text of the calling line.
"""

from __future__ import annotations

import inspect
import linecache
from types import FrameType
from typing import Any

from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.introspection.values import imported, is_scalar
from ipytorchseed.patterns import lazy_pattern

# Finds calls in a line of code that take a seed, and the argument if it is a name or number.
_CALLS = lazy_pattern(
    r"\b(default_rng|RandomState|SeedSequence|MT19937|PCG64DXSM|PCG64|Philox|SFC64|seed)\("
    r"(?:\s*(?:seed\s*=\s*)?([\w.]*)(?:(?<=[\w.])\s*)?\))?"
)

# A class that uses entropy first, even if it is called with a seed.
_ALWAYS_ASKS = "RandomState"

_MISSING: Any = object()


def numpy_is_heard() -> bool:
    """Return whether numpy's requests for entropy can be observed."""
    asks = imported("secrets", "randbits")
    return asks is not None and imported("numpy.random.bit_generator", "randbits") is asks


def find_unseeded(maker: FrameType) -> str | None:
    """Return the function that user code calls and that makes numpy use entropy.

    Args:
        maker: The frame of the code that calls numpy.

    Returns:
        The import name of the function; empty if unknown. None if the generator is seeded after
        all: for example, a copied generator uses entropy first, and then gets the state of the
        original.
    """
    if maker.f_globals.get("__name__") == "numpy.random._pickle":
        return None
    line = linecache.getline(maker.f_code.co_filename, maker.f_lineno)
    if _is_seeded_at_once(maker.f_back):
        return None
    calls = [(call[1], _is_given(call[2], maker)) for call in _CALLS.finditer(line)]
    if _ALWAYS_ASKS in line:
        if calls and all(given for _, given in calls):
            return None
        calls = [(name, given) for name, given in calls if given is False]
        if not calls:
            return ""
    if not _is_users(maker):
        return _called_by_user(maker)
    return next((f"numpy.random.{name}" for name, given in calls if not given), "")


def _is_seeded_at_once(caller: FrameType | None) -> bool:
    """Return whether a calling line in a library also seeds: ``rng.seed(1)``."""
    while caller is not None and not _is_users(caller):
        line = linecache.getline(caller.f_code.co_filename, caller.f_lineno)
        found = [call for call in _CALLS.finditer(line) if call[1] == "seed"]
        if any(_is_given(call[2], caller) for call in found):
            return True
        caller = caller.f_back
    return False


def _is_given(argument: str | None, frame: FrameType) -> bool | None:
    """Return whether a call in a frame passes a seed; None if unknown."""
    if argument is None or argument in {"", "None"}:
        return None if argument is None else False
    value = 0 if argument[0].isdigit() else _find(argument, frame)
    return value is not None if is_scalar(value) else None


def _find(path: str, frame: FrameType) -> Any:  # noqa: ANN401
    """Return the value of a dotted name, without running user code."""
    root, *steps = path.split(".")
    value = frame.f_locals.get(root, frame.f_globals.get(root, _MISSING))
    for step in steps:
        value = inspect.getattr_static(value, step, _MISSING)
    return value


def _called_by_user(frame: FrameType | None) -> str:
    """Return the import name of the library function that user code called, or ""."""
    called = ""
    while frame is not None and not _is_users(frame):
        name = frame.f_code.co_qualname
        if "<" not in name:  # not a local function, such as a decorator's
            called = _import_name(str(frame.f_globals.get("__name__")), name)
        frame = frame.f_back
    return called if frame is not None else ""


def _is_users(frame: FrameType) -> bool:
    path = frame.f_code.co_filename
    if path[:1] == "<":  # a cell in a terminal
        return frame.f_globals.get("__name__") == "__main__"
    return not is_installed_file(path)


def _import_name(module: str, name: str) -> str:
    """Return the dotted name of a function in the outermost package that exports it."""
    first, parts = name.partition(".")[0], module.split(".")
    held = imported(module, first)
    outer = [".".join(parts[:count]) for count in range(1, len(parts))]
    public = ".".join(part.lstrip("_") for part in parts)  # ``scipy.stats.qmc``
    offers = (
        each for each in (*outer, public) if held is not None and imported(each, first) is held
    )
    return f"{next(offers, module)}.{name}".removesuffix(".__init__")
