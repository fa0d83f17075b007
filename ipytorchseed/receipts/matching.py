"""Which cell of a receipt is which cell here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ipytorchseed.receipts.privacy import cell_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.ledger.records import Run


def match(here: Sequence[Run], there: Sequence[Run]) -> dict[str, Run]:
    """Find the receipt's run of each cell, by the cell's name here.

    A cell is known by its id; without that by its text, where one cell alone has it; and one that
    was edited by its place, right after a cell that was found.

    Args:
        here: A run for each cell, in the order in which they happened.
        there: The receipt's runs.
    """
    left = dict(enumerate(there))
    found: dict[str, int] = {}
    ids = {run.cell: place for place, run in left.items()}
    for run in here:
        place = ids.get(cell_name(run.cell))
        if place in left:
            found[run.cell] = place
            del left[place]
    rest = [run for run in here if run.cell not in found]
    counts = Counter(run.code for run in (*rest, *left.values()))
    for run in rest:
        alike = [place for place, other in left.items() if other.code == run.code]
        if len(alike) == 1 and counts[run.code] == 2:  # noqa: PLR2004 -- one here and one there
            found[run.cell] = alike[0]
            del left[alike[0]]
    before = -1
    for run in here if len(here) > 1 else ():  # one cell alone has no place
        place = found.get(run.cell, before + 1)
        if run.cell in found or left.pop(place, None) is not None:
            found[run.cell] = before = place
    return {cell: there[place] for cell, place in found.items()}
