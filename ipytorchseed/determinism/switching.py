"""Operations that take another, repeatable algorithm under ``use_deterministic_algorithms``.

One row for each entry in the first list of that function's docstring, which changes with each
release: it is read from the installed torch, and a test fails where the rows and the list part.
The second list, of operations that raise, is that of ``advice``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct


class Switch(Struct, frozen=True):
    """A row.

    Attributes:
        entries: How torch's docstring names the operation.
        kernel: A pattern that matches its name among aten's.
    """

    entries: tuple[str, ...]
    kernel: str


SWITCHES: tuple[Switch, ...] = (
    Switch(
        tuple(f"torch.nn.Conv{kind}{n}d" for kind in ("", "Transpose") for n in (1, 2, 3)),
        r"^(cudnn_|_slow_|slow_)?conv",
    ),
    Switch(
        tuple(f"torch.nn.ReplicationPad{n}d" for n in (1, 2, 3)), r"^replication_pad\dd_backward"
    ),
    Switch(("torch.bmm",), r"^bmm"),
    Switch(
        ("torch.Tensor.__getitem__", "torch.Tensor.index_put"),
        r"^_?(unsafe_)?index_put",
    ),
    Switch(("torch.Tensor.put_",), r"^put"),
    Switch(("torch.Tensor.scatter_add_", "torch.gather"), r"^scatter_add"),
    Switch(("torch.index_add", "torch.index_select"), r"^(index_add|index_select_backward)"),
    Switch(("torch.repeat_interleave",), r"^repeat_interleave"),
    Switch(("torch.Tensor.index_copy",), r"^index_copy"),
    Switch(("torch.Tensor.scatter",), r"^scatter_?$"),
    Switch(("torch.Tensor.scatter_reduce",), r"^scatter_reduce"),
    Switch(("torch.nn.MaxPool3d",), r"^max_pool3d_with_indices_backward"),
)


@lru_cache(maxsize=1)
def switching_operations() -> frozenset[str]:
    """Read from the installed torch which operations switch under deterministic algorithms."""
    import torch

    text = torch.use_deterministic_algorithms.__doc__ or ""
    switching = text.partition("deterministically when")[2].partition("operations will throw a")[0]
    return frozenset(
        re.findall(r"^\s*\* :(?:class|func|meth):`~?([\w.]+)`", switching, re.MULTILINE)
    )


def find_switch(operation: str) -> Switch | None:
    """Return the row of an operation as aten names it, such as ``index_put_``."""
    return next((row for row in SWITCHES if re.search(row.kernel, operation)), None)
