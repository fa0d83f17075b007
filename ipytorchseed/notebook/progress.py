"""A line that shows the progress of long work, and disappears at its end."""

from __future__ import annotations

import sys
import time
import uuid
from typing import Any, Self

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from ipytorchseed.render.view import View

# Seconds until the line appears.
_PATIENCE = 1.5

# Seconds between two updates.
_EVERY = 0.3


class Progress:
    """A line that is shown during long work, and is updated as the work goes on.

    Where text cannot be replaced, as in a pipe, each step is a separate line.

    Args:
        shell: The running shell.
        silent: Whether to show nothing.
        what: The first word of the line: the kind of work.
    """

    def __init__(self, shell: InteractiveShell, *, silent: bool, what: str = "Checking") -> None:
        self._publisher: Any = shell.display_pub
        self._in_kernel = hasattr(shell, "kernel")
        self._silent = silent
        self._what = what
        self._shown = False
        self._ident = uuid.uuid4().hex
        self._began = self._last = time.monotonic()

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        return self

    def __exit__(self, *raised: object) -> None:
        if not self._in_kernel or raised[0] is not None:
            self.clear()

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            self._show("")

    def conclude(self, view: View) -> None:
        """Show the result, in place of the line if that is shown."""
        if self._shown and self._in_kernel:
            self._publish({"text/plain": view.text(), "text/html": view.html()})
        else:
            display(view)

    def tell(self, what: str) -> None:
        """Report the current step, if the work has taken long."""
        now = time.monotonic()
        if now - self._began >= _PATIENCE and now - self._last >= _EVERY:
            self._last = now
            if self._in_kernel or sys.stderr.isatty():
                self.step(f"{what} …")

    def step(self, what: str, *, shows: bool = False) -> None:
        """Report a step that begins.

        Args:
            what: The step.
            shows: Whether the step itself prints; in a terminal, the line is then ended.
        """
        if not self._silent:
            self._show(f"{self._what}: {what}")
            if shows and not self._in_kernel and sys.stderr.isatty():
                sys.stderr.write("\n")
                self._shown = False

    def _show(self, text: str) -> None:
        if self._in_kernel:
            self._publish({"text/plain": text})
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[2K{text}")  # back to the start of the line, and clear it
            sys.stderr.flush()
        elif text:
            sys.stderr.write(f"{text}\n")
        self._shown = bool(text) or self._in_kernel

    def _publish(self, data: dict[str, str]) -> None:
        """Display data directly, even while a run's displays are captured."""
        named = {"display_id": self._ident}
        self._publisher.publish(data, {}, transient=named, update=self._shown)
        self._shown = True
