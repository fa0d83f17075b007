"""Compares a fresh run of a notebook with a receipt: the record of another run."""

from __future__ import annotations

from msgspec.structs import replace

from ipytorchseed.checking.comparing import Pair
from ipytorchseed.checking.distance import Distance, say_rounding
from ipytorchseed.checking.grading import Found, Grade
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.passes import Pass, Runs, open_runs
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.receipts.privacy import Places, reveal
from ipytorchseed.receipts.reading import match
from ipytorchseed.receipts.record import Receipt
from ipytorchseed.receipts.writing import write
from ipytorchseed.rng.seeds import LIMIT
from ipytorchseed.why.changes import ROUNDING, find_changes, find_distance
from ipytorchseed.why.explanation import Change
from ipytorchseed.why.words import listed


def compare_receipt(notebook: Notebook, fresh: Pass, receipt: Receipt) -> Verdict:
    """Compare a pass with a receipt of the notebook.

    Args:
        notebook: The notebook that was run.
        fresh: A pass through the notebook.
        receipt: The record of an earlier run, perhaps on another machine.
    """
    with open_runs(fresh.ledger, notebook) as records:
        here = {run.cell: run for run in records.runs}
        there = match([*here.values()], receipt.runs)
        if here and not there:
            fault = f"the receipt is for {receipt.notebook} and has no cell of this notebook"
            return Verdict(notebook.path, fault=fault)
        runs = [reveal(run, here[cell]) for cell, run in there.items()]
        pair = Pair(Runs(runs, lambda: receipt), records)
        pair.unseeded = {name for name in pair.unseeded if not _chosen(records, name)}
        cells = [
            _compare(pair, cell)
            for cell in notebook.cells
            if cell.count is None or cell.index in fresh.outputs
        ]
    new = [each.cell.name for each in cells if each.outputs is Found.UNKNOWN]
    notes = [f"not in the receipt: {listed(new)}"] if new else []
    gone = len(receipt.runs) - len(there)
    if gone and len(cells) == len(notebook.cells):
        notes.append(f"{gone} of {len(receipt.runs)} cells in the receipt are not in this notebook")
    return Verdict(notebook.path, cells, note="; ".join(notes))


def make_receipt(notebook: Notebook, fresh: Pass) -> bytes:
    """Return the receipt of a pass.

    Args:
        notebook: The notebook that was run.
        fresh: A pass through the notebook.
    """
    with open_runs(fresh.ledger, notebook) as records:
        places = Places.here(str(notebook.path))
        runs = [*{run.cell: run for run in records.runs}.values()]  # %replay runs a cell again
        return write(notebook.path.name, runs, records.find_states, places)


def _compare(pair: Pair, cell: Cell) -> CellVerdict:
    """Compare a cell's run with its run in the receipt, and find the causes."""
    if cell.count is None:
        return CellVerdict(cell, Found.SKIPPED, Found.SKIPPED)
    runs = pair.runs(cell)
    if runs is None:
        found = Found.SAME if is_inspection(cell.source) else Found.UNKNOWN
        return CellVerdict(cell, found, found)
    changes = () if is_inspection(cell.source) else find_changes(*runs)
    shown = tuple(each for each in changes if each.what != "variable")
    said = pair.weigh(cell, *runs, shown)
    return replace(said, changes=tuple(map(_grade, said.changes)))


def _grade(change: Change) -> Grade:
    """Grade a change as rounding or as different."""
    distance, detail, found = find_distance(change), change.detail, Found.DIFFERENT
    if distance is not None and distance <= ROUNDING:
        detail += f"; {say_rounding(Distance(distance, beyond_zero=distance))}"
        found = Found.ROUNDING
    return Grade(change.what, change.name, detail, found=found)


def _chosen(records: Runs, name: str) -> bool:
    """Return whether a source started from a seed that people choose: 0 to 2**32-1."""
    states = records.find_states()
    place = None if states is None else states.position(name, records.begins()[name])
    return place is not None and place.seed is not None and place.seed < LIMIT
