"""What a deterministic cell was given, and what came of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ipytorchseed.determinism.flag import plain

if TYPE_CHECKING:
    from ipytorchseed.determinism.scope import deterministic


def receipt_json(scope: deterministic) -> str:
    """Write the receipt of a scope that has ended as one line of JSON.

    Returns:
        ``schema``, ``seed``, ``warn``, ``isolated``, the ``flags`` that were set with their
        values ``before`` and ``within``, ``alerts``, and ``restored``: whether every flag is as
        it was; ``stuck`` names those that torch would not set back.
    """
    return json.dumps(
        {
            "schema": 1,
            "seed": scope.seed,
            "warn": scope.warn,
            "isolated": scope.isolate,
            "flags": [
                {"name": name, "before": plain(before), "within": plain(within)}
                for name, before, within in scope.changes
            ],
            "alerts": [
                {
                    "operation": alert.operation,
                    "line": alert.line,
                    "forward": alert.forward,
                    "count": alert.count,
                    "instead": alert.instead,
                }
                for alert in scope.alerts
            ],
            "restored": not scope.stuck,
            "stuck": scope.stuck,
        }
    )
