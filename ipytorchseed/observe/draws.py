"""Finds the calls and loops in the notebook's code that draw random numbers."""

from __future__ import annotations

import _random
import ctypes
import types
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ipytorchseed.introspection.anatomy import find_member, module_of_class, name_of_class
from ipytorchseed.introspection.values import (
    identities,
    imported,
    is_class,
    is_from_its_module,
    is_function,
    is_module,
    module_of,
    text,
)
from ipytorchseed.reads.actions import may_set_state
from ipytorchseed.reads.resolution import canonical
from ipytorchseed.rng import python_random

# The maximum number of bytes between a call and the next instruction.
_NEXT = 12

# The maximum numbers of calls and loops to examine in a run, and to record for one source.
_MOST, _MOST_KEPT = 200, 5

# The size of MT19937's state in memory: 624 words and the position, 4 bytes each.
_TWISTER = 625 * 4

# Libraries whose functions are shown with their full names.
_DOTTED = frozenset({"numpy", "random", "torch"})

# Methods of the shell that run magics. The code that a magic runs is observed itself.
_MAGICS = frozenset({"run_cell_magic", "run_line_magic"})

# The offset of the state in a ``random.Random`` object, after the header of every object.
_HEAD = object.__basicsize__

_BOUND = identities({types.MethodType, types.BuiltinFunctionType})
_NAMED = _BOUND | identities({types.FunctionType, types.MethodDescriptorType})


class Draws:
    """The calls and loops of a run that drew random numbers.

    Each call in the code is examined when it runs for the first time. If a call inside a called
    function drew, only the inner call is listed.

    Attributes:
        found: The names of calls that drew, by source, in order.
    """

    def __init__(self) -> None:
        self.found: dict[str, dict[str, None]] = {}
        self._open: dict[int, tuple[int, str, dict[str, bytes], Counter[str]]] = {}
        self._times = Counter[str]()
        self._left = _MOST

    def begin(self, code: int, offset: int, name: str) -> None:
        """Store the states before an instruction that calls a function or takes an item.

        Args:
            code: The ``id`` of the code object.
            offset: The offset of the instruction.
            name: The name of the call or loop. If it is empty, nothing is stored.
        """
        if name and self._left:
            self._left -= 1
            self._open[code] = offset, name, dict(_states()), self._times.copy()

    def end(self, code: int, offset: int) -> None:
        """Compare the states, if the instruction at ``offset`` follows the stored one."""
        if not self._open or (begun := self._open.pop(code, None)) is None:
            return
        at, name, before, times = begun
        if at < offset <= at + _NEXT:
            for source, state in _states():
                is_inner = (
                    before.get(source, state) != state and self._times[source] == times[source]
                )
                if is_inner and not may_set_state([name], source):
                    self._times[source] += 1
                    calls = self.found.setdefault(source, {})
                    if len(calls) < _MOST_KEPT:
                        calls[name] = None


def _states() -> Iterator[tuple[str, bytes]]:
    """Yield the names and states of the sources.

    The states of ``random`` and numpy are read from memory, because the functions of these
    libraries take 20 times as long.
    """
    size = _random.Random.__basicsize__ - _HEAD
    yield "python", ctypes.string_at(id(python_random.hidden()) + _HEAD, size)
    numpy: Any = getattr(imported("numpy.random.mtrand", "_rand"), "_bit_generator", None)
    if type(numpy).__name__ == "MT19937":
        yield "numpy", ctypes.string_at(numpy.ctypes.state_address, _TWISTER)
    cpu = imported("torch", "default_generator")
    devices = imported("torch.cuda", "default_generators") or ()
    names = "torch.cpu", *(f"torch.cuda:{number}" for number in range(len(devices)))
    for name, generator in zip(names, () if cpu is None else (cpu, *devices), strict=False):
        with suppress(RuntimeError):  # a CUDA graph is being recorded
            yield name, generator.get_state().numpy().tobytes()


def name_of_call(called: Any, first: Any) -> str:  # noqa: ANN401 -- any object
    """Return the name of a called function, as it is shown.

    Args:
        called: The called object.
        first: The first argument. For a method, this is the object.

    Returns:
        For example, ``torch.randn``, ``train_test_split``, ``Linear`` or
        ``RandomForestClassifier.fit``. For a builtin whose argument is an object of a library, such
        as ``list(loader)``, the class of that object. "" for other builtins, and for functions and
        classes of the notebook.
    """
    is_named = id(type(called)) in _NAMED or is_function(called)
    name = text(called.__name__) if is_named else ""
    if id(type(called)) in _BOUND:
        owner = None if is_from_its_module(called) else called.__self__
    else:
        owner = first if name and find_member(type(first), name) is called else None
    if owner is not None and not is_module(owner):
        kind = owner if is_class(owner) else type(owner)
        return (
            f"{name_of_class(kind)}.{name}" if _is_of_library(kind) and name not in _MAGICS else ""
        )
    if module_of(called) == "builtins":
        kind = type(first)  # ``list(loader)``
    elif name:
        return _public(called, name)
    else:
        kind = called if is_class(called) else type(called)
    return name_of_class(kind) if _is_of_library(kind) else ""


def _public(function: Any, name: str) -> str:  # noqa: ANN401 -- of any type
    """Return the name of a function as users write it; "" for the notebook's own."""
    module = text(function.__module__) or module_of(function)  # `module_of` may be a wrapper's
    if module == "__main__":
        return ""
    return canonical(f"{module}.{name}") if module.partition(".")[0] in _DOTTED else name


def _is_of_library(kind: type) -> bool:
    return module_of_class(kind) not in ("builtins", "__main__")
