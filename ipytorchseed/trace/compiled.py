"""torch.compile: a run of a compiled graph counts as one operation.

Our own code stays uncompiled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from ipytorchseed.introspection.replacing import Replacements


def leave_uncompiled(*functions: Callable[..., Any]) -> None:
    """Exclude functions, and all that they call, from torch's compiler.

    Like ``torch.compiler.disable``, but without a cost for each call.
    """
    at: Any = sys.modules["torch"]._C._dynamo.eval_frame  # noqa: SLF001 -- as torch._dynamo has it
    # earlier versions compile nothing under a dispatch mode
    if hasattr(at, "set_code_exec_strategy"):
        skip = at._FrameExecStrategy(at._FrameAction.SKIP, at._FrameAction.SKIP)  # noqa: SLF001
        for each in functions:
            at.set_code_exec_strategy(each.__code__, skip)


# The name of the operation for one run of what inductor compiled, forward or backward.
GRAPH = "inductor::graph"

# The module in the paths of operations that such a run calls directly, such as mm.
COMPILED = "<compiled>"


def watch_graphs(
    watch: Callable[[Any, Any, Callable[[Any, Any], Any]], Any], replaced: Replacements
) -> None:
    """Intercept each run of a graph that inductor compiled or will compile.

    Its kernels are not dispatched like torch's operations, so their inputs and results are
    visible only here.

    Args:
        watch: Called instead of a run, with the graph, its inputs, and the run itself.
        replaced: Restores what is replaced.
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
