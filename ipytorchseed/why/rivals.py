"""Rules out settings that only round, and names settings that are rivals of other causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ipytorchseed.why.changes import ROUNDING, find_distance
from ipytorchseed.why.explanation import Cleared
from ipytorchseed.why.words import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.why.evidence import Evidence
    from ipytorchseed.why.explanation import Cause, Change

_NOT_ROUNDED = frozenset({"bool", "bytes", "class", "function", "int", "none", "rng", "str"})
"""Kinds of values that hold no numbers that are rounded."""

_MORE = "only rounds otherwise, and the difference is more than rounding"

_KINDS = frozenset({"environment", "flag"})


_ROUNDS = frozenset({
    "cpu", "torch.num_threads", "torch.num_interop_threads", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
    "MKL_CBWR",
})  # fmt: skip
"""Settings that decide in which order numbers are added, and so how they are rounded."""


def without_rounding(case: Evidence, causes: list[Cause]) -> tuple[list[Cause], list[Cleared]]:
    """Clear settings that only round, where more than rounding differs.

    They stay where no other cause than settings was found: many steps make much of a little.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    known = {_is_more(case, each) for each in case.changed} - {None}
    if known != {True} or all(each.kind in _KINDS for each in causes):
        return causes, []
    cleared = [Cleared(each.kind, each.name, _MORE) for each in causes if each.name in _ROUNDS]
    return [each for each in causes if each.name not in _ROUNDS], cleared


def _is_more(case: Evidence, change: Change) -> bool | None:
    """Tell whether a change is more than rounding; None where that is not known."""
    distance = find_distance(change)
    if distance is not None:
        return distance > ROUNDING
    value = case.run.result if change.what == "result" else case.run.writes.get(change.name)
    return True if value is not None and value.kind in _NOT_ROUNDED else None


def with_rivals(case: Evidence, causes: Sequence[Cause]) -> list[Cause]:
    """Add to settings of another machine what else may be the cause, and how to tell them apart.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    rivals = [cause for cause in causes if cause.kind != "input"]  # which an earlier cell made
    if not case.elsewhere or len(rivals) == 1:
        return [*causes]
    return [_with_rivals(cause, rivals) if cause.kind in _KINDS else cause for cause in causes]


def _with_rivals(cause: Cause, rivals: Sequence[Cause]) -> Cause:
    others = [each for each in rivals if each is not cause]
    names = listed("the edit" if each.kind == "code" else each.name for each in others)
    message = f"{cause.message}; or it is {names}: put them back one at a time to tell"
    return replace(cause, message=message)
