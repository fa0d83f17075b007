"""Encodes records as MessagePack, and decodes them.

Large parts of runs are stored separately, because many runs have the same ones. In the record, a
MessagePack extension with the part's key replaces the part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from ipytorchseed.ledger.records import Run

T = TypeVar("T")

# Replaces a value that is missing in a damaged ledger.
LOST = Fingerprint("", "lost", "no longer in the ledger", exact=False, opaque=True)

# Parts of up to this many bytes are stored in the record.
_SMALL = 256

# Codes of extensions: three kinds of parts, and records with strings that UTF-8 cannot represent.
_TEXT, _SETTINGS, _VALUE, _ESCAPED = 1, 2, 3, 4

_ABSENT: dict[int, Any] = {_TEXT: "", _SETTINGS: {}, _VALUE: msgspec.to_builtins(LOST)}

# The exceptions that decoding damaged content may raise.
_DAMAGE = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)

_STORED = msgspec.msgpack.Decoder(tuple[list[int], Raw])


def key_of(content: bytes) -> int:
    """Return the key of a blob: the hash of its content, signed as SQLite needs it."""
    return xxh3_64_intdigest(content) - 2**63


def key_of_digest(digest: str) -> int | None:
    """Return the key of the state with a digest, or None if the digest is invalid."""
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
    """Encode a record, or a part of a record.

    Raises:
        LedgerError: The record contains an object that cannot be encoded.
    """
    try:
        try:
            return msgspec.msgpack.encode(record)
        except (UnicodeEncodeError, TypeError):  # half of a surrogate pair, or a subclass of str
            # Records contain no other bytes objects, so decoding can restore the strings.
            escaped = _map(record, str, lambda text: text.encode("utf-8", "surrogatepass"))
            return msgspec.msgpack.encode(Ext(_ESCAPED, msgspec.msgpack.encode(escaped)))
    except (TypeError, OverflowError) as error:
        msg = f"a {type(record).__name__} cannot be kept in the ledger: {error}"
        raise LedgerError(msg) from error


def decode(content: bytes, kind: type[T], parts: Mapping[int, Any] | None = None) -> T:
    """Decode the result of ``encode``.

    Args:
        content: The encoded record.
        kind: The type of the record. Unknown fields are skipped.
        parts: The separately stored parts, by key. Missing texts and settings are replaced by empty
            ones, missing values by ``LOST``.

    Raises:
        ValueError: The content is not a record of this type.
    """
    found = parts or {}

    def read(code: int, held: memoryview) -> Any:  # noqa: ANN401
        if code == _ESCAPED:
            escaped = msgspec.msgpack.decode(held, ext_hook=read)
            return _map(escaped, bytes, lambda text: text.decode("utf-8", "surrogatepass"))
        return found.get(int.from_bytes(held, "big", signed=True), _ABSENT.get(code))

    try:
        told = msgspec.msgpack.decode(content, ext_hook=read)
        refuse_deep(told)
        return msgspec.convert(told, kind)
    except _DAMAGE as error:
        raise ValueError(f"no {kind.__name__} can be read from it: {error}") from error


def encode_run(run: Run) -> tuple[bytes, dict[int, bytes]]:
    """Encode a run, without its number.

    Returns:
        The run without its large parts, and the large parts by key.
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

    shown = {name: value(getattr(run.outputs, name)) for name in ("result", "shown", "stdout")}
    displays = tuple(map(value, run.outputs.displays))
    record = replace(
        run,
        source=part(_TEXT, run.source),
        settings=part(_SETTINGS, run.settings),
        reads={name: value(each) for name, each in run.reads.items()},
        writes={name: value(each) for name, each in run.writes.items()},
        outputs=replace(run.outputs, **shown, displays=displays),
        id=None,
    )
    return encode((list(parts), Raw(encode(record)))), parts


def split_run(record: bytes) -> tuple[list[int], Raw]:
    """Return the keys of the parts of a run stored separately, and the rest.

    Args:
        record: The first result of ``encode_run``.

    Raises:
        ValueError: ``record`` is not an encoded run.
    """
    try:
        stored: tuple[list[int], Raw] = _STORED.decode(record)
    except _DAMAGE as error:
        raise ValueError(f"no run can be read from it: {error}") from error
    return stored


def decode_run(number: int, rest: Raw, parts: Mapping[int, Any]) -> Run:
    """Decode a run.

    Args:
        number: The number of the run in the ledger.
        rest: The second result of ``split_run``.
        parts: The separately stored parts, by key; see ``decode``.

    Raises:
        ValueError: ``rest`` is not an encoded run.
    """
    return replace(decode(bytes(rest), Run, parts), id=number)


def _map(content: Any, kind: type[T], change: Callable[[T], object]) -> Any:  # noqa: ANN401
    """Apply a function to all values of a type in nested containers."""
    if isinstance(content, kind):
        return change(content)
    if isinstance(content, Struct):
        content = asdict(content)
    if isinstance(content, dict):
        return {_map(k, kind, change): _map(each, kind, change) for k, each in content.items()}
    if isinstance(content, list | tuple):
        return [_map(each, kind, change) for each in content]
    return content
