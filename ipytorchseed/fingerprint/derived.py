"""Cached results of objects' own properties, which follow from the rest."""

from __future__ import annotations

from functools import cached_property
from types import FunctionType

from ipytorchseed.introspection.anatomy import find_member, mro, own, per_object

Items = list[tuple[str, object]]

# The most items of a dictionary that may be such results.
_MOST = 128


def split(kind: type, items: Items) -> tuple[Items, Items]:
    """Separate an object's attributes from cached results of its properties.

    These are ``functools.cached_property``, and a dictionary called a cache whose keys are all
    names of properties, as in statsmodels.

    Args:
        kind: The object's class.
        items: Names and values of its attributes.

    Returns:
        Content, and results: the items of such a dictionary one by one.
    """
    names = _cached(kind)
    kept = [each for each in items if each[0] in names or _is_store(kind, *each)]
    if not kept:
        return items, kept
    gone = {name for name, _ in kept}
    results: Items = []
    for name, value in kept:
        store = value if name not in names and type(value) is dict else {name: value}
        results += store.items()
    return [each for each in items if each[0] not in gone], results


def _name_cached(kind: type) -> frozenset[str]:
    known: dict[str, object] = {}
    for base in mro(kind)[::-1]:
        known.update({name: entry for name, entry in own(base).items() if type(name) is str})
    return frozenset(name for name, entry in known.items() if cached_property in mro(type(entry)))


_cached = per_object(_name_cached)


def _is_store(kind: type, name: str, value: object) -> bool:
    if type(value) is not dict or "cache" not in name or len(value) > _MOST:
        return False
    return all(type(key) is str and _is_property(kind, key) for key in [*value])


def _is_property(made: type, name: str) -> bool:
    """Return whether a class computes an attribute when it is read."""
    kind = type(find_member(made, name))
    return not issubclass(kind, FunctionType) and find_member(kind, "__get__") is not None
