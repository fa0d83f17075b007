"""Shows the progress of a check: a bar for each notebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from ipytorchseed.checking.report import headline
from ipytorchseed.checking.running import Watcher
from ipytorchseed.checking.verdict import Verdict
from ipytorchseed.render.text import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID


class Bars(Watcher):
    """Draws a bar for each notebook.

    Args:
        console: Where to draw; None for standard error.
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._tasks: dict[Path, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[found]}", markup=False),
            console=console or Console(stderr=True),
            transient=True,  # the table that follows has all results
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, path: Path, steps: int, trying: str = "") -> None:
        """Draw an empty bar, and next to it the edits that are tried."""
        if path not in self._tasks:
            self._tasks[path] = self._progress.add_task(visible(str(path)), found="")
        self._progress.reset(self._tasks[path], total=steps, found=visible(trying))

    def step(self, path: Path) -> None:
        """Advance the bar by one run of a cell."""
        self._progress.advance(self._tasks[path])

    def end(self, verdict: Verdict) -> None:
        """Show the result next to the bar."""
        if verdict.path in self._tasks:
            self._progress.update(self._tasks[verdict.path], found=headline(verdict))
