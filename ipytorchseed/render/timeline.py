"""The timeline of runs: each run with every source's state before and after."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from ipytorchseed.ledger.records import UNDONE, Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.render.labels import label_of, shown_number
from ipytorchseed.render.text import WIDTH, set_width, visible, width
from ipytorchseed.render.values import code
from ipytorchseed.why.changes import find_changes
from ipytorchseed.why.evidence import run_name
from ipytorchseed.why.unknown import find_alike, unknown_outcome
from ipytorchseed.why.value_changes import write_number

# Earlier runs of a run's cell, the latest first.
Earlier = deque[Run]

# How many earlier runs are compared with a run.
MOST_EARLIER = 10

# For fewer seconds, no exact duration is shown.
_SHORTEST = 0.05

# A line that only displays something, such as ``%why`` and ``%seed?``.
_LOOKS = lazy_pattern(
    r"#.*|%(?:why|rng)\b.*|%seed(?:\s+log\b.*)?|%deterministic(?:\s+-.*)?|%replay\s.*--dry\b.*|\?{1,2}[\w.%]{1,80}|[\w.%]{1,80}\?{1,2}"
)

_UNPARSED = ("SyntaxError", "IndentationError", "TabError")

# The most sources that are shown. Widths: a source; run and label (usual, least); the status.
_MOST_COLUMNS, _COLUMN, _HEAD, _LEAST_HEAD, _END = 3, 13, 30, 18, 11


class Field(Struct, frozen=True):
    """The effect of one run on one source.

    Attributes:
        before: The digest of the state at the start; None if the source did not exist.
        after: The digest of the state at the end.
        other: Whether the cell's previous run started from a different state.
    """

    before: str | None
    after: str | None
    other: bool = False

    @property
    def moved(self) -> bool:
        """Whether the run moved the source."""
        return self.after is not None and self.before != self.after

    @property
    def code(self) -> str:
        """The code of the state at the start; empty if the source did not exist."""
        return "" if self.before is None else f"{code(self.before)}{'*' * self.other}"

    @property
    def text(self) -> str:
        """The field as text: ``02bb→7c19`` if the source moved; else a code or a dot."""
        if self.after is not None and self.before != self.after:
            return f"{self.code}→{code(self.after)}"
        return (self.other and self.code) or "·"


class Outcome(Struct, frozen=True):
    """How a run's results compare with those of the cell's earlier runs.

    Attributes:
        same: Whether the results equal those of the previous run, bit for bit.
        name: The name of the previous run.
        again: The name of an earlier run with the same results, if the previous one differs.
    """

    same: bool
    name: str
    again: str = ""

    @property
    def text(self) -> str:
        """The comparison as a sign: ``= In[5]`` or ``≠ In[5]``."""
        if self.again:
            return f"= {self.again}"
        return f"{'=' if self.same else '≠'} {self.name}"

    @property
    def words(self) -> str:
        """The comparison in words."""
        if self.same:
            return f"the same result as {self.name}"
        again = f" and equals {self.again}" if self.again else ""
        return f"result differs from {self.name}{again}"


class Line(Struct, frozen=True):
    """One run in the timeline.

    Attributes:
        id: The run's number in the ledger; 0 if it has none.
        name: ``In[5]``; for a run of an earlier kernel ``#17``, by its number in the ledger.
        cell: The identifier of the cell.
        label: The first line of the cell's last statement.
        status: How the run ended.
        started: The time when the run started, in seconds since 1970.
        seconds: How long the run took.
        before: The digest of each source and generator at the start.
        after: The digest of each source and generator at the end.
        others: Sources and generators that the cell uses, and that its previous run found in a
            different state at the start.
        between: Sources that moved between the previous run and this one.
        outcome: The comparison with the cell's earlier runs; None if there are none, or if the
            comparison is unknown.
        value: The number that the run showed; or empty.
        aside: Whether no source moved, and the cell only looked or could not be parsed.
    """

    id: int
    name: str
    cell: str
    label: str
    status: str
    started: float
    seconds: float
    before: Mapping[str, str]
    after: Mapping[str, str]
    others: frozenset[str]
    between: tuple[str, ...]
    outcome: Outcome | None
    value: str
    aside: bool

    @property
    def rail(self) -> int:
        """The hue of the cell's runs, in degrees."""
        return sum(map(ord, self.cell)) * 47 % 360

    @property
    def took(self) -> str:
        """Its duration in words."""
        return f"{self.seconds:,.1f} s" if self.seconds >= _SHORTEST else "<0.1 s"

    def field(self, name: str) -> Field:
        """Return its effect on a source or generator."""
        return Field(self.before.get(name), self.after.get(name), name in self.others)

    @property
    def moved(self) -> list[str]:
        """The sources and generators that it moved."""
        return [name for name, end in self.after.items() if self.before.get(name) != end]


class Timeline(Struct, frozen=True):
    """Runs in the order in which they happened.

    Attributes:
        columns: The names of sources and generators.
        lines: One line for each run.
    """

    columns: tuple[str, ...]
    lines: tuple[Line, ...]


def timeline(runs: Sequence[Run], kernel: str) -> Timeline:
    """Return the timeline of runs.

    Args:
        runs: The runs, oldest first.
        kernel: The id of the current kernel.
    """
    earlier: dict[str, Earlier] = {}
    lines = []
    for run in runs:
        before = earlier.setdefault(run.cell, deque(maxlen=MOST_EARLIER))
        lines.append(draw_line(run, before, kernel))
        if run.status != UNDONE:
            before.appendleft(run)
    return Timeline(columns_of(lines), tuple(lines))


def columns_of(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the names of all sources and generators of runs, in order of appearance."""
    return tuple(dict.fromkeys(name for line in lines for name in line.after))


def draw_line(run: Run, before_it: Sequence[Run], kernel: str) -> Line:
    """Return one run as a line of the timeline.

    Args:
        run: The run.
        before_it: The cell's runs before it, the latest first.
        kernel: The id of the current kernel.
    """
    here = (each for each in before_it if each.kernel == run.kernel)
    earlier = next(here, next(iter(before_it), None))
    before, after = run.before, run.after
    still = not run.between and not run.seeds and before == after
    others: frozenset[str] = frozenset()
    outcome = None
    if earlier is not None and run.status != UNDONE and not is_inspection(run.source):
        first, last = earlier.before, earlier.after
        others = frozenset(
            name
            for name, begin in before.items()
            if first.get(name, begin) != begin
            and (after.get(name) != begin or last.get(name) != first[name])
        )
        changed = bool(find_changes(earlier, run))
        if changed or not unknown_outcome(earlier, run):
            alike = find_alike(run, before_it) if changed else None
            again = "" if alike is None else run_name(alike, kernel)
            outcome = Outcome(not changed, run_name(earlier, kernel), again)
    return Line(
        id=run.id or 0,
        name=run_name(run, kernel),
        cell=run.cell,
        label=label_of(run.source),
        status=run.status,
        started=run.started,
        seconds=run.seconds,
        before=before,
        after=after,
        others=others,
        between=tuple(run.between),
        outcome=outcome,
        value=_number(run),
        aside=still and (_only_looks(run.source) or _unparsed(run)),
    )


def _only_looks(source: str) -> bool:
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return all(map(_LOOKS.fullmatch, lines))


def _unparsed(run: Run) -> bool:
    """Return whether a cell, or code that it evaluated first, could not be parsed."""
    said = (run.outputs.error or "").startswith(_UNPARSED)
    return said and not (run.writes or run.outputs.displays or run.outputs.stdout)


def last_moves(lines: Iterable[Line], now: Mapping[str, str]) -> dict[str, str]:
    """Return which run moved each source or generator last.

    Args:
        lines: The lines of the timeline, the newest first.
        now: The digest of the current state of each source and generator.

    Returns:
        ``In[9]``, ``before In[9]`` or ``after In[9]`` by name, where known.
    """
    found: dict[str, str] = {}
    waiting = dict(now)
    for line in lines:
        for name, digest in [*waiting.items()]:
            end = line.after.get(name)
            if end is not None and end != digest:
                found[name] = f"after {line.name}"
            elif end is not None and line.before.get(name) != end:
                found[name] = line.name
            elif name in line.between:
                found[name] = f"before {line.name}"
            else:
                continue
            del waiting[name]
        if not waiting:
            break
    return found


def _number(run: Run) -> str:
    """Return the number that a run showed last, or else the only one that it showed."""
    shown = shown_number(run)
    if shown is not None:
        return str(shown)
    values = [run.outputs.result] if run.outputs.result is not None else [*run.writes.values()]
    numbers = [value.series for value in values if value.series is not None]
    return write_number(numbers[0][0]) if len(numbers) == 1 and len(numbers[0]) == 1 else ""


def write_lines(drawn: Timeline) -> Iterable[str]:
    """Draw a timeline in 80 columns, with the sources that moved most often."""
    times = {name: sum(line.field(name).moved for line in drawn.lines) for name in drawn.columns}
    moved = [name for name in drawn.columns if times[name]]
    head = max(_LEAST_HEAD, _HEAD - (WIDTH - width()) // 2)
    fit = max(1, min(_MOST_COLUMNS, (width() - head - _END) // _COLUMN))
    most = sorted(moved, key=lambda name: -times[name])[:fit]
    shown = [name for name in moved if name in most]
    head = min(head, width() - 2 - _COLUMN * len(shown) - _END)
    titles = "".join(f"{set_width(name, _COLUMN - 1)} " for name in shown)
    yield f"{'Run':<8}{'Cell':<{head - 6}}{titles}".rstrip()
    yield "─" * width()
    for line in drawn.lines:
        if line.between:
            words = f"between the runs, {', '.join(line.between)} moved"
            yield f"{'':<8}{set_width(words, width() - 8)}".rstrip()
        fields = "".join(f"{line.field(name).text:<{_COLUMN}}" for name in shown)
        mark = "" if line.status == "ok" else visible(line.status)
        name = f"{line.name:<7} "
        yield f"{name}{set_width(line.label, head - len(name))}  {fields}{mark}".rstrip()
    if len(moved) > len(shown):
        names = ", ".join(name for name in moved if name not in most)
        yield f"{'':<8}{set_width(f'moved too, not shown: {names}', width() - 8)}".rstrip()
