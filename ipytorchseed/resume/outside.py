"""What a training finds outside of itself, put back before each of its runs."""

from __future__ import annotations

import copy
from contextlib import ExitStack
from functools import partial
from inspect import unwrap
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from ipytorchseed.resume.checkpoint import is_stateful
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.session.sandbox import Process

if TYPE_CHECKING:
    from collections.abc import Iterator


class Outside:
    """Sources, flags, environment, and the objects outside of a function that it reaches.

    Args:
        function: Its code, and that of the functions that it calls by name, tells what it reaches.
    """

    def __init__(self, function: object) -> None:
        names = dict(_reached(function))
        self._process = Process.now()
        self._generators = [(each, each.kind.read(each.object)) for each in find_generators(names)]
        self._stateful: list[tuple[Any, Any]] = [
            (value, copy.deepcopy(value.state_dict()))  # type: ignore[attr-defined]
            for value in names.values()
            if is_stateful(value)
        ]

    def put_back(self) -> None:
        """Put all of it where it was; an error in one part is raised once the others are back."""
        with ExitStack() as parts:
            parts.callback(self._process.put_back)
            for found, state in self._generators:
                parts.callback(found.kind.write, found.object, state)
            for value, state in self._stateful:
                parts.callback(value.load_state_dict, copy.deepcopy(state))


def _reached(function: object) -> Iterator[tuple[str, object]]:
    """Yield the global and enclosing names that a function and those that it calls reach."""
    waiting, seen = [function], set[int]()
    while waiting:
        value: Any = waiting.pop()
        while isinstance(value, partial):
            waiting += [*value.args, *value.keywords.values()]
            value = value.func
        value = unwrap(value) if callable(value) else value
        if not isinstance(value, FunctionType):
            value = getattr(value, "__func__", vars(type(value)).get("__call__"))
        if not isinstance(value, FunctionType) or id(value) in seen:
            continue
        seen.add(id(value))
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        found = [(name, cell.cell_contents) for name, cell in cells if cell != type(cell)()]
        space = value.__globals__
        found += [(name, space[name]) for name in _names(value.__code__) if name in space]
        yield from found
        waiting += [each for _, each in found if isinstance(each, FunctionType)]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
