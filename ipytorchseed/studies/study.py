"""Studies of seeds, and comparisons of two studies, as text, HTML and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import compress
from typing import Any

from ipytorchseed.determinism.interrupts import held_interrupts, let_through
from ipytorchseed.errors import LookupFailure
from ipytorchseed.experiment.engine import NAME, SHELLS, called_by_name
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.repeating import Shown
from ipytorchseed.render.curves import BARS, draw_bars, strip_svg
from ipytorchseed.render.text import draw_table, wrap
from ipytorchseed.render.values import aligned, pick, write_json
from ipytorchseed.render.view import View, fill
from ipytorchseed.studies import record as records
from ipytorchseed.studies.body import Body
from ipytorchseed.studies.record import FEWEST, LEVEL, SHOWN, Paired, Record, Summary, listed


class Versus(View):
    """The comparison of two studies, seed by seed.

    Args:
        before: The study to compare with.
        after: The study that is compared.
        name: The name of ``before`` in messages.

    Raises:
        LookupFailure: The studies have no seed or no number in common, or scipy is not installed.
    """

    def __init__(self, before: Record, after: Record, name: str = "the other study") -> None:
        self.name = name
        refuse_strangers(before, after.seeds, name)
        both = [seed for seed in after.seeds if seed in before.seeds]
        self.pairs: dict[str, Paired] = {}
        self.before: dict[str, list[float]] = {}
        for number in [number for number in after.numbers if number in before.numbers]:
            then, now = ([each.value(number, seed) for seed in both] for each in (before, after))
            if paired := records.compare_pairs(then, now):
                self.pairs[number], self.before[number] = paired, then
        if not self.pairs:
            here, there = listed(after.numbers), listed(before.numbers)
            fault = f"{name} and this study compute different numbers: {there} there, {here} here"
            raise LookupFailure(fault)

    @property
    def sentences(self) -> list[str]:
        """A sentence for each number that differs; if none differs, for each number."""
        differing = {n: each for n, each in self.pairs.items() if _verdict(each) != "same"}
        said = [_sentence(number, paired) for number, paired in (differing or self.pairs).items()]
        if len(differing) > 1:
            chance = f"About one comparison in {round(1 / (1 - LEVEL))} stands out by chance."
            said.append(f"{len(differing)} numbers were compared. {chance}")
        return said

    def text(self) -> str:
        """Return the comparison as text for a terminal of 80 columns."""
        lines = [wrap(f"Against {self.name}, seed by seed:", first="")]
        return "\n".join(lines + [wrap(line, first="  ") for line in self.sentences])

    def html(self) -> str:
        """Return the comparison as HTML without scripts."""
        return fill("study", view=self, study=None, versus=self)

    def as_json(self) -> dict[str, object]:
        """Return the comparison as JSON values."""
        numbers = [
            {"name": name, **records.as_plain(paired), "verdict": _verdict(paired)}
            for name, paired in self.pairs.items()
        ]
        return {"name": self.name, "numbers": numbers}


def refuse_strangers(before: Record, seeds: Sequence[int], name: str) -> None:
    """Raise an error if a study has none of the given seeds.

    Args:
        before: The study to compare with.
        seeds: The seeds of the other study.
        name: The name of ``before`` in messages.

    Raises:
        LookupFailure: The studies have no seed in common.
    """
    if not {*before.seeds} & {*seeds}:
        raise LookupFailure(
            f"{name} ran with the seeds {before.seeds[0]} to {before.seeds[-1]}, this study with"
            f" {seeds[0]} to {seeds[-1]}: without a seed in common there is nothing to pair"
        )


def _sentence(name: str, paired: Paired) -> str:
    """Describe how a number differs, without judging whether higher is better."""
    ends, verdict = paired.interval, _verdict(paired)
    if verdict == "same":
        return f"{name}: the same with each of {paired.pairs} seeds."
    half = None if ends is None else (ends[1] - ends[0]) / 2
    write = aligned([paired.difference], half)
    around = "" if half is None else f" ± {write(half)}"
    side = f"lower in {paired.lower}" if paired.difference < 0 else f"higher in {paired.higher}"
    difference = f"the difference of {write(paired.difference)}{around}"
    if paired.p is None or verdict == "too few":
        said = f"may be the noise of so few seeds: run {FEWEST} or more"
    else:
        p = f"{paired.p:.2g}" if paired.p >= 0.001 else "< 0.001"  # noqa: PLR2004
        said = f"is {'more than' if verdict == 'more' else 'within'} the noise of seeds (p = {p})"
    return f"{name}: {side} of {paired.pairs} seeds; {difference} {said}."


def _verdict(paired: Paired) -> str:
    if paired.higher == paired.lower == 0:
        return "same"
    if paired.p is None or paired.pairs < FEWEST:
        return "too few"
    return "more" if paired.p < 1 - LEVEL else "noise"


# The maximum width of a number's name in text.
_NAME = 20


class Study(View):
    """A study of seeds.

    Args:
        record: The outcomes of the runs.
        compared: The comparison with another study, or None.
    """

    def __init__(self, record: Record, compared: Versus | None = None) -> None:
        self.record = record
        self.compared = compared
        self.summaries: dict[str, Summary] = {}
        for name, values in record.numbers.items():
            if found := records.summarize([value for value in values if value is not None]):
                self.summaries[name] = found

    @property
    def title(self) -> str:
        """The seeds, and how many of them failed."""
        seeds, failed = self.record.seeds, len(self.record.errors)
        said = f"{len(seeds)} seeds ({seeds[0]} to {seeds[-1]})"
        said += f", {failed} failed" if failed else ""
        if not self.record.numbers and failed < len(seeds):
            said += ": the code made no number. End it with one, as in: loss.item()"
        return said

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The rows of the table: a number that differs, with its statistics, as text."""
        rows: list[tuple[str, ...]] = []
        for name in self._varying()[:SHOWN]:
            found = self.summaries[name]
            write = aligned([found.mean, found.least, found.most], found.std)
            around = f"± {write(found.interval[1] - found.mean)}" if found.interval else ""
            std = "" if found.std is None else write(found.std)
            ends = write(found.least), write(found.most)
            rows.append((name, write(found.mean), around, std, *ends))
        return rows

    @property
    def said(self) -> list[str]:
        """Further remarks, each as a sentence."""
        record, varying = self.record, self._varying()
        said = [f"{len(varying) - SHOWN} more numbers: see to_json()."] * (len(varying) > SHOWN)
        fixed = [name for name in self.summaries if name not in varying]
        same = [f"{name} = {self.summaries[name].mean:.6g}" for name in fixed]
        if same and not varying and not record.errors:
            said.append("No number depends on the seed, or the code sets one itself.")
        if same:
            said.append(f"The same with every seed: {listed(same)}.")
        for name, values in record.numbers.items():
            odd: dict[str, list[str]] = {}
            for seed, value in zip(record.seeds, values, strict=True):
                if value is not None and not math.isfinite(value):
                    odd.setdefault(str(value), []).append(str(seed))
            said += [f"{name} is {it} under {listed(odd[it])}, left out of its mean." for it in odd]
        return [*said, *record.notes]

    @property
    def failed(self) -> list[str]:
        """A sentence for each error, with the seeds that raised it."""
        seeds: dict[str, list[int]] = {}
        for seed, error in self.record.errors.items():
            seeds.setdefault(error, []).append(seed)
        told = [
            f"Seed{'s' if len(each) > 1 else ''} {listed(map(str, each))} failed: {error}"
            for error, each in [*seeds.items()][:SHOWN]
        ]
        rest = sum(map(len, [*seeds.values()][SHOWN:]))
        return told + [f"{rest} more failed."] * bool(rest)

    def strip(self, name: str) -> str:
        """Return an SVG strip plot of a number, with the mean and its interval."""
        then = self.compared.before.get(name) if self.compared is not None else None
        found = self.summaries[name]
        return strip_svg(self.record.numbers[name], found.mean, found.interval, then)

    def table(self) -> str:
        """Return the study as text."""
        return self.text()

    def text(self) -> str:
        """Return the study as text for a terminal of 80 columns."""
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
        """Return the study as HTML without scripts."""
        return fill("study", view=self, study=self, versus=self.compared, columns=_COLUMNS)

    def versus(self, other: Study) -> Versus:
        """Compare this study with another, seed by seed.

        Raises:
            LookupFailure: The studies have no seed or no number in common.
            TypeError: ``other`` is not a study.
        """
        if not isinstance(other, Study):
            got = type(other).__name__  # type: ignore[unreachable]  # types are not always checked
            raise TypeError(f"versus takes a study, as its.seeds returns, not {got}")
        return Versus(other.record, self.record)

    def to_json(self) -> str:
        """Return the study as one line of JSON."""
        record, unknown = self.record, dict.fromkeys(Summary.__struct_fields__)
        summaries = records.as_plain(self.summaries)
        numbers = [
            {"name": name, "values": [*map(_value, values)], **summaries.get(name, unknown)}
            for name, values in record.numbers.items()
        ]
        failed = [{"seed": seed, "error": said} for seed, said in record.errors.items()]
        versus = None if self.compared is None else self.compared.as_json()
        told = pick(record, "seeds", "notes")
        return write_json(**told, numbers=numbers, failed=failed, versus=versus)

    def _varying(self) -> list[str]:
        ended = [seed not in self.record.errors for seed in self.record.seeds]
        values = {name: {*compress(self.record.numbers[name], ended)} for name in self.summaries}
        return [name for name, different in values.items() if len(different) > 1]


_COLUMNS = ("Mean", f"± {LEVEL:.0%}", "Std", "Least", "Most")


def _value(value: float | None) -> float | str | None:
    """Return a value for JSON: a string if it is not finite."""
    return value if value is None or math.isfinite(value) else str(value)


def seeds(function: Callable[[], object], count: int = 8, *, start: int = 0) -> Study:
    """Run a function under several seeds, each time on copies of the objects it uses.

    Every source is seeded before each run. Sources, flags, environment variables and the inputs of
    the function are restored afterwards.

    Args:
        function: A function without arguments that returns a number, or a dictionary with numbers.
        count: The number of seeds, 2 or more.
        start: The first seed. The seeds are consecutive numbers.

    Raises:
        SeedError: A seed is invalid, or there are fewer than 2 or more than 10,000.
        LookupFailure: scipy is not installed.
        ReplayError: A value that the function reads cannot be copied. Nothing ran.
        TypeError: ``function`` cannot be called.
    """
    chosen = records.choose_seeds(count, start)
    if not callable(function):
        raise TypeError(f"seeds takes a function without arguments, not {function!r}")
    records.scipy_stats()

    with held_interrupts(), called_by_name(function) as names:

        def run(around: AbstractContextManager[object]) -> Shown:
            try:
                with around:
                    return Shown(result=let_through(names[NAME]))
            except Exception as error:  # noqa: BLE001 -- whatever the function raises is reported
                return Shown(error=error.with_traceback(None))  # its frames refer to the copies

        body = Body(f"{NAME}()", names, run, SHELLS)
        outcomes = [body.run(seed) for seed in chosen]
    left = say_restored("everything is", body.stays)
    return Study(Record.of(outcomes, [f"After the runs, {left}."] if body.stays else []))
