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
from msgspec.structs import astuple

from ipytorchseed.errors import TraceError
from ipytorchseed.foreign import ContentError, Format
from ipytorchseed.trace.compiled import COMPILED
from ipytorchseed.trace.format import (
    FRAME,
    MAGIC,
    STATE,
    VERSION,
    Call,
    Chunk,
    End,
    Header,
    Kind,
    Place,
)

_FORMAT = Format("trace", TraceError, "record it again with its.trace(FILE)", size=1 << 31)

# The most bytes of a chunk, compressed or not. Even large chunks are much smaller.
_LARGEST = 1 << 26

# The most bytes of a decompressed trace, and the most tensors of its operations.
_MOST_BYTES, _MOST_TENSORS = 1 << 29, 1 << 25

_TOO_MANY = "it holds too many operations to be compared"

_DECODER = msgspec.msgpack.Decoder(Header | Chunk | End)


class Tensors(Struct):
    """The tensors of all operations, one operation after the other.

    Attributes:
        ends: For each operation, the index after its last tensor.
        digests: The digest of each tensor, 64 bits.
        kinds: The index of each tensor's kind.
        summaries: A row for each tensor: greatest absolute value, mean and norm. Without summaries,
            the rows are empty.
    """

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
        sums = np.concatenate([[0], np.cumsum(chosen)])
        return sums[self.ends] > sums[self.ends - self.counts]


class Operation(Struct, frozen=True):
    """An operation of a trace.

    Attributes:
        name: The operation's name in torch, ``aten::mm``.
        index: The number of the operation in the trace, from 0.
        thread: The number of its thread, 0 for the first.
        place: Its place in the code.
        given: The dtypes and shapes of the input tensors, and the other arguments, as text.
    """

    name: str
    index: int
    thread: int
    place: Place
    given: str

    @property
    def compiled(self) -> bool:
        """Whether the operation is a run of compiled code, or happened in one."""
        return self.place.module.endswith(COMPILED)


class Loaded(Struct):
    """A trace in memory. All columns are numpy arrays.

    Attributes:
        path: The path of the file.
        header: The header of the file.
        notes: Clauses about what could not be recorded or read.
        calls: The different calls, each with name, place and arguments.
        kinds: The different shapes and dtypes of tensors.
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
    kinds: list[Kind]
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

    def place(self, operation: int) -> Place:
        """Return the place of an operation."""
        return self.call(operation).place

    def name(self, operation: int) -> str:
        """Return an operation's name, ``aten::mm``."""
        return self.call(operation).operation

    def operation(self, at: int) -> Operation:
        """Return an operation as a record."""
        kinds = [self.kinds[each] for each in self.reads.kinds[self.reads.of(at)].tolist()]
        words = [f"{kind.dtype}{list(kind.shape)}" for kind in kinds
                 if kind.dtype not in ("", STATE)]  # fmt: skip
        text = self.call(at).text
        return Operation(
            name=self.name(at),
            index=at,
            thread=int(self.threads[at]),
            place=self.place(at),
            given=", ".join([*words, text] if text else words),
        )

    def find(self, test: Callable[[str], object]) -> list[int]:
        """Return the indices of operations whose names pass a test, in order."""
        passed = np.array([bool(test(call.operation)) for call in self.calls], bool)
        return np.flatnonzero(passed[self.of]).tolist()


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
            raise ContentError(_TOO_MANY)
        yield _DECODER.decode(content)


def gather(records: Iterable[Header | Chunk | End], path: str = "") -> Loaded:
    """Gather the records of a trace into columns.

    Args:
        records: A header, chunks, and an end if the trace is complete.
        path: The path of the file.

    Raises:
        ContentError: The records contradict each other, or have too many tensors.
    """
    rest = iter(records)
    header = next(rest, None)
    if not isinstance(header, Header):
        raise ContentError("a damaged trace: it has no header")
    tables: _Tables = {each: {} for each in ("calls", "kinds")}
    parts = [_read_chunk(Chunk(0, [], [], *[b""] * 9), header, tables)]  # if there are no chunks
    tensors, end = 0, None
    for record in rest:
        if isinstance(record, Chunk):
            parts.append(part := _read_chunk(record, header, tables))
            tensors += len(part.reads.digests) + len(part.makes.digests)
            if tensors > _MOST_TENSORS:
                raise ContentError(_TOO_MANY)
        elif isinstance(record, End):
            end = record
            break
    parts.sort(key=lambda part: part.thread)  # the file interleaves the chunks of threads
    of = np.concatenate([part.of for part in parts])
    if end is None:
        notes = [f"{path} is cut off: its process was stopped. {len(of):,} operations are intact"]
    else:
        notes = [f"{path}: {note}" for note in end.notes]
    return Loaded(
        path=path,
        header=header,
        notes=notes,
        **{name: [*table] for name, table in tables.items()},
        of=of,
        threads=np.repeat([part.thread for part in parts], [len(part.of) for part in parts]),
        reads=_join([part.reads for part in parts]),
        makes=_join([part.makes for part in parts]),
        links=np.unique(np.concatenate([part.links for part in parts]), axis=0),
    )


# The calls and kinds of all chunks, each with its number in the trace.
_Tables = dict[str, dict[Any, int]]


class _Part(Struct):
    """The operations of a chunk, with fields as in ``Loaded``.

    ``ends`` of the tensors are counts of each operation's tensors, which ``_join`` adds up.
    """

    thread: int
    of: Any
    reads: Tensors
    makes: Tensors
    links: Any


def _read_chunk(chunk: Chunk, header: Header, tables: _Tables) -> _Part:
    """Read the columns of a chunk.

    Args:
        chunk: The chunk.
        header: The header of the trace.
        tables: The calls and kinds of the trace. New ones are added.

    Raises:
        ContentError: The chunk contradicts itself.
    """

    def numbered(table: str, values: list[Any]) -> Any:
        known = tables[table]
        return np.array([known.setdefault(each, len(known)) for each in values], np.uint32)

    def numbers(data: bytes) -> Any:
        return np.frombuffer(data, "<u4")

    def tensors(counts: bytes, refs: bytes) -> Tensors:
        each, chosen = numbers(counts).astype(np.int64), numbers(refs)
        if len(each) != len(of) or each.sum() != len(chosen):
            raise ValueError("columns of different lengths")
        return Tensors(each, digests[chosen], kind_of[chosen], summaries[chosen])

    try:
        digests = np.frombuffer(chunk.tensors, "<u8")
        kind_of = numbered("kinds", chunk.kinds)[numbers(chunk.kind_of)]
        width = 3 if header.summaries else 0
        summaries = np.frombuffer(chunk.summaries, "<f4").reshape(len(kind_of), width)
        of = numbered("calls", chunk.calls)[numbers(chunk.of)]
        reads, makes = tensors(chunk.reads, chunk.read), tensors(chunk.makes, chunk.made)
        links = np.frombuffer(chunk.links, "<u8").reshape(-1, 2)
    except (IndexError, ValueError):
        raise ContentError("a damaged trace: a chunk contradicts itself") from None
    return _Part(chunk.thread, of, reads, makes, links)


def _join(parts: list[Tensors]) -> Tensors:
    """Join the tensors of chunks, and turn counts into ends."""
    counts, *others = map(np.concatenate, zip(*map(astuple, parts), strict=True))
    return Tensors(np.cumsum(counts), *others)
