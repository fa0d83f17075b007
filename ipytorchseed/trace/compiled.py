"""Records each run of a graph compiled by torch.compile as one operation.

Also keeps torch.compile from compiling our own functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from ipytorchseed.introspection.replacing import Replacements


def leave_uncompiled(*functions: Callable[..., Any]) -> None:
    """Exclude functions, and the functions that they call, from torch's compiler.

    Like ``torch.compiler.disable``, but without a cost for each call.
    """
    at: Any = sys.modules["torch"]._C._dynamo.eval_frame  # noqa: SLF001 -- there is no public way
    # Versions of torch without this function compile nothing under a dispatch mode.
    if hasattr(at, "set_code_exec_strategy"):
        skip = at._FrameExecStrategy(at._FrameAction.SKIP, at._FrameAction.SKIP)  # noqa: SLF001
        for each in functions:
            at.set_code_exec_strategy(each.__code__, skip)


# The name of the operation for one run of a graph that inductor compiled, forward or backward.
GRAPH = "inductor::graph"

# The last module in the path of an operation that compiled code calls, such as mm.
COMPILED = "<compiled>"


def watch_graphs(
    watch: Callable[[Any, Any, Callable[[Any, Any], Any]], Any], replaced: Replacements
) -> None:
    """Intercept each run of a graph that inductor compiled or will compile.

    torch does not dispatch the kernels of a graph like operations, so the inputs and results of a
    graph are visible only here.

    Args:
        watch: Called instead of running a graph, with the graph, its inputs, and the function that
            runs it.
        replaced: Registers the replaced functions, to restore them later.
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
    elif backend is not None:  # torch imports inductor when it compiles the first graph
        compile_, waiting = backend.__call__, [attach]

        @wraps(compile_)
        def compiles(*args: Any, **given: Any) -> Any:
            if waiting and replaced:
                waiting.pop()()
            return compile_(*args, **given)

        replaced.put(backend, "__call__", compiles)


def pass_lengths_as_numbers(replaced: Replacements) -> None:
    """Make ``torch.ctc_loss`` pass lengths on the CPU as numbers.

    Under a dispatch mode, ``ctc_loss`` passes them as tensors (aten/src/ATen/native/LossCTC.cpp).
    On a GPU, its algorithm and its mean raise an error for such tensors.

    Args:
        replaced: Registers the replaced function, to restore it later.
    """
    torch: Any = sys.modules["torch"]
    original = torch.ctc_loss

    def numbers(value: Any) -> Any:
        return value.reshape(-1).tolist() if isinstance(value, torch.Tensor) else value

    @wraps(original, assigned=("__name__", "__doc__"))
    def ctc_loss(log_probs: Any, targets: Any, *args: Any, **given: Any) -> Any:
        lengths = (each for each in (*args, *given.values()) if isinstance(each, torch.Tensor))
        if any(each.is_cpu for each in lengths) and not torch.compiler.is_compiling():
            args = (*map(numbers, args),)
            given = {name: numbers(each) for name, each in given.items()}
        return original(log_probs, targets, *args, **given)

    replaced.put(torch, "ctc_loss", ctc_loss)
