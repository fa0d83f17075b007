"""What brings an earlier result back: one command, if there is a way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ipytorchseed.why.case import run_word
from ipytorchseed.why.explanation import Mend
from ipytorchseed.why.plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.why.case import Case
    from ipytorchseed.why.explanation import Cause
    from ipytorchseed.why.plan import Present

_NOT_PUT_BACK = frozenset({"entropy", "operation"})
"""Kinds of causes that lie in the cell itself: it would differ again."""


def find_mend(case: Case, causes: Sequence[Cause], present: Present | None) -> Mend:
    """Find the way back from where the kernel stands now, not from where the later run began.

    Args:
        case: The evidence.
        causes: What was found in it.
        present: What is known of the kernel that asks; None where none does.
    """
    if case.two_cells or not causes or present is None:
        return Mend()  # one cell does not give another's result
    plan = make_plan(case.against, present)
    if plan.blocked:
        return Mend(obstacle=plan.blocked)
    own = [f"{cause.name} answers differently each time" if cause.kind == "entropy" else
           f"{cause.name} does not repeat" for cause in causes if cause.kind in _NOT_PUT_BACK]  # fmt: skip
    obstacles = [*plan.doubts, *own]
    command = f"%replay {run_word(case.against, present.kernel)}"
    return Mend((command,), not obstacles, obstacles[0] if obstacles else "")


def with_fixes(causes: Sequence[Cause], mend: Mend) -> list[Cause]:
    """Give the inputs among the causes what makes them anew: the way back does."""
    fix = next(iter(mend.commands), "")
    return [replace(cause, fix=fix) if cause.kind == "input" else cause for cause in causes]
