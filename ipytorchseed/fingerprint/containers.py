"""Fingerprints of sequences, in order, and sets.

Subclasses are read as the builtin type. Large ones are read in batches, between which the clock
is checked.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import islice, repeat
from operator import is_
from typing import Any

from xxhash import xxh3_64, xxh3_64_hexdigest, xxh3_128, xxh3_128_digest, xxh3_128_intdigest

from ipytorchseed.fingerprint.budget import SpentError
from ipytorchseed.fingerprint.buffers import CHUNK
from ipytorchseed.fingerprint.meter import BATCH, ITEMS
from ipytorchseed.fingerprint.objects import PARTS, extra
from ipytorchseed.fingerprint.scalars import LEAVES, number
from ipytorchseed.fingerprint.walk import SHORT, Bytes, Draft, Walk, Writer, Writing, digest_of
from ipytorchseed.introspection.anatomy import find_member

# The most numbers that are kept as values.
SERIES = 8192

_ENDS = 8  # items listed from each end of a sequence


# --------------------------------------------------------------------------------------------------
# Items


def batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield items in batches.

    Raises:
        SpentError: Another thread changed the container.
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


# Items that a sample of a container without indices skips at most.
_NEAR = 2**16


def ends(
    forward: Callable[[], Iterator[Any]], backward: Iterator[Any], length: int
) -> Iterator[list[Any]]:
    """Yield the ends of a container without indices, and some items between.

    Raises:
        SpentError: Another thread changed the container.
    """
    third = ITEMS // 3
    near = min(length - third, _NEAR)
    try:
        yield [*islice(forward(), third)]
        yield [*islice(forward(), third, near, near // third)]
        yield [*islice(backward, third)]
    except RuntimeError:
        raise SpentError from None


def write_tokens(
    items: Iterable[object], walk: Walk, *, counted: bool = True
) -> Generator[object, bytes, list[bytes]]:
    """Write items one by one, and count them as visited.

    If ``counted`` is not set, leaves do not count.
    """
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


# By the identity of the type, its code in the ``array`` module.
_PACKED = {id(float): "d", id(int): "q", id(bool): "b", id(str): ""}


def _are_all(kind: type, items: Sequence[object]) -> bool:
    return all(map(is_, map(type, items), repeat(kind)))


def _packed(items: Sequence[Any], walk: Walk) -> bytes | None:
    """Digest items of one builtin type at once; return None for others."""
    kind = type(items[0])
    if id(kind) not in _PACKED or not _are_all(kind, items):
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
    except OverflowError:  # an integer with more than 64 bits
        return None
    walk.tick(len(items))
    return code.encode() + xxh3_128_digest(packed)


def series_of(items: Sequence[Any]) -> tuple[float, ...] | None:
    """Return integers and floats as floats; None for others, none or too many."""
    if not 0 < len(items) <= SERIES:
        return None
    if _are_all(float, items) or _are_all(int, items):
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
    """Return a writer of sequences of a builtin type."""
    word: str = base.__name__
    tag = word.encode()

    def write(value: Any, walk: Walk) -> Writing:
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
                if walk.top and length <= SERIES:
                    series = [*series, *batch]
            digest = hasher.digest()
        more = b"" if type(value) is base else (yield from extra(value, walk, base))
        beside = {"beside": xxh3_64_hexdigest(more)} if more else {}
        if base is deque:
            limit = _limit(value)
            more += b"%d;" % (-1 if limit is None else limit)
            beside["maxlen"] = str(limit)
        digest = xxh3_128_digest(tag + b"%d;" % length + more + digest)
        if not walk.top:
            return Draft(digest, word)
        parts = beside | (yield from _sequence_parts(value, length, series, tokens, walk))
        title = word if type(value) is base else type.__dict__["__name__"].__get__(type(value))
        numbers = series_of(series) if len(series) == length else None
        return Draft(digest, word, f"{title} of {length:,}", parts, numbers)

    return write


# Types that number their items from 0, by identity; a user's class may differ.
_NUMBERED = frozenset(map(id, (list, tuple, deque)))


def _sequence_parts(
    value: Any, length: int, series: Sequence[object], tokens: list[bytes] | None, walk: Walk
) -> Generator[object, bytes, dict[str, str]]:
    """Return parts for the items of a short sequence, and for both ends of any.

    Args:
        value: The sequence.
        length: The number of items.
        series: All items, if they are few.
        tokens: Their tokens, if known.
        walk: The walk.
    """
    parts = {"length": str(length)}
    if length <= PARTS:
        if tokens is None:
            tokens = yield from write_tokens(series, walk)
        else:
            walk.tick(length)
        parts["items"] = xxh3_64_hexdigest(b"".join(sorted(tokens)))
        named = zip(_fields(type(value)), tokens, strict=False)
        parts |= {f"a:{name}": digest_of(token) for name, token in named}
    if id(type(value)) not in _NUMBERED:
        return parts
    near = min(length, _ENDS)
    places = [*range(near), *range(-near, 0)]
    if tokens is None:
        try:
            items = [value[place] for place in places]
        except IndexError:  # another thread removed items
            raise SpentError from None
        ends = yield from write_tokens(items, walk)
    else:
        walk.tick(len(places))
        ends = [tokens[place] for place in places]
    parts |= {f"k:[{place}]": digest_of(token) for place, token in zip(places, ends, strict=True)}
    return parts


def _fields(kind: type) -> tuple[str, ...]:
    """Return the names of a named tuple's items; none for any other type."""
    found = find_member(kind, "_fields", ())
    plain = issubclass(kind, tuple) and type(found) is tuple
    return found if plain and all(type(each) is str for each in found) else ()


_limit = deque.__dict__["maxlen"].__get__


def _batches(base: Any, value: Any, length: int, walk: Walk) -> Iterator[Sequence[Any]]:
    """Yield the items of a sequence in batches: all, or the ends and some between."""
    if base is deque:
        if walk.may_hold(length):
            return batches(deque.__iter__(value))
        return ends(lambda: deque.__iter__(value), deque.__reversed__(value), length)
    return (base.__getitem__(value, span) for span in walk.spans(length))


# --------------------------------------------------------------------------------------------------
# Sets


def set_writer(base: Any) -> Writer:
    """Return a writer of sets, which ignores the order of items."""

    def write(value: Any, walk: Walk) -> Writing:
        length = base.__len__(value)
        total, order = 0, xxh3_64()
        # Their order is not content, so there is no fixed sample: all or none.
        if walk.may_hold(length):
            for batch in batches(base.__iter__(value)):
                tokens = yield from write_tokens(batch, walk)
                total += sum(map(xxh3_128_intdigest, tokens))
                order.update(b"".join(tokens))
        more = yield from extra(value, walk, base)
        head = base.__name__.encode() + b"%d;%x;" % (length, total)
        digest = xxh3_128_digest(head + more)
        if not walk.top:
            return Draft(digest, base.__name__)
        summary = f"{base.__name__} of {length:,}"
        parts = {"length": str(length), "order": order.hexdigest()}
        if more:
            parts["beside"] = xxh3_64_hexdigest(more)
        return Draft(digest, base.__name__, summary, parts)

    return write
