"""Reads a trace's file into columns.

The content is validated, and nothing in it is executed.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

import msgspec
import numpy as np
from msgspec import Struct

from ipytorchseed.errors import TraceError
from ipytorchseed.foreign import ContentError, Format
from ipytorchseed.trace.comparison import Operation
from ipytorchseed.trace.format import FRAME, MAGIC, STATE, VERSION, Call, Chunk, End, Header, Kind

_FORMAT = Format("trace", TraceError, "record it again with its.trace(FILE)", size=1 << 31)

# The maximum size of a chunk in bytes, compressed or not. Even large chunks are much smaller.
_LARGEST = 1 << 26

# The maximum size of a decompressed trace in bytes.
_MOST_BYTES = 1 << 29

# Views of views are followed to this depth.
_DEEPEST = 32

_DECODER = msgspec.msgpack.Decoder(Header | Chunk | End)


class Tensors(Struct):
    """The tensors of all operations, one operation after the other.

    Attributes:
        table: The different shapes and dtypes.
        ends: For each operation, the index after its last tensor.
        digests: The digest of each tensor, 64 bits.
        kinds: The index in ``table`` of each tensor's shape and dtype.
        summaries: A row for each tensor: greatest absolute value, mean and norm. Without summaries,
            the rows are empty.
    """

    table: list[Kind]
    ends: Any
    digests: Any
    kinds: Any
    summaries: Any

    @property
    def counts(self) -> Any:
        """The number of tensors of each operation."""
        return np.diff(self.ends, prepend=0)

    @property
    def owners(self) -> Any:
        """The index of the operation of each tensor."""
        return np.repeat(np.arange(len(self.ends)), self.counts)

    def of(self, operation: int) -> slice:
        """Return the slice with the tensors of an operation."""
        return slice(int(self.ends[operation - 1]) if operation else 0, int(self.ends[operation]))

    def summarized(self, operation: int) -> Iterable[tuple[int, Any]]:
        """Return the digest and the summary of each tensor of an operation."""
        at = self.of(operation)
        return zip(self.digests[at].tolist(), self.summaries[at], strict=True)

    def rows(self, operations: Any) -> Any:
        """Return the indices of the tensors of several operations, one after the other."""
        counts = self.counts[operations]
        ends = np.cumsum(counts)
        return np.arange(counts.sum()) + np.repeat(self.ends[operations] - ends, counts)

    def any(self, chosen: Any) -> Any:
        """Return a mask of operations: whether any of an operation's tensors is chosen.

        Args:
            chosen: A mask of the tensors.
        """
        return np.bincount(self.owners, chosen, len(self.ends)) > 0

    def of_kinds(self, value: Callable[[Kind], object], rows: Any = ...) -> Any:
        """Return an integer for each tensor, from its kind.

        Args:
            value: Returns the integer of a kind.
            rows: The indices of the tensors; all by default.
        """
        return np.array([value(each) for each in self.table], int)[self.kinds[rows]]


class Loaded(Struct):
    """A trace in memory. All columns are numpy arrays.

    Attributes:
        path: The path of the file.
        header: The header of the file.
        notes: Clauses about what could not be recorded or read.
        calls: The different calls, each with name, place and arguments.
        of: For each operation, the index of its call.
        threads: For each operation, the number of its thread.
        reads: The input tensors of the operations.
        makes: The result tensors of the operations.
        links: Sorted rows of two digests. The first tensor of a row is a part or a view of the
            second tensor, or was written over a part of it.
    """

    path: str
    header: Header
    notes: list[str]
    calls: list[Call]
    of: Any
    threads: Any
    reads: Tensors
    makes: Tensors
    links: Any

    def __len__(self) -> int:
        return len(self.of)

    def call(self, operation: int) -> Call:
        """Return an operation's call: name, place and arguments that are not tensors."""
        return self.calls[int(self.of[operation])]

    def name(self, operation: int) -> str:
        """Return an operation's name, ``aten::mm``."""
        return self.call(operation).operation

    def operation(self, at: int) -> Operation:
        """Return an operation as a record."""
        call = self.call(at)
        kinds = [self.reads.table[each] for each in self.reads.kinds[self.reads.of(at)]]
        words = [f"{dtype}{list(shape)}" for dtype, shape in kinds if dtype not in ("", STATE)]
        given = ", ".join(filter(None, [*words, call.text]))
        return Operation(call.operation, at, int(self.threads[at]), call.place, given)

    def read_later(self, readers: Any) -> Any:
        """Return a mask of results: whether a later reader reads a result.

        Reading a part or a view of the result counts, and so does reading a tensor that was written
        over a part of it.

        Args:
            readers: A mask of operations.
        """
        reads, makes = self.reads, self.makes
        chosen = readers[reads.owners]
        digests = [reads.digests[chosen], self.links[:, 0], self.links[:, 1], makes.digests]
        distinct, numbers = np.unique(np.concatenate(digests), return_inverse=True)
        read, part, whole, made = np.split(numbers, np.cumsum([*map(len, digests)])[:-1])
        last = np.full(len(distinct), -1)
        np.maximum.at(last, read, reads.owners[chosen])
        for _ in range(_DEEPEST):
            before = last.copy()
            np.maximum.at(last, whole, before[part])
            if np.array_equal(last, before):
                break
        return last[made] > makes.owners

    def makers(self, digest: int, end: int) -> Iterator[int]:
        """Yield the last operations before ``end`` that created a tensor or its bases.

        Args:
            digest: The digest of the tensor.
            end: The index of an operation.
        """
        makes = self.makes
        for _ in range(_DEEPEST):
            found = np.flatnonzero(makes.digests[: makes.of(end).start] == np.uint64(digest))
            if len(found):
                yield int(np.searchsorted(makes.ends, found[-1], side="right"))
            held = self.links[self.links[:, 0] == np.uint64(digest), 1]
            if not len(held):
                return
            digest = int(held[0])


def load(path: str | os.PathLike[str]) -> Loaded:
    """Read a trace from a file.

    If the recording process was killed, the complete frames are read, and a note says so.

    Raises:
        TraceError: The file cannot be read, or is not a trace of a known version.
    """
    with _FORMAT.errors(path), _FORMAT.open(path) as file:
        line = file.readline(len(MAGIC) + 16)
        version = line[len(MAGIC) :].strip()
        if not line.startswith(MAGIC) or not version.isdigit():
            raise ContentError("not a trace")
        if int(version) > VERSION:
            raise TraceError(
                f"{path} was written by a newer ipytorchseed (version {int(version)} of the"
                f" format; this one reads version {VERSION}): update this one to read it"
            )
        return gather(_frames(file), str(path))


def _frames(file: BinaryIO) -> Iterator[Header | Chunk | End]:
    """Yield the records of a file, up to the first incomplete frame.

    Raises:
        ContentError: A frame is damaged, or the file is too large.
    """
    total = 0
    while len(head := file.read(FRAME.size)) == FRAME.size:
        size, checksum = FRAME.unpack(head)
        data = file.read(size) if size <= _LARGEST else b""
        if len(data) < size:
            return
        if zlib.crc32(data) != checksum:
            raise ContentError("a damaged trace: a checksum is wrong")
        try:
            inflate = zlib.decompressobj()
            content = inflate.decompress(data, _LARGEST)
        except zlib.error as error:
            raise ContentError(f"a damaged trace: {error}") from None
        if inflate.unconsumed_tail or not inflate.eof:
            raise ContentError("a damaged trace: a chunk is too large, or is cut off")
        total += len(content)
        if total > _MOST_BYTES:
            raise ContentError("it holds too many operations to be compared")
        yield _DECODER.decode(content)


def gather(records: Iterable[Header | Chunk | End], path: str = "") -> Loaded:
    """Gather the records of a trace into columns.

    Args:
        records: A header, chunks, and an end if the trace is complete.
        path: The path of the file.

    Raises:
        ContentError: The records contradict each other.
    """
    rest = iter(records)
    header = next(rest, None)
    if not isinstance(header, Header):
        raise ContentError("a damaged trace: it has no header")
    calls: dict[Any, int] = {}
    kinds: dict[Any, int] = {}
    chunks, end = [Chunk(0, [], [], *[b""] * 9)], None  # an empty one, in case there are none
    for record in rest:
        if isinstance(record, End):
            end = record
            break
        if isinstance(record, Chunk):
            chunks.append(record)
    chunks.sort(key=lambda chunk: chunk.thread)  # the file interleaves the chunks of threads
    try:
        parts = [_columns(chunk, header, calls, kinds) for chunk in chunks]
    except (IndexError, ValueError):
        raise ContentError("a damaged trace: a chunk contradicts itself") from None
    of, threads, links, *tensors = map(np.concatenate, zip(*parts, strict=True))
    if end is None:
        notes = [f"{path} is cut off: its process was stopped. {len(of):,} operations are intact"]
    else:
        notes = [f"{path}: {note}" for note in end.notes]
    table = [*kinds]
    reads = Tensors(table, np.cumsum(tensors[0]), *tensors[1:4])
    makes = Tensors(table, np.cumsum(tensors[4]), *tensors[5:])
    links = np.unique(links, axis=0)
    return Loaded(path, header, notes, [*calls], of, threads, reads, makes, links)


def _columns(
    chunk: Chunk, header: Header, calls: dict[Any, int], kinds: dict[Any, int]
) -> list[Any]:
    """Return the columns of a chunk.

    Args:
        chunk: The chunk.
        header: The header of the trace.
        calls: The calls of the trace, each with its number. New ones are added.
        kinds: The kinds of the trace, each with its number. New ones are added.

    Returns:
        For each operation, its call and its thread; the links; then, for inputs and for results,
        the number of tensors of each operation, and each tensor's digest, kind and summaries.

    Raises:
        IndexError, ValueError: The chunk contradicts itself.
    """

    def numbered(known: dict[Any, int], values: list[Any], chosen: bytes) -> Any:
        numbers = [known.setdefault(each, len(known)) for each in values]
        return np.array(numbers, np.uint32)[np.frombuffer(chosen, "<u4")]

    digests = np.frombuffer(chunk.tensors, "<u8")
    kind_of = numbered(kinds, chunk.kinds, chunk.kind_of)
    width = 3 if header.summaries else 0
    summaries = np.frombuffer(chunk.summaries, "<f4").reshape(len(kind_of), width)
    of = numbered(calls, chunk.calls, chunk.of)
    columns = [of, np.full(len(of), chunk.thread), np.frombuffer(chunk.links, "<u8").reshape(-1, 2)]
    for counts, refs in ((chunk.reads, chunk.read), (chunk.makes, chunk.made)):
        each, chosen = np.frombuffer(counts, "<u4").astype(np.int64), np.frombuffer(refs, "<u4")
        if len(each) != len(of) or each.sum() != len(chosen):
            raise ValueError("columns of different lengths")
        columns += [each, digests[chosen], kind_of[chosen], summaries[chosen]]
    return columns
