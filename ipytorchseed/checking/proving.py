"""``check --prove``: one more run of a notebook, with experiments that test the causes."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ipytorchseed.checking.kernel import FreshKernel, Options
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.errors import UncheckableError
from ipytorchseed.why.experiments import CLEARED, LIKELY, PROVED, Finding

_SECONDS = 20.0
"""The least seconds that experiments may take, as a kernel has to start."""

_GO_BACK = {"rng", "flag", "input"}
"""Kinds of causes that can be undone in a running kernel."""


async def prove(notebook: Notebook, options: Options, verdict: Verdict, folder: Path) -> Verdict:
    """Run a notebook up to the cell in which a difference begins, and run ``%why --prove`` there.

    Args:
        notebook: The notebook.
        options: How it was run.
        verdict: The verdict so far; experiments may take as long as it took.
        folder: The folder with the records of the first run's kernel.

    Returns:
        The verdict with the experiments' findings on the causes of that cell; unchanged where there
        was no time for them, or nothing could be undone.
    """
    origin = verdict.origin
    if origin is None or _GO_BACK.isdisjoint(cause.kind for cause in origin.causes):
        return verdict
    said: Mapping[tuple[str, str], Finding] = {}
    with suppress(asyncio.TimeoutError, UncheckableError, OSError):
        seconds = max(_SECONDS, verdict.seconds)
        said = await asyncio.wait_for(_ask(notebook, options, origin, folder), seconds)
    causes = [
        replace(cause, finding=said.get((cause.kind, cause.name), cause.finding))
        for cause in origin.causes
    ]
    causes.sort(key=lambda cause: (PROVED, LIKELY, CLEARED).index(cause.finding.level))
    proved = replace(origin, causes=tuple(causes))
    cells = [proved if each is origin else each for each in verdict.cells]
    return replace(verdict, cells=cells)


async def _ask(
    notebook: Notebook, options: Options, origin: CellVerdict, folder: Path
) -> dict[tuple[str, str], Finding]:
    """Return the findings of ``%why --prove`` on each cause, by its kind and name.

    With ``rerun`` the cells run a second time up to that one, as in the check; else the earlier run
    is the first kernel's.

    Raises:
        UncheckableError: A cell did not run to its end.
        OSError: There is no room for the records.
    """
    import nbformat

    cells = notebook.runnable
    place = cells.index(origin.cell)
    if options.rerun:
        cells += reversed(cells[place:])
    else:
        cells = cells[: place + 1]
    node = copy.deepcopy(notebook.node)
    question = f"%why {origin.cell.id} --prove --json"
    node.cells.append(nbformat.v4.new_code_cell(question))  # type: ignore[no-untyped-call]
    cells.append(Cell(len(node.cells) - 1, "why-prove", ""))
    kernel = FreshKernel(notebook, options, folder)
    try:
        await kernel.start(node)
        for cell in cells:
            await kernel.run(cell, node)
    finally:
        await kernel.stop(now=True)
    said = "".join(each.get("text", "") for each in node.cells[-1].outputs)
    if not said.startswith("{"):  # an error: nothing was found out
        return {}
    told = json.loads(said)
    return {
        (each["kind"], each["name"]): Finding(each["proof"], _reword(each["experiment"], told))
        for each in told["causes"]
    }


def _reword(how: str, told: Mapping[str, Any]) -> str:
    """Replace the numbers of the two runs by words that fit a check."""
    run, against = told["run"], told["against"]
    in_kernel = re.escape(f"In[{against['execution_count']}]")
    earlier = in_kernel if against["kernel"] == run["kernel"] else r"#\d+"
    how = re.sub(rf"{earlier}(?=\b|'|$)", "the first run", how)
    return how.replace(f"In[{run['execution_count']}]", "this run")
