"""Reruns a notebook that differs, and tests the causes by experiment."""

from __future__ import annotations

import ast
import asyncio
import json
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from ipytorchseed.checking.kernel import Options, fresh_kernel
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.errors import UncheckableError
from ipytorchseed.ledger.records import Finding, Part
from ipytorchseed.questions import Why
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.magics import parse_without_magics
from ipytorchseed.reads.writers import writing_calls
from ipytorchseed.why.experiments import NO_EFFECT, PROVED
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.finders.operations import MENDS

# The smallest limit in seconds for experiments, because a kernel must start.
_SECONDS = 20.0


async def prove(notebook: Notebook, options: Options, verdict: Verdict, folder: Path) -> Verdict:
    """Run a notebook up to the cell where a difference starts, and test causes there.

    Args:
        notebook: The notebook.
        options: How it was run.
        verdict: The verdict so far; experiments may take as long as the check took.
        folder: The folder with the records of the first run's kernel.

    Returns:
        The verdict with findings on the causes of that cell, or with the operation that does not
        repeat. It is unchanged if time ran out or there is nothing to test.
    """
    origin = verdict.origin
    if origin is None:
        return verdict
    tried = origin
    with suppress(TimeoutError, UncheckableError, OSError):
        async with asyncio.timeout(max(_SECONDS, verdict.seconds)):
            if origin.does_not_repeat:
                tried = await _catch(notebook, options, origin)
            else:
                tried = await _test(notebook, options, origin, folder)
    return replace(verdict, cells=[tried if it is origin else it for it in verdict.cells])


async def _test(
    notebook: Notebook, options: Options, origin: CellVerdict, folder: Path
) -> CellVerdict:
    """Add the findings of ``%why --prove`` to the causes of a cell.

    With ``rerun``, the cells then run again from the last one back to this one, as in the check.
    Otherwise, the cell's run is compared with its run in the first kernel.
    """
    if not {cause.kind for cause in origin.causes} & {"rng", "flag", "input"}:
        return origin  # nothing can be undone in a running kernel
    cells = notebook.runnable
    place = cells.index(origin.cell)
    cells = [*cells, *reversed(cells[place:])] if options.rerun else cells[: place + 1]
    async with fresh_kernel(notebook, options, folder) as kernel:
        for cell in cells:
            await kernel.run(cell)
        told = await kernel.ask(Why(name=origin.cell.id, prove=True))
    said = {}
    for each in told.get("causes", ()):
        parts = convert(each["parts"], tuple[Part, ...])
        how = _reword(each["experiment"], told)
        said[each["kind"], each["name"]] = Finding(each["proof"], how, parts)
    cleared = [each for each in told.get("cleared", ()) if each["message"].startswith(NO_EFFECT)]
    idle = {(each["kind"], each["name"]) for each in cleared}
    causes = [
        replace(cause, finding=said.get((cause.kind, cause.name), cause.finding))
        for cause in origin.causes
        if (cause.kind, cause.name) not in idle or len(idle) >= len(origin.causes)
    ]
    causes.sort(key=lambda cause: cause.finding.level != PROVED)
    return replace(origin, causes=tuple(causes))


async def _catch(notebook: Notebook, options: Options, origin: CellVerdict) -> CellVerdict:
    """Add the operation that ``%%deterministic --check`` finds in a cell."""
    from nbformat.v4 import new_code_cell

    source, cells = origin.cell.source, notebook.runnable
    written = effects_of_cell(source, lambda text: ast.unparse(parse_without_magics(text)))
    if origin.programs or origin.wrote or origin.connected or [*writing_calls(written)]:
        return origin
    made = new_code_cell(f"%%deterministic --check --json\n{source}")
    with tempfile.TemporaryDirectory(prefix="its-") as folder:
        async with fresh_kernel(notebook, options, Path(folder)) as kernel:
            experiment = Cell(len(kernel.node.cells), "experiment", "")
            kernel.node.cells.append(made)
            for cell in (*cells[: cells.index(origin.cell)], experiment):
                await kernel.run(cell)
    said = "".join(each.text for each in made.outputs if each.get("name") == "stdout")
    try:
        told = dict(json.loads(said.rstrip().rpartition("\n")[2]))
    except (TypeError, ValueError):  # the cell raised: there is no finding
        return origin
    caught = told.get("first_divergence")
    if caught is None:
        return replace(origin, repeats=told.get("reproducible", False))
    line = caught["line"] and caught["line"] - 1  # without the magic's line
    where = f" on line {line}" if line else ""
    how = "two runs from the same state in one kernel differ from that operation on"
    cause = Cause(
        kind="operation",
        name=caught["operation"],
        message=f"{caught['operation']}{where} gives different results for the same input",
        proof=source.splitlines()[line - 1].strip() if line else "",
        fix=MENDS if told["with_flags"] == "repeats" else "",
        finding=Finding(PROVED, f"{PROVED}: {how}"),
    )
    return replace(origin, causes=(cause,))


def _reword(how: str, told: Mapping[str, Any]) -> str:
    """Replace the numbers of the two runs with words for a check."""
    run, against = told["run"], told["against"]
    if against["kernel"] != run["kernel"]:
        return how.replace("the earlier run", "the first run")
    how = how.replace(f"In[{against['execution_count']}]", "the first run")
    return how.replace(f"In[{run['execution_count']}]", "this run")
