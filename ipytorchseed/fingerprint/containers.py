"""Containers: in order, sets without. Subclasses are read through the builtin type's methods."""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from itertools import repeat
from operator import is_
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_128, xxh3_128_digest

from ipytorchseed.fingerprint.objects import PARTS, extra
from ipytorchseed.fingerprint.scalars import LEAVES, number
from ipytorchseed.fingerprint.walk import Draft, Walk, Writer, Writing, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

SERIES = 8192
"""Numbers kept as values at most."""

_FEW = 8  # items from which on a look for equal types pays
_MANY = 4096  # tokens gathered between two updates of the hash


# --------------------------------------------------------------------------------------------------
# Items


def write_items(items: Iterable[object], walk: Walk) -> Generator[object, bytes, bytes]:
    """Digest items in their order; 16 bytes."""
    hasher, tokens = xxh3_128(), []
    for item in items:
        leaf = LEAVES.get(id(type(item)))
        token = None if leaf is None else leaf(item)
        if token is None:
            token = yield item
        tokens.append(token)
        if len(tokens) == _MANY:
            walk.tick(_MANY)
            hasher.update(b"".join(tokens))
            tokens.clear()
    walk.tick(len(tokens))
    hasher.update(b"".join(tokens))
    return hasher.digest()


_PACKED = {id(float): "d", id(int): "q", id(bool): "b", id(str): ""}
"""By the identity of the type, the code that ``array`` has for it."""


def _all_of(kind: type, items: Sequence[object]) -> bool:
    return all(map(is_, map(type, items), repeat(kind)))


def _packed(items: Sequence[Any], walk: Walk) -> bytes | None:
    """Digest many items of one builtin type at once, or return None where they are not."""
    kind = type(items[0])
    if id(kind) not in _PACKED or not _all_of(kind, items):
        return None
    if kind is str:
        lengths = array("q", map(len, items))
        joined = "".join(items).encode("utf-8", "surrogatepass")
        lengths_digest = walk.read(memoryview(lengths).cast("B"))
        return b"s" + lengths_digest + walk.read(memoryview(joined))
    code = _PACKED[id(kind)]
    try:
        return code.encode() + walk.read(memoryview(array(code, items)).cast("B"))
    except OverflowError:  # an integer of more than 64 bits
        return None


def series_of(items: Sequence[Any]) -> tuple[float, ...] | None:
    """Return integers and floats as floats, None where there are others, none or too many."""
    if not 0 < len(items) <= SERIES:
        return None
    if _all_of(float, items):
        return tuple(items)
    if _all_of(int, items):
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


def sequence_writer(word: str, base: Any, snapshot: Callable[[Any], Sequence[Any]]) -> Writer:  # noqa: ANN401
    """Make a writer of sequences.

    Args:
        word: The kind.
        base: The builtin type.
        snapshot: Returns the items of one, by the builtin type's own methods.
    """
    tag = word.encode()

    def write(value: Any, walk: Walk) -> Writing:  # noqa: ANN401
        top = walk.top
        items = snapshot(value)
        length = len(items)
        picked = walk.pick(items)
        digest = _packed(picked, walk) if length >= _FEW else None
        if digest is None and length < _FEW:  # most lists: without a generator more
            tokens: list[bytes] = []
            for item in picked:
                leaf = LEAVES.get(id(type(item)))
                token = None if leaf is None else leaf(item)
                tokens.append((yield item) if token is None else token)
            digest = b"".join(tokens)
        elif digest is None:
            digest = yield from write_items(picked, walk)
        more = b""
        if type(value) is not base:
            more = yield from extra(value, walk, base)
        if base is deque:
            more += b"%d;" % (-1 if (limit := _limit(value)) is None else limit)
        digest = xxh3_128_digest(tag + b"%d;" % length + more + digest)
        if not top:
            return Draft(digest, word)
        title = word if type(value) is base else type.__dict__["__name__"].__get__(type(value))
        return Draft(digest, word, f"{title} of {length:,}", {"length": str(length)},
                     series_of(items))  # fmt: skip

    return write


_limit = deque.__dict__["maxlen"].__get__

write_list = sequence_writer("list", list, list.copy)
write_tuple = sequence_writer("tuple", tuple, lambda it: tuple.__getitem__(it, slice(None)))
write_deque = sequence_writer("deque", deque, lambda it: [*deque.__iter__(it)])


# --------------------------------------------------------------------------------------------------
# Sets


def set_writer(base: Any) -> Writer:  # noqa: ANN401
    """Make a writer of sets: equal whatever order their items come in."""

    def write(value: Any, walk: Walk) -> Writing:  # noqa: ANN401
        top = walk.top
        items = [*base.__iter__(value)]
        tokens: list[bytes] = []
        # Their order is not content, and so no place to take a sample from: all or none.
        for item in items if walk.may_hold(len(items)) else ():
            if len(tokens) % _MANY == _MANY - 1:
                walk.tick(_MANY)
            leaf = LEAVES.get(id(type(item)))
            token = None if leaf is None else leaf(item)
            if token is None:
                token = yield item
            tokens.append(token)
        tokens.sort()
        more = yield from extra(value, walk, base)
        head = base.__name__.encode() + b"%d;" % len(items)
        digest = xxh3_128_digest(head + more + b"".join(tokens))
        if not top:
            return Draft(digest, base.__name__)
        summary = f"{base.__name__} of {len(items):,}"
        return Draft(digest, base.__name__, summary, {"length": str(len(items))})

    return write


# --------------------------------------------------------------------------------------------------
# Dictionaries


def items_of(value: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401
    """Return keys and values in order, without comparing or hashing a key of the user's.

    ``OrderedDict`` finds each next key by its hash. So its own order is asked for only where all
    keys are of builtin types; else it is the order in which they were first put in.
    """
    if issubclass(type(value), OrderedDict) and all(
        id(type(key)) in LEAVES for key in dict.keys(value)
    ):
        return [*OrderedDict.items(value)]
    return [*dict.items(value)]


def write_dict(value: Any, walk: Walk) -> Writing:  # noqa: ANN401
    """Write a dictionary, in the order of its keys: iterating over it can depend on that."""
    top = walk.top
    items = items_of(value)
    length = len(items)
    keep = top and length <= PARTS
    hasher, parts = xxh3_128(), {"length": str(length)}
    tokens: list[bytes] = []
    for key, item in walk.pick(items):
        for each in (key, item):
            leaf = LEAVES.get(id(type(each)))
            token = None if leaf is None else leaf(each)
            if token is None:
                token = yield each
            tokens.append(token)
        if keep and type(key) is str:
            parts[f"k:{key}"] = digest_of(tokens[-1])
        if len(tokens) >= _MANY:
            walk.tick(_MANY)
            hasher.update(b"".join(tokens))
            tokens.clear()
    walk.tick(len(tokens))
    hasher.update(b"".join(tokens))
    more = b""
    if type(value) is not dict:
        more = yield from extra(value, walk, dict)
    digest = xxh3_128_digest(b"dict%d;" % length + more + hasher.digest())
    if not top:
        return Draft(digest, "dict")
    title = type.__dict__["__name__"].__get__(type(value))
    return Draft(digest, "dict", f"{title} of {length:,}", parts)
