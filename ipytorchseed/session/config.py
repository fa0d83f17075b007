"""The configuration of tracking."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Config(NamedTuple):  # not a Struct: %load_ext should import no library
    """The options for recording runs, with their defaults.

    Attributes:
        tracking: Whether to record runs.
        budget: The maximum time for inspecting values and files, in seconds for each cell.
        ignore: Names of variables that are not inspected.
        ledger: The folder of the ledger; empty for the default folder.
        keep_inputs: Whether to keep small inputs in memory, for experiments.
    """

    tracking: bool = True
    budget: float = 0.2
    ignore: Collection[str] = ()
    ledger: str = ""
    keep_inputs: bool = True
