"""What of a cell's results hangs on clocks, entropy, other programs and the order of hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipytorchseed.reads.abstract import UNKNOWN_ORDER
from ipytorchseed.reads.entropy import (
    ADDRESS,
    ADDRESSES,
    ANY,
    BY_HASH,
    CLOCK_TAILS,
    CLOCKS,
    NAMES,
)
from ipytorchseed.reads.hashes import has_random_order, hashes_randomly
from ipytorchseed.reads.resolution import MISSING, nondeterministic_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ipytorchseed.reads.effects import Effects


class Nondeterminism:
    """Collects the calls, and the orders of sets, that may answer differently each time.

    Attributes:
        calls: As ``Dependencies.nondeterministic_calls``.
        hashes: As ``Dependencies.hashes``.
        sets: Last parts of names that are bound to sets.
        mixed: Clocks whose readings go into numbers with others, or seed a generator.
    """

    def __init__(self) -> None:
        self.calls: set[str] = set()
        self.hashes = False
        self.sets: set[str] = set()
        self.mixed: set[str] = set()
        self._orders: set[str] = set()
        self._used: set[str] = set()

    def call(
        self, path: str, given: int, names: Mapping[str, Any], package: str, *, used: bool
    ) -> None:
        """Note a call.

        Args:
            path: The dotted name that is called.
            given: How many arguments it is given.
            names: Where its first part is found.
            package: What relative imports begin from.
            used: Whether its answer goes elsewhere than into numbers that only time.
        """
        if path == BY_HASH and BY_HASH not in names:
            self.hashes = True
        used = used or path.rpartition(".")[2].lstrip(":") not in CLOCK_TAILS
        self._note(nondeterministic_call(path, given, names, package), used=used)

    def mix(self, path: str, names: Mapping[str, Any], package: str) -> None:
        """Note a call whose answer goes into numbers with others."""
        asked = nondeterministic_call(path, 0, names, package)
        self.mixed |= {asked} & (CLOCKS.keys() | NAMES) if asked else set()

    def hand(self, path: str, names: Mapping[str, Any], package: str) -> None:
        """Note what is given to a call: a function that it may call, or a set it may go over."""
        if not path.endswith("()"):
            self._note(nondeterministic_call(path, ANY, names, package), used=True)
        self.hashes |= has_random_order(names.get(path))

    def _note(self, asked: str | None, *, used: bool) -> None:
        if asked is not None:
            self.calls.add(asked)
            if used:
                self._used.add(asked)

    def order(self, order: str, value: object) -> None:
        """Note that the order of something is asked for, which may be a set's.

        Args:
            order: As in ``Effects.orders``.
            value: What it names, or ``MISSING``.
        """
        kind, _, path = order.partition(":")
        if order == UNKNOWN_ORDER:
            self.hashes = True
        elif kind == "items":
            self.hashes |= value is MISSING or hashes_randomly(value)
        elif has_random_order(value):
            self.hashes = True
        else:
            self._orders.add(path.rpartition(".")[2].lstrip(":"))

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
        self.hashes |= not self.sets.isdisjoint(self._orders)
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
        return (self.calls & CLOCKS.keys()) - self._used - used, timed


def _is_clock(
    part: str, effects: Effects, names: Mapping[str, Any], before: frozenset[str]
) -> bool:
    path = part.removesuffix("()")
    if path == part:
        return part in before
    given = effects.calls.get(path, ANY)
    return nondeterministic_call(path, given, names) in CLOCKS
