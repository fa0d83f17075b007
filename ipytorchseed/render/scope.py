"""The receipt of a deterministic scope, and the operations that may not repeat."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ipytorchseed.determinism.alerts import Alert
from ipytorchseed.determinism.flag import plain
from ipytorchseed.determinism.scope import deterministic
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.render.view import TableView, View
from ipytorchseed.why.words import many


class AlertTable(TableView):
    """The alerts of a cell.

    Args:
        alerts: The alerts; at least one.
    """

    is_warning = True
    columns = (("Operation", "code"), ("Line", "line"), ("Times", "number"), ("Instead", ""))

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


_DIM = "color: var(--jp-content-font-color2, var(--vscode-descriptionForeground, gray))"


class Receipt(View):
    """One line under a deterministic cell: its seed and the settings it changed.

    Args:
        scope: The cell's scope, which has ended.
    """

    def __init__(self, scope: deterministic) -> None:
        changes, stuck = scope.changes, scope.stuck
        parts = [] if scope.seed is None else [f"seeded with {scope.seed}"]
        parts.append(
            f"{many(len(changes), 'setting')} set" if changes else "every setting was as needed"
        )
        if stuck:
            parts.append(f"not restored: {', '.join(stuck)}")
        elif changes:
            parts[-1] += " and restored"
        parts += ["sources restored"] if scope.isolate else []
        self._line = f"%%deterministic: {', '.join(parts)}"

    def text(self) -> str:
        """Return the line."""
        return self._line

    def html(self) -> str:
        """Return the line in the front end's secondary text colour."""
        return f'<div style="{_DIM}">{escape(self._line)}</div>'


def receipt_json(scope: deterministic) -> str:
    """Write the receipt of a scope that has ended as one line of JSON.

    Returns:
        ``schema``, ``seed``, ``warn``, ``isolated``, ``alerts`` and three more: ``flags``, the
        flags that were set, with the values ``before`` and ``within``; ``restored``, whether every
        flag has its earlier value again; ``stuck``, the flags that torch did not restore.
    """
    return write_json(
        **pick(scope, "seed", "warn"),
        isolated=scope.isolate,
        flags=[
            {"name": name, "before": plain(old), "within": plain(new)}
            for name, old, new in scope.changes
        ],
        alerts=[
            pick(it, "operation", "line", "forward", "count", "instead") for it in scope.alerts
        ],
        restored=not scope.stuck,
        stuck=scope.stuck,
    )
