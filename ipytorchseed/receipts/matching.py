"""Which cell of a receipt is which cell here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ipytorchseed.receipts.privacy import cell_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ipytorchseed.ledger.records import Run


def match(here: Sequence[Run], there: Sequence[Run]) -> dict[str, Run]:
    """Find the receipt's run of each cell, by the cell's name here.

    A cell is known by its id and its text; else by its text, where one cell alone has it, or by its
    id, where it was edited; else by its place, right after a cell that was found.

    Args:
        here: A run for each cell, in the order in which they happened.
        there: The receipt's runs.
    """
    found: dict[str, int] = {}
    for key in (_id_and_text, _text, _id):
        _pair(here, there, found, key)
    before = -1
    for run in here if len(here) > 1 else ():  # one cell alone has no place
        after = before + 1
        if run.cell not in found and after < len(there) and after not in found.values():
            found[run.cell] = after
        before = found.get(run.cell, before)
    return {cell: there[place] for cell, place in found.items()}


def _pair(
    here: Sequence[Run], there: Sequence[Run], found: dict[str, int], key: Callable[[Run], object]
) -> None:
    """Add the pairs of cells that are left and that alone have one key."""
    mine = [run for run in here if run.cell not in found]
    left = [place for place in range(len(there)) if place not in {*found.values()}]
    counts = [Counter(map(key, mine)), Counter(key(there[place]) for place in left)]
    places = {key(there[place]): place for place in left}
    for run in mine:
        if [count[key(run)] for count in counts] == [1, 1]:
            found[run.cell] = places[key(run)]


def _id(run: Run) -> str:
    return cell_name(run.cell)


def _text(run: Run) -> str:
    return run.code


def _id_and_text(run: Run) -> tuple[str, str]:
    return _id(run), run.code
