"""Containers: in order, sets without. Subclasses are read through the builtin type's methods.

Nothing is copied whole: large ones are read in batches, between which the clock is asked.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from itertools import islice, repeat
from operator import is_
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_64, xxh3_64_hexdigest, xxh3_128, xxh3_128_digest, xxh3_128_intdigest

from ipytorchseed.fingerprint.budget import SpentError
from ipytorchseed.fingerprint.buffers import CHUNK
from ipytorchseed.fingerprint.objects import PARTS, extra
from ipytorchseed.fingerprint.scalars import LEAVES, number
from ipytorchseed.fingerprint.walk import (
    BATCH,
    ITEMS,
    SHORT,
    Bytes,
    Draft,
    Walk,
    Writer,
    Writing,
    digest_of,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

SERIES = 8192
"""Numbers kept as values at most."""

_ENDS = 8  # items told one by one from each end of a sequence
_NEAR = 2**16  # entries of a dictionary that a sample steps over: it cannot be indexed


# --------------------------------------------------------------------------------------------------
# Items


def batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    """Take items a batch at a time.

    Raises:
        SpentError: Another thread changed what is iterated over.
    """
    iterator = iter(items)
    while True:
        try:
            batch = [*islice(iterator, BATCH)]
        except RuntimeError:
            raise SpentError from None
        if not batch:
            return
        yield batch


def write_tokens(
    items: Iterable[object], walk: Walk, *, counted: bool = True
) -> Generator[object, bytes, list[bytes]]:
    """Write items one by one; they count as visited, or only those do that are no leaves."""
    tokens = []
    for item in items:
        leaf = LEAVES.get(id(type(item)))
        token = walk.short(item) if leaf is None else leaf(item)
        tokens.append((yield item) if token is None else token)
    if counted:
        walk.tick(len(tokens))
    return tokens


def write_batch(items: Sequence[Any], walk: Walk) -> Bytes:
    """Digest a batch of items in their order; 17 or 32 bytes."""
    digest = _packed(items, walk) if len(items) >= SHORT else None
    if digest is None:
        tokens = yield from write_tokens(items, walk)
        digest = b"." + xxh3_128_digest(b"".join(tokens))
    return digest


def write_items(items: Sequence[object], walk: Walk) -> Bytes:
    """Digest a few items in their order; 16 bytes."""
    return xxh3_128_digest(b"".join((yield from write_tokens(items, walk))))


_PACKED = {id(float): "d", id(int): "q", id(bool): "b", id(str): ""}
"""By the identity of the type, the code that ``array`` has for it."""


def _all_of(kind: type, items: Sequence[object]) -> bool:
    return all(map(is_, map(type, items), repeat(kind)))


def _packed(items: Sequence[Any], walk: Walk) -> bytes | None:
    """Digest items of one builtin type at once, or return None where they are not."""
    kind = type(items[0])
    if id(kind) not in _PACKED or not _all_of(kind, items):
        return None
    if kind is str:
        lengths = array("q", map(len, items))
        if sum(lengths) > CHUNK:
            return None
        walk.tick(len(items))
        joined = "".join(items).encode("utf-8", "surrogatepass")
        return b"s" + xxh3_128_digest(lengths) + xxh3_128_digest(joined)
    code = _PACKED[id(kind)]
    try:
        packed = array(code, items)
    except OverflowError:  # an integer of more than 64 bits
        return None
    walk.tick(len(items))
    return code.encode() + xxh3_128_digest(packed)


def series_of(items: Sequence[Any]) -> tuple[float, ...] | None:
    """Return integers and floats as floats, None where there are others, none or too many."""
    if not 0 < len(items) <= SERIES:
        return None
    if _all_of(float, items) or _all_of(int, items):
        try:
            return tuple(map(float, items))
        except OverflowError:
            return None
    found: list[float] = []
    for item in items:
        one = number(item)
        if one is None:
            return None
        found += one
    return tuple(found)


def sequence_writer(base: Any) -> Writer:
    """Make a writer of sequences of a builtin type."""
    word: str = base.__name__
    tag = word.encode()

    def write(value: Any, walk: Walk) -> Writing:
        top = walk.top
        length = base.__len__(value)
        series: Sequence[Any] = [*base.__iter__(value)] if length <= ITEMS else ()
        tokens: list[bytes] | None = None
        if length < SHORT:
            tokens = yield from write_tokens(series, walk, counted=False)
            digest = b"".join(tokens)
        elif length <= ITEMS:
            digest = xxh3_128_digest((yield from write_batch(series, walk)))
        else:
            hasher = xxh3_128()
            for batch in _batches(base, value, length, walk):
                hasher.update((yield from write_batch(batch, walk)))
                if top and length <= SERIES:
                    series = [*series, *batch]
            digest = hasher.digest()
        more = b""
        if type(value) is not base:
            more = yield from extra(value, walk, base)
        if base is deque:
            more += b"%d;" % (-1 if (limit := _limit(value)) is None else limit)
        digest = xxh3_128_digest(tag + b"%d;" % length + more + digest)
        if not top:
            return Draft(digest, word)
        parts = yield from _sequence_parts(value, length, series, tokens, walk)
        title = word if type(value) is base else type.__dict__["__name__"].__get__(type(value))
        numbers = series_of(series) if len(series) == length else None
        return Draft(digest, word, f"{title} of {length:,}", parts, numbers)

    return write


_NUMBERED = frozenset(map(id, (list, tuple, deque)))
"""Types that number their items from 0; a class of the user's may do so otherwise. By identity."""


def _sequence_parts(
    value: Any,
    length: int,
    series: Sequence[object],
    tokens: list[bytes] | None,
    walk: Walk,
) -> Generator[object, bytes, dict[str, str]]:
    """Tell the items of a short sequence, in any order, and apart those at both ends of any.

    Args:
        value: The sequence.
        length: How many items it has.
        series: All of them, where they are few.
        tokens: Theirs, where they are known.
        walk: For whom.
    """
    parts = {"length": str(length)}
    if length <= PARTS:
        if tokens is None:
            tokens = yield from write_tokens(series, walk)
        else:
            walk.tick(length)
        parts["items"] = xxh3_64_hexdigest(b"".join(sorted(tokens)))
    if id(type(value)) not in _NUMBERED:
        return parts
    near = min(length, _ENDS)
    places = [*range(near), *range(-near, 0)]
    if tokens is None:
        try:
            items = [value[place] for place in places]
        except IndexError:  # another thread took items away
            raise SpentError from None
        ends = yield from write_tokens(items, walk)
    else:
        walk.tick(len(places))
        ends = [tokens[place] for place in places]
    parts |= {f"k:[{place}]": digest_of(token) for place, token in zip(places, ends, strict=True)}
    return parts


_limit = deque.__dict__["maxlen"].__get__


def _batches(base: Any, value: Any, length: int, walk: Walk) -> Iterator[Sequence[Any]]:
    """Take the items of a sequence in batches: all, or the ends and some between."""
    if base is deque:
        return _deque(value, length, walk)
    return (base.__getitem__(value, span) for span in walk.spans(length))


def _deque(value: Any, length: int, walk: Walk) -> Iterator[Sequence[Any]]:
    if walk.may_hold(length):
        yield from batches(deque.__iter__(value))
        return
    for span in walk.spans(length):
        try:
            yield [deque.__getitem__(value, place) for place in range(*span.indices(length))]
        except IndexError:  # another thread took items away
            raise SpentError from None


# --------------------------------------------------------------------------------------------------
# Sets


def set_writer(base: Any) -> Writer:
    """Make a writer of sets: equal whatever order their items come in."""

    def write(value: Any, walk: Walk) -> Writing:
        top = walk.top
        length = base.__len__(value)
        total, order = 0, xxh3_64()
        # Their order is not content, and so no place to take a sample from: all or none.
        if walk.may_hold(length):
            for batch in batches(base.__iter__(value)):
                tokens = yield from write_tokens(batch, walk)
                total += sum(map(xxh3_128_intdigest, tokens))
                order.update(b"".join(tokens))
        more = yield from extra(value, walk, base)
        head = base.__name__.encode() + b"%d;%x;" % (length, total)
        digest = xxh3_128_digest(head + more)
        if not top:
            return Draft(digest, base.__name__)
        summary = f"{base.__name__} of {length:,}"
        parts = {"length": str(length), "order": order.hexdigest()}
        return Draft(digest, base.__name__, summary, parts)

    return write


# --------------------------------------------------------------------------------------------------
# Dictionaries


def _items(value: Any, walk: Walk) -> Iterator[tuple[Any, Any]]:
    """Iterate over keys and values in order, without comparing or hashing a key of the user's.

    ``OrderedDict`` finds each next key by its hash. So its own order is asked for only where all
    keys are of builtin types; else it is the order in which they were first put in.
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
    """Take the items of a dictionary in batches: all, or its ends and some between."""
    if length <= PARTS and type(value) is dict:  # most
        yield [*value.items()]
        return
    if walk.may_hold(length):
        yield from batches(_items(value, walk))
        return
    third = ITEMS // 3
    near = min(length - third, _NEAR)
    try:
        yield [*islice(dict.items(value), third)]
        yield [*islice(dict.items(value), third, near, near // third)]
        yield [*islice(reversed(dict.items(value)), third)]
    except RuntimeError:  # another thread changed it
        raise SpentError from None


def _name_item(key: object) -> str:
    """Name an item as a part; nothing where its key is neither a text nor an integer."""
    return f"k:{key}" if type(key) is str else f"k:[{key}]" if type(key) is int else ""


def _inner_parts(
    items: Sequence[tuple[object, Any]], walk: Walk
) -> Generator[object, bytes, dict[str, str]]:
    """Tell the items of small dictionaries inside a dictionary apart: ``k:train.rate``."""
    inner = [
        (f"{outer}.{key}", each)
        for outer, value in items
        if type(outer) is str and type(value) is dict and len(value) <= PARTS
        for key, each in [*value.items()]
        if type(key) is str
    ]
    names = [name for name, _ in inner] + [name for name, _ in items if type(name) is str]
    if len(inner) > PARTS or len({*names}) < len(names):
        return {}
    tokens = yield from write_tokens([each for _, each in inner], walk)
    return {f"k:{name}": digest_of(token) for (name, _), token in zip(inner, tokens, strict=True)}


_TIMES = {
    times[0]: times
    for times in (
        ("fit_time", "score_time"),
        ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time"),
    )
}
"""With what begin the results of ``cross_validate``, and the ``cv_results_`` of a search."""


def count_times(names: Sequence[object]) -> int:
    """Count the times with which the results of scikit-learn's model selection begin.

    Args:
        names: The keys or columns, in their order.

    Returns:
        How many of the first are times; 0 where these are no such results.
    """
    times = _TIMES.get(names[0]) if names and type(names[0]) is str else None
    if times is None or len(names) <= len(times):
        return 0
    first = names[: len(times)]
    plain = all(type(name) is str for name in first)  # others are not compared: code of theirs
    return len(times) if plain and (*first,) == times else 0


def write_dict(value: Any, walk: Walk) -> Writing:
    """Write a dictionary, in the order of its keys: iterating over it can depend on that."""
    top = walk.top
    length = dict.__len__(value)
    parts = {"length": str(length)}
    hasher = xxh3_128()
    for batch in _entries(value, length, walk):
        if len(batch) <= PARTS:
            times = count_times([key for key, _ in batch])
            batch[:times] = [(key, None) for key, _ in batch[:times]]
            tokens = yield from write_tokens([each for item in batch for each in item], walk)
            hasher.update(b"".join(tokens))
            if top and length <= PARTS:
                told = zip(batch, tokens[1::2], strict=True)
                parts |= {name: digest_of(t) for (key, _), t in told if (name := _name_item(key))}
                parts["keys"] = xxh3_64_hexdigest(b"".join(tokens[::2]))
                parts |= yield from _inner_parts(batch, walk)
        else:
            keys, values = zip(*batch, strict=True)
            hasher.update((yield from write_batch(keys, walk)))
            hasher.update((yield from write_batch(values, walk)))
    more = b""
    if type(value) is not dict:
        more = yield from extra(value, walk, dict)
    digest = xxh3_128_digest(b"dict%d;" % length + more + hasher.digest())
    if not top:
        return Draft(digest, "dict")
    title = type.__dict__["__name__"].__get__(type(value))
    return Draft(digest, "dict", f"{title} of {length:,}", parts)
