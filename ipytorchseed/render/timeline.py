"""The timeline of runs: each run with every source's state before and after."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from ipytorchseed.ledger.records import UNDONE, Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.render.labels import label_of, shown_numbers
from ipytorchseed.render.text import WIDTH, set_width, visible, width
from ipytorchseed.render.values import code
from ipytorchseed.why.changes import find_changes
from ipytorchseed.why.evidence import run_name
from ipytorchseed.why.unknown import find_alike, unknown_outcome
from ipytorchseed.why.value_changes import write_digits

# Earlier runs of a run's cell, the latest first.
Earlier = deque[Run]

# How many earlier runs are compared with a run.
MOST_EARLIER = 10

# Runs of fewer seconds are shown without an exact duration.
_SHORTEST = 0.05

# A line that only displays something, such as ``%why`` and ``%seed?``.
_LOOKS = lazy_pattern(
    r"#.*|%(?:why|rng)\b.*|%seed(?:\s+log\b.*)?|%deterministic(?:\s+-.*)?|%replay\s.*--dry\b.*|\?{1,2}[\w.%]{1,80}|[\w.%]{1,80}\?{1,2}"
)

_UNPARSED = ("SyntaxError", "IndentationError", "TabError")

# The maximum number of sources. Widths: a source; run and label (usual, least); the status.
_MOST_COLUMNS, _COLUMN, _HEAD, _LEAST_HEAD, _END = 3, 13, 30, 18, 11


class Field(Struct, frozen=True):
    """The effect of one run on one source.

    Attributes:
        before: The digest of the state at the start; None if the source did not exist.
        after: The digest of the state at the end.
        other: Whether the cell uses the source, and its last run started from a different state.
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
        return f"{code(self.before or '')}{'*' * self.other}"

    @property
    def text(self) -> str:
        """The field as text: ``02bb→7c19`` if the source moved; else a code or a dot."""
        if self.moved and self.after:
            return f"{self.code}→{code(self.after)}"
        return self.code if self.other else "·"


class Outcome(Struct, frozen=True):
    """How a run's results compare with those of the cell's earlier runs.

    Attributes:
        same: Whether the results equal those of the previous run, bit for bit.
        text: The comparison as a sign: ``= In[5]`` or ``≠ In[5]``.
        words: The comparison in words.
    """

    same: bool
    text: str
    words: str


class Line:
    """One run in the timeline.

    Args:
        run: The run.
        before_it: The cell's runs before it, the latest first.
        kernel: The id of the current kernel.

    Attributes:
        id: The run's number in the ledger; 0 if it has none.
        name: ``In[5]``; for a run of an earlier kernel ``#17``, by its number in the ledger.
        cell: The identifier of the cell.
        label: The first line of the cell's last statement.
        status: How the run ended.
        started: The time when the run started, in seconds since 1970.
        took: The duration in words.
        before: The digest of each source and generator at the start.
        after: The digest of each source and generator at the end.
        moved: The sources and generators that the run moved.
        others: Sources and generators that the cell uses, and that its previous run found in a
            different state at the start.
        between: Sources that moved between the previous run and this one.
        outcome: The comparison with the cell's earlier runs; None if there are none, or if the
            comparison is unknown.
        value: The number that the run showed; or empty.
        aside: Whether the run moved no source, and only displayed something or could not be parsed.
        rail: The hue of the cell's runs, in degrees.
    """

    def __init__(self, run: Run, before_it: Sequence[Run], kernel: str) -> None:
        self.id = run.id or 0
        self.name = run_name(run, kernel)
        self.cell, self.label = run.cell, label_of(run.source)
        self.status, self.started = run.status, run.started
        self.took = f"{run.seconds:,.1f} s" if run.seconds >= _SHORTEST else "<0.1 s"
        self.before, self.after, self.between = run.before, run.after, run.between
        self.moved = [name for name, end in run.after.items() if run.before.get(name) != end]
        self.value = _number(run)
        still = not run.between and not run.seeds and run.before == run.after
        self.aside = still and _is_aside(run)
        self.rail = sum(map(ord, run.cell)) * 47 % 360
        self.others: frozenset[str] = frozenset()
        self.outcome: Outcome | None = None
        here = (each for each in before_it if each.kernel == run.kernel)
        earlier = next(here, next(iter(before_it), None))
        if earlier is None or run.status == UNDONE or is_inspection(run.source):
            return
        first, last = earlier.before, earlier.after
        self.others = frozenset(
            name
            for name, begin in run.before.items()
            if first.get(name, begin) != begin
            and (run.after.get(name) != begin or last.get(name) != first[name])
        )
        name = run_name(earlier, kernel)
        if find_changes(earlier, run):
            alike, words, sign = find_alike(run, before_it), f"result differs from {name}", "≠"
            if alike is not None:
                name, sign = run_name(alike, kernel), "="
                words += f" and equals {name}"
            self.outcome = Outcome(same=False, text=f"{sign} {name}", words=words)
        elif not unknown_outcome(earlier, run):
            self.outcome = Outcome(same=True, text=f"= {name}", words=f"the same result as {name}")

    @property
    def words(self) -> str:
        """A sentence about what the run did, for screen readers."""
        ended = "ran" if self.status == "ok" else f"ended: {self.status}"
        result = "" if self.outcome is None else f", {self.outcome.words}"
        return f"{self.name} {ended}, moved {', '.join(self.moved) or 'no source'}{result}."

    def field(self, name: str) -> Field:
        """Return the run's effect on a source or generator."""
        return Field(self.before.get(name), self.after.get(name), name in self.others)


def timeline(runs: Sequence[Run], kernel: str) -> list[Line]:
    """Return the timeline of runs.

    Args:
        runs: The runs, oldest first.
        kernel: The id of the current kernel.
    """
    earlier: dict[str, Earlier] = {}
    lines = []
    for run in runs:
        before = earlier.setdefault(run.cell, deque(maxlen=MOST_EARLIER))
        lines.append(Line(run, before, kernel))
        if run.status != UNDONE:
            before.appendleft(run)
    return lines


def columns_of(lines: Iterable[Line]) -> list[str]:
    """Return the names of all sources and generators of runs, in order of appearance."""
    return [*dict.fromkeys(name for line in lines for name in line.after)]


def _is_aside(run: Run) -> bool:
    """Return whether a cell only displayed something, or could not be parsed."""
    unparsed = (run.outputs.error or "").startswith(_UNPARSED)
    if unparsed and not (run.writes or run.outputs.displays or run.outputs.stdout):
        return True
    return all(map(_LOOKS.fullmatch, filter(None, map(str.strip, run.source.splitlines()))))


def last_moves(lines: Iterable[Line], now: Mapping[str, str]) -> dict[str, str]:
    """Return which run moved each source or generator last.

    Args:
        lines: The lines of the timeline, the newest first.
        now: The digest of the current state of each source and generator.

    Returns:
        ``In[9]``, ``before In[9]`` or ``after In[9]`` by name, where known.
    """
    found: dict[str, str] = {}
    for line in lines:
        for name in now.keys() - found.keys():
            if line.after.get(name, now[name]) != now[name]:
                found[name] = f"after {line.name}"
            elif name in line.moved:
                found[name] = line.name
            elif name in line.between:
                found[name] = f"before {line.name}"
        if len(found) == len(now):
            break
    return found


def _number(run: Run) -> str:
    """Return the number that a run showed last, or else the only one that it showed."""
    shown = shown_numbers(run)
    if shown:
        return str(shown[-1])
    values = [run.outputs.result] if run.outputs.result is not None else [*run.writes.values()]
    numbers = [value.series for value in values if value.series is not None]
    return write_digits(numbers[0][0]) if len(numbers) == 1 and len(numbers[0]) == 1 else ""


def write_lines(lines: Sequence[Line]) -> Iterable[str]:
    """Draw a timeline in 80 columns, with the sources that moved most often."""
    times, wide = Counter(name for line in lines for name in line.moved), width()
    moved = [name for name in columns_of(lines) if times[name]]
    head = max(_LEAST_HEAD, _HEAD - (WIDTH - wide) // 2)
    fit = max(1, min(_MOST_COLUMNS, (wide - head - _END) // _COLUMN))
    most = sorted(moved, key=lambda name: -times[name])[:fit]
    shown = [name for name in moved if name in most]
    head = min(head, wide - 2 - _COLUMN * len(shown) - _END)
    titles = "".join(f"{set_width(name, _COLUMN - 1)} " for name in shown)
    yield f"{'Run':<8}{'Cell':<{head - 6}}{titles}".rstrip()
    yield "─" * wide
    for line in lines:
        if line.between:
            words = f"        between the runs, {', '.join(line.between)} moved"
            yield set_width(words, wide).rstrip()
        fields = "".join(f"{line.field(name).text:<{_COLUMN}}" for name in shown)
        mark, name = "" if line.status == "ok" else visible(line.status), f"{line.name:<7} "
        yield f"{name}{set_width(line.label, head - len(name))}  {fields}{mark}".rstrip()
    if len(moved) > len(shown):
        names = ", ".join(name for name in moved if name not in most)
        yield set_width(f"        moved too, not shown: {names}", wide).rstrip()
