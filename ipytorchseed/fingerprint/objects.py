"""Fingerprints of objects by their attributes, in ``__slots__`` and ``__dict__``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

from ipytorchseed.fingerprint.scalars import LEAVES, count, join, name_bytes
from ipytorchseed.fingerprint.walk import Bytes, Draft, Tokens, Walk, Writer, Writing, digest_of
from ipytorchseed.introspection.anatomy import anatomy, find_member, mro, own, per_object
from ipytorchseed.introspection.values import text

Items = list[tuple[str, object]]

# The maximum number of items, and of attributes, that are listed as parts.
PARTS, _ATTRIBUTES = 32, 128


def encode_extras(value: object, walk: Walk, base: type, skip: Collection[str] = ()) -> Bytes:
    """Encode the name and attributes of a subclass of a builtin type.

    Args:
        value: The object.
        walk: The current walk.
        base: The builtin type. For an object of exactly this type, nothing is written.
        skip: Names of attributes that are not written.
    """
    kind = type(value)
    if kind is base:
        return b""
    made = anatomy(kind)
    items = [item for item in made.attributes(value) if item[0] not in skip]
    tokens = yield from walk.named(items)
    return name_bytes(made.name) + join(tokens)


def attribute_parts(tokens: Tokens) -> dict[str, str]:
    """Return one part for each attribute, or only their number if there are many."""
    if len(tokens) > _ATTRIBUTES:
        return {"length": str(len(tokens))}
    return {f"a:{name}": digest_of(token) for name, token in tokens}


def inner_parts(
    items: Sequence[tuple[str, object]], walk: Walk, letter: str = "a"
) -> Generator[object, bytes, dict[str, str]]:
    """Return parts for the contents of inner objects and dictionaries.

    For example, ``a:config.rate`` is the attribute or item ``rate`` of the attribute ``config``.

    Args:
        items: The names and values in which to search.
        walk: The current walk.
        letter: The prefix of the parts: ``a`` for attributes, ``k`` for items of a dictionary.
    """
    found, known = dict[str, str](), set[int]()
    inner = [each for each in items if id(type(each[1])) not in LEAVES]
    while inner:
        name, value = inner.pop(0)
        if id(value) in known:
            continue
        known.add(id(value))
        if walk.writer(type(value)) in _plain:
            held, _ = without_results(type(value), anatomy(type(value)).attributes(value))
        else:
            held = [*value.items()] if type(value) is dict and len(value) <= PARTS else []
        own = [(f"{name}.{key}", each) for key, each in held if type(key) is str]
        if len(found) + len(own) > PARTS:
            break
        tokens = yield from walk.named(own)
        found |= {f"{letter}:{key}": digest_of(token) for key, token in tokens}
        inner += [each for each in own if id(type(each[1])) not in LEAVES]
    return found


def state_writer(
    word: str, state: Callable[[Any], object], *, show: bool = False, opaque: bool = False
) -> Writer:
    """Return a writer that encodes the result of a function instead of the object.

    Args:
        word: The kind of the objects.
        state: Returns the content of an object: a dictionary of parts, or another value. It must
            not run user code.
        show: Whether the summary includes the state if it is a string.
        opaque: Whether the objects have other content that cannot be read.
    """

    def write(value: Any, walk: Walk) -> Writing:
        held, parts = state(value), dict[str, str]()
        if type(held) is dict:
            tokens = yield from walk.named(held.items())
            token, parts = join(tokens), attribute_parts(tokens) if walk.top else parts
        else:
            (token,) = yield from walk.tokens((held,), counted=False)
        made = anatomy(type(value))
        if opaque:
            walk.mark_unseen(made.name)
        content = word.encode() + name_bytes(made.name) + token
        shown = f"{made.title} {held}"[:80] if show and type(held) is str else made.title
        return Draft(content, word, shown, parts, opaque=opaque)

    return write


def _without(items: Items, skip: Collection[str]) -> Items:
    """Return the items that are not skipped; see ``object_writer``."""
    outer = {name.partition(".")[0] for name in skip if "." in name}
    left: Items = []
    for name, item in items:
        if name in outer and type(item) is dict:
            left += [(f"{name}.{key}", each) for key, each in [*item.items()] if type(key) is str]
        else:
            left.append((name, item))
    return [each for each in left if each[0] not in skip]


def object_writer(*skip: str, kind: str = "object") -> Writer:
    """Return a writer that encodes objects by their attributes.

    An object with memory that only C code can read is marked as opaque, but its attributes are
    written too.

    Args:
        *skip: Names of attributes that are not content. ``name.key`` skips the item ``key`` of a
            dictionary in the attribute ``name``.
        kind: The kind of the objects.
    """

    def write(value: Any, walk: Walk) -> Writing:
        made = anatomy(type(value))
        items = made.attributes(value)
        if skip:
            items = _without(items, skip)
        items, results = without_results(type(value), items)
        walk.keep((yield from walk.named(results)), made.title)
        tokens = yield from walk.named(walk.pick(items))
        content = b"object" + name_bytes(made.name) + b"%d;" % len(items) + join(tokens)
        hidden = made.hidden and kind != "namespace"  # a namespace is only its dictionary
        if hidden:
            walk.mark_unseen(made.name)
        if not walk.top:
            return Draft(content, kind)
        summary = f"{made.title}, {count(len(items), 'attribute')}"
        if items and items[0][0] == "__dict__":
            summary = f"{made.title}, thousands of attributes"
        word = "opaque" if hidden and kind == "object" else kind
        parts = attribute_parts(tokens)
        if write in _plain and len(tokens) <= PARTS:
            parts |= yield from inner_parts(items, walk)
        return Draft(content, word, summary, parts, opaque=hidden)

    BY_ATTRIBUTES.add(write)
    return write


# The writers that ``object_writer`` returned.
BY_ATTRIBUTES: set[Writer] = set()


write_object, write_namespace = object_writer(), object_writer(kind="namespace")

# Writers of ordinary objects. The attributes of such an object become parts of the outer object.
_plain = frozenset({write_object, write_namespace})


# --------------------------------------------------------------------------------------------------
# Values inside objects that are not content: hashes, cached properties, timings

# The maximum size of a dictionary that is taken to be a cache of properties.
_MOST = 128


def without_results(kind: type, items: Items) -> tuple[Items, Items]:
    """Separate an object's attributes from the cached results of its properties.

    Cached results are attributes set by ``functools.cached_property``, and, as in statsmodels,
    the items of a dictionary with "cache" in its name whose keys are all names of properties.

    Args:
        kind: The object's class.
        items: The names and values of the object's attributes.

    Returns:
        The attributes that are content, and the cached results. Cached hashes are in neither.
    """
    if isinstance(find_member(kind, "__hash__"), FunctionType):
        items = [each for each in items if not _is_hash(*each)]
    names = _cached(kind)
    content: Items = []
    results: Items = []
    for name, value in items:
        if type(value) is dict and _is_cache(kind, name, value):
            results += value.items()
        else:
            (results if name in names else content).append((name, value))
    return content, results


def _is_hash(name: str, value: object) -> bool:
    """Return whether an attribute stores a hash, as in SymPy and Cirq.

    Hashes may differ per process. The class must define ``__hash__``.
    """
    return name[:1] == "_" and "hash" in name and (value is None or type(value) is int)


@per_object
def _cached(kind: type) -> frozenset[str]:
    """Return the names of the cached properties of a class."""
    known: dict[str, object] = {}
    for base in mro(kind)[::-1]:
        known.update({name: entry for name, entry in own(base).items() if type(name) is str})
    return frozenset(name for name, entry in known.items() if cached_property in mro(type(entry)))


def _is_cache(kind: type, name: str, value: dict[Any, object]) -> bool:
    """Return whether a dictionary stores the results of properties of a class."""
    if "cache" not in name or len(value) > _MOST:
        return False
    found = [type(find_member(kind, key if type(key) is str else "")) for key in [*value]]
    return all(it is not FunctionType and find_member(it, "__get__") for it in found)


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
    plain = [text(name) for name in names]  # no user code runs
    if not known < {*plain}:
        return ()
    return [n for n, name in enumerate(plain) if name in known and name not in _NO_TIMES]
