"""Decides which experiments run automatically: short ones without outside effects."""

from __future__ import annotations

from collections.abc import Sequence

from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.entropy import BY_PERSON
from ipytorchseed.session.leftovers import THREAD, WIDGET
from ipytorchseed.why.evidence import run_name
from ipytorchseed.why.experiments import count_most
from ipytorchseed.why.plan import Plan

# Seconds that the cells may take together, by their recorded times without imports.
SECONDS = 2.0

# Seconds after which experiments are interrupted, if the cells take longer than recorded.
DEADLINE = 2.5

# The maximum number of bytes of tensors and arrays to copy, all on the CPU.
BYTES = 256 << 20


# ``count_fitting`` returns a number below this.
_MANY = 100

_LEFT = {THREAD: "leaves a thread running", WIDGET: "opens a widget"}


def count_fitting(runs: Sequence[Run], plan: Plan) -> int:
    """Return how many suspects can be tested in time.

    Args:
        runs: The two compared runs.
        plan: The cells that would run again. The last cell runs in each experiment.
    """
    left = SECONDS - sum(step.run.seconds_again for step in plan.steps[:-1])
    longest = _seconds(runs)
    return sum(count_most(count) * longest <= left for count in range(1, _MANY))


def find_objection(runs: Sequence[Run], plan: Plan, experiments: int, kernel: str) -> str:
    """Return why causes are not tested automatically; "" if they may be tested.

    Args:
        runs: The two compared runs.
        plan: The cells that would run again. The last cell runs in each experiment.
        experiments: The maximum number of experiments.
        kernel: The current kernel. Cells of earlier kernels do not run automatically.
    """
    for run in runs:
        if run.status == "interrupted":
            return f"{run_name(run, kernel)} was interrupted"
    for step in plan.steps:
        name = run_name(step.run, kernel)
        if step.outside:
            return f"{name} {', '.join(step.outside)} · %why --prove --yes"
        if left := step.run.outside.left:
            return f"{name} {' and '.join(map(_LEFT.__getitem__, left))} · %why --prove"
        if BY_PERSON in step.run.nondeterministic_calls:
            return f"{name} asks for input"
        if step.run.kernel != kernel:
            return f"In[{step.run.execution_count}] ran before the restart · %why --prove"
    makers = [step.run.seconds_again for step in plan.steps[:-1]]
    seconds = sum(makers) + experiments * _seconds(runs)
    return f"it would take about {seconds:.0f} s · %why --prove" if seconds > SECONDS else ""


def _seconds(runs: Sequence[Run]) -> float:
    """Return the seconds that the cell takes when it runs again.

    The first run of a cell may compile code or fill caches, so the second run is what counts.
    """
    against, run = runs
    again = against.code == run.code and against.kernel == run.kernel
    return run.seconds_again if again else max(run.seconds_again for run in runs)
