"""Records a trace in chunks during a run, in memory or to a file."""

from __future__ import annotations

import os
import threading
import time
import zlib
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ipytorchseed.determinism.flag import plain
from ipytorchseed.determinism.machine import FACTS
from ipytorchseed.determinism.table import read_flags
from ipytorchseed.errors import TraceError
from ipytorchseed.fingerprint.native import native
from ipytorchseed.rng.seeds import own_rank
from ipytorchseed.trace import format as form
from ipytorchseed.trace.digests import MASK, UNSEEN, digest_of_tensor, plain_digest, word_of
from ipytorchseed.trace.format import Call, Chunk, End, Header, Kind, Place, shorten
from ipytorchseed.trace.loading import Loaded, gather
from ipytorchseed.trace.summaries import summarize

Record = Header | Chunk | End

# A chunk is written when it has this many operations.
_MOST = 8192

# A chunk is written when it has this many different tensors. Also the maximum number of
# storages whose last written tensor is remembered.
_LARGEST = 1 << 16

# The maximum number of arguments of an operation that are stored as text.
_SHOWN = 120

# A chunk is written after this many seconds, so that a killed run leaves most of its trace.
_SECONDS = 1.0


class Trace:
    """A trace that is being recorded, in memory.

    Attributes:
        count: The number of operations in it.
        portable: Whether equal tensors on different devices have equal digests.
        summaries: Whether to record the greatest value, mean and norm of tensors.
    """

    portable = summaries = False

    def __init__(self) -> None:
        self._records: list[Record] = []
        self.count = 0
        self._tracks: list[Track] = []

    def track(self, thread: int) -> Track:
        """Return the track for the operations of a thread, given by its number."""
        track = Track(self, thread)
        self._tracks.append(track)
        return track

    def write(self, record: Record) -> None:
        """Append a record."""
        self._records.append(record)

    def load(self) -> Loaded:
        """Return the recorded trace for a comparison."""
        return gather([Header(time.time(), {}, None, self.summaries), *self._records])

    def close(self, notes: Sequence[str]) -> None:
        """Write the remaining operations and the end record."""
        for track in self._tracks:
            track.flush()
        self.write(End(self.count, [*notes]))


class TraceFile(Trace):
    """A trace that is being written to a file.

    Args:
        path: The file. An existing trace is overwritten. If there are several ranks, the number of
            this rank is inserted.
        summaries: Whether to record the greatest value, mean and norm of tensors.

    Attributes:
        path: The file that is written.

    Raises:
        TraceError: The file cannot be written.
    """

    portable = True

    def __init__(self, path: str | os.PathLike[str], *, summaries: bool = False) -> None:
        super().__init__()
        rank = None if os.environ.get("WORLD_SIZE") == "1" else own_rank()
        self.path = Path(path)
        if rank is not None:
            self.path = self.path.with_name(f"{self.path.stem}.rank{rank}{self.path.suffix}")
        self.summaries = summaries
        self._lock = threading.Lock()
        self._process = os.getpid()
        try:
            if self.path.is_symlink():
                target = self.path.readlink()
                raise TraceError(f"{path} is a link to {target}: name the file itself")
            if self.path.exists() and self.path.stat().st_size:
                with self.path.open("rb") as before:
                    if before.read(len(form.MAGIC)) != form.MAGIC:
                        raise TraceError(f"{path} is not a trace, so it is not overwritten")
            # Unbuffered, so that a forked process has nothing to flush.
            self._out = self.path.open("wb", buffering=0)
            self._out.write(form.MAGIC + b"%d\n" % form.VERSION)
        except OSError as error:
            raise TraceError(f"no trace can be written to {path}: {error.strerror}") from None
        self.write(Header(time.time(), _settings(), rank, summaries))

    def write(self, record: Record) -> None:
        """Append a record as a frame of the file."""
        if os.getpid() != self._process:  # a forked worker of a DataLoader
            return
        data = zlib.compress(msgspec.msgpack.encode(record), 1)
        with self._lock:
            self._out.write(form.FRAME.pack(len(data), zlib.crc32(data)) + data)

    def close(self, notes: Sequence[str]) -> None:
        """Write the remaining operations and the end record."""
        try:
            super().close(notes)
        finally:
            self._out.close()


class Track:
    """The operations of one thread, collected into chunks of a trace.

    Args:
        trace: The trace.
        thread: The thread's number.

    Attributes:
        whole: Whether the chunk must not be written now, so that further operations are in it too.
    """

    def __init__(self, trace: Trace, thread: int) -> None:
        from torch.multiprocessing.reductions import StorageWeakRef

        self._trace = trace
        self._thread = thread
        self._keep: Any = StorageWeakRef
        self._digest = digest_of_tensor(portable=trace.portable)
        at = native()
        self._dtype, self._shape, self._storage = at.dtype, at.shape, at.untyped_storage
        self._held: dict[int, int] = {}  # the digest last written to each storage
        self._kept: list[object] = []  # weak references, so that no identity is reused
        self.whole = False
        self._begin()

    def _begin(self) -> None:
        """Begin a new chunk."""
        self._index: dict[int, int] = {}
        self._kinds: dict[tuple[Any, Any], int] = {}
        self._kind_of, self._summaries = array("I"), array("f")
        self._calls: dict[tuple[str, Place, int], int] = {}
        self._texts: list[str] = []
        self._links: dict[int, int] = {}
        self._of = array("I")
        self._reads, self._read, self._makes, self._made = (array("I") for _ in range(4))
        self._due = time.monotonic() + _SECONDS

    def digest(self, tensor: Any, *, is_new: bool = False) -> int:
        """Return the digest of an input.

        If another tensor was last written to the same storage, a link to that tensor is recorded,
        since the input may be a part of it.
        """
        found = self._digest(tensor)
        if found not in self._index:
            held = found if is_new else self._held.get(self._memory(tensor), found)
            if held != found:
                self._links[found] = held
            self._meet(found, tensor)
        return found

    def result(self, tensor: Any) -> int:
        """Return the digest of a new tensor, and register it as written."""
        return self._hold(self.digest(tensor, is_new=True), tensor)

    def written(self, tensor: Any) -> int:
        """Return the digest of a tensor that was overwritten, and register it as written."""
        return self._hold(self.digest(tensor), tensor)

    def _hold(self, found: int, tensor: Any) -> int:
        if len(self._held) > _LARGEST:
            self._held.clear()
            self._kept.clear()
        memory = self._memory(tensor)
        if memory:
            if memory not in self._held:
                self._kept.append(self._keep(self._storage(tensor)))
            self._held[memory] = found
        return found

    def _memory(self, tensor: Any) -> int:
        """Return the identity of a tensor's storage, or 0 if it does not have one."""
        try:
            return int(self._storage(tensor)._cdata)  # noqa: SLF001 -- no public way
        except RuntimeError:  # the tensor has no storage, or several
            return 0

    def _meet(self, found: int, tensor: Any = None, kind: tuple[Any, Any] = ("", ())) -> int:
        """Add a tensor, a number or a generator's state to the chunk; return its index.

        Args:
            found: The digest.
            tensor: The tensor, if it is one.
            kind: The dtype and shape, if it is not a tensor.
        """
        if tensor is not None and found != UNSEEN:
            kind = self._dtype(tensor), self._shape(tensor)
        if self._trace.summaries:
            self._summaries.extend(summarize(None if found == UNSEEN else tensor))
        self._kind_of.append(self._kinds.setdefault(kind, len(self._kinds)))
        index = self._index[found] = len(self._index)
        return index

    def _at(self, digest: int) -> int:
        """Return the index of a digest in the chunk; add it if it is new."""
        at = self._index.get(digest)
        return self._meet(digest) if at is None else at

    def state(self, digest: int) -> int:
        """Register the state of a generator, given by its digest; return the digest."""
        if digest not in self._index:
            self._meet(digest, kind=(form.STATE, ()))
        return digest

    def add(
        self, operation: str, place: Place, words: list[Any], read: list[int], made: list[int]
    ) -> None:
        """Add an operation to the chunk; write the chunk if it is full.

        Args:
            operation: The name of the operation.
            place: Its place.
            words: The arguments that are not tensors.
            read: The digests of the input tensors, and of the generator's state if it drew.
            made: The digests of the results.
        """
        call = operation, place, plain_digest(words) if words else 0
        number = self._calls.get(call)
        if number is None:
            number = self._calls[call] = len(self._calls)
            self._texts.append(", ".join(map(word_of, words[:_SHOWN])))
        self._read.extend(map(self._at, read))
        self._made.extend(map(self._at, made))
        self._of.append(number)
        self._reads.append(len(read))
        self._makes.append(len(made))
        is_full = len(self._of) >= _MOST or len(self._index) >= _LARGEST
        if not self.whole and (is_full or time.monotonic() > self._due):
            self.flush()

    def flush(self) -> None:
        """Write the chunk, and begin a new one."""
        if self._of:
            self._trace.write(self._chunk())
            self._trace.count += len(self._of)
        self._begin()

    def _chunk(self) -> Chunk:
        links = [[a & MASK, b & MASK] for a, b in self._links.items()]
        columns: list[Any] = [self._kind_of, self._summaries, self._of]
        columns += [self._reads, self._read, self._makes, self._made]
        data = [
            np.array([each & MASK for each in self._index], "<u8").tobytes(),
            *(np.asarray(each).astype(f"<{each.typecode.lower()}4").tobytes() for each in columns),
            np.array(links, "<u8").tobytes(),
        ]
        calls = [
            Call(operation, place, plain & MASK, shorten(text))
            for (operation, place, plain), text in zip(self._calls, self._texts, strict=True)
        ]
        kinds = [
            Kind(str(dtype).removeprefix("torch."), tuple(map(int, shape)))
            for dtype, shape in self._kinds
        ]
        return Chunk(self._thread, calls, kinds, *data)


def _settings() -> dict[str, str]:
    """Return versions, hardware and flags as text."""
    found: dict[str, object] = {fact.name: fact.read() for fact in FACTS}
    found |= {name: plain(value) for name, value in read_flags().items()}
    return {name: shorten(str(value)) for name, value in found.items() if value is not None}
