"""Code that torch compiles: ours is kept out of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def leave_uncompiled(*functions: Callable[..., Any]) -> None:
    """Have torch's compiler leave functions alone, with all that they call.

    It does what ``torch.compiler.disable`` does, and costs nothing with each call.
    """
    at: Any = sys.modules["torch"]._C._dynamo.eval_frame  # noqa: SLF001 -- as torch._dynamo has it
    if hasattr(at, "set_code_exec_strategy"):  # before, it compiled nothing under a dispatch mode
        skip = at._FrameExecStrategy(at._FrameAction.SKIP, at._FrameAction.SKIP)  # noqa: SLF001
        for each in functions:
            at.set_code_exec_strategy(each.__code__, skip)
