"""How far a long check is: one line, which goes when the check ends."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

from IPython.display import display

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from typing_extensions import Self

    from ipytorchseed.render.view import View

_PATIENCE = 1.5
"""Seconds until the line appears."""

_EVERY = 0.3
"""Seconds between two of its states."""


class Progress:
    """A line that is shown while something takes long, in front ends that can replace it.

    Args:
        shell: The running shell.
        silent: Show nothing.
    """

    def __init__(self, shell: InteractiveShell, *, silent: bool) -> None:
        self._publisher: Any = shell.display_pub
        self._silent = silent or not hasattr(shell, "kernel")  # a terminal would print each state
        self._shown = False
        self._ident = uuid.uuid4().hex
        self._began = self._last = time.monotonic()

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._shown and raised[0] is not None:
            self._publish({"text/plain": ""})

    def conclude(self, view: View) -> None:
        """Show what came of it, in the line's place where it was shown."""
        if self._shown:
            self._publish({"text/plain": view.text(), "text/html": view.html()})
        else:
            display(view)

    def tell(self, what: str) -> None:
        """Say what is done now."""
        now = time.monotonic()
        if self._silent or now - self._began < _PATIENCE or now - self._last < _EVERY:
            return
        self._last = now
        self._publish({"text/plain": f"Checking: {what} …"})

    def _publish(self, data: dict[str, str]) -> None:
        """Show something past whatever takes the displays of a run."""
        named = {"display_id": self._ident}
        self._publisher.publish(data, {}, transient=named, update=self._shown)
        self._shown = True
