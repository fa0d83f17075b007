"""The timeline: one row a run, one column a source, each field the state before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ipytorchseed.render.text import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ipytorchseed.ledger.records import Run

_CODE = 4
"""Hex digits of a digest that a chip shows."""

_MOST_COLUMNS, _HEAD = 3, 30
"""Sources beside the run's name and the cell's label, which take so many letters together."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A state as a colour and a short code: the same chip is the same state anywhere.

    Attributes:
        digest: The state's name.
        other: Whether the cell's earlier run began in another state.
    """

    digest: str
    other: bool = False

    @property
    def code(self) -> str:
        """The short code."""
        return self.digest[:_CODE]

    @property
    def hue(self) -> int:
        """The colour, in degrees."""
        return int(self.digest[:4], 16) % 360


@dataclass(frozen=True, slots=True)
class Field:
    """What one run did to one source.

    Attributes:
        before: The state it began in, or None where the source was not there.
        after: The state it ended in.
    """

    before: Chip | None
    after: Chip | None

    @property
    def moved(self) -> bool:
        """Whether the run moved the source."""
        before = None if self.before is None else self.before.digest
        return self.after is not None and before != self.after.digest

    @property
    def text(self) -> str:
        """The field as text: ``02bb→7c19``, or a dot where nothing moved."""
        if not self.moved:
            return f"{self.before.code}*" if self.before is not None and self.before.other else "·"
        begin = "" if self.before is None else f"{self.before.code}{'*' * self.before.other}"
        return f"{begin}→{self.after.code}" if self.after is not None else begin


@dataclass(frozen=True, slots=True)
class Line:
    """One run in the timeline.

    Attributes:
        name: ``In[5]``; ``#17`` for a run of an earlier kernel, by its number in the ledger.
        label: The cell's first line.
        status: How it ended.
        seconds: How long it took.
        fields: One for each column.
        between: Sources that moved between the run before and this one.
        rail: A hue that runs of the same cell share, in degrees.
    """

    name: str
    label: str
    status: str
    seconds: float
    fields: tuple[Field, ...]
    between: tuple[str, ...]
    rail: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """Runs in the order in which they happened.

    Attributes:
        columns: Names of sources and generators.
        lines: One for each run.
    """

    columns: tuple[str, ...]
    lines: tuple[Line, ...]


def run_name(run: Run, kernel: str) -> str:
    """Return how a run is called: ``In[5]`` in this kernel, ``#17`` in the ledger otherwise."""
    here = run.kernel == kernel and run.execution_count is not None
    return f"In[{run.execution_count}]" if here else f"#{run.id}"


def label_of(source: str, width: int | None = None) -> str:
    """Return a cell's first line that is not blank.

    Args:
        source: The cell's text.
        width: Columns of a terminal that it may take; None for any number.
    """
    line = _printable(next((line.strip() for line in source.splitlines() if line.strip()), ""))
    return line if width is None else _fit(line, width).rstrip()


def _printable(text: str) -> str:
    """Put a blank for each letter that would not be shown, but move the terminal's pen."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _fit(text: str, width: int) -> str:
    """Cut or fill a line to so many columns of a terminal, where some letters take two."""
    from rich.cells import set_cell_size

    return set_cell_size(_printable(text), width)


def timeline(runs: Sequence[Run], kernel: str) -> Timeline:
    """Arrange runs.

    Args:
        runs: Oldest first.
        kernel: The kernel that asks.
    """
    columns = tuple(dict.fromkeys(name for run in runs for name in _states(run)[1]))
    earlier: dict[str, Mapping[str, str]] = {}
    lines = []
    for run in runs:
        before, after = _states(run)
        first = earlier.get(run.cell, {})
        fields = tuple(_field(name, before, after, first) for name in columns)
        earlier[run.cell] = before
        lines.append(
            Line(
                name=run_name(run, kernel),
                label=label_of(run.source),
                status=run.status,
                seconds=run.seconds,
                fields=fields,
                between=tuple(run.between),
                rail=sum(map(ord, run.cell)) * 47 % 360,
            )
        )
    return Timeline(columns, tuple(lines))


def _states(run: Run) -> tuple[dict[str, str], dict[str, str]]:
    def both(sources: Mapping[str, str], generators: Mapping[str, object]) -> dict[str, str]:
        return {**sources, **{name: state.digest for name, state in generators.items()}}  # type: ignore[attr-defined]

    return both(run.before, run.generators_before), both(run.after, run.generators_after)


def _field(
    name: str, before: Mapping[str, str], after: Mapping[str, str], earlier: Mapping[str, str]
) -> Field:
    begin, end = before.get(name), after.get(name)
    other = begin is not None and earlier.get(name, begin) != begin
    return Field(None if begin is None else Chip(begin, other), None if end is None else Chip(end))


def write_lines(drawn: Timeline) -> Iterable[str]:
    """Draw a timeline for a terminal of 80 columns; columns that nothing moved are left out."""
    moved = [
        index
        for index in range(len(drawn.columns))
        if any(line.fields[index].moved for line in drawn.lines)
    ]
    shown = moved[:_MOST_COLUMNS]
    titles = "".join(f"{_fit(drawn.columns[i], 11)} " for i in shown)
    yield f"{'Run':<8}{'Cell':<24}{titles}".rstrip()
    yield "─" * WIDTH
    for line in drawn.lines:
        if line.between:
            words = f"between the runs, {', '.join(line.between)} moved"
            yield f"{'':<8}{_fit(words, WIDTH - 8)}".rstrip()
        fields = "".join(f"{line.fields[i].text:<12}" for i in shown)
        mark = "" if line.status == "ok" else line.status
        name = f"{line.name:<7} "
        yield f"{name}{_fit(line.label, _HEAD - len(name))}  {fields}{mark}".rstrip()
    if len(moved) > len(shown):
        names = ", ".join(drawn.columns[index] for index in moved[_MOST_COLUMNS:])
        yield f"{'':<8}{_fit(f'moved too, not shown: {names}', WIDTH - 8)}".rstrip()
