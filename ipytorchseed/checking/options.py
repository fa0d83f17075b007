"""The options of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ipytorchseed.receipts.record import Receipt


class Options(Struct, frozen=True):
    """How to run notebooks.

    Attributes:
        runs: Fresh kernels for each notebook, two or more; ignored with ``rerun``.
        seed: What every source is seeded with before the first cell; None to leave them alone.
        rerun: One kernel for each notebook, in which every cell runs a second time.
        strict: A cell that shows the same and leaves other values behind counts as a difference;
            with ``rerun`` it always does.
        saved: One fresh kernel, whose outputs are held against those in the notebook's file.
        rtol: With ``saved``, the largest relative difference of two numbers that counts as none;
            None to call a small one rounding.
        against: One fresh kernel, held against this receipt.
        receipt: One fresh kernel, of whose run a receipt is made.
        timeout: Seconds for one cell; None for no limit.
        kernel: The kernelspec to use; None for the one that the notebook names.
        jobs: Kernels at the same time.
        parameters: Values for papermill's parameters, by name.
        quick: Runs end as soon as two of them differ.
        prove: Where a notebook differs, find out by experiment what brings the first result back.
    """

    runs: int = 2
    seed: int | None = None
    rerun: bool = False
    strict: bool = False
    saved: bool = False
    rtol: float | None = None
    against: Receipt | None = None
    receipt: bool = False
    timeout: float | None = None
    kernel: str | None = None
    jobs: int = 1
    parameters: Mapping[str, Any] = {}
    quick: bool = False
    prove: bool = False

    @property
    def once(self) -> bool:
        """Whether one pass through a notebook is all that it takes."""
        return self.saved or self.receipt or self.against is not None
