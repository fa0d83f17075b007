"""Compares the recorded looks of several ranks, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from itertools import chain
from typing import Any

from msgspec import Struct

from ipytorchseed.errors import RanksError, did_you_mean
from ipytorchseed.ranks.causes import Track, explain, in_one_stream, list_ranks, seeded
from ipytorchseed.ranks.looking import Look, Rank, Site, own_name

# The length of a digest. A shorter string is a value as text.
_DIGITS = 16

WISHES = ("same", "distinct")

# ``same`` or ``distinct``, by the name of a source.
Expect = Mapping[str, str]


class Finding(Struct, frozen=True):
    """A difference between ranks, or a source that should differ and does not.

    Attributes:
        kind: ``source``, ``setting``, ``parameters``, ``buffers``, or the name of a compared
            object.
        name: The source or setting; else the first tensor or part that differs.
        step: The step after which the difference was seen; None if there was only one look.
        after: The last step after which all ranks were equal; None if they never were.
        ranks: The ranks outside the largest group of equal ranks; all ranks if no group is the
            largest.
        message: A clause that says what happened, without the step.
        drew: How many more numbers these ranks drew than the others; negative for fewer, None if
            unknown.
        site: The line that drew, if known.
    """

    kind: str
    name: str
    step: int | None
    after: int | None
    ranks: list[int]
    message: str
    drew: int | None = None
    site: Site | None = None

    def __str__(self) -> str:
        return self.message if self.step is None else f"{self.when}: {self.message}"

    @property
    def when(self) -> str:
        """The step, or the range of steps in which the ranks diverged, in words."""
        if not self.step:
            return "from the start"
        begin = self.step if self.after is None else self.after + 1
        return f"step {self.step}" if begin >= self.step else f"steps {begin} to {self.step}"


class Row(Struct, frozen=True):
    """A row of the table: something that ranks have in common, with its value in each.

    Attributes:
        kind: As in ``Finding``.
        name: The source or setting; for tensors and objects, the kind.
        values: The digest, or the setting's value as text, by rank.
        expected: ``same`` or ``distinct`` if the user set an expectation, else None.
    """

    kind: str
    name: str
    values: dict[int, str]
    expected: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the row in every step."""
        return self.kind, self.name

    @property
    def groups(self) -> list[list[int]]:
        """Lists of ranks with equal values, the largest group first."""
        return grouped(self.values)


class Judgement:
    """The comparison of several ranks by their recorded looks.

    Args:
        ranks: Each rank with its looks, by number.
        expect: ``same`` or ``distinct``, by the name of the source.

    Attributes:
        ranks: The ranks that recorded a look.
        unseen: The numbers of ranks without any look.
        single: Whether each rank was inspected only once.
        steps: The last step of each rank.
        findings: The differences, in the order of steps.
        distinct: Sources that are distinct in all ranks, which is assumed to be on purpose.
        rows: The table at the last step that all ranks reached.
        synchronised: Whether each forward pass copies rank 0's buffers to all ranks. Buffers are
            then not compared.

    Raises:
        RanksError: No rank has a source with an expectation.
    """

    def __init__(self, ranks: Mapping[int, tuple[Rank, Iterable[Look]]], expect: Expect) -> None:
        tracks = {number: Track(rank, iter(looks)) for number, (rank, looks) in ranks.items()}
        for track in tracks.values():
            track.advance()
        self._tracks = {number: track for number, track in tracks.items() if track.pending}
        self.ranks = [track.rank for track in self._tracks.values()]
        self.unseen = [number for number in tracks if number not in self._tracks]
        self._expect = expect
        self._alike: dict[tuple[str, str], int] = {}
        self._settled: set[tuple[str, str]] = set()
        self.single = all(rank.every == 0 for rank in self.ranks)
        self.synchronised = any(rank.synchronised for rank in self.ranks)
        self.findings: list[Finding] = []
        self.distinct: list[str] = []
        self._common: dict[int, Track] = {}
        while pending := [each.pending.step for each in self._tracks.values() if each.pending]:
            self._judge(min(pending))
        self._refuse_unknown()
        rows = self._rows(self._common) if self._common else ()
        self.rows = [row for row in rows if row.kind != "setting" or row.key in self._settled]
        self._judge_distinct()
        self.steps = {number: max(track.step, 0) for number, track in self._tracks.items()}

    def _refuse_unknown(self) -> None:
        """Raise an error if no rank has a source with an expectation.

        Raises:
            RanksError: There is such an expectation: its name may be mistyped.
        """
        known = [*dict.fromkeys(chain.from_iterable(each.marks for each in self._tracks.values()))]
        for name, wish in self._expect.items():
            if known and name not in known:
                hint = did_you_mean(name, known) or f": there are {', '.join(known)}"
                msg = f"{name} is expected {wish!r}, but no rank has such a source{hint}"
                raise RanksError(msg)

    def _judge(self, step: int) -> None:
        """Compare the ranks that have reached a step."""
        for track in self._tracks.values():
            while track.pending is not None and track.pending.step == step:
                track.advance()
        there = [(n, each) for n, each in self._tracks.items() if each.pending or each.step == step]
        active = dict(there)
        if len(active) > 1:
            looked = all(track.looked == step for track in active.values())
            rows = [row for row in self._rows(active) if looked or row.kind == "source"]
            for row in sorted(rows, key=lambda row: row.kind != "setting"):
                self._judge_row(row, step, active, rows)
        if len(active) == len(self._tracks):
            self._common = {number: copy(track) for number, track in active.items()}

    def _judge_row(self, row: Row, step: int, active: dict[int, Track], rows: list[Row]) -> None:
        """Add a finding if ranks differ in a row at a step."""
        if row.key in self._settled or row.expected == "distinct":
            return
        groups = row.groups
        if len(groups) == 1:
            self._alike[row.key] = step
        elif row.kind == "source":
            name, begun = row.name, row.key in self._alike
            is_free = row.expected is None and len(groups) == len(active)
            if is_free and (seeded(name, active) if begun else not in_one_stream(name, active)):
                self._settled.add(row.key)
                self.distinct.append(name)
            else:
                self._add(row, step, name, *explain(name, step, active, groups, begun=begun))
        elif row.kind == "setting":
            self._settled.add(row.key)
            alike = [each for each in rows if each.kind == "setting" and each.groups == groups]
            others = [each for each in alike if each.key not in self._settled]
            self._settled.update(each.key for each in others)
            said = [f"{list_ranks(each)} {row.values[each[0]]}" for each in reversed(groups)]
            more = f" (and so {', '.join(each.name for each in others)})" if others else ""
            message = f"{row.name} is not the same: {', '.join(said)}{more}"
            self._add(row, step, row.name, [*chain(*groups[1:])], message)
        elif row.kind != "buffers" or not self.synchronised:
            self._judge_values(row, step, active)

    def _judge_values(self, row: Row, step: int, active: dict[int, Track]) -> None:
        kind = row.kind
        parts = {number: track.values[kind] for number, track in active.items()}
        every = [*parts.values()]
        names = dict.fromkeys(chain(*every))
        name = next(name for name in names if len({part.get(name) for part in every}) > 1)
        values = {number: str(part.get(name)) for number, part in parts.items()}
        groups = grouped(values)
        apart, clear = [*chain(*groups[1:])], len(groups[0]) > len(groups[1])
        who = " against ".join(map(list_ranks, groups))
        if clear:
            who = f"different in {list_ranks(apart)}"
        if len(groups) == len(active) > 2:  # noqa: PLR2004
            who = "no two ranks are alike"
        if all(len(value) < _DIGITS for value in values.values()):
            who = ", ".join(f"{list_ranks(each)}: {values[each[0]]}" for each in reversed(groups))
        verb = "diverge" if row.key in self._alike else "differ"
        what = f"{kind} {verb}" if kind in {"parameters", "buffers"} else f"`{kind}` {verb}s"
        ranks = apart if clear else [*active]
        self._add(row, step, name, ranks, f"{what}, first in {name} ({who})")

    def _judge_distinct(self) -> None:
        """Add findings for sources that are equal but were expected to be distinct."""
        for row in [row for row in self.rows if row.expected == "distinct"]:
            masks = any(rank.masks for rank in self.ranks) and row.name.startswith("torch")
            what = f"the same {'masks' if masks else 'numbers'}: {row.name} is equal in"
            for group in [group for group in row.groups if len(group) > 1]:
                named = list_ranks(group)
                many = f"all {len(group)} ranks" if len(row.groups) == 1 else named
                message = f"{many} draw {what} {named}, expected distinct"
                self._add(row, self._tracks[group[0]].step, row.name, group, message)

    def _add(self, row: Row, step: int, name: str, *details: Any) -> None:
        self._settled.add(row.key)
        after = self._alike.get(row.key)
        if row.kind == "source" and after is not None:
            after = step - 1  # sources are compared after each step
        seen = None if self.single else step
        self.findings.append(Finding(row.kind, name, seen, after, *details))

    def _rows(self, active: dict[int, Track]) -> Iterator[Row]:
        tracks = active.values()
        for name in _shared([track.marks for track in tracks]):
            marks = {number: track.marks[name].digest for number, track in active.items()}
            yield Row("source", name, marks, self._expect.get(name))
        for kind in _shared([track.values for track in tracks]):
            if any(track.values[kind] for track in tracks):
                values = {number: _digest(each.values[kind]) for number, each in active.items()}
                yield Row(kind, kind, values)
        for name in _shared([track.settings for track in tracks]):
            settings = {number: _shown(each.settings[name]) for number, each in active.items()}
            yield Row("setting", name, settings)


def expectations(expect: Expect | None) -> dict[str, str]:
    """Validate expectations, and return them by the common names of the sources.

    Raises:
        RanksError: An expectation is neither ``"same"`` nor ``"distinct"``.
    """
    for name, wish in (expect or {}).items():
        if wish not in WISHES:
            raise RanksError(f"{name} is expected 'same' or 'distinct', not {wish!r}")
    return {own_name(name): wish for name, wish in (expect or {}).items()}


def grouped(values: Mapping[int, str]) -> list[list[int]]:
    """Group ranks with the same value, the largest group first."""
    groups: dict[str, list[int]] = {}
    for number, value in values.items():
        groups.setdefault(value, []).append(number)
    return sorted(groups.values(), key=lambda group: (-len(group), group))


def _shared(mappings: list[dict[str, Any]]) -> list[str]:
    """Return the keys that all mappings have, in the order of the first mapping."""
    return [name for name in mappings[0] if all(name in each for each in mappings)]


def _shown(value: object) -> str:
    """Return a setting as text; a device without its index, which depends on the rank."""
    text = str(value)
    return text.partition(":")[0] if text.startswith(("cuda:", "xpu:")) else text


def _digest(parts: Mapping[str, str]) -> str:
    from xxhash import xxh3_64_hexdigest

    return xxh3_64_hexdigest("\n".join(f"{name} {part}" for name, part in parts.items()).encode())
