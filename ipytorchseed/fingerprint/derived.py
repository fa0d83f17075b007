"""Values inside objects that are not content: hashes, cached properties, timings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from types import FunctionType

from ipytorchseed.introspection.anatomy import find_member, mro, own, per_object

Items = list[tuple[str, object]]

# The maximum size of a dictionary that is taken to be a cache of properties.
_MOST = 128


def split(kind: type, items: Items) -> tuple[Items, Items]:
    """Separate an object's attributes from the cached results of its properties.

    Cached results are attributes set by ``functools.cached_property``, and, as in statsmodels,
    the items of a dictionary with "cache" in its name whose keys are all names of properties.

    Args:
        kind: The object's class.
        items: The names and values of the object's attributes.

    Returns:
        The attributes that are content, and the cached results. Cached hashes are in neither.
    """
    items = _without_hashes(kind, items)
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


def _without_hashes(kind: type, items: Items) -> Items:
    """Return the attributes that do not store a hash, which may differ per process.

    An attribute stores a hash if the class defines ``__hash__`` and the attribute's private name
    contains "hash" (as in SymPy and Cirq).
    """
    if not isinstance(find_member(kind, "__hash__"), FunctionType):
        return items
    return [
        (name, value)
        for name, value in items
        if not (name[:1] == "_" and "hash" in name and (value is None or type(value) is int))
    ]


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
    """Return whether an attribute is a descriptor other than a method."""
    kind = type(find_member(made, name))
    return not issubclass(kind, FunctionType) and find_member(kind, "__get__") is not None


# Key sets by which results of scikit-learn and skorch are recognized, by their first key.
_TIMED = {
    "fit_time": frozenset({"fit_time", "score_time"}),
    "mean_fit_time": frozenset(
        {"mean_fit_time", "mean_score_time", "std_fit_time", "std_score_time"}
    ),
    "batches": frozenset({"batches", "dur", "epoch"}),
}

_NO_TIMES = ("batches", "epoch")


def find_times(names: Sequence[object]) -> Collection[int]:
    """Return the positions of timings among the keys or columns of a table of results."""
    if not names or type(names[0]) is not str or names[0] not in _TIMED:
        return ()
    known = _TIMED[names[0]]
    plain = [name if type(name) is str else "" for name in names]  # no user code runs
    if not known < {*plain}:
        return ()
    return [n for n, name in enumerate(plain) if name in known and name not in _NO_TIMES]
