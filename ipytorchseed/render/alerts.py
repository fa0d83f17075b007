"""Operations that ran though they may not repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipytorchseed.render.html import fill
from ipytorchseed.render.text import draw_table
from ipytorchseed.render.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.determinism.alerts import Alert


class AlertTable(View):
    """The alerts of a cell.

    Args:
        alerts: At least one.
    """

    def __init__(self, alerts: Sequence[Alert]) -> None:
        self.alerts = alerts

    @property
    def _title(self) -> str:
        count = len(self.alerts)
        what = "1 operation" if count == 1 else f"{count} operations"
        return f"{what} ran without a deterministic algorithm and may not repeat:"

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        columns: dict[str, dict[str, Any]] = {
            "Operation": {"overflow": "fold"},
            "Line": {"justify": "right"},
            "Times": {"justify": "right"},
            "Instead": {},
        }
        rows = [
            (_operation(alert), _line(alert), f"{alert.count:,}", alert.instead)
            for alert in self.alerts
        ]
        return draw_table(self._title, columns, rows)

    def html(self) -> str:
        """Draw it for a notebook, without script."""
        return fill(
            "alerts", title=self._title, alerts=self.alerts, operation=_operation, line=_line
        )


def _line(alert: Alert) -> str:
    """Write the line to look at: in a backward pass, that of the forward operation."""
    return str(alert.forward or alert.line or "?")


def _operation(alert: Alert) -> str:
    return alert.operation if alert.forward is None else f"{alert.operation} (backward)"
