"""Names settings that are rivals of other causes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.words import listed

_KINDS = frozenset({"environment", "flag"})


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
