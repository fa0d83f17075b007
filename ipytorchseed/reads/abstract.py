"""Abstract values: what static analysis infers about a value before the code runs."""

from __future__ import annotations

from msgspec import Struct

from ipytorchseed.reads.effects import Effects

# How many dotted names are kept for one value.
_MAX_PATHS = 8

# Characters; longer dotted names are dropped.
_MAX_PATH_LENGTH = 120


class AbstractValue(Struct, frozen=True):
    """What is inferred about a value.

    Attributes:
        paths: Dotted names that lead to it. They begin with a name of the namespace, or with a
            colon and a module's full name; ``()`` means a call, as in ``:torch.Generator().seed``.
        bodies: Effects of the cell's functions that may run when the value is used.
        readings: Calls, such as ``time.time()``, and names of the namespace that it is computed
            from.
        pure: Whether it is computed only from its readings and constants.
    """

    paths: tuple[str, ...] = ()
    bodies: tuple[Effects, ...] = ()
    readings: frozenset[str] = frozenset()
    pure: bool = False

    def attribute(self, name: str) -> AbstractValue:
        """Return the abstract value of an attribute."""
        paths = tuple([f"{path}.{name}" for path in self.paths if len(path) < _MAX_PATH_LENGTH])
        return AbstractValue(paths, (), self.readings, self.pure)


UNKNOWN = AbstractValue()
CONSTANT = AbstractValue(pure=True)


def join(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return the abstract value of a value that is one of two."""
    if one is other:
        return one
    return AbstractValue(
        tuple(dict.fromkeys([*one.paths, *other.paths]))[:_MAX_PATHS],
        tuple({id(body): body for body in (*one.bodies, *other.bodies)}.values()),
        one.readings | other.readings,
        one.pure and other.pure,
    )


def contents(*values: AbstractValue) -> AbstractValue:
    """Return the abstract value of a container of values, or of one of its items."""
    readings = frozenset[str]().union(*(value.readings for value in values))
    pure = all(value.pure for value in values)
    return AbstractValue(readings=readings, pure=pure) if readings or pure else UNKNOWN
