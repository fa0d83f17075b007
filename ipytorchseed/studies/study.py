"""What a piece of code gave under several seeds: the record, and the view of it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict

from ipytorchseed.errors import LookupFailure, SeedError
from ipytorchseed.render.html import fill
from ipytorchseed.render.strips import BARS, draw_bars, strip_svg
from ipytorchseed.render.text import draw_table, wrap
from ipytorchseed.render.values import aligned
from ipytorchseed.render.view import View
from ipytorchseed.rng.seeds import LIMIT, check_seed
from ipytorchseed.studies.readings import RESULT
from ipytorchseed.studies.statistics import (
    FEWEST,
    LEVEL,
    Paired,
    Summary,
    compare_pairs,
    summarize,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ipytorchseed.studies.body import Outcome

MOST = 10_000
"""Seeds of one study."""

_SHOWN = 20
"""Numbers, and failed seeds, that are shown; all are in the JSON."""

_NAME = 20
"""Columns of a number's name in text."""


def choose_seeds(count: int, start: int) -> range:
    """Return so many seeds from one on.

    Raises:
        SeedError: One of them is no seed, or they are fewer than 2 or more than ``MOST``.
    """
    if type(count) is not int or not 2 <= count <= MOST:  # noqa: PLR2004 -- one has no spread
        msg = f"a study takes 2 to {MOST} seeds, not {count!r}: one tells nothing of their noise"
        raise SeedError(msg)
    if check_seed(start) + count > LIMIT:
        msg = f"{count} seeds from {start} end beyond {LIMIT - 1}, the largest one: begin earlier"
        raise SeedError(msg)
    return range(start, start + count)


class Record(Struct, frozen=True):
    """What each seed gave.

    Attributes:
        seeds: In the order in which they were asked for.
        numbers: By name, a value for each seed; None where it gave none.
        errors: The errors of the seeds that failed, each in a line.
        notes: What else is to be said, each in a sentence.
    """

    seeds: tuple[int, ...]
    numbers: dict[str, tuple[float | None, ...]] = {}
    errors: dict[int, str] = {}
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], notes: Iterable[str] = ()) -> Record:
        """Put together what the seeds gave: each number that one of them made."""
        made = dict.fromkeys(path for each in outcomes for path in each.values if path in each.made)
        numbers = {path: tuple(each.values.get(path) for each in outcomes) for path in made}
        others = [values for path, values in numbers.items() if path != RESULT]
        if numbers.get(RESULT) in others:  # the last line shows a variable
            del numbers[RESULT]
        alone = ", ".join(dict.fromkeys(name for each in outcomes for name in each.alone))
        cut = ", ".join(dict.fromkeys(name for each in outcomes for name in each.cut))
        said = {
            f"The same in every run, as no seed is for them: {alone}.": alone,
            f"No gradient flowed back into {cut}: the graph behind it cannot be copied.": cut,
        }
        return cls(
            seeds=tuple(each.seed for each in outcomes),
            numbers=numbers,
            errors={each.seed: each.error for each in outcomes if each.error is not None},
            notes=(*(text for text, holds in said.items() if holds), *notes),
        )

    def value(self, name: str, seed: int) -> float:
        """Return what a seed gave; nan where it gave nothing."""
        found = self.numbers[name][self.seeds.index(seed)]
        return math.nan if found is None else found


class Versus(View):
    """Two studies, compared seed by seed.

    Args:
        before: What is compared with.
        after: The other.
        name: Of ``before``.

    Raises:
        LookupFailure: They have no seed, or no number, in common; or scipy is not installed.
    """

    def __init__(self, before: Record, after: Record, name: str = "the other study") -> None:
        self.name = name
        refuse_strangers(before, after.seeds, name)
        both = [seed for seed in after.seeds if seed in before.seeds]
        self.pairs: dict[str, Paired] = {}
        self.before: dict[str, list[float]] = {}
        for number in after.numbers:
            if number in before.numbers:
                then, now = (
                    [each.value(number, seed) for seed in both] for each in (before, after)
                )
                paired = compare_pairs(then, now)
                if paired is not None:
                    self.pairs[number] = paired
                    self.before[number] = then
        if not self.pairs:
            msg = (
                f"{name} and this study have no number in common: {_listed(before.numbers)} there,"
                f" {_listed(after.numbers)} here"
            )
            raise LookupFailure(msg)

    @property
    def sentences(self) -> list[str]:
        """One for each number that both have."""
        pairs = self.pairs
        differing = {name: pairs[name] for name in pairs if _verdict(pairs[name]) != "same"}
        said = [_sentence(number, paired) for number, paired in (differing or pairs).items()]
        told = len(differing)
        if told > 1:
            rate = round(1 / (1 - LEVEL))
            said.append(f"{told} numbers are compared: one in {rate} stands out by chance alone.")
        return said

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        lines = [wrap(f"Against {self.name}, seed by seed:", first="")]
        return "\n".join(lines + [wrap(line, first="  ") for line in self.sentences])

    def html(self) -> str:
        """Draw it for a notebook, without script."""
        return fill("study", view=self, study=None, versus=self)

    def as_json(self) -> dict[str, object]:
        """Return it as plain values."""
        numbers = [
            {"name": name, **_plain(paired), "verdict": _verdict(paired)}
            for name, paired in self.pairs.items()
        ]
        return {"name": self.name, "numbers": numbers}


class Study(View):
    """A study of seeds made visible.

    Args:
        record: What each seed gave.
        compared: With what it is compared; None for nothing.
    """

    def __init__(self, record: Record, compared: Versus | None = None) -> None:
        self.record = record
        self.compared = compared
        self.summaries: dict[str, Summary] = {}
        for name, values in record.numbers.items():
            found = summarize([value for value in values if value is not None])
            if found is not None:
                self.summaries[name] = found

    @property
    def title(self) -> str:
        """How many seeds ran, and what became of them."""
        record = self.record
        failed = len(record.errors)
        seeds = f"{len(record.seeds)} seeds ({record.seeds[0]} to {record.seeds[-1]})"
        ended = f", {failed} failed" if failed else ""
        if not record.numbers and failed < len(record.seeds):
            return f"{seeds}{ended}: the code made no number. End it with one, as in: loss.item()"
        return f"{seeds}{ended}"

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Name, mean, its interval, deviation, least and most of what differs between seeds."""
        rows: list[tuple[str, ...]] = []
        for name in self._varying()[:_SHOWN]:
            found = self.summaries[name]
            write = aligned([found.mean, found.least, found.most], found.std)
            least, most = write(found.least), write(found.most)
            if found.std is None or found.interval is None:
                rows.append((name, write(found.mean), "", "", least, most))
            else:
                around = f"± {write(found.interval[1] - found.mean)}"
                rows.append((name, write(found.mean), around, write(found.std), least, most))
        return rows

    @property
    def said(self) -> list[str]:
        """What else there is to say."""
        record, varying = self.record, self._varying()
        said = [f"{len(varying) - _SHOWN} more numbers: see to_json()."] * (len(varying) > _SHOWN)
        same = [
            f"{name} = {self.summaries[name].mean:.6g}"
            for name in self.summaries
            if name not in varying
        ]
        if same and not varying and not record.errors:
            said.append("No number hangs on the seed, or the code sets one itself.")
        if same:
            said.append(f"The same with every seed: {_listed(same)}.")
        for name, values in record.numbers.items():
            each = zip(record.seeds, values, strict=True)
            odd = [f"{s} ({v})" for s, v in each if v is not None and not math.isfinite(v)]
            if odd:
                said.append(f"{name}: left out of its mean is what it was under {_listed(odd)}.")
        return [*said, *record.notes]

    @property
    def failed(self) -> list[str]:
        """The seeds that failed, each with its error."""
        errors = self.record.errors
        told = [f"Seed {seed} failed: {error}" for seed, error in [*errors.items()][:_SHOWN]]
        return told + [f"{len(errors) - _SHOWN} more failed."] * (len(errors) > _SHOWN)

    def strip(self, name: str) -> str:
        """Draw each seed's value on a line, with the mean and its interval."""
        then = self.compared.before.get(name) if self.compared is not None else None
        found = self.summaries[name]
        return strip_svg(self.record.numbers[name], found.mean, found.interval, then)

    def table(self) -> str:
        """Draw it as text."""
        return self.text()

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        bars = "By seed" if len(self.record.seeds) <= BARS else "Spread"
        columns: dict[str, dict[str, Any]] = {
            "Number": {"min_width": 8, "max_width": _NAME, "overflow": "fold"},
            **{name: {"justify": "right", "no_wrap": True} for name in _COLUMNS},
            bars: {"no_wrap": True},
        }
        rows = [(*row, draw_bars(self.record.numbers[row[0]])) for row in self.rows]
        lines = [draw_table(self.title, columns, rows) if rows else wrap(self.title, first="")]
        lines += [wrap(each, first="") for each in (*self.failed, *self.said)]
        return "\n".join([*lines, *([self.compared.text()] if self.compared is not None else [])])

    def html(self) -> str:
        """Draw it for a notebook, without script."""
        return fill("study", view=self, study=self, versus=self.compared, columns=_COLUMNS)

    def versus(self, other: Study) -> Versus:
        """Compare with another study, seed by seed.

        Raises:
            LookupFailure: They have no seed, or no number, in common.
        """
        return Versus(other.record, self.record)

    def to_json(self) -> str:
        """Write it as one line of JSON."""
        record = self.record
        numbers = [
            {"name": name, "values": [*map(_value, values)], **_plain(self.summaries.get(name))}
            for name, values in record.numbers.items()
        ]
        return json.dumps(
            {
                "schema": 1,
                "seeds": record.seeds,
                "numbers": numbers,
                "failed": [{"seed": seed, "error": said} for seed, said in record.errors.items()],
                "notes": record.notes,
                "versus": None if self.compared is None else self.compared.as_json(),
            }
        )

    def _varying(self) -> list[str]:
        return [name for name, found in self.summaries.items() if found.least < found.most]


_COLUMNS = ("Mean", f"± {LEVEL:.0%}", "Std", "Least", "Most")


def refuse_strangers(before: Record, seeds: Sequence[int], name: str) -> None:
    """Refuse to compare where no seed would be in common.

    Raises:
        LookupFailure: None is.
    """
    if not {*before.seeds} & {*seeds}:
        msg = (
            f"{name} ran with the seeds {before.seeds[0]} to {before.seeds[-1]}, this study with"
            f" {seeds[0]} to {seeds[-1]}: without a seed in common there is nothing to pair"
        )
        raise LookupFailure(msg)


def _sentence(name: str, paired: Paired) -> str:
    """Say of a number how it differs; which way is better, only its author knows."""
    ends = paired.interval
    if paired.higher == paired.lower == 0:
        return f"{name}: the same with each of {paired.pairs} seeds."
    down = paired.difference < 0
    write = aligned([paired.difference], None if ends is None else (ends[1] - ends[0]) / 2)
    around = "" if ends is None else f" ± {write((ends[1] - ends[0]) / 2)}"
    times = paired.lower if down else paired.higher
    begin = f"{name}: {'lower' if down else 'higher'} in {times} of {paired.pairs} seeds"
    difference = f"the difference of {write(paired.difference)}{around}"
    said = {
        "too few": f"cannot be told from the noise of so few seeds: run {FEWEST} or more",
        "noise": f"is within the noise of seeds (p = {_probability(paired.p)})",
        "more": f"is more than the noise of seeds (p = {_probability(paired.p)})",
    }
    return f"{begin}; {difference} {said[_verdict(paired)]}."


def _verdict(paired: Paired) -> str:
    if paired.higher == paired.lower == 0:
        return "same"
    if paired.p is None or paired.pairs < FEWEST:
        return "too few"
    return "more" if paired.p < 1 - LEVEL else "noise"


def _probability(p: float | None) -> str:
    return "?" if p is None else f"{p:.2g}" if p >= 0.001 else "< 0.001"  # noqa: PLR2004


def _listed(names: Iterable[str]) -> str:
    """List names, at most some of them."""
    known = [*names]
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return (", ".join(known[:_SHOWN]) or "none") + more


def _value(value: float | None) -> float | str | None:
    """Return what a seed gave as JSON has it, which knows no nan."""
    return value if value is None or math.isfinite(value) else str(value)


def _plain(found: Summary | Paired | None) -> dict[str, Any]:
    """Return statistics as JSON has them: null for what is beyond the largest float."""

    def told(value: Any) -> Any:  # noqa: ANN401 -- a number, or two
        if isinstance(value, tuple):
            return [told(each) for each in value]
        return value if value is None or math.isfinite(value) else None

    values = dict.fromkeys(Summary.__struct_fields__) if found is None else asdict(found)
    return {name: told(value) for name, value in values.items()}
