"""The file format of a trace.

The first line has the name and version of the format. Frames follow: a header, chunks of
operations, and an end. The end is missing if the run was killed. Each frame consists of its length,
a checksum, and a MessagePack record compressed by zlib.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

MAGIC = b"ipytorchseed trace "
VERSION = 1
# The head of each frame: the length of its content in bytes, and the content's CRC-32.
FRAME = Layout("<II")

Number = Annotated[int, Meta(ge=0)]

# The maximum number of characters stored of a line of code, or of an operation's arguments.
_LONGEST = 120

# The dtype of a generator's state, which is an input of a drawing operation.
STATE = "random state"


class Place(NamedTuple):
    """The place in the user's code that called an operation.

    Attributes:
        file: The path relative to the working folder; the file's name if it is elsewhere; empty for
            a cell.
        line: The number of the line, from 1; 0 if no line of the user's code is on the stack. In a
            backward pass, the line of the forward operation.
        code: The text of the line.
        module: The path of the innermost module, ``model.layer2.conv1``; or "".
        backward: Whether the operation belongs to a backward pass.
    """

    file: str = ""
    line: Number = 0
    code: str = ""
    module: str = ""
    backward: bool = False


def shorten(text: str) -> str:
    """Return the start of a text, with characters replaced that UTF-8 cannot encode."""
    return text[:_LONGEST].encode("utf-8", "replace").decode()


class Call(NamedTuple):
    """An operation at a place, with the arguments that are not tensors.

    Attributes:
        operation: The operation's name in torch, ``aten::mm``.
        place: The place in the code.
        plain: The digest of the arguments that are not tensors.
        text: These arguments as text.
    """

    operation: str
    place: Place
    plain: Number
    text: str


class Kind(NamedTuple):
    """The dtype and shape of a tensor.

    Attributes:
        dtype: The dtype without ``torch.``; "" for a value that is not a tensor, or if unknown.
        shape: The sizes.
    """

    dtype: str
    shape: tuple[Number, ...]


class Header(Struct, tag=0, array_like=True):
    """The first frame, written at the start of a run.

    Attributes:
        started: When the recording began, in seconds since 1970.
        settings: Versions, hardware and flags by name.
        rank: The rank of the process; None if there is only one process.
        summaries: Whether the trace has the greatest value, mean and norm of tensors.
    """

    started: float
    settings: dict[str, str]
    rank: Number | None
    summaries: bool


class Chunk(Struct, tag=1, array_like=True):
    """Some operations of one thread. All columns are little-endian.

    Attributes:
        thread: The number of the thread, 0 for the first.
        calls: A table of the different calls.
        kinds: A table of the different shapes and dtypes of tensors.
        tensors: The digests of the different tensors, 8 bytes each.
        kind_of: For each of these tensors, the index of its kind, 4 bytes.
        summaries: For each of these tensors, the greatest absolute value, the mean and the norm, 3
            times 4 bytes; or empty.
        of: For each operation, the index of its call, 4 bytes.
        reads: For each operation, the number of input tensors, 4 bytes.
        read: The indices of all input tensors in order, 4 bytes each.
        makes: For each operation, the number of result tensors, 4 bytes.
        made: The indices of all result tensors in order, 4 bytes each.
        links: Pairs of digests, 8 bytes each. The first tensor of a pair is a part or a view of the
            second tensor, or was written over a part of it.
    """

    thread: Number
    calls: list[Call]
    kinds: list[Kind]
    tensors: bytes
    kind_of: bytes
    summaries: bytes
    of: bytes
    reads: bytes
    read: bytes
    makes: bytes
    made: bytes
    links: bytes


class End(Struct, tag=2, array_like=True):
    """The last frame of a complete trace.

    Attributes:
        operations: The number of operations.
        notes: Clauses about what could not be recorded.
    """

    operations: Number
    notes: list[str]
