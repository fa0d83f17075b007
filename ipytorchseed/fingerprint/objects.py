"""Fingerprints of objects by their attributes, in ``__slots__`` and ``__dict__``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from typing import Any

from ipytorchseed.fingerprint.derived import split
from ipytorchseed.fingerprint.scalars import LEAVES, count, join, name_bytes
from ipytorchseed.fingerprint.walk import Bytes, Draft, Tokens, Walk, Writer, Writing, digest_of
from ipytorchseed.introspection.anatomy import anatomy

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
            held, _ = split(type(value), anatomy(type(value)).attributes(value))
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
    word: str,
    state: Callable[[Any], object],
    exact: str = "",
    *,
    show: bool = False,
    opaque: bool = False,
) -> Writer:
    """Return a writer that encodes the result of a function instead of the object.

    Args:
        word: The kind of the objects.
        state: Returns the content of an object: a dictionary of parts, or another value. It must
            not run user code.
        exact: The full name of a type. For objects of other types, such as subclasses, attributes
            are written too. If empty, attributes are never written.
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
        subclass = exact and made.name != exact
        more = (yield from encode_extras(value, walk, object)) if subclass else b""
        if opaque:
            walk.mark_unseen(made.name)
        content = word.encode() + name_bytes(made.name) + more + token
        shown = f"{made.title} {held}"[:80] if show and type(held) is str else made.title
        return Draft(content, word, shown, parts, opaque=opaque)

    return write


def _without(items: list[tuple[str, object]], skip: Collection[str]) -> list[tuple[str, object]]:
    """Return the items that are not skipped; see ``object_writer``."""
    outer = {name.partition(".")[0] for name in skip if "." in name}
    left: list[tuple[str, object]] = []
    for name, item in items:
        if name in outer and type(item) is dict:
            left += [
                (f"{name}.{key}", each)
                for key, each in list(item.items())
                if type(key) is str and f"{name}.{key}" not in skip
            ]
        elif name not in skip:
            left.append((name, item))
    return left


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
        items, results = split(type(value), items)
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
