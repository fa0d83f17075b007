"""What can be told of a value from the code that makes it, before that code has run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from ipytorchseed.reads.flow import Flow

_MOST = 8
"""Dotted names that are kept of one value, whichever way it came about."""

_LONGEST = 120
"""Characters of a dotted name; what is longer leads nowhere that we know."""

UNKNOWN_ORDER = "?"
"""The order of a set made of we know not what."""


class Body(Struct, frozen=True):
    """Code of the cell's own that runs when a value is used.

    Attributes:
        flow: What it does with names.
        then: Code that the result holds: the methods, for a call of a class.
    """

    flow: Flow
    then: tuple[Body, ...] = ()


class Guess(Struct, frozen=True):
    """What can be told of a value.

    Attributes:
        paths: Dotted names that lead to it. One that begins with a colon begins with a module's
            full name, any other with a name of the namespace; ``()`` stands for a call, as in
            ``:torch.Generator().seed``.
        tail: The last part of its name, also where nothing is known of the first: ``.vocab``.
        bodies: Code of the cell's own that runs when it is used.
        order: Whose order its items have, where that may hang on hashes: ``is:words`` (that of
            ``words``, if it is a set), ``items:words`` (that of a set made of its items) or
            ``UNKNOWN_ORDER``; empty where it does not.
        is_set: Whether it is itself a set, so that nothing has yet asked for that order.
        clocks: Calls, such as ``time.time()``, and names of the namespace that it is made of.
        pure: Whether it is made of ``clocks`` and numbers alone.
        neutral: Whether it is a number, None or an empty container.
        nothing: Whether it is None.
    """

    paths: tuple[str, ...] = ()
    tail: str = ""
    bodies: tuple[Body, ...] = ()
    order: str = ""
    is_set: bool = False
    clocks: frozenset[str] = frozenset()
    pure: bool = False
    neutral: bool = False
    nothing: bool = False

    def attribute(self, name: str) -> Guess:
        """Return what is known of an attribute."""
        paths = tuple([f"{path}.{name}" for path in self.paths if len(path) < _LONGEST])
        return Guess(
            paths, f".{name}", self.bodies, self.order, self.is_set, self.clocks, self.pure
        )

    def own_order(self) -> str:
        """Return the order of its items, supposing that it may be a set."""
        if self.order:
            return self.order
        if self.paths:
            return f"is:{self.paths[0]}"
        return f"is:{self.tail}" if self.tail else ""


UNKNOWN = Guess()
NOTHING = Guess(neutral=True, nothing=True)
NEUTRAL = Guess(neutral=True)


def named(path: str) -> Guess:
    """Return what is known of the value of a name."""
    return Guess((path,), path)


def either(one: Guess, other: Guess) -> Guess:
    """Return what is known of a value that is one of two."""
    if one is other or one == other:
        return one
    return Guess(
        paths=tuple(dict.fromkeys([*one.paths, *other.paths]))[:_MOST],
        tail=one.tail or other.tail,
        bodies=joined(one, other),
        order=one.order or other.order,
        is_set=(one.is_set or not one.order) and (other.is_set or not other.order),
        clocks=one.clocks | other.clocks,
        pure=(one.pure or one.neutral) and (other.pure or other.neutral),
        neutral=one.neutral and other.neutral,
    )


def joined(*guesses: Guess) -> tuple[Body, ...]:
    """Return the code that any of several values holds."""
    bodies = [body for guess in guesses for body in guess.bodies]
    return tuple({id(body.flow): body for body in bodies}.values()) if bodies else ()
