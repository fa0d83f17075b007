"""Finds the cell in which a difference begins that a later cell shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.checking.verdict import CellVerdict


def find_origin(shown: CellVerdict, earlier: Sequence[CellVerdict]) -> CellVerdict:
    """Return the first cell that left what another one shows.

    It is found along the names of causes and of what cells left. A cell with a cause of its own
    goes before one that has none, such as one that made an object with an address in it.

    Args:
        shown: The cell whose output differs.
        earlier: The cells before it that differ, in the order of the notebook.
    """
    chain, names = [shown], _names(shown)
    for each in reversed(earlier):
        if names & (each.left | _names(each)):
            chain.append(each)
            names |= _names(each)
    caused = [each for each in chain if _has_own_cause(each, earlier)]
    return (caused or chain)[-1]


def _names(cell: CellVerdict) -> set[str]:
    return {cause.name for cause in cell.causes}


def _has_own_cause(cell: CellVerdict, earlier: Sequence[CellVerdict]) -> bool:
    """Tell whether a cell differs for a cause that no earlier cell handed on to it."""
    before = (each.left for each in earlier if each.cell.place < cell.cell.place)
    left: set[str] = set().union(*before)
    return any(cause.kind != "input" and cause.name not in left for cause in cell.causes)
