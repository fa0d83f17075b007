"""Runs and values as bytes, and back.

A run becomes a row of columns, a list of *things* that are kept once for all runs (names, cell
text, settings, large values), and a payload in JSON that refers to the things by number. Anything
that is empty or as usual is left out.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.packing import pack, pack_numbers, unpack, unpack_numbers
from ipytorchseed.ledger.records import FileRead, GeneratorState, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def to_json(content: object) -> bytes:
    """Write JSON that ``json.loads`` reads back character by character.

    Args:
        content: Without NaN and infinities, which JSON does not have.
    """
    try:
        return msgspec.json.encode(content)
    except (UnicodeEncodeError, TypeError):  # half of a surrogate pair; a subclass of str
        return _any_json(content)


def _any_json(content: object) -> bytes:
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


_SHORT = 16
"""Numbers of a series up to which it stays readable, in the JSON."""

_LARGE = 256
"""Characters of a value's summary, or of its parts, above which it is a thing of its own.

Below, a value takes less room in the payload than the reference and the row of a thing, and less
time: eight small values as things made a run twice as dear.
"""

Row = tuple[int, int, int, int, "int | None", float, float, str, bytes]
"""``id, notebook, kernel, cell, execution_count, started, seconds, status, payload``."""

LOST = Fingerprint("", "lost", "no longer in the ledger", exact=False, opaque=True)
"""Stands for a value that a damaged ledger refers to and does not hold."""


# --------------------------------------------------------------------------------------------------
# Things


# A letter says what a thing is, so that equal bytes are equal things: a cell's text may be `{}`.


def encode_text(text: str) -> bytes:
    """Write a name or a cell's text: any ``str``, also with what UTF-8 forbids."""
    return b"t" + text.encode("utf-8", "surrogatepass")


def encode_settings(settings: Mapping[str, Any]) -> bytes:
    """Write settings, which are JSON values by name."""
    return b"s" + _any_json(settings)


def encode_value(value: Fingerprint) -> bytes:
    """Write a value: a line of JSON, and after it a long series as plain numbers."""
    fields = _fields_of(value)
    long = pack_numbers(value.series) if value.series and len(value.series) > _SHORT else None
    if long is None:
        return b"v" + to_json(fields)
    fields[-1] = long[0]
    return b"".join((b"v", to_json(fields), b"\n", long[1]))


def decode_thing(data: bytes) -> Any:  # noqa: ANN401 -- whichever of the three it is
    """Read what one of the three above wrote.

    Raises:
        ValueError: It is from none of them.
    """
    kind, content = data[:1], data[1:]
    if kind == b"t":
        return content.decode("utf-8", "surrogatepass")
    if kind == b"s":
        return json.loads(content)
    if kind == b"v":
        return _decode_value(content)
    msg = f"a thing of an unknown kind {kind!r}"
    raise ValueError(msg)


def _decode_value(content: bytes) -> Fingerprint:
    line, _, tail = content.partition(b"\n")
    return _value_of(json.loads(line), tail)


def _fields_of(value: Fingerprint) -> list[Any]:
    digest = f"{value.digest}/{value.sample}" if value.sample else value.digest
    fields: list[Any] = [digest, value.kind, value.summary, value.exact + 2 * value.opaque]
    if value.parts or value.series is not None:
        fields.append(dict(value.parts))
        if value.series is not None:
            fields.append([each if isfinite(each) else repr(each) for each in value.series])
    return fields


def _value_of(fields: list[Any], tail: bytes = b"") -> Fingerprint:
    digest, kind, summary, flags, *more = fields
    series = None
    if len(more) > 1:
        kept = more[1]
        if isinstance(kept, str):
            series = unpack_numbers(kept, tail)
        else:
            series = tuple(float(each) if isinstance(each, str) else each for each in kept)
    digest, _, sample = digest.partition("/")
    parts = more[0] if more else {}
    return Fingerprint(
        digest, kind, summary, bool(flags & 1), bool(flags & 2), parts, series, sample
    )


def _is_large(value: Fingerprint) -> bool:
    return (
        (value.series is not None and len(value.series) > _SHORT)
        or len(value.summary) > _LARGE
        or (bool(value.parts) and sum(map(len, value.parts.values())) > _LARGE)
    )


# --------------------------------------------------------------------------------------------------
# Runs


def things_of(run: Run, settings: bytes) -> list[bytes]:
    """Return what is kept once for all runs, in the order in which ``payload_of`` names it.

    Args:
        run: The run.
        settings: What ``encode_settings`` made of its settings, which are those of many runs.
    """
    values = [*run.reads.values(), *run.writes.values(), *run.displays]
    values += [value for value in (run.result, run.stdout) if value is not None]
    return [
        encode_text(run.notebook),
        encode_text(run.kernel),
        encode_text(run.cell),
        encode_text(run.source),
        settings,
        *(encode_value(value) for value in values if _is_large(value)),
    ]


def payload_of(run: Run, things: Sequence[int], unkept: Sequence[str]) -> bytes:
    """Write all of a run that has no column of its own.

    Args:
        run: The run.
        things: The numbers of ``things_of(run)``.
        unkept: Digests of source states that were not given to be kept.
    """
    source, settings, *values = things[3:]
    ids = iter(values)

    def refer(value: Fingerprint) -> int | list[Any]:
        return next(ids) if _is_large(value) else _fields_of(value)

    before = {name: _state(each) for name, each in run.generators_before.items()}
    after = {name: _state(each) for name, each in run.generators_after.items()}
    fields = {
        "code": source,
        "set": settings,
        "rng": run.before,
        "rng2": _delta(run.before, run.after),
        "gen": before,
        "gen2": _delta(before, after),
        "in": {name: refer(value) for name, value in run.reads.items()},
        "out": {name: refer(value) for name, value in run.writes.items()},
        "disp": [refer(value) for value in run.displays],
        "res": None if run.result is None else refer(run.result),
        "std": None if run.stdout is None else refer(run.stdout),
        "file": [(each.path, each.size, each.digest, each.exact) for each in run.files],
        "betw": run.between,
        "seed": run.seeds,
        "ask": run.asks,
        "use": run.uses,
        "pass": run.passes,
        "norm": run.code,
        "note": run.notes,
        "no": unkept,
    }
    there = {name: each for name, each in fields.items() if each}
    if run.error is not None:
        there["err"] = run.error
    return pack(to_json(there))


def encode_record(
    run: Run, settings: msgspec.Raw | None, states: Mapping[str, bytes]
) -> bytes | None:
    """Write a run as a whole, with full states, for the tail; None for what only JSON can hold.

    Args:
        run: The run.
        settings: What ``encode_plain`` made of its settings, which are those of many runs.
        states: By digest.
    """
    if settings is None:
        return None
    try:
        return msgspec.msgpack.encode((replace(run, settings=settings), states))
    except (TypeError, ValueError, OverflowError):  # half of a surrogate pair; a subclass of str
        return None


def encode_plain(settings: Mapping[str, Any]) -> msgspec.Raw | None:
    """Write settings as a part of a record; None for what only JSON can hold."""
    try:
        return msgspec.Raw(msgspec.msgpack.encode(settings))
    except (TypeError, ValueError, OverflowError):
        return None


def decode_record(data: bytes) -> tuple[Run, dict[str, bytes]]:
    """Read what ``encode_record`` wrote.

    Raises:
        ValueError: It is not from there.
    """
    try:
        fields, states = msgspec.msgpack.decode(data)
        return Run(**{name: _READ.get(name, _same)(each) for name, each in fields.items()}), states
    except (AttributeError, TypeError) as error:  # fields of another version
        raise ValueError(str(error)) from error


def _same(field: Any) -> Any:  # noqa: ANN401
    return field


def _record_value(fields: dict[str, Any] | None) -> Fingerprint | None:
    if fields is None:
        return None
    series = fields.get("series")
    return Fingerprint(**{**fields, "series": None if series is None else tuple(series)})


def _each(read: Callable[[Any], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda field: {name: read(each) for name, each in field.items()}


_READ: dict[str, Callable[[Any], Any]] = {
    "generators_before": _each(lambda each: GeneratorState(**each)),
    "generators_after": _each(lambda each: GeneratorState(**each)),
    "reads": _each(_record_value),
    "writes": _each(_record_value),
    "result": _record_value,
    "stdout": _record_value,
    "displays": lambda field: tuple(map(_record_value, field)),
    "files": lambda field: tuple(FileRead(**each) for each in field),
    "between": _each(tuple),
    "seeds": lambda field: tuple(map(tuple, field)),
    "asks": tuple,
    "uses": tuple,
    "notes": tuple,
}
"""How the fields of a run are read that are more than texts and numbers."""


class Payload(Struct, frozen=True):
    """A run's payload, read.

    Attributes:
        fields: By the names that ``payload_of`` gives them.
        things: The things that it refers to.
    """

    fields: dict[str, Any]
    things: list[int]


def read_payload(data: bytes) -> Payload:
    """Read what ``payload_of`` wrote.

    Raises:
        ValueError: It is not from there.
    """
    fields = json.loads(unpack(data))
    if not isinstance(fields, dict) or "code" not in fields:
        msg = f"a run's payload begins with {str(fields)[:40]!r}"
        raise ValueError(msg)
    values = [*fields.get("in", {}).values(), *fields.get("out", {}).values()]
    values += [*fields.get("disp", ()), fields.get("res"), fields.get("std")]
    things = [fields["code"], fields["set"]]
    return Payload(fields, things + [each for each in values if isinstance(each, int)])


def decode_run(row: Row, fields: Mapping[str, Any], get: Callable[[int, Any], Any]) -> Run:
    """Build a run from its row, its payload's fields and its things.

    Args:
        row: Its columns.
        fields: Of ``read_payload``.
        get: Returns a thing by its number, or the second argument.
    """
    number, notebook, kernel, cell, execution_count, started, seconds, status, _ = row

    def value(kept: int | list[Any] | None) -> Any:  # noqa: ANN401 -- None only for None
        if isinstance(kept, int):
            return get(kept, LOST)
        return None if kept is None else _value_of(kept)

    def values(field: str) -> dict[str, Fingerprint]:
        return {name: value(each) for name, each in fields.get(field, {}).items()}

    generators = fields.get("gen", {})
    return Run(
        notebook=get(notebook, ""),
        kernel=get(kernel, ""),
        cell=get(cell, ""),
        source=get(fields["code"], ""),
        execution_count=execution_count,
        started=started,
        seconds=seconds,
        status=status,
        before=fields.get("rng", {}),
        after=_apply(fields.get("rng", {}), fields.get("rng2", {})),
        generators_before=_generators(generators),
        generators_after=_generators(_apply(generators, fields.get("gen2", {}))),
        settings=get(fields["set"], {}),
        reads=values("in"),
        writes=values("out"),
        result=value(fields.get("res")),
        stdout=value(fields.get("std")),
        displays=tuple(value(each) for each in fields.get("disp", ())),
        error=fields.get("err"),
        files=tuple(FileRead(*each) for each in fields.get("file", ())),
        between={name: (was, now) for name, (was, now) in fields.get("betw", {}).items()},
        seeds=tuple((seed, how) for seed, how in fields.get("seed", ())),
        asks=tuple(fields.get("ask", ())),
        uses=tuple(fields.get("use", ())),
        passes=fields.get("pass", False),
        code=fields.get("norm", ""),
        notes=tuple(fields.get("note", ())),
        id=number,
    )


def _state(generator: GeneratorState) -> list[str]:
    return [generator.type, generator.digest]


def _generators(states: Mapping[str, list[str]]) -> dict[str, GeneratorState]:
    return {name: GeneratorState(*each) for name, each in states.items()}


def _delta(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return what changed, and None for what is gone."""
    if before == after:
        return {}
    changed = {name: each for name, each in after.items() if before.get(name) != each}
    return changed | {name: None for name in before if name not in after}


def _apply(before: Mapping[str, Any], delta: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**before, **delta} if delta else {**before}
    return {name: each for name, each in merged.items() if each is not None}
