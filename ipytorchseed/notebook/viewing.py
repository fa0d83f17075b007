"""What this floor knows of the inspector above it: that it is shown, and told of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ipytorchseed.ledger.records import Run


class Viewer(Protocol):
    """Shows runs as they happen."""

    def shown(self) -> object:
        """Return what to display."""

    def ran(self, run: Run | None) -> None:
        """Show a run that has ended; None where it was not recorded."""

    def close(self) -> None:
        """Say that nothing more will come."""
