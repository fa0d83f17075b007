"""Operations that ran though they may not repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.render.text import draw_table
from ipytorchseed.render.view import View
from ipytorchseed.why.words import many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.determinism.alerts import Alert


class AlertTable(View):
    """The alerts of a cell.

    Args:
        alerts: At least one.
    """

    template = "alerts"

    def __init__(self, alerts: Sequence[Alert]) -> None:
        what = many(len(alerts), "operation")
        self.title = f"{what} ran without a deterministic algorithm and may not repeat:"
        self.codes = [alert.code for alert in alerts]
        self.rows = [
            (
                alert.operation if alert.forward is None else f"{alert.operation} (backward)",
                str(alert.forward or alert.line or "?"),  # in a backward pass, the forward line
                f"{alert.count:,}",
                alert.instead,
            )
            for alert in alerts
        ]

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        right = {"justify": "right"}
        columns = {"Operation": {"overflow": "fold"}, "Line": right, "Times": right, "Instead": {}}
        return draw_table(self.title, columns, self.rows)
