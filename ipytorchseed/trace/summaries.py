"""Summarizes tensors, and computes the distances of results from their summaries.

A summary has the greatest absolute value, the mean and the norm. By the triangle inequality, these
differ by no more than the tensors do, so the distance of two summaries is a lower bound on the
distance of the tensors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ipytorchseed.fingerprint.elements import has_memory
from ipytorchseed.fingerprint.native import Unseen, native, reads_natively
from ipytorchseed.trace.loading import Loaded, Tensors

UNKNOWN = (math.nan, math.nan, math.nan)

# How many elements are converted to double precision at a time.
_PIECE = 1 << 22


def summarize(tensor: Any) -> tuple[float, float, float]:
    """Return a tensor's greatest absolute value, mean and norm; NaN if unknown."""
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
            or not has_memory(tensor)
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


_FLOATS = ("float", "bfloat", "complex")


class Distances:
    """Lower bounds on the differences between tensors of two traces.

    Args:
        a: The first trace.
        b: The second trace.
    """

    def __init__(self, a: Loaded, b: Loaded) -> None:
        self._traces = a, b
        numbers = {kind: at for at, kind in enumerate(dict.fromkeys([*a.kinds, *b.kinds]))}
        self._kinds = [np.array([numbers[kind] for kind in each.kinds], int) for each in (a, b)]
        self._rounds = np.array([kind.dtype.startswith(_FLOATS) for kind in numbers], bool)
        self._tensor = np.array([bool(kind.dtype) for kind in numbers], bool)
        self._sizes = [(kind.dtype, math.prod(kind.shape)) for kind in numbers]

    def of(self, side: str, at: Any, to: Any, floor: Any = 0.0) -> Any:
        """Return the distances of the inputs or results of pairs.

        Args:
            side: ``reads`` for the inputs, ``makes`` for the results.
            at: The indices of the pairs' operations in A.
            to: The indices of the pairs' operations in B.
            floor: The least divisor for relative differences: a number, or a row of summaries.

        Returns:
            The largest distance of each pair's tensors; NaN if unknown.
        """
        found = np.full(len(at), np.nan)
        one, other = (getattr(each, side) for each in self._traces)
        if not (one.summaries.shape[1] and other.summaries.shape[1]):
            return found
        counts = one.counts[at]
        alike = (counts == other.counts[to]) & (counts > 0)
        apart = self.each(one, one.rows(at[alike]), other, other.rows(to[alike]), floor)
        if len(apart):
            counts = counts[alike]
            found[alike] = np.maximum.reduceat(apart, np.cumsum(counts) - counts)
        return found

    def each(self, one: Tensors, left: Any, other: Tensors, right: Any, floor: Any = 0.0) -> Any:
        """Return the distance of each pair of tensors; infinity for different kinds.

        Args:
            one: The tensors of A.
            left: The indices of the pairs' tensors in A.
            other: The tensors of B.
            right: The indices of the pairs' tensors in B.
            floor: As in ``of``.
        """
        apart = distances(one.summaries[left], other.summaries[right], floor)
        kinds = self._kinds[0][one.kinds[left]]
        fits = (kinds == self._kinds[1][other.kinds[right]]) & self._rounds[kinds]
        apart[~fits] = np.inf
        # Values that are not tensors, such as results of `item`, have no summaries.
        apart[(one.digests[left] == other.digests[right]) | ~self._tensor[kinds]] = 0.0
        return apart

    def known(self, side: int, rows: Any, among: Any, rtol: float) -> Any:
        """Return a mask of results: whether the other trace has a close tensor.

        Tensors of different shapes are close if they have the same dtype and size.

        Args:
            side: The trace of the results: 0 for A, 1 for B.
            rows: The indices of the results.
            among: The indices of the results in the other trace to compare with.
            rtol: The largest accepted distance.
        """
        mine, theirs = self._traces[side].makes, self._traces[1 - side].makes
        by_size: dict[tuple[str, int], list[int]] = {}
        for row, kind in zip(among, self._kinds[1 - side][theirs.kinds[among]], strict=True):
            by_size.setdefault(self._sizes[kind], []).append(row)
        found = np.zeros(len(rows), bool)
        for at, kind in enumerate(self._kinds[side][mine.kinds[rows]]):
            others = by_size.get(self._sizes[kind], []) if self._rounds[kind] else []
            near = distances(mine.summaries[rows[at]][None], theirs.summaries[others]) <= rtol
            found[at] = near.any()
        return found


def distances(one: Any, other: Any, floor: Any = 0.0) -> Any:
    """Return lower bounds on the relative differences of tensors, from summaries.

    A difference is divided by the larger of the two numbers, or by ``floor`` if that is larger.
    """
    one, other = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(all="ignore"):
        apart = np.where(one == other, 0.0, np.abs(one - other))
        scale = np.maximum(np.maximum(np.abs(one), np.abs(other)), floor)
        scale[:, 1] = scale[:, 0]  # compare the mean with the greatest value
        apart = np.where(apart == 0, 0.0, apart / scale)
    lost = np.isnan(one) != np.isnan(other)
    apart[np.isnan(one) & np.isnan(other)] = 0.0
    apart[lost] = np.inf
    return np.nan_to_num(apart, nan=np.inf, posinf=np.inf).max(axis=1)
