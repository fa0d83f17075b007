"""What a piece of code gave under several seeds, made visible."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ipytorchseed.render.html import fill
from ipytorchseed.render.strips import BARS, draw_bars, strip_svg
from ipytorchseed.render.text import draw_table, wrap
from ipytorchseed.render.values import aligned
from ipytorchseed.render.view import View
from ipytorchseed.studies.record import SHOWN, listed
from ipytorchseed.studies.statistics import LEVEL, Summary, as_plain, summarize
from ipytorchseed.studies.versus import Versus

if TYPE_CHECKING:
    from ipytorchseed.studies.record import Record

_NAME = 20
"""Columns of a number's name in text."""


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
        for name in self._varying()[:SHOWN]:
            found = self.summaries[name]
            write = aligned([found.mean, found.least, found.most], found.std)
            ends = found.interval
            around = "" if ends is None else f"± {write(ends[1] - found.mean)}"
            std = "" if found.std is None else write(found.std)
            least, most = write(found.least), write(found.most)
            rows.append((name, write(found.mean), around, std, least, most))
        return rows

    @property
    def said(self) -> list[str]:
        """What else there is to say."""
        record, varying = self.record, self._varying()
        said = [f"{len(varying) - SHOWN} more numbers: see to_json()."] * (len(varying) > SHOWN)
        same = [
            f"{name} = {self.summaries[name].mean:.6g}"
            for name in self.summaries
            if name not in varying
        ]
        if same and not varying and not record.errors:
            said.append("No number hangs on the seed, or the code sets one itself.")
        if same:
            said.append(f"The same with every seed: {listed(same)}.")
        for name, values in record.numbers.items():
            each = zip(record.seeds, values, strict=True)
            odd = [f"{s} ({v})" for s, v in each if v is not None and not math.isfinite(v)]
            if odd:
                said.append(f"{name}: left out of its mean is what it was under {listed(odd)}.")
        return [*said, *record.notes]

    @property
    def failed(self) -> list[str]:
        """The seeds that failed, each with its error."""
        errors = self.record.errors
        told = [f"Seed {seed} failed: {error}" for seed, error in [*errors.items()][:SHOWN]]
        return told + [f"{len(errors) - SHOWN} more failed."] * (len(errors) > SHOWN)

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
        unknown = dict.fromkeys(Summary.__struct_fields__)
        summaries = as_plain(self.summaries)
        told = {
            "schema": 1,
            "seeds": record.seeds,
            "numbers": [
                {"name": name, "values": [*map(_value, values)], **summaries.get(name, unknown)}
                for name, values in record.numbers.items()
            ],
            "failed": [{"seed": seed, "error": said} for seed, said in record.errors.items()],
            "notes": record.notes,
            "versus": None if self.compared is None else self.compared.as_json(),
        }
        return json.dumps(told)

    def _varying(self) -> list[str]:
        return [name for name, found in self.summaries.items() if found.least < found.most]


_COLUMNS = ("Mean", f"± {LEVEL:.0%}", "Std", "Least", "Most")


def _value(value: float | None) -> float | str | None:
    """Return what a seed gave as JSON has it, which knows no nan."""
    return value if value is None or math.isfinite(value) else str(value)
