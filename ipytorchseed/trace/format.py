"""The format of a trace's file.

A line with the format and its version; then frames. Each frame has its length, a checksum, and
MessagePack compressed by zlib. The frames are a header, chunks of operations, and an end, which
is missing if the run was killed.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

MAGIC = b"ipytorchseed trace "
VERSION = 1
# The head of each frame: the length of its content in bytes, and the CRC-32 of that.
FRAME = Layout("<II")

Number = Annotated[int, Meta(ge=0)]

# The most entries of a table in a chunk; our chunks have some thousands.
_TABLE = Meta(max_length=1 << 20)

# Characters that are stored of an operation's arguments and of a line of code.
_LONGEST = 120

# The dtype of a generator's state, which is an input of a drawing operation.
STATE = "random state"


class Place(NamedTuple):
    """Where in the code an operation came from.

    Attributes:
        file: The path from the working folder, else the name; empty for a cell.
        line: From 1; 0 if no line of the user's is on the stack. In a backward pass, the line of
            the forward operation.
        code: The line's text.
        module: The path of the innermost module, ``model.layer2.conv1``; or "".
        backward: Whether it belongs to a backward pass.
    """

    file: str = ""
    line: Number = 0
    code: str = ""
    module: str = ""
    backward: bool = False


def shorten(text: str) -> str:
    """Return the start of a text, which UTF-8 can represent."""
    return text[:_LONGEST].encode("utf-8", "replace").decode()


class Call(NamedTuple):
    """An operation at a place, with its arguments that are not tensors.

    Attributes:
        operation: torch's name, ``aten::mm``.
        place: Its place in the code.
        plain: Digest of its other arguments.
        text: These, for people.
    """

    operation: str
    place: Place
    plain: Number
    text: str


class Kind(NamedTuple):
    """The dtype and shape of a tensor.

    Attributes:
        dtype: Without ``torch.``; "" for other values or if unknown.
        shape: Its sizes.
    """

    dtype: str
    shape: tuple[Number, ...]


class Header(Struct, tag=0, array_like=True):
    """The first frame: what is known at the start of a run.

    Attributes:
        started: Seconds since 1970.
        settings: Versions, hardware and flags by name.
        rank: The rank of the process; None if it is the only one.
        summaries: Whether greatest, mean and norm of tensors are kept.
    """

    started: float
    settings: dict[str, str]
    rank: Number | None
    summaries: bool


class Chunk(Struct, tag=1, array_like=True):
    """Some operations of one thread. Columns are little-endian.

    Attributes:
        thread: The thread, 0 for the first.
        calls: The operations as they occur.
        kinds: Shapes and dtypes of tensors.
        tensors: Digests of the different tensors, 8 bytes each.
        kind_of: Index of the kind of each, 4 bytes.
        summaries: Greatest absolute value, mean and norm of each, 3 times 4 bytes; or nothing.
        of: Index of the call of each operation, 4 bytes.
        reads: The number of input tensors of each, 4 bytes.
        read: Indices of these tensors, operation by operation, 4 bytes.
        makes: The number of result tensors of each, 4 bytes.
        made: Indices of these tensors.
        links: Digests of tensors that are parts or views of others, or were written over a part
            of them, each followed by the other's; 8 bytes each.
    """

    thread: Number
    calls: Annotated[list[Call], _TABLE]
    kinds: Annotated[list[Kind], _TABLE]
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
    """The end of a whole trace.

    Attributes:
        operations: The number of operations.
        notes: What could not be seen, in words.
    """

    operations: Number
    notes: list[str]
