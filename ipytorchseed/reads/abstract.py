"""Abstract values: facts that static analysis infers about a value."""

from __future__ import annotations

from msgspec import Struct

from ipytorchseed.reads.effects import Effects

# The maximum number of dotted names for one value.
_MAX_PATHS = 8

# Dotted names with more characters are dropped.
_MAX_PATH_LENGTH = 120


class AbstractValue(Struct, frozen=True):
    """The facts that are inferred about a value.

    A *reading* is the result of a call such as ``time.time()``, which is different every time.

    Attributes:
        paths: Dotted names of the value. The first part is a name in the namespace, or a colon and
            a module's full name. ``()`` means a call, as in ``:torch.Generator().seed``.
        bodies: Effects of functions in the cell that may run when the value is used.
        readings: Calls that return readings, and names in the namespace, from which the value is
            computed.
        pure: Whether the value is computed only from ``readings`` and constants.
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
    """Return the abstract value of a value that equals one of two values."""
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
