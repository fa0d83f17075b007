"""Which seeds were applied when, and what was put back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ipytorchseed.render.text import draw_table, wrap
from ipytorchseed.render.timeline import label_of
from ipytorchseed.render.view import View
from ipytorchseed.why.evidence import run_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ipytorchseed.ledger.records import Run
    from ipytorchseed.ledger.seeds import SeedEntry
    from ipytorchseed.session.rewind import Restored

_HOW = {
    "now": "%seed",
    "each": "%seed each",
    "new": "%seed new",
    "scope": "%%deterministic",
}
_LABEL = 22


class SeedLog(View):
    """The log of seeds.

    Args:
        entries: Oldest first.
        runs: The runs in which they were applied, by kernel and number, as far as they are kept.
        kernel: The kernel that asks.
        more: Whether there are earlier entries.
        note: What to say besides; empty for nothing.
    """

    template = "seedlog"
    titles = ("When", "Seed", "By", "Run", "Cell")
    nothing = "No seed set in this notebook yet."

    def __init__(
        self,
        entries: Sequence[SeedEntry],
        runs: Mapping[tuple[str, int | None], Run],
        kernel: str,
        *,
        more: bool = False,
        note: str = "",
    ) -> None:
        self.rows = []
        for entry in entries:
            run = runs.get((entry.kernel, entry.execution_count))
            here = "" if entry.kernel == kernel else "earlier kernel"
            number = f"In[{entry.execution_count}]" if entry.execution_count is not None else ""
            self.rows.append(
                (
                    time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.when)),
                    str(entry.seed),
                    _HOW.get(entry.how, entry.how),
                    run_name(run, kernel) if run is not None else "" if here else number,
                    label_of(run.source, _LABEL) if run is not None else here,
                )
            )
        said = f"The last {len(self.rows)} seeds, oldest first." if more else ""
        self.said = " ".join(filter(None, (said, note)))

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        if not self.rows:
            return wrap(f"{self.nothing} {self.said}", first="")
        return draw_table(self.said, {name: {} for name in self.titles}, self.rows)


def restored_text(done: Restored, where: str) -> str:
    """Say what was put back, and what was not.

    Args:
        done: What was done.
        where: Where they stand now: ``as when In[5] began``.
    """
    it = "They stand" if len(done.names) != 1 else "It stands"
    lines = [f"Put back: {', '.join(done.names)}. {it} {where}." if done.names else "None is here."]
    for names, why in (
        (done.missing, "Not here now"),
        (done.left, "Left alone, as not known then"),
        (done.dropped, "No longer in the ledger"),
    ):
        if names:
            lines.append(f"{why}: {', '.join(names)}.")
    return "\n".join(wrap(line, first="") for line in lines)
