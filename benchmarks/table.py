"""Times functions side by side, and prints the figures in a table."""

from __future__ import annotations

import statistics
import timeit
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

MICRO, MILLI = 1e6, 1e3


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        what: A phrase for what was measured.
        ours: The figure of this package, in ``unit``.
        peer: The figure to compare with, in ``unit``; None if there is none.
        against: The name of the peer.
        unit: The unit: ``us``, ``ms``, ``s`` or ``MB``.
        goal: The bound that our figure must meet.
        met: Whether it meets the bound.
    """

    what: str
    ours: float
    peer: float | None
    against: str
    unit: str
    goal: str
    met: bool


def side_by_side(
    functions: dict[str, Callable[[], object]], *, rounds: int = 40, number: int = 200
) -> dict[str, float]:
    """Time functions in turns, so that noise of the machine affects all of them.

    Args:
        functions: The functions, by name.
        rounds: The number of turns of each function.
        number: The number of calls in a turn.

    Returns:
        The median time of a call in seconds, by name.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(timeit.timeit(function, number=number) / number)
    return {name: statistics.median(each) for name, each in times.items()}


def show(title: str, rows: list[Row]) -> None:
    """Print a table of figures."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for name in ("What", "Ours", "Peer", "Ratio", "Against", "Goal", ""):
        table.add_column(name, justify="right" if name in ("Ours", "Peer", "Ratio") else "left")
    for row in rows:
        table.add_row(
            row.what,
            f"{row.ours:.2f} {row.unit}",
            "" if row.peer is None else f"{row.peer:.2f} {row.unit}",
            "" if row.peer is None else f"{row.ours / row.peer:.2f} x",
            row.against,
            row.goal,
            "met" if row.met else "MISSED",
        )
    Console(width=120).print(table)
