"""``%rng who N``: which operation, line and module drew how much from which source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.render.text import draw_table, visible, wrap
from ipytorchseed.render.view import View
from ipytorchseed.why.evidence import run_name
from ipytorchseed.why.words import many, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.ledger.records import Run, Trace


class WhoView(View):
    """The draws of a traced run.

    Args:
        run: The run.
        traces: What was seen of it; at least one.
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
        """What is listed."""
        name = run_name(self.run, self.kernel)
        if not self.draws:
            return f"No draw was seen in {name}, of {self.traced:,} operations."
        sources = many(len({draw.source for draw in self.draws}), "source")
        return f"Who drew in {name}: {sources}, {many(self.traced, 'operation')}"

    @property
    def unseen(self) -> list[str]:
        """Sources and generators that moved, and nobody was seen drawing from them.

        Where a seed was applied, sources moved by that.
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
            said.append(f"Moved as well, it is not known on which line: {names}.")
        return [*said, *map(sentence, self.notes)]

    @property
    def rows(self) -> list[tuple[str, str, str, str, str, str]]:
        """Source, numbers, times, operation, line and module of each draw."""
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
