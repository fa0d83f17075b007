"""Fingerprints of dictionaries, in the order of their keys."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from xxhash import xxh3_64_hexdigest, xxh3_128, xxh3_128_digest

from ipytorchseed.fingerprint.containers import batches, ends, write_batch, write_tokens
from ipytorchseed.fingerprint.objects import PARTS, extra, inner_parts
from ipytorchseed.fingerprint.scalars import LEAVES
from ipytorchseed.fingerprint.walk import Draft, Walk, Writing, digest_of


def _items(value: Any, walk: Walk) -> Iterator[tuple[Any, Any]]:
    """Yield keys and values in order, without comparing or hashing a user's key.

    ``OrderedDict`` looks up each next key by its hash. So its order is used only if all keys are
    of builtin types; else the order of insertion is used.
    """
    if issubclass(type(value), OrderedDict):
        for batch in batches(dict.keys(value)):
            walk.tick(len(batch))
            if not all(id(kind) in LEAVES for kind in map(type, batch)):
                break
        else:
            return iter(OrderedDict.items(value))
    return iter(dict.items(value))


def _entries(value: Any, length: int, walk: Walk) -> Iterator[list[tuple[Any, Any]]]:
    """Yield the items of a dictionary in batches: all, or its ends and some between."""
    if length <= PARTS and type(value) is dict:  # the usual case
        yield [*value.items()]
        return
    if walk.may_hold(length):
        yield from batches(_items(value, walk))
        return
    items = dict.items(value)
    yield from ends(lambda: iter(items), iter(reversed(items)), length)


def _name_item(key: object) -> str:
    """Return the part's name for an item, or an empty string for other keys."""
    return f"k:{key}" if type(key) is str else f"k:[{key}]" if type(key) is int else ""


# Results of scikit-learn and skorch: the names by which they are known, and those of times.
_TIMED: tuple[tuple[frozenset[object], frozenset[object]], ...] = (
    (frozenset({"fit_time", "score_time"}),) * 2,
    (frozenset({"mean_fit_time", "mean_score_time", "std_fit_time", "std_score_time"}),) * 2,
    (frozenset({"batches", "dur", "epoch"}), frozenset({"dur"})),
)

_FIRST = frozenset({"batches", "fit_time", "mean_fit_time"})


def find_times(names: Sequence[object]) -> Collection[int]:
    """Return the positions of times among the keys or columns of a library's results."""
    if not names or type(names[0]) is not str or names[0] not in _FIRST:
        return ()
    plain = [name if type(name) is str else "" for name in names]  # no user code runs
    for known, times in _TIMED:
        if known < {*plain}:
            return [place for place, name in enumerate(plain) if name in times]
    return ()


def write_dict(value: Any, walk: Walk) -> Writing:
    """Write a dictionary in order, because iteration may depend on it."""
    length = dict.__len__(value)
    parts = {"length": str(length)}
    hasher = xxh3_128()
    for batch in _entries(value, length, walk):
        if len(batch) <= PARTS:
            for place in find_times([key for key, _ in batch]):
                batch[place] = batch[place][0], None
            tokens = yield from write_tokens([each for item in batch for each in item], walk)
            hasher.update(b"".join(tokens))
            if walk.top and length <= PARTS:
                told = zip(batch, tokens[1::2], strict=True)
                parts |= {name: digest_of(t) for (key, _), t in told if (name := _name_item(key))}
                parts["keys"] = xxh3_64_hexdigest(b"".join(tokens[::2]))
                named = [(key, each) for key, each in batch if type(key) is str]
                parts = (yield from inner_parts(named, walk, "k")) | parts
        else:
            keys, values = zip(*batch, strict=True)
            hasher.update((yield from write_batch(keys, walk)))
            hasher.update((yield from write_batch(values, walk)))
    more = b"" if type(value) is dict else (yield from extra(value, walk, dict))
    digest = xxh3_128_digest(b"dict%d;" % length + more + hasher.digest())
    if not walk.top:
        return Draft(digest, "dict")
    if more:
        parts["beside"] = xxh3_64_hexdigest(more)
    title = type.__dict__["__name__"].__get__(type(value))
    return Draft(digest, "dict", f"{title} of {length:,}", parts)
