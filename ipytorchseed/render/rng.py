"""``%rng`` as text, HTML and JSON: states, settings, runs, and one run's draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ipytorchseed.determinism.assessment import Judged
from ipytorchseed.determinism.environment import FLAGS as VARIABLES
from ipytorchseed.determinism.flag import plain
from ipytorchseed.determinism.table import FLAGS
from ipytorchseed.ledger.records import Run, Trace
from ipytorchseed.render.inspection import NO_TORCH, Model, settings_model
from ipytorchseed.render.report import Report, flags_json
from ipytorchseed.render.seeding import SeedStatus, read_rows
from ipytorchseed.render.table import TableView
from ipytorchseed.render.text import wrap
from ipytorchseed.render.timeline import Timeline, last_moves, timeline, write_lines
from ipytorchseed.render.values import short_digest, write_json
from ipytorchseed.render.view import View
from ipytorchseed.rng.generators import FoundGenerator
from ipytorchseed.rng.position import Position
from ipytorchseed.why.evidence import run_name, run_phrase
from ipytorchseed.why.words import many, sentence


class RngView(View):
    """States, settings and runs.

    Args:
        status: The current state of every source and generator.
        report: The determinism report; None if torch is not imported.
        runs: The runs of this notebook, oldest first.
        kernel: The id of the current kernel.
        note: A further remark; or empty.
        everything: Whether to list also runs of magics that only show something, and runs that
            could not be parsed.
    """

    template = "rng"
    no_run = "No run is recorded yet."

    def __init__(  # noqa: PLR0913 -- everything that is shown
        self,
        status: SeedStatus,
        report: Report | None,
        runs: Sequence[Run],
        kernel: str,
        note: str = "",
        *,
        everything: bool = False,
    ) -> None:
        self.status = status
        self.report = report
        drawn = timeline(runs, kernel)
        lines = tuple(line for line in drawn.lines if everything or not line.aside)
        self.timeline = Timeline(drawn.columns, lines)
        left = many(len(drawn.lines) - len(lines), "run")
        said = f"Not listed: {left} that only looked, or could not be parsed. %rng --all"
        self.aside = said if len(drawn.lines) > len(lines) else ""
        self.note = note
        now = {row.name: row.digest for row in status.rows if row.digest is not None}
        known = last_moves(reversed(drawn.lines), now)
        self.moves = {row.name: known.get(row.name, "") for row in status.rows}

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        report = NO_TORCH if self.report is None else self.report.headline
        parts = [self.status.text(), "", report]
        if self.note:
            parts += ["", wrap(self.note, first="")]
        if self.timeline.lines:
            parts += ["", *write_lines(self.timeline)]
            parts += ["", "* started from another state than the cell's previous run"]
        elif not self.aside:
            parts += ["", self.no_run]
        parts += [self.aside] if self.aside else []
        return "\n".join(parts)

    @property
    def settings(self) -> Model:
        """The settings, as the inspector shows them."""
        return settings_model(self.report)


def rng_json(found: Sequence[FoundGenerator], flags: Sequence[Judged] | None) -> str:
    """Write every source, generator and flag as one line of JSON.

    Args:
        found: The generators of the namespace.
        flags: The judgement of every flag; None if torch is not imported.
    """
    rows = read_rows(found)
    return write_json(
        sources=[row.to_json() for row in rows if not row.type],
        generators=[row.to_json() for row in rows if row.type],
        flags=_unknown_flags() if flags is None else flags_json(flags),
    )


def _unknown_flags() -> list[dict[str, object]]:
    """Return the flags of a process without torch: only variables have values."""
    values = {flag.name: plain(flag.read()) for flag in VARIABLES}
    unknown = {"wanted": None, "ok": None}
    return [{"name": flag.name, "value": values.get(flag.name), **unknown} for flag in FLAGS]


class StateDifference(TableView):
    """The states in which two runs started, side by side.

    Args:
        first: The run on the left.
        second: The run on the right.
        locate: Returns the position of a state, from the source's name and the digest; None if
            unknown.
        kernel: The id of the current kernel.
    """

    def __init__(
        self, first: Run, second: Run, locate: Callable[[str, str], Position | None], kernel: str
    ) -> None:
        names = (f"{run_name(run, kernel)} began" for run in (first, second))
        self.columns = (("Source", "code"), *((name, "") for name in names), ("", "dim"))
        self.rows = []
        sides = first.before, second.before
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            one, two = (side.get(name) for side in sides)
            pair = [
                "not there" if each is None else _state(each, locate(name, each))
                for each in (one, two)
            ]
            self.rows.append((name, *pair, "same" if one == two else "differs"))


def _state(digest: str, place: Position | None) -> str:
    known = place is not None and (place.seed is not None or place.draws is not None)
    return f"{short_digest(digest)} {place}" if known else short_digest(digest)


def _moved(run: Run) -> list[str]:
    """Return the sources and generators that a run moved, but did not seed."""
    names = [name for name in run.before if name in run.generators or not run.seeds]
    return [name for name in names if run.after.get(name) != run.before[name]]


class CallsView(TableView):
    """The calls in a run that were seen to draw random numbers.

    Args:
        run: The run, with the calls that were observed.
        kernel: The id of the current kernel.
    """

    columns = (("Source", "code"), ("Calls", "code"))

    def __init__(self, run: Run, kernel: str) -> None:
        drew = dict.fromkeys(run.imported, "an import")
        if run.observed is not None:
            drew |= {source: ", ".join(calls) for source, calls in run.observed.drew.items()}
        self.rows = sorted(drew.items())
        name = run_phrase(run, kernel)
        self.title = f"Who drew in {name}: {many(len(drew), 'source')}"
        if not drew:
            self.title = f"No call in {name} was seen to draw."
        unseen = ", ".join(name for name in _moved(run) if name not in drew)
        self.remarks = [
            *([f"Also changed, by unknown calls: {unseen}."] if unseen else []),
            "To count what each line draws, put %%deterministic --trace at the top of the cell.",
        ]


class WhoView(TableView):
    """The draws of a traced run.

    Args:
        run: The run.
        traces: The traces of the run; at least one.
        kernel: The id of the current kernel.
    """

    columns = (
        *(("Source", "code"), ("Numbers", "number"), ("Times", "number")),
        *(("Operation", "code"), ("Line", "line"), ("Module", "")),
    )

    def __init__(self, run: Run, traces: Sequence[Trace], kernel: str) -> None:
        draws = [draw for trace in traces for draw in trace.draws]
        draws.sort(key=lambda draw: draw.line or 0)
        seen, lines = {draw.source for draw in draws}, run.source.splitlines()
        traced, name = sum(trace.traced for trace in traces), run_phrase(run, kernel)
        if draws:
            count = many(len(seen), "source")
            self.title = f"Who drew in {name}: {count}, {many(traced, 'operation')}"
        else:
            self.title = f"None of {many(traced, 'traced operation')} in {name} drew."
        unseen = ", ".join(each for each in _moved(run) if each not in seen)
        self.remarks = [
            *([f"Also changed, on an unknown line: {unseen}."] if unseen else []),
            *(sentence(note) for trace in traces for note in trace.notes),
        ]
        known = [draw.line or 0 for draw in draws]
        self.codes = [lines[at - 1].strip() if 0 < at <= len(lines) else "" for at in known]
        self.rows = [
            (
                draw.source,
                "?" if draw.numbers is None else f"{draw.numbers:,}",
                f"{draw.calls:,}",
                f"{draw.operation} (backward)" if draw.backward else draw.operation,
                str(draw.line or "?"),
                draw.module,
            )
            for draw in draws
        ]
