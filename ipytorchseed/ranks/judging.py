"""Compares the looks of several ranks, step by step: what differs first, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from itertools import chain
from typing import Any

from msgspec import Struct

from ipytorchseed.errors import RanksError, did_you_mean
from ipytorchseed.ranks.causes import are_in_one_stream, explain, list_ranks, seeded
from ipytorchseed.ranks.looking import own_name
from ipytorchseed.ranks.records import Look, Rank, Site, Track

# Characters of a digest; a shorter string is a value itself.
_DIGITS = 16

WISHES = ("same", "distinct")


class Finding(Struct, frozen=True):
    """A difference between ranks, or a source that should differ and does not.

    Attributes:
        kind: ``source``, ``setting``, ``parameters``, ``buffers``, or the name of an argument.
        name: The source, the setting, the first tensor or part that differs.
        step: The step after which it was seen; None for a single look.
        after: The last step after which all ranks were equal; None if they never were.
        ranks: The ranks that differ from the largest group; all of them if there is no largest.
        message: What happened, without the step.
        drew: How many numbers more than the others they drew; negative for fewer, None if unknown.
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
        if self.step is None:
            return self.message
        return f"{self.when}: {self.message}"

    @property
    def when(self) -> str:
        """The step in words, or the range of steps in which it happened."""
        if not self.step:
            return "from the start"
        begin = self.step if self.after is None else self.after + 1
        return f"step {self.step}" if begin >= self.step else f"steps {begin} to {self.step}"


class Row(Struct, frozen=True):
    """A row of the table, at the last common step.

    Attributes:
        kind: As in ``Finding``.
        name: The source or setting; for a group of values, the kind.
        values: By rank: a digest, or a setting's value as text.
        expected: ``same`` or ``distinct`` if expected, else None.
    """

    kind: str
    name: str
    values: dict[int, str]
    expected: str | None = None

    @property
    def groups(self) -> list[list[int]]:
        """The ranks with equal values, the largest group first."""
        return grouped(self.values)


class Judgement:
    """The comparison of several ranks by their looks.

    Args:
        ranks: Each rank with its looks, by number.
        expect: The expectations, by the name of the source: ``same`` or ``distinct``.

    Attributes:
        ranks: The ranks with looks.
        unseen: The numbers of the others.
        steps: The last step of each rank.
        findings: The differences, in the order of steps.
        distinct: Sources that were distinct in all ranks from the start, which is allowed.
        rows: The table of the last step that all ranks reached.
        synchronised: Whether buffers are rank 0's at each forward pass, and were not compared.

    Raises:
        RanksError: No rank has a source with an expectation.
    """

    def __init__(
        self, ranks: Mapping[int, tuple[Rank, Iterable[Look]]], expect: Mapping[str, str]
    ) -> None:
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
        self.rows = [*self._rows(self._common)] if self._common else []
        self._judge_distinct()
        self.steps = {number: max(track.step, 0) for number, track in self._tracks.items()}

    def _refuse_unknown(self) -> None:
        """Refuse expectations for sources that no rank has, such as mistyped names.

        Raises:
            RanksError: There is such an expectation.
        """
        known = dict.fromkeys(chain.from_iterable(each.marks for each in self._tracks.values()))
        for name, wish in self._expect.items():
            if known and name not in known:
                raise RanksError(
                    f"{name} is expected {wish!r}, and no rank has such a source"
                    f"{did_you_mean(name, [*known]) or ': there are ' + ', '.join(known)}"
                )

    def _judge(self, step: int) -> None:
        """Compare the ranks that have reached a step."""
        for track in self._tracks.values():
            while track.pending is not None and track.pending.step == step:
                track.advance()
        active = {
            number: track
            for number, track in self._tracks.items()
            if track.pending is not None or track.step == step
        }
        if len(active) > 1:
            looked = all(track.looked == step for track in active.values())
            if looked:
                self._judge_settings(step, active)
            for name in _shared([track.marks for track in active.values()]):
                self._judge_source(step, name, active)
            if looked:
                for kind in _shared([track.values for track in active.values()]):
                    self._judge_values(step, kind, active)
        if len(active) == len(self._tracks):
            self._common = {number: copy(track) for number, track in active.items()}

    def _judge_settings(self, step: int, active: dict[int, Track]) -> None:
        shown: dict[str, dict[int, str]] = {}
        parted: dict[str, list[str]] = {}
        for name in _shared([track.settings for track in active.values()]):
            key = "setting", name
            shown[name] = {number: _shown(each.settings[name]) for number, each in active.items()}
            if key not in self._settled and self._diverges(key, step, shown[name]):
                parted.setdefault(repr(grouped(shown[name])), []).append(name)
        for name, *others in parted.values():
            groups = grouped(shown[name])
            said = [f"{list_ranks(each)} {shown[name][each[0]]}" for each in reversed(groups)]
            more = f" (and so {', '.join(others)})" if others else ""
            message = f"{name} is not the same: {', '.join(said)}{more}"
            self._add("setting", name, step, [*chain(*groups[1:])], message)
            self._settled.update(("setting", other) for other in others)

    def _judge_source(self, step: int, name: str, active: dict[int, Track]) -> None:
        key = "source", name
        marks = {number: track.marks[name].digest for number, track in active.items()}
        wish = self._expect.get(name)
        if key in self._settled or wish == "distinct" or not self._diverges(key, step, marks):
            return
        begun = key in self._alike
        all_apart = len({*marks.values()}) == len(marks)
        if (wish is None and all_apart) and (
            seeded(name, active) if begun else not are_in_one_stream(name, active)
        ):
            self._settled.add(key)
            self.distinct.append(name)
            return
        self._add("source", name, step, *explain(name, step, active, grouped(marks), begun=begun))

    def _judge_values(self, step: int, kind: str, active: dict[int, Track]) -> None:
        if (kind, "") in self._settled or (kind == "buffers" and self.synchronised):
            return
        parts = [track.values[kind] for track in active.values()]
        names = [
            name
            for name in dict.fromkeys(chain(*parts))
            if len({part.get(name) for part in parts}) > 1
        ]
        if not names:
            self._alike[kind, ""] = step
            return
        name = names[0]
        values = {number: str(track.values[kind].get(name)) for number, track in active.items()}
        groups = grouped(values)
        apart = [*chain(*groups[1:])]
        clear = len(groups[0]) > len(groups[1])
        who = f"{list_ranks(apart)} apart" if clear else " against ".join(map(list_ranks, groups))
        if len(groups) == len(active) > 2:  # noqa: PLR2004
            who = "no two ranks are alike"
        if all(len(value) < _DIGITS for value in values.values()):
            who = ", ".join(f"{list_ranks(each)}: {values[each[0]]}" for each in reversed(groups))
        verb = "part" if (kind, "") in self._alike else "differ"
        what = f"{kind} {verb}" if kind in {"parameters", "buffers"} else f"`{kind}` {verb}s"
        message = f"{what}, first in {name} ({who})"
        self._add(kind, name, step, apart if clear else [*active], message)

    def _judge_distinct(self) -> None:
        """Find sources that should be distinct at the last common step and are not."""
        for row in self.rows:
            if row.kind != "source" or row.expected != "distinct":
                continue
            for group in row.groups:
                if len(group) > 1:
                    masks = any(rank.masks for rank in self.ranks) and row.name.startswith("torch")
                    many = f"all {len(group)} ranks" if len(row.groups) == 1 else list_ranks(group)
                    message = (
                        f"{many} draw the same {'masks' if masks else 'numbers'}: {row.name} is"
                        f" alike in {list_ranks(group)}, expected distinct"
                    )
                    self._add("source", row.name, self._tracks[group[0]].step, group, message)

    def _diverges(self, key: tuple[str, str], step: int, values: Mapping[int, str]) -> bool:
        """Return whether values differ between ranks; if not, remember the step."""
        if len({*values.values()}) > 1:
            return True
        self._alike[key] = step
        return False

    def _add(  # noqa: PLR0913, PLR0917 -- the fields of a finding
        self,
        kind: str,
        name: str,
        step: int,
        ranks: list[int],
        message: str,
        drew: int | None = None,
        site: Site | None = None,
    ) -> None:
        key = (kind, name) if kind in {"source", "setting"} else (kind, "")
        self._settled.add(key)
        after = self._alike.get(key)
        if kind == "source" and after is not None:
            after = step - 1  # they are compared after each step
        when = None if self.single else step
        self.findings.append(Finding(kind, name, when, after, ranks, message, drew, site))

    def _rows(self, active: dict[int, Track]) -> Iterator[Row]:
        def row(kind: str, name: str, values: list[str]) -> Row:
            expected = self._expect.get(name) if kind == "source" else None
            return Row(kind, name, dict(zip(active, values, strict=True)), expected)

        tracks = [*active.values()]
        for name in _shared([track.marks for track in tracks]):
            yield row("source", name, [track.marks[name].digest for track in tracks])
        for kind in _shared([track.values for track in tracks]):
            if any(track.values[kind] for track in tracks):
                yield row(kind, kind, [_digest(track.values[kind]) for track in tracks])
        for name in _shared([track.settings for track in tracks]):
            if ("setting", name) in self._settled:
                yield row("setting", name, [_shown(track.settings[name]) for track in tracks])


def expectations(expect: Mapping[str, str] | None) -> dict[str, str]:
    """Validate expectations, and return them by the common names of the sources.

    Raises:
        RanksError: One is neither ``"same"`` nor ``"distinct"``.
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
    """Return the keys that all mappings have, in the order of the first."""
    return [name for name in mappings[0] if all(name in each for each in mappings)]


def _shown(value: object) -> str:
    """Return a setting as text; a device without its number, which may differ by rank."""
    text = str(value)
    return text.partition(":")[0] if text.startswith(("cuda:", "xpu:")) else text


def _digest(parts: Mapping[str, str]) -> str:
    from xxhash import xxh3_64_hexdigest

    return xxh3_64_hexdigest("\n".join(f"{name} {part}" for name, part in parts.items()).encode())
