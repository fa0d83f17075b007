"""``%rng`` as text, HTML and JSON: states, settings, runs, and one run's draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipytorchseed.determinism.assessment import Judged
from ipytorchseed.determinism.environment import FLAGS as VARIABLES
from ipytorchseed.determinism.flag import plain
from ipytorchseed.determinism.table import FLAGS
from ipytorchseed.ledger.records import Run, Trace
from ipytorchseed.render.inspection import NO_TORCH, Model, settings_model
from ipytorchseed.render.report import Report, flags_json
from ipytorchseed.render.seeding import SeedStatus, read_rows
from ipytorchseed.render.text import draw_table, visible, wrap
from ipytorchseed.render.timeline import Timeline, last_moves, timeline, write_lines
from ipytorchseed.render.values import write_json
from ipytorchseed.render.view import View
from ipytorchseed.rng.generators import Found
from ipytorchseed.rng.position import Position
from ipytorchseed.why.evidence import run_name, run_phrase
from ipytorchseed.why.words import many, sentence


class RngView(View):
    """States, settings and runs.

    Args:
        status: The current state of every source and generator.
        report: The flags, judged; None if torch is not imported.
        runs: The runs of this notebook, oldest first.
        kernel: The kernel that asks.
        note: A further remark; or empty.
        everything: Whether to list also runs that only looked, or could not be parsed.
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
        self.aside = _aside(len(drawn.lines) - len(lines))
        self.note = note
        now = {row.name: row.digest for row in status.rows if row.digest is not None}
        known = last_moves(reversed(drawn.lines), now)
        self.moves = {row.name: known.get(row.name, "") for row in status.rows}

    @property
    def headline(self) -> str:
        """The answer of the report in one line."""
        return NO_TORCH if self.report is None else self.report.headline.splitlines()[0]

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
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


def _aside(count: int) -> str:
    """Describe how many runs are not listed."""
    if not count:
        return ""
    return f"Not listed: {many(count, 'run')} that only looked, or could not be parsed. %rng --all"


def rng_json(found: Sequence[Found], flags: Sequence[Judged] | None) -> str:
    """Write every source, generator and flag as one line of JSON.

    Args:
        found: The generators of the namespace.
        flags: Every flag, judged; None if they are unknown, as torch is not imported.
    """
    rows = read_rows(found)
    return write_json(
        sources=[row.to_json() for row in rows if not row.type],
        generators=[row.to_json() for row in rows if row.type],
        flags=_unknown_flags() if flags is None else flags_json(flags),
    )


def _unknown_flags() -> list[dict[str, object]]:
    """Return the flags of a process without torch: environment variables, not judged."""
    values = {flag.name: plain(flag.read()) for flag in VARIABLES}
    unknown = {"wanted": None, "ok": None}
    return [{"name": flag.name, "value": values.get(flag.name), **unknown} for flag in FLAGS]


class StateDifference(View):
    """The states in which two runs started, side by side.

    Args:
        first: One run.
        second: The other.
        positions: The position of each state in its stream, by digest, where known.
        kernel: The kernel that asks.
    """

    template = "difference"

    def __init__(
        self, first: Run, second: Run, positions: Mapping[str, Position], kernel: str
    ) -> None:
        self.names = run_name(first, kernel), run_name(second, kernel)
        self.rows = []
        sides = first.begun, second.begun
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            one, two = (side.get(name) for side in sides)
            pair = [_state(digest, positions) for digest in (one, two)]
            self.rows.append((name, *pair, "same" if one == two else "differs"))

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        titles = ("Source", f"{self.names[0]} began", f"{self.names[1]} began", "")
        return draw_table("", {title: {"overflow": "fold"} for title in titles}, self.rows)


def _state(digest: str | None, positions: Mapping[str, Position]) -> str:
    if digest is None:
        return "not there"
    place = positions.get(digest)
    known = place is not None and (place.seed is not None or place.draws is not None)
    return f"{digest[:8]} {place}" if known else digest[:8]


class WhoView(View):
    """The draws of a traced run.

    Args:
        run: The run.
        traces: Its traces; at least one.
        kernel: The kernel that asks.
    """

    template = "who"

    def __init__(self, run: Run, traces: Sequence[Trace], kernel: str) -> None:
        self.run = run
        self.kernel = kernel
        draws = [draw for trace in traces for draw in trace.draws]
        self.draws = sorted(draws, key=lambda draw: draw.line or 0)
        self.traced = sum(trace.traced for trace in traces)
        self.notes = [note for trace in traces for note in trace.notes]

    @property
    def title(self) -> str:
        """The number of sources and operations."""
        name = run_phrase(self.run, self.kernel)
        if not self.draws:
            return f"{name} drew nothing in {many(self.traced, 'traced operation')}."
        sources = many(len({draw.source for draw in self.draws}), "source")
        return f"Who drew in {name}: {sources}, {many(self.traced, 'operation')}"

    @property
    def unseen(self) -> list[str]:
        """Sources and generators that moved without a traced draw.

        Without the sources if a seed was applied, which moves all of them.
        """
        seen = {draw.source for draw in self.draws}
        run = self.run
        names = run.generators_before if run.seeds else run.begun
        moved = [name for name in names if run.ended.get(name) != run.begun[name]]
        return [name for name in moved if name not in seen]

    @property
    def remarks(self) -> list[str]:
        """What else is to be said, a sentence each."""
        said = []
        if self.unseen:
            names = ", ".join(self.unseen)
            said.append(f"Also moved, on an unknown line: {names}.")
        return [*said, *map(sentence, self.notes)]

    @property
    def rows(self) -> list[tuple[str, str, str, str, str, str]]:
        """The source, numbers, times, operation, line and module of each draw."""
        return [
            (
                draw.source,
                "?" if draw.numbers is None else f"{draw.numbers:,}",
                f"{draw.calls:,}",
                f"{draw.operation} (backward)" if draw.backward else draw.operation,
                str(draw.line or "?"),
                draw.module,
            )
            for draw in self.draws
        ]

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        parts = [visible(self.title)]
        if self.draws:
            fold, right = {"overflow": "fold"}, {"justify": "right"}
            columns = {"Source": fold, "Numbers": right, "Times": right, "Operation": fold,
                       "Line": right, "Module": fold}  # fmt: skip
            parts = [draw_table(self.title, columns, self.rows)]
        parts += [wrap(remark, first="") for remark in self.remarks]
        return "\n".join(parts)

    def code(self, line: str) -> str:
        """Return the text of a line of the cell."""
        lines = self.run.source.splitlines()
        return lines[int(line) - 1].strip() if line.isdigit() and int(line) <= len(lines) else ""
