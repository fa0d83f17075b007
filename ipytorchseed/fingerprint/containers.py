"""Fingerprints of sequences, dictionaries and sets.

A subclass is read with the methods of its builtin type. Large containers are read in batches, and
the time budget is checked after each batch.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, repeat
from operator import is_
from typing import Any

from xxhash import xxh3_64, xxh3_64_hexdigest, xxh3_128, xxh3_128_digest, xxh3_128_intdigest

from ipytorchseed.fingerprint.memory import CHUNK
from ipytorchseed.fingerprint.meter import BATCH, ITEMS, SpentError
from ipytorchseed.fingerprint.objects import PARTS, encode_extras, find_times, inner_parts
from ipytorchseed.fingerprint.scalars import LEAVES
from ipytorchseed.fingerprint.walk import Bytes, Draft, Walk, Writer, Writing, digest_of
from ipytorchseed.introspection.anatomy import anatomy, find_member

# The maximum length of a ``series``: numbers that a fingerprint stores as values.
SERIES = 8192

# The ``id`` of each type whose objects are in a ``series``.
_NUMBERS = {id(int), id(float)}

_ENDS = 8  # items listed from each end of a sequence

# For sequences of fewer items, checking whether all have the same type takes too long.
_SHORT = 8

# To sample a container without indices, at most this many items are iterated over.
_NEAR = 2**16


# --------------------------------------------------------------------------------------------------
# Items


def _batches(
    walk: Walk, length: int, items: Iterable[Any], backward: Callable[[Any], Iterator[Any]] | None
) -> Iterator[list[Any]]:
    """Yield all items of a container without indices, or a sample, in batches.

    Args:
        walk: The current walk.
        length: The number of items.
        items: All items.
        backward: Returns an iterator over ``items`` from the end. If None, samples are empty.

    Raises:
        SpentError: There is no time, or another thread changed the container.
    """
    try:
        if walk.may_hold(length):
            iterator = iter(items)
            while batch := [*islice(iterator, BATCH)]:
                yield batch
        elif backward is not None:
            third = ITEMS // 3
            near = min(length - third, _NEAR)
            yield [*islice(items, third)]
            yield [*islice(items, third, near, near // third)]
            yield [*islice(backward(items), third)]
    except RuntimeError:
        raise SpentError from None


def write_batch(items: Sequence[Any], walk: Walk) -> Bytes:
    """Digest a batch of items in order; 17 or 33 bytes."""
    digest = _packed(items, walk) if len(items) >= _SHORT else None
    if digest is None:
        tokens = yield from walk.tokens(items)
        digest = b"." + xxh3_128_digest(b"".join(tokens))
    return digest


# The code in the ``array`` module of each type that is packed, by the type's ``id``.
_PACKED = {id(float): "d", id(int): "q", id(bool): "b", id(str): ""}


def _packed(items: Sequence[Any], walk: Walk) -> bytes | None:
    """Digest items at once if all have the same builtin type; else return None."""
    kind = type(items[0])
    if id(kind) not in _PACKED or not all(map(is_, map(type, items), repeat(kind))):
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
    """Return numbers as floats; None if empty, too long, or not all numbers."""
    if 0 < len(items) <= SERIES and {*map(id, map(type, items))} <= _NUMBERS:
        with suppress(OverflowError):
            return tuple(map(float, items))
    return None


# --------------------------------------------------------------------------------------------------
# Sequences


def sequence_writer(base: Any) -> Writer:
    """Return a writer for sequences, such as lists and their subclasses."""
    word: str = base.__name__

    def write(value: Any, walk: Walk) -> Writing:
        length = base.__len__(value)
        series = [*base.__iter__(value)] if length <= ITEMS else []
        tokens: list[bytes] | None = None
        if length < _SHORT:
            tokens = yield from walk.tokens(series, counted=False)
            body = b"".join(tokens)
        elif series:
            body = xxh3_128_digest((yield from write_batch(series, walk)))
        else:
            hasher = xxh3_128()
            for batch in _pieces(base, value, length, walk):
                hasher.update((yield from write_batch(batch, walk)))
                if walk.top and length <= SERIES:
                    series += batch
            body = hasher.digest()
        more = b"" if type(value) is base else (yield from encode_extras(value, walk, base))
        extras = {"more": xxh3_64_hexdigest(more)} if more else {}
        if base is deque:
            limit = _limit(value)
            more += b"%d;" % (-1 if limit is None else limit)
            extras["maxlen"] = str(limit)
        content = b"%b%d;" % (word.encode(), length) + more + body
        if not walk.top:
            return Draft(content, word)
        parts = extras | (yield from _sequence_parts(value, length, series, tokens, walk))
        numbers = series_of(series) if len(series) == length else None
        return Draft(content, word, f"{anatomy(type(value)).title} of {length:,}", parts, numbers)

    return write


_limit = deque.__dict__["maxlen"].__get__


def _pieces(base: Any, value: Any, length: int, walk: Walk) -> Iterator[Sequence[Any]]:
    """Yield all items of a long sequence, or a sample, in batches."""
    if base is deque:
        plain = value if type(value) is deque else deque(deque.__iter__(value))
        return _batches(walk, length, plain, reversed)
    return (base.__getitem__(value, span) for span in walk.spans(length))


# The ``id`` of each type that is indexed from 0. A subclass may override ``__getitem__``.
_NUMBERED = frozenset(map(id, (list, tuple, deque)))


def _sequence_parts(
    value: Any, length: int, series: list[Any], tokens: list[bytes] | None, walk: Walk
) -> Generator[object, bytes, dict[str, str]]:
    """Return a part for each item at the ends, and parts for all items if few.

    Args:
        value: The sequence.
        length: The number of items.
        series: All items, if they are few.
        tokens: The tokens of ``series``, if known.
        walk: The current walk.
    """
    parts = {"length": str(length)}
    if length <= PARTS:
        if tokens is None:
            tokens = yield from walk.tokens(series)
        parts["items"] = xxh3_64_hexdigest(b"".join(sorted(tokens)))
        named = zip(_fields(type(value)), tokens, strict=False)
        parts |= {f"a:{name}": digest_of(token) for name, token in named}
    if id(type(value)) not in _NUMBERED:
        return parts
    near = min(length, _ENDS)
    places = [*range(near), *range(-near, 0)]
    try:
        ends = [(tokens or value)[place] for place in places]
    except IndexError:  # another thread removed items
        raise SpentError from None
    if tokens is None:
        ends = yield from walk.tokens(ends)
    return parts | {f"k:[{n}]": digest_of(token) for n, token in zip(places, ends, strict=True)}


def _fields(kind: type) -> tuple[str, ...]:
    """Return the field names of a named tuple class; none for any other class."""
    found = find_member(kind, "_fields", ())
    plain = issubclass(kind, tuple) and type(found) is tuple
    return found if plain and all(type(each) is str for each in found) else ()


# --------------------------------------------------------------------------------------------------
# Sets


def set_writer(base: Any) -> Writer:
    """Return a writer for sets, whose digest does not depend on the order of items."""

    def write(value: Any, walk: Walk) -> Writing:
        length = base.__len__(value)
        total, order = 0, xxh3_64()
        # Sets have no fixed order, so a sample would vary: read all items or none.
        for batch in _batches(walk, length, base.__iter__(value), None):
            tokens = yield from walk.tokens(batch)
            total += sum(map(xxh3_128_intdigest, tokens))
            order.update(b"".join(tokens))
        more = yield from encode_extras(value, walk, base)
        content = base.__name__.encode() + b"%d;%x;" % (length, total) + more
        parts = {"length": str(length), "order": order.hexdigest()}
        if more:
            parts["more"] = xxh3_64_hexdigest(more)
        return Draft(content, base.__name__, f"{base.__name__} of {length:,}", parts)

    return write


# --------------------------------------------------------------------------------------------------
# Dictionaries


def _entries(value: Any, length: int, walk: Walk) -> Iterator[list[tuple[Any, Any]]]:
    """Yield all items of a dictionary, or a sample, in batches.

    The items of an ``OrderedDict`` are in its own order, if all keys are of builtin types.
    Otherwise, ``OrderedDict.items`` would run user code: it hashes each key.
    """
    if length <= PARTS and type(value) is dict:  # the usual case
        return iter([[*dict.items(value)]])
    ordered = issubclass(type(value), OrderedDict) and walk.may_hold(length)
    if ordered and LEAVES.keys() >= {*map(id, map(type, dict.keys(value)))}:
        return _batches(walk, length, OrderedDict.items(value), reversed)
    return _batches(walk, length, dict.items(value), reversed)


def _name_item(key: object) -> str:
    """Return the name of the part for a key; empty if it is not a string or integer."""
    return f"k:{key}" if type(key) is str else f"k:[{key}]" if type(key) is int else ""


def write_dict(value: Any, walk: Walk) -> Writing:
    """Encode a dictionary in order, because iteration may depend on it."""
    length = dict.__len__(value)
    parts = {"length": str(length)}
    hasher = xxh3_128()
    for batch in _entries(value, length, walk):
        if len(batch) <= PARTS:
            for place in find_times([key for key, _ in batch]):
                batch[place] = batch[place][0], None
            tokens = yield from walk.tokens([each for item in batch for each in item])
            hasher.update(b"".join(tokens))
            if walk.top and length <= PARTS:
                told = zip(batch, tokens[1::2], strict=True)
                parts |= {name: digest_of(t) for (key, _), t in told if (name := _name_item(key))}
                parts["keys"] = xxh3_64_hexdigest(b"".join(tokens[::2]))
                named = [(key, each) for key, each in batch if type(key) is str]
                parts = (yield from inner_parts(named, walk, "k")) | parts
        else:
            for each in zip(*batch, strict=True):  # the keys, and the values
                hasher.update((yield from write_batch(each, walk)))
    more = b"" if type(value) is dict else (yield from encode_extras(value, walk, dict))
    content = b"dict%d;" % length + more + hasher.digest()
    if not walk.top:
        return Draft(content, "dict")
    if more:
        parts["more"] = xxh3_64_hexdigest(more)
    return Draft(content, "dict", f"{anatomy(type(value)).title} of {length:,}", parts)
