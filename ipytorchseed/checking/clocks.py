"""Tells times that a cell read off a clock and keeps in variables: no difference by themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ipytorchseed.why.changes import changed_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.ledger.records import Run
    from ipytorchseed.why.explanation import Cause, Change

_ASKED = ("time.", "datetime.", "pandas.Timestamp.")
_KINDS = frozenset({"float", "int", "datetime", "date", "time", "timedelta"})
_TIMES = re.compile(
    r"times?\b|_times?\b|^t\d?$|date|stamp|elapsed|duration|seconds|took|began|start|stop|end\b",
    re.IGNORECASE,
)
"""What people call the part of a value that is a time."""


class Clocks:
    """Remembers which variables hold nothing but what a clock said, cell after cell."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def only_read(
        self, changes: Sequence[Change], against: Run, run: Run, causes: Sequence[Cause]
    ) -> bool:
        """Tell whether a cell differs only in times that it read off a clock.

        Args:
            changes: The variables and sources in which it differs.
            against: The earlier run.
            run: The later run.
            causes: What accounts for it.
        """
        names = {change.name for change in changes if change.what == "variable"}
        numbers = all(_is_time(against, run, name) for name in names)
        clocks = all(
            (cause.kind == "entropy" and cause.name.startswith(_ASKED))
            or (cause.kind == "input" and cause.name in self._names)
            for cause in causes
        )
        if not causes or not clocks or not numbers or len(names) < len(changes):
            return False
        self._names |= names
        return True


def _is_time(against: Run, run: Run, name: str) -> bool:
    """Tell whether a variable may be a time, or holds times and differs in nothing else."""
    before, after = against.writes.get(name), run.writes.get(name)
    if before is None or after is None or after.kind in _KINDS:
        return True
    parts = changed_parts(before, after)
    return bool(parts) and all(_TIMES.search(part.partition(":")[2]) for part in parts)
