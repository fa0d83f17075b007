"""The numbers that code made: variables, its result, and the entries of dictionaries among them."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RESULT = "result"
"""The name of a result that is a number."""

_DEPTH = 3
_MOST = 200
"""Dictionaries within dictionaries, and entries of each, that are looked at."""


def read_numbers(values: Mapping[str, object]) -> dict[str, float]:
    """Return the numbers among values, by how one reaches each: ``acc``, ``scores['val']``.

    A number is python's or numpy's, or a tensor or array without dimensions; no truth value. No
    code of the user's is run, and nothing is drawn.

    Args:
        values: By name.
    """
    return {
        path: number for name, value in values.items() for path, number in _numbers(name, value, 0)
    }


def _numbers(path: str, value: Any, depth: int) -> Iterator[tuple[str, float]]:  # noqa: ANN401
    if type(value) is dict:
        if depth < _DEPTH and len(value) <= _MOST:
            for key, item in list(value.items()):
                if type(key) in (str, int):
                    yield from _numbers(f"{path}[{key!r}]", item, depth + 1)
    elif _is_number(value):
        with suppress(Exception):  # an integer beyond the largest float; a device that failed
            yield path, float(value.item() if hasattr(value, "item") else value)


def _is_number(value: Any) -> bool:  # noqa: ANN401
    kind = type(value)
    if kind in (int, float):
        return True
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    if hasattr(torch, "nn") and kind in (torch.Tensor, torch.nn.Parameter):
        real = not value.is_complex() and value.dtype != torch.bool
        return real and value.dim() == 0 and value.device.type != "meta"
    if not hasattr(numpy, "ndarray"):
        return False
    whole = issubclass(kind, numpy.generic) or (kind is numpy.ndarray and value.ndim == 0)
    return whole and value.dtype.kind in "iuf"
