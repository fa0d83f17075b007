"""The user's choices about tracking."""

from __future__ import annotations

from typing import NamedTuple


class Config(NamedTuple):  # needs no library, like everything that %load_ext imports
    """The choices and their defaults.

    Attributes:
        tracking: Whether runs are recorded.
        budget: Seconds to spend on inspecting values and files, for each cell.
        ignore: Names of variables that are not inspected.
        ledger: The folder of the ledger; empty for the default.
        keep_inputs: Whether small inputs are kept in memory, for experiments.
    """

    tracking: bool = True
    budget: float = 0.2
    ignore: frozenset[str] = frozenset()
    ledger: str = ""
    keep_inputs: bool = True
