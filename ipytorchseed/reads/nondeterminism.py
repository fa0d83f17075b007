"""Finds dependencies on clocks, entropy, programs, the hash seed and addresses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ipytorchseed.introspection.anatomy import dictionary_of
from ipytorchseed.reads.dependencies import Dependencies
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import (
    ADDRESS,
    ANY,
    BY_HASH,
    BY_PERSON,
    BY_PLACE,
    CLOCKS,
    NAMES,
    READING_TAILS,
)
from ipytorchseed.reads.hashes import hash_basis, order_basis
from ipytorchseed.reads.names import Home
from ipytorchseed.reads.queries import asked_by_query
from ipytorchseed.reads.resolution import nondeterministic_call

# Methods of a set that ignore its order.
_ORDERLESS = frozenset(
    {"__call__", "__len__", "add", "clear", "difference_update", "discard", "intersection_update"}
    | {"isdisjoint", "issubset", "issuperset", "remove", "symmetric_difference_update", "update"}
)


class Nondeterminism:
    """A recorder of nondeterministic calls, and of sets of uncertain order.

    Args:
        found: The dependencies of the cell, to which the calls are added.
    """

    def __init__(self, found: Dependencies) -> None:
        self._found = found
        self._calls = found.nondeterministic_calls
        self._used: set[str] = set()

    def look_up(
        self, effects: Effects, home: Home, tick: Callable[[], None], *, hashing: bool = False
    ) -> None:
        """Record nondeterministic calls and sets in some code.

        Args:
            effects: The effects of the code.
            home: The global namespace of the code.
            tick: Raises an error if the time is up.
            hashing: Whether the code is a ``__hash__`` method. Its calls of ``hash`` are ignored,
                because they only matter if other code iterates a set or calls ``hash``.
        """
        self._calls |= effects.programs
        names, package = home.names, home.package
        taken = {*names, BY_HASH} if hashing else names
        called = [(*call, f"{call[0]}()" in effects.escaped) for call in effects.calls.items()]
        called += [(path, ANY, True) for path in effects.handed if not path.endswith("()")]
        for path, given, is_used in called:
            tick()
            asked = nondeterministic_call(path, given, names, package)
            if path not in taken:
                self._found.hashes |= path == BY_HASH
                asked = path if path == BY_PERSON or (path == ADDRESS and is_used) else asked
            if asked is not None:
                self._calls.add(asked)
                last = path.rpartition(".")[2].lstrip(":")
                self._used |= {asked} if is_used or last not in READING_TAILS else set()
        for path in effects.paths:
            name, _, method = path.partition(".")
            if method not in _ORDERLESS:
                self._record_basis(order_basis(names.get(name)))
        for path in effects.sets:
            self._record_basis(hash_basis(names[path]) if path in names else BY_HASH)

    def _record_basis(self, on: str) -> None:
        """Record the ``hash_basis`` of a set whose order may be used."""
        self._found.hashes |= on == BY_HASH
        if on == BY_PLACE:
            self._calls.add(on)

    def record_held(self, values: Iterable[object], attributes: Collection[str]) -> None:
        """Record nondeterministic queries in strings, and sets in attributes of objects.

        Args:
            values: The values that the code reads.
            attributes: Names of attributes that the code reads.
        """
        for value in values:
            if type(value) is str:
                self._calls |= asked_by_query(value)
                continue
            for name, held in dict.items(dictionary_of(value)):
                if type(name) is str and name in attributes:
                    self._record_basis(order_basis(held))

    def record_readings(
        self, effects: Effects, names: Mapping[str, Any], before: frozenset[str]
    ) -> None:
        """Record the calls that only measure time, and the names of their results.

        Call this after everything else was recorded.

        Args:
            effects: The effects of the cell.
            names: The namespace.
            before: Names in the namespace whose values were readings before the cell.
        """
        escaped, kept = {*effects.escaped}, dict[str, frozenset[str]]()
        for name, parts in effects.timed.items():
            if parts and all(_is_clock(part, effects, names, before) for part in parts):
                kept[name] = parts
            else:
                escaped.update(part for part in parts if part.endswith("()"))
        used = {nondeterministic_call(path.removesuffix("()"), 0, names) for path in escaped}
        for name, parts in kept.items():
            if escaped.isdisjoint(parts):
                self._found.timed |= {name} | (parts & before - effects.handed)
        self._found.timing = (self._calls & (CLOCKS.keys() | NAMES)) - self._used - used


def _is_clock(
    part: str, effects: Effects, names: Mapping[str, Any], before: frozenset[str]
) -> bool:
    path = part.removesuffix("()")
    if path == part:
        return part in before
    if path == ADDRESS and ADDRESS not in names:
        return True
    given = effects.calls.get(path, ANY)
    return nondeterministic_call(path, given, names) in CLOCKS
