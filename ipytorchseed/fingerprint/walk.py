"""Walks through a value and all that it holds, with a stack of its own instead of recursion.

A *writer* knows one kind of value. It is a generator: it yields what the value holds, is sent a
token for each (bytes that end by themselves and stand for the content), and returns a ``Draft``.
The walk drives the writers, so that depth is bounded by memory alone, ends cycles, and stops or
samples where the budget asks for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from xxhash import xxh3_64_hexdigest, xxh3_128_digest

from ipytorchseed.fingerprint import buffers
from ipytorchseed.fingerprint.budget import Budget, LateError, SpentError
from ipytorchseed.fingerprint.scalars import LEAVES
from ipytorchseed.introspection.anatomy import full_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ipytorchseed.fingerprint.memo import Memo

T = TypeVar("T")

NODES = 2000
"""Values visited where the budget is spent."""

ITEMS = 256
"""Items of one container read where the budget is spent."""

SMALL = 2**18
"""Bytes of one buffer read in full where the budget is spent."""

TOTAL = 2**23
"""Bytes of all buffers of one value read in full where the budget is spent."""

BATCH = 4096
"""Items of a container copied and digested at once."""

SHORT = 8
"""Items from which on a look for equal types pays."""

_EVERY = 256  # values visited between two looks at the clock
_FASTEST = 2e-8  # seconds for an item of a container, where all are numbers
_UNSEEN = 4  # types listed


class Mode(Enum):
    """How far a walk goes."""

    FULL = "everything, until the budget is spent"
    KNOWN = "everything, if what is small or known by memo is all there is"
    SAMPLE = "a sample, the same whenever it is taken"


class Draft(Struct):
    """What a writer returns: a fingerprint to be, and all but the digest of use only at the top.

    Attributes:
        digest: 16 bytes.
        kind: As in ``Fingerprint``; so are the others.
    """

    digest: bytes
    kind: str
    summary: str = ""
    parts: dict[str, str] = {}
    series: tuple[float, ...] | None = None
    opaque: bool = False


Writing = Generator[object, bytes, Draft]
Bytes = Generator[object, bytes, bytes]
Writer = Callable[[Any, "Walk"], Writing]

BRIEF: dict[int, Callable[[Any, Walk], bytes | None]] = {}
"""By the identity of the type: returns the token of a value that holds no others, as its writer
would, or None where it may hold some."""


def digest_of(token: bytes) -> str:
    """Name what a token stands for, as the fingerprint of it alone would."""
    return token[1:9].hex() if token[0] == _NODE else xxh3_64_hexdigest(token)


_CHANGEABLE = frozenset(map(id, (list, dict, set)))
"""Types whose objects may be changed in one place and be changed in another."""

_NODE = ord("D")  # tokens that begin so go on with 16 bytes of digest


class Walk:
    """One way through one value.

    Args:
        memo: As below; so are ``budget`` and ``mode``.
        writer: As below.
        began: When the look at the value began, by ``time.thread_time``.

    Attributes:
        memo: What is known of earlier values.
        budget: Whose allowance for reading again is used.
        mode: How far it goes.
        writer: Returns the writer of a type.
        exact: False once something was left out.
        unseen: Types inside the value whose content cannot be seen.
        random: States of the generators of random numbers that were met inside.
        shared: How often a list, dictionary or set was met again that had been met inside.
        strides: Of the tensors met inside, and of an array itself, those that are not contiguous.
        derived: Digests of the results that objects inside keep, by class and property; empty where
            several keep one of a name.
        failed: What could not be looked at, as types and errors.
        large: Whether a walk in ``Mode.KNOWN`` that knows nothing would have been refused.
    """

    def __init__(
        self, memo: Memo, budget: Budget, writer: Callable[[type], Writer], began: float, mode: Mode
    ) -> None:
        self.memo = memo
        self.budget = budget
        self.mode = mode
        self.exact = True
        self.unseen: set[str] = set()
        self.random: list[bytes] = []
        self.strides: list[str] = []
        self.shared = 0
        self.derived: dict[str, str] = {}
        self.failed: list[str] = []
        self.large = False
        self.writer = writer
        self._deadline = budget.deadline(began, whole=mode is Mode.FULL)
        self._seen: dict[int, tuple[object, bytes]] = {}  # kept alive until the walk ends
        self._open: dict[int, int] = {}
        self._visited = 0
        self._check_at = _EVERY
        self._unchecked = 0
        self._read = 0

    # ----------------------------------------------------------------------------------------------
    # Going

    def look(self, value: object) -> Draft:
        """Go through ``value``.

        Raises:
            SpentError: it may not be gone through in this mode.
        """
        stack: list[tuple[Writing, object]] = []
        token = self._enter(value, stack)
        while True:
            writing, here = stack[-1]
            try:
                child = writing.send(token)  # type: ignore[arg-type] # None begins one
            except StopIteration as end:
                draft: Draft = end.value
            except SpentError:
                raise
            except Exception as error:  # noqa: BLE001 -- whatever a library does, looking goes on
                draft = self._fail(here, error)
            else:
                token = self._enter(child, stack)
                continue
            stack.pop()
            del self._open[id(here)]
            token = b"D" + draft.digest
            self._seen[id(here)] = here, token
            if not stack:
                return draft

    def _enter(self, value: object, stack: list[tuple[Writing, object]]) -> bytes | None:
        """Return the token of ``value``, or None after putting its writer on the stack."""
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
        self._open[key] = len(stack)
        stack.append((self.writer(kind)(value, self), value))
        return None

    def short(self, value: Any) -> bytes | None:
        """Return the token of what needs no step of the walk, as its writer would; else None.

        Most values in containers are lists and tuples of a few leaves, or among ``BRIEF``, and so
        take less than half the time.
        """
        kind = type(value)
        brief = BRIEF.get(id(kind))
        if brief is None and ((kind is not tuple and kind is not list) or len(value) >= SHORT):
            return None
        seen = self._seen.get(id(value))
        if seen is not None:
            self.shared += kind is list
            return seen[1]
        if self.full:
            return None
        made = self._tokens(value) if brief is None else self._brief(brief, value)
        if made is not None:
            self.tick()
            self._seen[id(value)] = value, made
        return made

    def _brief(self, write: Callable[[Any, Walk], bytes | None], value: object) -> bytes | None:
        try:
            return write(value, self)
        except SpentError:
            raise
        except Exception:  # noqa: BLE001 -- its writer meets it too, and then it alone fails
            return None

    @staticmethod
    def _tokens(value: Sequence[Any]) -> bytes | None:
        """Return the token of a list or tuple of leaves."""
        tokens = []
        for item in value:
            leaf = LEAVES.get(id(type(item)))
            token = None if leaf is None else leaf(item)
            if token is None:
                return None
            tokens.append(token)
        head = b"tuple%d;" if type(value) is tuple else b"list%d;"
        return b"D" + xxh3_128_digest(head % len(tokens) + b"".join(tokens))

    def _fail(self, value: object, error: Exception) -> Draft:
        name = full_name(type(value))
        self.exact = False
        self.failed.append(f"{name} ({type(error).__name__})")
        return Draft(xxh3_128_digest(b"!" + name.encode()), "opaque", opaque=True)

    def unsee(self, name: str) -> None:
        """Note that the content of a ``name`` cannot be seen."""
        if len(self.unseen) < _UNSEEN:
            self.unseen.add(name)

    def keep(self, results: Sequence[tuple[str, bytes]], title: str) -> None:
        """Note results that an object of a class keeps."""
        for name, token in results:
            known = f"{title}.{name}" in self.derived
            self.derived[f"{title}.{name}"] = "" if known else digest_of(token)

    # ----------------------------------------------------------------------------------------------
    # What it costs

    @property
    def top(self) -> bool:
        """Whether the writer at work is that of the value itself: parts and summary are wanted."""
        return len(self._open) == 1

    @property
    def full(self) -> bool:
        """Whether a sample has no room for another value."""
        if self._visited < NODES or self.mode is not Mode.SAMPLE:
            return False
        self.exact = False
        return True

    def tick(self, count: int = 1) -> None:
        """Count values visited.

        Raises:
            SpentError: they were too many.
            LateError: they took too long.
        """
        self._visited += count
        if self._visited > NODES:
            self._enlarge()
        if self._visited >= self._check_at:
            self._check_at = self._visited + _EVERY
            self._clock()

    def _enlarge(self) -> None:
        self.large = True
        if self.mode is Mode.KNOWN:
            raise SpentError

    def _clock(self) -> None:
        if time.thread_time() > self._deadline or not self.budget.seconds:
            raise LateError

    def charge(self, size: int) -> None:
        """Count bytes read.

        Raises:
            LateError: they took too long.
        """
        self._unchecked += size
        if self._unchecked >= buffers.CHUNK:
            self._unchecked = 0
            self._clock()

    def count(self, size: int) -> None:
        """Count the bytes of a buffer that is known not to have changed."""
        self._read += size
        self.large |= size > SMALL or self._read > TOTAL

    def may_read(self, size: int, slower: int = 1) -> bool:
        """Tell whether a buffer of ``size`` bytes is to be read in full, else in a sample.

        Args:
            size: In bytes.
            slower: How many times as long as a plain read it takes.

        Raises:
            SpentError: neither.
        """
        self._read += size
        if size <= SMALL and self._read <= TOTAL:
            return True
        self._enlarge()
        if self.mode is Mode.FULL:
            if size * slower > buffers.CHUNK:
                self._refuse_hopeless(size * slower)
            return True
        self.exact = False
        return False

    def _refuse_hopeless(self, size: int) -> None:
        """End here where ``size`` bytes cannot be read in time: others may need that time."""
        if size > self.memo.speed * (self._deadline - time.thread_time()):
            self.memo.speed *= 1.05  # it may have been a busy moment that was measured
            raise SpentError
        if size > buffers.memory_of_machine():  # an expanded tensor: the same memory over and over
            raise SpentError

    def may_hold(self, count: int) -> bool:
        """Tell whether ``count`` items are to be visited, else some; raises as ``may_read``."""
        if count <= ITEMS:
            return True
        if count > NODES:
            self._enlarge()
        if self.mode is Mode.SAMPLE:
            self.exact = False
            return False
        if count > BATCH and count * _FASTEST > self._deadline - time.thread_time():
            raise SpentError
        return True

    def spans(self, count: int) -> Iterator[slice]:
        """Cut ``count`` items into what is read at once: all, or the ends and some between.

        Raises:
            SpentError: as ``may_read``.
        """
        if self.may_hold(count):
            yield from (slice(start, start + BATCH) for start in range(0, count, BATCH))
        else:
            third = ITEMS // 3
            yield slice(0, third)
            yield slice(third, count - third, count // third)
            yield slice(count - third, count)

    # ----------------------------------------------------------------------------------------------
    # Reading

    def read(self, view: memoryview, item: int = 1) -> bytes:
        """Digest bytes in memory, in full or in a sample of whole items; 16 bytes."""
        size = len(view)
        if not self.may_read(size):
            return buffers.sample(view, *buffers.SAMPLE, item)
        if size <= buffers.CHUNK:
            self.charge(size)
            return xxh3_128_digest(view)
        return self.read_pieces(buffers.chunks(view))

    def read_pieces(self, pieces: Iterator[memoryview]) -> bytes:
        """Digest pieces that ``may_read`` allowed, as if they were one."""
        began, size = time.thread_time(), 0

        def charge(piece: int) -> None:
            nonlocal size
            size += piece
            self.charge(piece)

        try:
            return buffers.hash_all(pieces, charge)
        finally:
            if size > buffers.CHUNK:
                self.memo.speed = size / (time.thread_time() - began)

    def pick(self, items: Sequence[T]) -> Sequence[T]:
        """Return the items to visit: all, or some of the first, the last and those between."""
        if self.may_hold(len(items)):
            return items
        return [item for span in self.spans(len(items)) for item in items[span]]
