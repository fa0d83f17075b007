"""What is not content: hashes, cached properties, and times that libraries record."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
        Content, and results: the items of such a dictionary one by one. Hashes are neither.
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


_HASHED = frozenset({bytes, frozenset, str, tuple})
_SCALARS = frozenset({bool, bytes, complex, float, int, str, type(None)})
# Bits that nearly every hash of a string has more of.
_LARGE = 32


def _without_hashes(kind: type, items: Items) -> Items:
    """Leave out caches of ``__hash__``, and hashes of other attributes.

    Those of strings are random in each process. The first are known by a private name, as SymPy's
    and Cirq's are: only hashes of built-in values are computed here.
    """
    ints = [(name, value) for name, value in items if value is None or type(value) is int]
    own = isinstance(find_member(kind, "__hash__"), FunctionType)
    gone = {name for name, _ in ints if own and name[:1] == "_" and "hash" in name}
    large = [pair for pair in ints if type(pair[1]) is int and pair[1].bit_length() > _LARGE]
    if large:
        hashes = {hash(value) for _, value in items if _is_hashed_alike(value)}
        gone |= {name for name, value in large if value in hashes}
    return [each for each in items if each[0] not in gone] if gone else items


def _is_hashed_alike(value: object) -> bool:
    """Return whether no code of the user's computes the hash of a value."""
    kind = type(value)
    if kind not in _HASHED:
        return False
    return kind in _SCALARS or all(type(each) in _SCALARS for each in value)  # type: ignore[attr-defined]


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


# By the first name in results of scikit-learn and skorch: those by which they are known.
_TIMED = {
    "fit_time": frozenset({"fit_time", "score_time"}),
    "mean_fit_time": frozenset(
        {"mean_fit_time", "mean_score_time", "std_fit_time", "std_score_time"}
    ),
    "batches": frozenset({"batches", "dur", "epoch"}),
}

_NO_TIMES = ("batches", "epoch")


def find_times(names: Sequence[object]) -> Collection[int]:
    """Return the positions of times among the keys or columns of a library's results."""
    if not names or type(names[0]) is not str or names[0] not in _TIMED:
        return ()
    known = _TIMED[names[0]]
    plain = [name if type(name) is str else "" for name in names]  # no user code runs
    if not known < {*plain}:
        return ()
    return [n for n, name in enumerate(plain) if name in known and name not in _NO_TIMES]
