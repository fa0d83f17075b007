"""``%rng`` as text, HTML and JSON: states, settings, runs, and one run's draws."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ipytorchseed.determinism.assessment import Judged
from ipytorchseed.determinism.environment import FLAGS as VARIABLES
from ipytorchseed.determinism.flag import plain
from ipytorchseed.determinism.table import FLAGS
from ipytorchseed.ledger.records import Run, Trace
from ipytorchseed.render.inspection import NO_TORCH, settings_model
from ipytorchseed.render.report import Report, flags_json
from ipytorchseed.render.seeding import SeedStatus, read_rows
from ipytorchseed.render.text import wrap
from ipytorchseed.render.timeline import columns_of, last_moves, timeline, write_lines
from ipytorchseed.render.values import short_digest, write_json
from ipytorchseed.render.view import TableView, View
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
        everything: Whether to list also runs that only displayed something, or could not be
            parsed.
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
        self.settings = settings_model(report)
        self.note = note
        lines, self.aside = timeline(runs, kernel), ""
        self.lines = [line for line in lines if everything or not line.aside]
        self.columns = columns_of(lines)
        if len(self.lines) < len(lines):
            left = many(len(lines) - len(self.lines), "run")
            self.aside = f"Not listed: {left} that only looked, or could not be parsed. %rng --all"
        now = {row.name: row.digest for row in status.states if row.digest is not None}
        self.moves = last_moves(reversed(lines), now)

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        report = NO_TORCH if self.report is None else self.report.headline
        parts = [self.status.text(), "", report]
        if self.note:
            parts += ["", wrap(self.note, first="")]
        if self.lines:
            parts += ["", *write_lines(self.lines)]
            parts += ["", "* started from another state than the cell's previous run"]
        elif not self.aside:
            parts += ["", self.no_run]
        parts += [self.aside] if self.aside else []
        return "\n".join(parts)


def rng_json(found: Sequence[FoundGenerator], flags: Sequence[Judged] | None) -> str:
    """Write every source, generator and flag as one line of JSON.

    Args:
        found: The generators of the namespace.
        flags: The judgement of every flag; None if torch is not imported.
    """
    rows, told = read_rows(found), flags_json(flags or ())
    if flags is None:  # without torch, only environment variables have values
        values = {flag.name: plain(flag.read()) for flag in VARIABLES}
        unknown = {"wanted": None, "ok": None}
        told = [{"name": it.name, "value": values.get(it.name), **unknown} for it in FLAGS]
    return write_json(
        sources=[row.to_json() for row in rows if not row.type],
        generators=[row.to_json() for row in rows if row.type],
        flags=told,
    )


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
        for name in dict.fromkeys([*first.before, *second.before]):
            one, two = (run.before.get(name) for run in (first, second))
            pair = (_state(each, locate(name, each) if each else None) for each in (one, two))
            self.rows.append((name, *pair, "same" if one == two else "differs"))


def _state(digest: str | None, place: Position | None) -> str:
    known = place is not None and (place.seed is not None or place.draws is not None)
    return f"{short_digest(digest)}{f' {place}' if known else ''}" if digest else "not there"


def _unseen(run: Run, seen: Collection[str], how: str) -> list[str]:
    """Return a remark about sources and generators that moved in another way, if any."""
    names = (name for name in run.before if name in run.generators or not run.seeds)
    moved = [name for name in names if run.after.get(name) != run.before[name]]
    unseen = ", ".join(name for name in moved if name not in seen)
    return [f"These sources moved {how}: {unseen}."] if unseen else []


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
        self.title = f"No call in {name} was seen to draw random numbers."
        if drew:
            self.title = f"Who drew in {name}: {many(len(drew), 'source')}"
        self.remarks = [
            *_unseen(run, drew, "by calls that were not seen"),
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
        self.title = (
            f"None of the {many(traced, 'traced operation')} in {name} drew random numbers."
        )
        if draws:
            count = many(len(seen), "source")
            self.title = f"Who drew in {name}: {count}, {many(traced, 'operation')}"
        self.remarks = [
            *_unseen(run, seen, "on a line that was not seen"),
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
