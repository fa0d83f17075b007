"""Greatest absolute value, mean and norm of a tensor: enough to tell rounding from more.

Each is off by no more than the tensors are, beside their greatest value or their norm (the triangle
inequality), so that the difference that they show is never larger than the real one.
"""

from __future__ import annotations

import math
from typing import Any

from ipytorchseed.fingerprint.elements import is_there
from ipytorchseed.fingerprint.native import Unseen, native, reads_natively

UNKNOWN = (math.nan, math.nan, math.nan)

_PIECE = 1 << 22
"""Elements that are looked at together: they are copied at double precision."""


def summarize(tensor: Any) -> tuple[float, float, float]:  # noqa: ANN401
    """Return a tensor's greatest absolute value, mean and norm; NaN where they cannot be told."""
    import torch

    at = native()
    if not isinstance(tensor, torch.Tensor) or not reads_natively(type(tensor)):
        return UNKNOWN
    with Unseen():
        if (
            at.is_nested(tensor)
            or at.is_quantized(tensor)
            or at.layout(tensor) is not at.strided
            or at.device(tensor).type == "meta"
            or not is_there(tensor)
        ):
            return UNKNOWN
        flat = at.detach(tensor).resolve_conj().resolve_neg()
        count = flat.numel()
        if not count:
            return 0.0, 0.0, 0.0
        if flat.is_complex():
            flat = torch.view_as_real(flat)
        double = torch.float32 if flat.device.type == "mps" else torch.float64
        sums = torch.zeros(3, dtype=double, device=flat.device)
        for piece in flat.reshape(-1).split(_PIECE):
            wide = piece.to(double)
            greatest = torch.maximum(sums[0], wide.abs().max())
            sums = torch.stack([greatest, sums[1] + wide.sum(), sums[2] + wide.square().sum()])
        greatest, total, squares = sums.tolist()
    return greatest, total / count, math.sqrt(squares)
