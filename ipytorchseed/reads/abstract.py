"""Abstract values: what static analysis knows of a value before the code has run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import ADDRESSES

_MOST = 8
"""Dotted names that are kept of one value, whichever way it came about."""

_LONGEST = 120
"""Characters of a dotted name; what is longer leads nowhere that we know."""

MOST_TEXTS = 64
"""Texts that a value may be, of which each is kept."""

CALL, CONTAINS, LENGTH = "__call__", "__contains__", "__len__"
"""Methods of an object that are used by a call, ``in`` and ``len``."""

HELD = lazy_pattern("\0([*]?)(\\w+)\0")
"""In a text, what stands for the text that a name holds; with a star, for each text in it."""


class Body(Struct, frozen=True):
    """Code of the cell's own that runs when a value is used.

    Attributes:
        effects: What it does with names.
        then: Code that the result holds: the methods, for a call of a class.
    """

    effects: Effects
    then: tuple[Body, ...] = ()


class AbstractValue(Struct, frozen=True):
    """What can be told of a value.

    Attributes:
        paths: Dotted names that lead to it. One that begins with a colon begins with a module's
            full name, any other with a name of the namespace; ``()`` stands for a call, as in
            ``:torch.Generator().seed``.
        tail: The last part of its name, also where nothing is known of the first: ``.vocab``.
        bodies: Code of the cell's own that runs when it is used.
        taint: Calls, such as ``time.time()``, and names of the namespace that it is made of.
        only_taint: Whether it is made of its taint and numbers alone.
        neutral: Whether it is a number, None or an empty container.
        nothing: Whether it is None.
        texts: Texts of which it is one, or which it holds, where all of them are known. Parts of
            one may be left open, as ``HELD`` tells.
    """

    paths: tuple[str, ...] = ()
    tail: str = ""
    bodies: tuple[Body, ...] = ()
    taint: frozenset[str] = frozenset()
    only_taint: bool = False
    neutral: bool = False
    nothing: bool = False
    texts: tuple[str, ...] = ()

    def attribute(self, name: str) -> AbstractValue:
        """Return what is known of an attribute."""
        paths = tuple([f"{path}.{name}" for path in self.paths if len(path) < _LONGEST])
        return replace(self, paths=paths, tail=f".{name}", neutral=False, nothing=False, texts=())

    def item(self) -> AbstractValue:
        """Return what is known of an item."""
        texts = self.texts or self._texts_of_names("*")
        return AbstractValue(
            bodies=self.bodies, taint=self.taint, only_taint=self.only_taint, texts=texts
        )

    def text(self) -> tuple[str, ...]:
        """Return the texts of which it is one, supposing that it is a text."""
        return self.texts or self._texts_of_names()

    def _texts_of_names(self, each: str = "") -> tuple[str, ...]:
        named = all(map(str.isidentifier, self.paths))
        return tuple([f"\0{each}{path}\0" for path in self.paths]) if named else ()


UNKNOWN = AbstractValue()
NOTHING = AbstractValue(neutral=True, nothing=True)
NEUTRAL = AbstractValue(neutral=True)
BY_ADDRESS = AbstractValue(taint=ADDRESSES, only_taint=True)
"""A container whose keys are addresses: two of them cannot be compared."""


def named(path: str) -> AbstractValue:
    """Return what is known of the value of a name."""
    return AbstractValue((path,), path)


def join(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return what is known of a value that is one of two."""
    if one is other or one == other:
        return one
    return AbstractValue(
        paths=tuple(dict.fromkeys([*one.paths, *other.paths]))[:_MOST],
        tail=one.tail or other.tail,
        bodies=bodies_of(one, other),
        taint=one.taint | other.taint,
        only_taint=(one.only_taint or one.neutral) and (other.only_taint or other.neutral),
        neutral=one.neutral and other.neutral,
        texts=either(one.texts, other.texts),
    )


def either(*texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return all texts that a value may be, which is one of several; none where any is unknown."""
    every = tuple(dict.fromkeys(each for some in texts for each in some))
    return every if all(texts) and len(every) <= MOST_TEXTS else ()


def in_a_row(*texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts that are put together of several; none where any is unknown."""
    if math.prod(map(len, texts)) > MOST_TEXTS:
        return ()
    return tuple(map("".join, itertools.product(*texts)))


def bodies_of(*abstracts: AbstractValue) -> tuple[Body, ...]:
    """Return the code that any of several values holds."""
    bodies = [body for abstract in abstracts for body in abstract.bodies]
    return tuple({id(body.effects): body for body in bodies}.values()) if bodies else ()


def contents(items: Iterable[AbstractValue]) -> AbstractValue:
    """Return what is known of what holds these values."""
    items = [*items]
    taint = frozenset().union(*(item.taint for item in items))
    only_taint = bool(taint) and all(item.only_taint or item.neutral for item in items)
    texts = either(*(item.text() for item in items))
    return AbstractValue(bodies=bodies_of(*items), taint=taint, only_taint=only_taint, texts=texts)
