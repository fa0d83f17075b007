"""Code that torch compiled: each run of it is seen as one operation, and ours is kept out of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any


def leave_uncompiled(*functions: Callable[..., Any]) -> None:
    """Have torch's compiler leave functions alone, with all that they call.

    It does what ``torch.compiler.disable`` does, and costs nothing with each call.
    """
    at: Any = sys.modules["torch"]._C._dynamo.eval_frame  # noqa: SLF001 -- as torch._dynamo has it
    if hasattr(at, "set_code_exec_strategy"):  # before, it compiled nothing under a dispatch mode
        skip = at._FrameExecStrategy(at._FrameAction.SKIP, at._FrameAction.SKIP)  # noqa: SLF001
        for each in functions:
            at.set_code_exec_strategy(each.__code__, skip)


GRAPH = "inductor::graph"
"""Stands for the name of an operation: one run of what inductor compiled, forward or backward."""

COMPILED = "<compiled>"
"""Stands for a module in the paths of operations that such a run calls as they are, such as mm."""


class CompiledGraphs:
    """Sees each run of what inductor compiled, while it is attached.

    Its kernels are no operations of torch's: what they are given and give is seen here alone.

    Args:
        watch: Called instead of a run, with the graph, its inputs, and the run itself.
    """

    def __init__(self, watch: Callable[[Any, Any, Callable[[Any, Any], Any]], Any]) -> None:
        self._watch = watch
        self._put_back: list[tuple[Any, Any, Any]] = []

    def attach(self) -> None:
        """Begin, also with what is compiled only later."""
        if "torch._inductor.output_code" in sys.modules:
            self._attach()
            return
        backend = getattr(sys.modules["torch"], "_TorchCompileInductorWrapper", None)
        if backend is None:
            return

        def compiles(call: Callable[..., Any], *args: Any, **given: Any) -> Any:  # noqa: ANN401
            if len(self._put_back) == 1:
                self._attach()
            return call(*args, **given)

        self._replace(backend, compiles)

    def _attach(self) -> None:
        from torch._inductor import output_code

        def runs(call: Callable[..., Any], graph: Any, inputs: Any) -> Any:  # noqa: ANN401
            return self._watch(graph, inputs, call)

        self._replace(output_code.CompiledFxGraph, runs)

    def _replace(self, kind: Any, by: Callable[..., Any]) -> None:  # noqa: ANN401
        before = kind.__call__

        @wraps(before)
        def called(*args: Any, **given: Any) -> Any:  # noqa: ANN401
            return by(before, *args, **given)

        kind.__call__ = called
        self._put_back.append((kind, called, before))

    def detach(self) -> None:
        """Stop."""
        while self._put_back:
            kind, called, before = self._put_back.pop()
            if kind.__call__ is called:
                kind.__call__ = before
