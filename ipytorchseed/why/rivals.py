"""Settings that differ between two machines beside other causes: any of them may be the one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ipytorchseed.why.words import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.why.case import Case
    from ipytorchseed.why.explanation import Cause

_KINDS = frozenset({"environment", "flag"})


def with_rivals(case: Case, causes: Sequence[Cause]) -> list[Cause]:
    """Add to settings of another machine what else may be the cause, and how to tell them apart.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    if not case.elsewhere or len(causes) == 1:
        return [*causes]
    return [_with_rivals(cause, causes) if cause.kind in _KINDS else cause for cause in causes]


def _with_rivals(cause: Cause, causes: Sequence[Cause]) -> Cause:
    others = [each for each in causes if each is not cause]
    rivals = listed("the edit" if each.kind == "code" else each.name for each in others)
    message = f"{cause.message}; or it is {rivals}: put them back one at a time to tell"
    return replace(cause, message=message)
