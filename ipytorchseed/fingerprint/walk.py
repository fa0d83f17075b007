"""Walks through a value and its parts with a stack instead of recursion.

A *writer* knows one kind of value. It is a generator: it yields the parts of the value, is sent a
token for each (self-delimiting bytes that represent the content), and returns a ``Draft``. The
walk drives the writers. So only memory limits the depth, cycles end, and the walk stops or
samples as the budget requires.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from typing import Any

from msgspec import Struct
from xxhash import xxh3_64_hexdigest, xxh3_128_digest

from ipytorchseed.fingerprint.budget import Budget, PendingError, SpentError
from ipytorchseed.fingerprint.memo import Memo
from ipytorchseed.fingerprint.memory import UnreadableError
from ipytorchseed.fingerprint.meter import Meter, Mode
from ipytorchseed.fingerprint.scalars import LEAVES
from ipytorchseed.introspection.anatomy import anatomy, full_name
from ipytorchseed.introspection.values import is_class
from ipytorchseed.rng.table import holders

# Items from which on searching for equal types pays off.
SHORT = 8

_UNSEEN = 4  # types listed


class Draft(Struct):
    """The result of a writer, from which a fingerprint is made.

    The fields other than the content are used only for the outermost value.

    Attributes:
        content: Bytes that represent the value; the walk digests them.
        kind: As in ``Fingerprint``; so are the next ones.
    """

    content: bytes
    kind: str
    summary: str = ""
    parts: dict[str, str] = {}
    series: tuple[float, ...] | None = None
    opaque: bool = False


Writing = Generator[object, bytes, Draft]
Bytes = Generator[object, bytes, bytes]
Tokens = list[tuple[str, bytes]]
Writer = Callable[[Any, "Walk"], Writing]

# By the identity of the type: returns the token of a value without parts, as its writer would, or
# None if it may have parts.
BRIEF: dict[int, Callable[[Any, Walk], bytes | None]] = {}


def _brief_sequence(value: Sequence[Any], walk: Walk) -> bytes | None:  # noqa: ARG001 -- as all
    """Return the token of a short list or tuple of leaves."""
    if len(value) >= SHORT:
        return None
    tokens = []
    for item in value:
        leaf = LEAVES.get(id(type(item)))
        token = None if leaf is None else leaf(item)
        if token is None:
            return None
        tokens.append(token)
    head = b"tuple%d;" if type(value) is tuple else b"list%d;"
    return b"D" + xxh3_128_digest(head % len(tokens) + b"".join(tokens))


BRIEF |= {id(list): _brief_sequence, id(tuple): _brief_sequence}


def digest_of(token: bytes) -> str:
    """Return the digest of a token, as the fingerprint of it alone would have."""
    return token[1:9].hex() if token[0] == _NODE else xxh3_64_hexdigest(token)


# Types whose objects may be mutated through another reference.
_CHANGEABLE = frozenset(map(id, (list, dict, set)))

_NODE = ord("D")  # tokens that begin with it have 16 more bytes of digest


def _write_holder(value: object, walk: Walk) -> Writing:  # noqa: ARG001 -- as every writer
    """Write the object of a registered source, whose state belongs to the source."""
    yield from ()
    made = anatomy(type(value))
    return Draft(f"source{made.name}".encode(), "rng", made.title)


class Walk(Meter):
    """One walk through one value.

    Args:
        memo: See ``Meter``; the same for ``budget``, ``began`` and ``mode``.
        writer: Returns the writer of a type.

    Attributes:
        writer: As given.
        top: Whether the current writer is that of the value itself, whose parts and summary are
            needed.
        unseen: Types inside the value whose content is not visible.
        random: States of the random generators inside.
        shared: How often a list, dictionary or set inside was met again.
        strides: The layouts of non-contiguous tensors inside, and of an array itself.
        derived: Digests of cached properties inside, by class and property; empty if several have
            the same name.
        failed: What could not be read, as types and errors.
        settled: Devices that have computed what they were given.
    """

    def __init__(
        self, memo: Memo, budget: Budget, writer: Callable[[type], Writer], began: float, mode: Mode
    ) -> None:
        super().__init__(memo, budget, began, mode)
        self.top = False
        self.unseen: set[str] = set()
        self.random: list[bytes] = []
        self.strides: list[str] = []
        self.shared = 0
        self.derived: dict[str, str] = {}
        self.failed: list[str] = []
        self.settled: set[object] = set()
        self.writer = writer
        self._seen: dict[int, tuple[object, bytes]] = {}  # kept alive until the walk ends
        self._open: dict[int, int] = {}

    def look(self, value: object) -> tuple[Draft, bytes]:
        """Go through ``value``; return its draft, and its digest of 16 bytes.

        Raises:
            SpentError: It must not be read in this mode.
            PendingError: It is not ready.
        """
        stack: list[tuple[Writing, object]] = []
        token = self._enter(value, stack)
        while True:
            writing, here = stack[-1]
            try:
                child = writing.send(token)  # type: ignore[arg-type] # None begins one
            except StopIteration as end:
                draft: Draft = end.value
            except (PendingError, SpentError):
                raise
            except Exception as error:  # noqa: BLE001 -- a library failed, and the walk goes on
                draft = self._fail(here, error)
            else:
                token = self._enter(child, stack)
                continue
            stack.pop()
            del self._open[id(here)]
            digest = xxh3_128_digest(draft.content)
            token = b"D" + digest
            self._seen[id(here)] = here, token
            if not stack:
                return draft, digest
            self.top = len(stack) == 1

    def _enter(self, value: object, stack: list[tuple[Writing, object]]) -> bytes | None:
        """Return the token of ``value``, or None after pushing its writer on the stack."""
        kind = type(value)
        leaf = LEAVES.get(id(kind)) if stack else None
        if leaf is not None:
            token = leaf(value)
            if token is not None:
                return token
        key = id(value)
        seen = self._seen.get(key)
        if seen is not None:
            self.shared += id(kind) in _CHANGEABLE
            return seen[1]
        depth = self._open.get(key)
        if depth is not None:
            return b"^%d;" % (len(stack) - depth)
        if self.full:
            return b"~"
        self.tick()
        self.top = not stack
        self._open[key] = len(stack)
        writing = _write_holder(value, self) if key in holders else self.writer(kind)(value, self)
        stack.append((writing, value))
        return None

    def kinds(self) -> Collection[type]:
        """Return the classes of all objects that were met."""
        met: list[Any] = [value for value, _ in self._seen.values()]
        found = {id(kind): kind for kind in map(type, met)}
        if any(issubclass(kind, type) for kind in found.values()):
            found |= {id(value): value for value in met if is_class(value)}
        return found.values()

    def tokens(
        self, items: Iterable[object], *, counted: bool = True
    ) -> Generator[object, bytes, list[bytes]]:
        """Write values one by one, and count them as visited.

        If ``counted`` is not set, leaves do not count.
        """
        tokens = []
        for item in items:
            leaf = LEAVES.get(id(type(item)))
            token = self.short(item) if leaf is None else leaf(item)
            tokens.append((yield item) if token is None else token)
        if counted:
            self.tick(len(tokens))
        return tokens

    def named(self, items: Iterable[tuple[str, object]]) -> Generator[object, bytes, Tokens]:
        """Write named values in order, as ``tokens`` does; inlined for speed."""
        tokens = []
        for name, item in items:
            leaf = LEAVES.get(id(type(item)))
            token = self.short(item) if leaf is None else leaf(item)
            tokens.append((name, (yield item) if token is None else token))
        self.tick(len(tokens))
        return tokens

    def short(self, value: Any) -> bytes | None:
        """Return the token of a value that needs no writer; else None.

        Most values in containers are of the types in ``BRIEF``, which halves the time.
        """
        kind = type(value)
        brief = BRIEF.get(id(kind))
        if brief is None:
            return None
        seen = self._seen.get(id(value))
        if seen is not None:
            self.shared += kind is list
            return seen[1]
        made = None if self.full else brief(value, self)
        if made is not None:
            self.tick()
            self._seen[id(value)] = value, made
        return made

    def _fail(self, value: object, error: Exception) -> Draft:
        name, summary = full_name(type(value)), ""
        if isinstance(error, UnreadableError):
            self.mark_unseen(name)
            summary = f"{anatomy(type(value)).title}, {error}"
        else:
            self.exact = False
            self.failed.append(f"{name} ({type(error).__name__})")
        return Draft(f"!{name}".encode(), "opaque", summary, opaque=True)

    def mark_unseen(self, name: str) -> None:
        """Record that the content of a ``name`` is not visible."""
        if len(self.unseen) < _UNSEEN:
            self.unseen.add(name)

    def keep(self, results: Sequence[tuple[str, bytes]], title: str) -> None:
        """Record results that an object of a class caches."""
        for name, token in results:
            known = f"{title}.{name}" in self.derived
            self.derived[f"{title}.{name}"] = "" if known else digest_of(token)
