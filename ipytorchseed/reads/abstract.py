"""Abstract values: what static analysis infers about a value before the code runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import ADDRESSES

# How many dotted names are kept for one value.
_MAX_PATHS = 8

# Characters; longer dotted names are dropped.
_MAX_PATH_LENGTH = 120

# Values with more possible strings count as unknown.
MAX_TEXTS = 64

# Methods called by a call, ``in`` and ``len``.
CALL, CONTAINS, LENGTH = "__call__", "__contains__", "__len__"

# Placeholder in a string for the string that a name holds; with a star, for each string in it.
HELD = lazy_pattern("\0([*]?)(\\w+)\0")


class Body(Struct, frozen=True):
    """Code defined by the cell that runs when a value is used.

    Attributes:
        effects: The effects of the code.
        then: Code that the result holds: the methods, when a class is called.
    """

    effects: Effects
    then: tuple[Body, ...] = ()


class AbstractValue(Struct, frozen=True):
    """What is inferred about a value.

    Attributes:
        paths: Dotted names that lead to it. They begin with a name of the namespace, or with a
            colon and a module's full name; ``()`` means a call, as in ``:torch.Generator().seed``.
        tail: The last part of its name, also if the first is unknown: ``.vocab``.
        bodies: Code defined by the cell that runs when the value is used.
        taint: Calls, such as ``time.time()``, and names of the namespace that it is computed from.
        only_taint: Whether it is computed only from its taint and numbers.
        neutral: Whether it is a number, None or an empty container.
        nothing: Whether it is None.
        texts: The strings that it may be or contain, if all are known. They may contain
            placeholders, see ``HELD``.
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
        """Return the abstract value of an attribute."""
        paths = tuple([f"{path}.{name}" for path in self.paths if len(path) < _MAX_PATH_LENGTH])
        return replace(self, paths=paths, tail=f".{name}", neutral=False, nothing=False, texts=())

    def item(self) -> AbstractValue:
        """Return the abstract value of an item."""
        texts = self.texts or self._texts_of_names("*")
        return AbstractValue(
            bodies=self.bodies, taint=self.taint, only_taint=self.only_taint, texts=texts
        )

    def text(self) -> tuple[str, ...]:
        """Return the strings that it may be, assuming that it is a string."""
        return self.texts or self._texts_of_names()

    def _texts_of_names(self, each: str = "") -> tuple[str, ...]:
        named = all(map(str.isidentifier, self.paths))
        return tuple([f"\0{each}{path}\0" for path in self.paths]) if named else ()


UNKNOWN = AbstractValue()
NOTHING = AbstractValue(neutral=True, nothing=True)
NEUTRAL = AbstractValue(neutral=True)

# A container whose keys are addresses. Two of them cannot be compared.
BY_ADDRESS = AbstractValue(taint=ADDRESSES, only_taint=True)


def named(path: str) -> AbstractValue:
    """Return the abstract value of a name."""
    return AbstractValue((path,), path)


def join(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return the abstract value of a value that is one of two."""
    if one is other or one == other:
        return one
    return AbstractValue(
        paths=tuple(dict.fromkeys([*one.paths, *other.paths]))[:_MAX_PATHS],
        tail=one.tail or other.tail,
        bodies=bodies_of(one, other),
        taint=one.taint | other.taint,
        only_taint=(one.only_taint or one.neutral) and (other.only_taint or other.neutral),
        neutral=one.neutral and other.neutral,
        texts=either(one.texts, other.texts),
    )


def either(*texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return all strings of several values; none if those of any value are unknown."""
    every = tuple(dict.fromkeys(each for some in texts for each in some))
    return every if all(texts) and len(every) <= MAX_TEXTS else ()


def concatenations(*texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return all concatenations of several strings; none if any string is unknown."""
    if math.prod(map(len, texts)) > MAX_TEXTS:
        return ()
    return tuple(map("".join, itertools.product(*texts)))


def bodies_of(*abstracts: AbstractValue) -> tuple[Body, ...]:
    """Return the code that any of several values holds."""
    bodies = [body for abstract in abstracts for body in abstract.bodies]
    return tuple({id(body.effects): body for body in bodies}.values()) if bodies else ()


def contents(items: Iterable[AbstractValue]) -> AbstractValue:
    """Return the abstract value of a container of these values."""
    items = [*items]
    taint = frozenset().union(*(item.taint for item in items))
    only_taint = bool(taint) and all(item.only_taint or item.neutral for item in items)
    texts = either(*(item.text() for item in items))
    return AbstractValue(bodies=bodies_of(*items), taint=taint, only_taint=only_taint, texts=texts)
