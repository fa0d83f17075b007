"""Summarizes tensors, and compares results by their summaries.

A summary has the greatest absolute value, the mean and the norm. By the triangle inequality, these
differ by no more than the tensors do, so the difference of two summaries is a lower bound on the
difference of the tensors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ipytorchseed.fingerprint.native import Unseen, native
from ipytorchseed.trace.format import Kind
from ipytorchseed.trace.loading import Tensors

UNKNOWN = (math.nan, math.nan, math.nan)

# How many elements are converted to double precision at a time.
_PIECE = 1 << 22


def summarize(tensor: Any) -> tuple[float, float, float]:
    """Return a tensor's greatest absolute value, mean and norm; NaN if unknown.

    Args:
        tensor: A tensor that was digested, or None if it cannot be read.
    """
    import torch

    if tensor is None:
        return UNKNOWN
    at = native()
    with Unseen():
        has_numbers = at.layout(tensor) is at.strided and at.device(tensor).type != "meta"
        if at.is_nested(tensor) or at.is_quantized(tensor) or not has_numbers:
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


def differences(one: Tensors, at: Any, other: Tensors, to: Any, floor: Any = 0.0) -> Any:
    """Return lower bounds on the differences of the inputs or results of pairs.

    Args:
        one: The inputs or results in the first trace.
        at: The indices of the pairs' operations in the first trace.
        other: The inputs or results in the second trace.
        to: The indices of the pairs' operations in the second trace.
        floor: The least divisor for relative differences: a number, or a row of summaries.

    Returns:
        The largest difference of each pair's tensors; NaN if unknown.
    """
    found = np.full(len(at), np.nan)
    if one.summaries.shape[1] and other.summaries.shape[1]:
        counts = one.counts[at]
        alike = (counts == other.counts[to]) & (counts > 0)
        apart = apart_each(one, one.rows(at[alike]), other, other.rows(to[alike]), floor)
        if len(apart):
            counts = counts[alike]
            found[alike] = np.maximum.reduceat(apart, np.cumsum(counts) - counts)
    return found


def apart_each(one: Tensors, left: Any, other: Tensors, right: Any, floor: Any = 0.0) -> Any:
    """Return the difference of each pair of tensors; infinity for different kinds.

    Args:
        one: The tensors of the first trace.
        left: The indices of the pairs' tensors in the first trace.
        other: The tensors of the second trace.
        right: The indices of the pairs' tensors in the second trace.
        floor: As in ``differences``.
    """
    apart = _relative(one.summaries[left], other.summaries[right], floor)
    rounds = one.of_kinds(_is_float, left) > 0
    apart[(one.of_kinds(hash, left) != other.of_kinds(hash, right)) | ~rounds] = np.inf
    # Values that are not tensors, such as results of `item`, have no summaries.
    tensors = one.of_kinds(lambda kind: bool(kind.dtype), left) > 0
    apart[(one.digests[left] == other.digests[right]) | ~tensors] = 0.0
    return apart


def has_close(one: Tensors, rows: Any, other: Tensors, among: Any, rtol: float) -> Any:
    """Return a mask of tensors: whether the other trace has a close one.

    Tensors of different shapes are close if they have the same dtype and size.

    Args:
        one: The results in the first trace.
        rows: The indices of the results.
        other: The results in the second trace.
        among: The indices of the results in the second trace to compare with.
        rtol: The largest accepted difference.
    """
    by_size: dict[int, list[int]] = {}
    for row, size in zip(among, other.of_kinds(_size, among).tolist(), strict=True):
        by_size.setdefault(size, []).append(row)
    found = one.of_kinds(_is_float, rows) > 0
    for at, size in enumerate(one.of_kinds(_size, rows).tolist()):
        near = _relative(one.summaries[rows[at]][None], other.summaries[by_size.get(size, [])])
        found[at] &= bool((near <= rtol).any())
    return found


def _is_float(kind: Kind) -> bool:
    return kind.dtype.startswith(_FLOATS)


def _size(kind: Kind) -> int:
    return hash((kind.dtype, math.prod(kind.shape)))


def _relative(one: Any, other: Any, floor: Any = 0.0) -> Any:
    """Return lower bounds on the relative differences of tensors, from summaries.

    A difference is divided by the larger of the two numbers, or by ``floor`` if that is larger.
    """
    one, other = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(all="ignore"):
        scale = np.maximum(np.maximum(np.abs(one), np.abs(other)), floor)
        scale[:, 1] = scale[:, 0]  # compare the mean with the greatest value
        apart = np.abs(one - other) / scale
    apart[np.isnan(apart)] = np.inf
    apart[(one == other) | (np.isnan(one) & np.isnan(other))] = 0.0
    return apart.max(axis=1)
