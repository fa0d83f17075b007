"""Which of a cell's results depend on clocks, entropy, other programs or hash order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ipytorchseed.introspection.anatomy import anatomy
from ipytorchseed.reads.abstract import BY_ADDRESSES, BY_HASHES, UNKNOWN_ORDER
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import (
    ADDRESS,
    ADDRESSES,
    ANY,
    BY_HASH,
    BY_PERSON,
    BY_PLACE,
    CLOCKS,
    NAMES,
    READING_TAILS,
)
from ipytorchseed.reads.hashes import SETS, hashes_of, order_of
from ipytorchseed.reads.home import Home
from ipytorchseed.reads.queries import asked_by_query
from ipytorchseed.reads.resolution import MISSING, nondeterministic_call


class Nondeterminism:
    """Collects the calls, and the orders of sets, that may answer differently each time.

    Attributes:
        calls: As ``Dependencies.nondeterministic_calls``.
        hashes: As ``Dependencies.hashes``.
    """

    def __init__(self) -> None:
        self.calls: set[str] = set()
        self.hashes = False
        self._sets: set[str] = set()
        self._orders: set[str] = set()
        self._used: set[str] = set()

    def look_up(
        self,
        effects: Effects,
        home: Home,
        assigned: frozenset[str],
        tick: Callable[[], None],
        *,
        hashing: bool = False,
    ) -> None:
        """Note what some code asks for.

        Args:
            effects: What the code does with names.
            home: Where these are found.
            assigned: Names of the notebook that the cell sets before this code runs.
            tick: Asks for a little more time.
            hashing: Whether it is how a class makes its objects' hashes. Nothing hangs on these
                unless the order of a set of them is asked for, or ``hash`` is called elsewhere.
        """
        self.calls |= effects.programs
        self._sets |= effects.holds
        names, package = home.names, home.package
        for path, given in effects.calls.items():
            tick()
            if home.holds(path, assigned):
                if path not in names and not (hashing and path == BY_HASH):
                    self._look_up_builtin(path)
                used = f"{path}()" in effects.escaped
                used = used or path.rpartition(".")[2].lstrip(":") not in READING_TAILS
                self._note(nondeterministic_call(path, given, names, package), used=used)
        for path in effects.handed:
            tick()
            if home.holds(path, assigned):
                if not path.endswith("()"):
                    self._note(nondeterministic_call(path, ANY, names, package), used=True)
                self._hang(order_of(names.get(path)))
        for order in effects.orders:
            path = order.partition(":")[2]
            known = path and home.holds(path, assigned)
            self._order(order, names.get(path, MISSING) if known else MISSING)

    def _look_up_builtin(self, path: str) -> None:
        self.hashes |= path == BY_HASH
        self._note(path if path == BY_PERSON else None, used=True)

    def _note(self, asked: str | None, *, used: bool) -> None:
        if asked is not None:
            self.calls.add(asked)
            if used:
                self._used.add(asked)

    def _order(self, order: str, value: object) -> None:
        """Note that the order of something is asked for, which may be a set's.

        Args:
            order: As in ``Effects.orders``.
            value: What it names, or ``MISSING``.
        """
        kind, _, path = order.partition(":")
        if order == UNKNOWN_ORDER or (order == BY_HASHES and value is MISSING):
            self.hashes = True
        elif order == BY_ADDRESSES and value is MISSING:  # and not a name of the user's
            self.calls.add(ADDRESS)
        elif kind == "items":
            self._hang(BY_HASH if value is MISSING else hashes_of(value))
        elif id(type(value)) in SETS:
            self._hang(hashes_of(value))
        else:
            self._orders.add(path.rpartition(".")[2].lstrip(":"))

    def _hang(self, on: str) -> None:
        """Note what the order of a set hangs on."""
        self.hashes |= on == BY_HASH
        if on == BY_PLACE:
            self.calls.add(on)

    def look_into(self, values: Iterable[object]) -> None:
        """Look at queries that names hold, and look up sets by their names, once all is noted.

        Args:
            values: What the code reads, whose attributes they may be.
        """
        values = [*values]
        self.calls.update(*(asked_by_query(each) for each in values if type(each) is str))
        if not self._orders:
            return
        asked = self._sets & self._orders
        if not asked:
            return
        held = [
            held
            for value in values
            for name, held in dict.items(anatomy(type(value)).dictionary(value) or {})
            if name in asked and id(type(held)) in SETS and held
        ]
        for on in map(hashes_of, held) if held else (BY_HASH,):
            self._hang(on)

    def readings(
        self, effects: Effects, names: Mapping[str, Any], before: frozenset[str]
    ) -> tuple[set[str], set[str]]:
        """Tell what only times, once all is noted.

        Args:
            effects: What the cell does with names.
            names: The namespace.
            before: Names in it that hold readings of clocks.

        Returns:
            As ``Dependencies.timing`` and ``Dependencies.timed``.
        """
        escaped = set(effects.escaped)
        candidates = []
        addresses = ADDRESSES if ADDRESS not in names else frozenset()
        for name, made_of in effects.timed.items():
            clocks = made_of - addresses  # an address may be looked up and compared
            if all(_is_clock(part, effects, names, before) for part in clocks):
                candidates.append((name, clocks))
            else:
                escaped |= clocks
        used = {nondeterministic_call(path.removesuffix("()"), 0, names) for path in escaped}
        timed = set()
        for name, made_of in candidates:
            if escaped.isdisjoint(made_of):
                timed |= {name} | (made_of & before - effects.handed)
        return (self.calls & (CLOCKS.keys() | NAMES)) - self._used - used, timed


def _is_clock(
    part: str, effects: Effects, names: Mapping[str, Any], before: frozenset[str]
) -> bool:
    path = part.removesuffix("()")
    if path == part:
        return part in before
    given = effects.calls.get(path, ANY)
    return nondeterministic_call(path, given, names) in CLOCKS
