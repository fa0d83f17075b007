"""Which cell a run belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell


def cell_key(shell: InteractiveShell, info: ExecutionInfo) -> str:
    """Return what a cell is known by, across runs and kernels.

    Args:
        shell: The running shell.
        info: What IPython says of the run.

    Returns:
        The front end's cell id (JupyterLab, VS Code, Colab); the cell's text where it sends none.
    """
    if info.cell_id:
        return str(info.cell_id)
    colab: Any = getattr(shell, "parent_header", None)
    for key in ("metadata", "colab", "cell_id"):
        colab = colab.get(key) if isinstance(colab, dict) else None
    return str(colab) if colab else str(info.raw_cell).strip()
