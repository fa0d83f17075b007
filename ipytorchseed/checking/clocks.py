"""Tells times that a cell read off a clock and keeps in variables: no difference by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.ledger.records import Run
    from ipytorchseed.why.explanation import Cause, Change

_ASKED = ("time.", "datetime.")
_KINDS = frozenset({"float", "int"})


class Clocks:
    """Remembers which variables hold nothing but what a clock said, cell after cell."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def only_read(self, changes: Sequence[Change], run: Run, causes: Sequence[Cause]) -> bool:
        """Tell whether a cell differs only in numbers that it read off a clock.

        Args:
            changes: The variables and sources in which it differs.
            run: The later run.
            causes: What accounts for it.
        """
        names = {change.name for change in changes if change.what == "variable"}
        numbers = all(run.writes[name].kind in _KINDS for name in names if name in run.writes)
        clocks = all(
            (cause.kind == "entropy" and cause.name.startswith(_ASKED))
            or (cause.kind == "input" and cause.name in self._names)
            for cause in causes
        )
        if not causes or not clocks or not numbers or len(names) < len(changes):
            return False
        self._names |= names
        return True
