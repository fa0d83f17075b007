"""torch.compile: a run of a compiled graph counts as one operation; our code stays uncompiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from ipytorchseed.introspection.replacing import Replacements


def leave_uncompiled(*functions: Callable[..., Any]) -> None:
    """Exclude functions, and all that they call, from torch's compiler.

    As ``torch.compiler.disable`` does, but without a cost for each call.
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


def watch_graphs(
    watch: Callable[[Any, Any, Callable[[Any, Any], Any]], Any], replaced: Replacements
) -> None:
    """Intercept each run of a graph that inductor compiled or will compile, until it is put back.

    Its kernels are not dispatched as torch's operations are: only here their inputs and results
    can be seen.

    Args:
        watch: Called instead of a run, with the graph, its inputs, and the run itself.
        replaced: Takes what is replaced.
    """

    def attach() -> None:
        from torch._inductor.output_code import CompiledFxGraph

        run = CompiledFxGraph.__call__

        @wraps(run)
        def runs(graph: Any, inputs: Any) -> Any:
            return watch(graph, inputs, run)

        replaced.put(CompiledFxGraph, "__call__", runs)

    backend = getattr(sys.modules["torch"], "_TorchCompileInductorWrapper", None)
    if "torch._inductor.output_code" in sys.modules:
        attach()
    elif backend is not None:  # it is imported when something is compiled
        compile_, waiting = backend.__call__, [attach]

        @wraps(compile_)
        def compiles(*args: Any, **given: Any) -> Any:
            if waiting and replaced:
                waiting.pop()()
            return compile_(*args, **given)

        replaced.put(backend, "__call__", compiles)
