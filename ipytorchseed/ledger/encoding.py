"""Encodes records as MessagePack, and decodes them.

Large parts are stored once for all records that have them. In a record, an extension type of
MessagePack with the part's key replaces the part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.msgpack import Ext
from msgspec.structs import asdict, replace
from xxhash import xxh3_64_intdigest

from ipytorchseed.errors import LedgerError
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.foreign import refuse_deep
from ipytorchseed.ledger.compression import decompress
from ipytorchseed.ledger.records import Run

T = TypeVar("T")

# Replaces a value that a damaged ledger refers to but does not have.
LOST = Fingerprint("", "lost", "no longer in the ledger", exact=False, opaque=True)

# Bytes up to which a part stays in its record.
_SMALL = 256

# Codes of extensions: three kinds of parts, and content with texts that UTF-8 cannot represent.
_TEXT, _SETTINGS, _VALUE, _ESCAPED = 1, 2, 3, 4

_ABSENT: dict[int, Any] = {_TEXT: "", _SETTINGS: {}, _VALUE: msgspec.to_builtins(LOST)}

_Stored = tuple[list[int], Raw]
# What decoding raises, directly or in its callees.
_DAMAGE = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)

_STORED = msgspec.msgpack.Decoder(_Stored)


def key_of(content: bytes) -> int:
    """Return the key of a content: its hash as a signed integer for SQLite."""
    return xxh3_64_intdigest(content) - 2**63


def key_of_digest(digest: str) -> int | None:
    """Return the key of a state by its digest; None for an invalid digest."""
    try:
        key = int(digest, 16) - 2**63
    except ValueError:
        return None
    return key if len(digest) == 16 else None  # noqa: PLR2004 -- 64 bits


@lru_cache(maxsize=256)
def key_of_name(name: str) -> int:
    """Return the hash of the name of a notebook, kernel or cell, for a column."""
    return key_of(name.encode("utf-8", "surrogatepass"))


# --------------------------------------------------------------------------------------------------
# Records


def encode(record: object) -> bytes:
    """Encode a record or a part of one.

    Raises:
        LedgerError: It has something that is not a plain value.
    """
    try:
        try:
            return msgspec.msgpack.encode(record)
        except (UnicodeEncodeError, TypeError):  # half of a surrogate pair, or a subclass of str
            return msgspec.msgpack.encode(Ext(_ESCAPED, msgspec.msgpack.encode(_escape(record))))
    except (TypeError, OverflowError) as error:
        msg = f"a {type(record).__name__} cannot be kept in the ledger: {error}"
        raise LedgerError(msg) from error


def decode(content: bytes, kind: type[T], parts: Mapping[int, Any] | None = None) -> T:
    """Decode the result of ``encode``.

    Args:
        content: The bytes.
        kind: The type of the record. Unknown fields are skipped.
        parts: The parts that the content refers to, by key; missing ones become empty, or ``LOST``.

    Raises:
        ValueError: The content is not such a record.
    """
    found = parts or {}

    def read(code: int, held: memoryview) -> Any:  # noqa: ANN401
        if code == _ESCAPED:
            return _unescape(msgspec.msgpack.decode(held, ext_hook=read))
        return found.get(int.from_bytes(held, "big", signed=True), _ABSENT.get(code))

    try:
        told = msgspec.msgpack.decode(content, ext_hook=read)
        refuse_deep(told)
        return msgspec.convert(told, kind)
    except _DAMAGE as error:
        raise ValueError(f"no {kind.__name__} can be read from it: {error}") from error


def readable(rows: Iterable[tuple[bytes]], kind: type[T]) -> Iterator[T]:
    """Yield decoded records without damaged ones, which ``verify`` reports."""
    for (data,) in rows:
        try:
            record = decode(decompress(data), kind)
        except ValueError:
            continue
        yield record


def encode_run(run: Run) -> tuple[bytes, dict[int, bytes]]:
    """Encode a run, without its number.

    Returns:
        The run without its large parts, and these parts by key.
    """
    parts: dict[int, bytes] = {}

    def part(code: int, content: object) -> Raw | Ext:
        data = encode(content)
        if len(data) <= _SMALL:
            return Raw(data)
        key = key_of(data)
        parts[key] = data
        return Ext(code, key.to_bytes(8, "big", signed=True))

    def value(content: Fingerprint | None) -> Raw | Ext | None:
        return None if content is None else part(_VALUE, content)

    record = replace(
        run,
        source=part(_TEXT, run.source),
        settings=part(_SETTINGS, run.settings),
        reads={name: value(each) for name, each in run.reads.items()},
        writes={name: value(each) for name, each in run.writes.items()},
        outputs=replace(
            run.outputs,
            result=value(run.outputs.result),
            shown=value(run.outputs.shown),
            stdout=value(run.outputs.stdout),
            displays=tuple(map(value, run.outputs.displays)),
        ),
        id=None,
    )
    return encode((list(parts), Raw(encode(record)))), parts


def parts_of_run(record: bytes) -> list[int]:
    """Return the keys of the parts that a run refers to.

    Raises:
        ValueError: It is not a run.
    """
    return _stored(record)[0]


def decode_run(number: int, record: bytes, parts: Mapping[int, Any]) -> Run:
    """Decode a run.

    Args:
        number: Its number in the ledger.
        record: The result of ``encode_run``.
        parts: The parts that it refers to, by key.

    Raises:
        ValueError: It is not a run.
    """
    return replace(decode(bytes(_stored(record)[1]), Run, parts), id=number)


def _stored(record: bytes) -> _Stored:
    try:
        stored: _Stored = _STORED.decode(record)
    except _DAMAGE as error:
        raise ValueError(f"no run can be read from it: {error}") from error
    return stored


def _escape(content: Any) -> Any:  # noqa: ANN401
    """Turn all strings into bytes, because UTF-8 cannot represent every string.

    A record has no other bytes.
    """
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    if isinstance(content, Struct):
        return _escape(asdict(content))
    if isinstance(content, dict):
        return {_escape(key): _escape(each) for key, each in content.items()}
    if isinstance(content, list | tuple):
        return [_escape(each) for each in content]
    return content


def _unescape(content: Any) -> Any:  # noqa: ANN401
    if isinstance(content, bytes):
        return content.decode("utf-8", "surrogatepass")
    if isinstance(content, dict):
        return {_unescape(key): _unescape(each) for key, each in content.items()}
    if isinstance(content, list):
        return [_unescape(each) for each in content]
    return content
