"""Walks through a value and its parts, with a stack instead of recursion.

For each kind of value there is a *writer*. It is a generator that yields the parts of the value,
receives a token for each part, and returns a ``Draft``. A token is a byte string that represents
the content of the part. The walk runs the writers. It handles cycles and values of any depth, and
stops or takes a sample when the budget requires it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from typing import Any

from msgspec import Struct
from xxhash import xxh3_64_hexdigest, xxh3_128_digest

from ipytorchseed.fingerprint.memo import Memo
from ipytorchseed.fingerprint.memory import UnreadableError
from ipytorchseed.fingerprint.meter import Budget, Meter, Mode, PendingError, SpentError
from ipytorchseed.fingerprint.scalars import LEAVES
from ipytorchseed.introspection.anatomy import anatomy, full_name
from ipytorchseed.introspection.values import is_class
from ipytorchseed.rng.table import holders

_UNSEEN = 4  # the maximum number of types to list


class Draft(Struct):
    """The result of a writer, from which a fingerprint is made.

    For inner values, only ``content`` is used.

    Attributes:
        content: Bytes that represent the value. The walk computes their digest.
        kind: See ``Fingerprint`` for this and the following attributes.
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


def digest_of(token: bytes) -> str:
    """Return the digest that the fingerprint of a value with this token would have."""
    return token[1:9].hex() if token[0] == _NODE else xxh3_64_hexdigest(token)


# Types whose objects may be mutated through another reference.
_CHANGEABLE = frozenset(map(id, (list, dict, set)))

_NODE = ord("D")  # the first byte of a token that consists of a digest of 16 bytes


def _write_holder(value: object, walk: Walk) -> Writing:  # noqa: ARG001 -- as every writer
    """Encode the object of a registered source, without its state.

    The state is recorded with the source.
    """
    yield from ()
    made = anatomy(type(value))
    return Draft(f"source{made.name}".encode(), "rng", made.title)


class Walk(Meter):
    """One walk through one value.

    Args:
        memo: See ``Meter`` for ``memo``, ``budget``, ``began`` and ``mode``.
        writer: Returns the writer of a type.

    Attributes:
        writer: Returns the writer of a type.
        top: Whether the current writer writes the outermost value. Only then are the parts and the
            summary needed.
        unseen: Types inside the value whose content cannot be read.
        random: The tokens of the states of random generators inside the value.
        shared: How often a list, dictionary or set inside the value occurred again.
        strides: The strides of non-contiguous tensors inside the value, and of the value itself if
            it is an array.
        derived: The digests of cached properties inside the value, as ``Class.name``. A digest is
            empty if several objects have such a property.
        failed: The objects that could not be read, as texts with the type and the error.
        settled: Devices that have finished their work, so that their memory can be read.
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
        """Walk through ``value``; return its draft, and its digest of 16 bytes.

        Raises:
            SpentError: The value is too large for this mode or for the time left.
            PendingError: A GPU is still computing the value.
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
        """Return the token of ``value``; or push its writer on the stack and return None."""
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
        """Return the classes of all objects visited, and the classes among the objects."""
        met: list[Any] = [value for value, _ in self._seen.values()]
        found = {id(kind): kind for kind in map(type, met)}
        if any(issubclass(kind, type) for kind in found.values()):
            found |= {id(value): value for value in met if is_class(value)}
        return found.values()

    def tokens(
        self, items: Iterable[object], *, counted: bool = True
    ) -> Generator[object, bytes, list[bytes]]:
        """Encode values one by one, and return their tokens.

        Args:
            items: The values.
            counted: Whether to count all values as visited. If false, values without parts are not
                counted.
        """
        tokens = []
        for item in items:
            leaf = LEAVES.get(id(type(item)))
            token = None if leaf is None else leaf(item)
            tokens.append((yield item) if token is None else token)
        if counted:
            self.tick(len(tokens))
        return tokens

    def named(self, items: Iterable[tuple[str, object]]) -> Generator[object, bytes, Tokens]:
        """Encode named values in order; return the names with their tokens."""
        # This repeats the loop of `tokens` for speed.
        tokens = []
        for name, item in items:
            leaf = LEAVES.get(id(type(item)))
            token = None if leaf is None else leaf(item)
            tokens.append((name, (yield item) if token is None else token))
        self.tick(len(tokens))
        return tokens

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
        """Record that the value contains an object of a type that cannot be read.

        Args:
            name: The full name of the type.
        """
        if len(self.unseen) < _UNSEEN:
            self.unseen.add(name)

    def keep(self, results: Sequence[tuple[str, bytes]], title: str) -> None:
        """Record the cached properties of an object.

        Args:
            results: The names and tokens of the properties.
            title: The name of the object's class.
        """
        for name, token in results:
            key = f"{title}.{name}"
            self.derived[key] = "" if key in self.derived else digest_of(token)
