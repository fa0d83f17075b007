"""What a user can choose about tracking."""

from __future__ import annotations

from typing import NamedTuple


class Config(NamedTuple):  # as everything that %load_ext needs, without a library
    """The choices, with their defaults.

    Attributes:
        tracking: Whether runs are recorded.
        budget: Seconds to spend on looking at values and files, for each cell.
        ignore: Names of variables that are not looked at.
        ledger: The folder of the ledger; empty for the usual place.
        keep_inputs: Whether small inputs are kept in memory, for experiments.
    """

    tracking: bool = True
    budget: float = 0.2
    ignore: frozenset[str] = frozenset()
    ledger: str = ""
    keep_inputs: bool = True
