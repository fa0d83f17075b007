"""Calls operations as torch does without a dispatch mode."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


class Unwatched:
    """Makes operations take the path they take without a dispatch mode.

    ``ctc_loss`` takes another path under a mode (aten/src/ATen/native/LossCTC.cpp): lengths on
    the CPU are passed as tensors, which its algorithm and its mean refuse on a GPU. Otherwise
    they are numbers, and for the mean a tensor on the device of the losses.
    """

    def __init__(self) -> None:
        self._lengths: weakref.ref[torch.Tensor] | None = None
        self._beside: dict[str, Any] = {}
        self._from: tuple[CodeType, int] | None = None

    def call_of(self, func: Any) -> Callable[..., Any]:  # an operation's overload
        """Return a function that calls an operation from ``__torch_dispatch__`` itself."""
        name = func.name()
        if name == "aten::_ctc_loss.Tensor":
            return partial(self._losses, func)
        if name == "aten::_ctc_loss_backward.Tensor":
            return partial(_with_numbers, func, (3, 4))
        if name == "aten::clamp_min":
            return partial(self._lengths_of_mean, func)
        return func  # type: ignore[no-any-return]

    def _losses(self, func: Any, *args: Any, **given: Any) -> Any:
        made = _with_numbers(func, (2, 3), *args, **given)
        self._lengths = weakref.ref(args[3])
        self._beside = {"device": made[0].device, "dtype": made[0].dtype}
        self._from = _caller()
        return made

    def _lengths_of_mean(self, func: Any, lengths: Any, *args: Any, **given: Any) -> Any:
        """Move the lengths for the mean to the device of the losses."""
        known, self._lengths = self._lengths, None
        same = known is not None and known() is lengths
        if same and self._from == _caller():
            lengths = lengths.to(**self._beside)
        return func(lengths, *args, **given)


def _with_numbers(func: Any, places: Sequence[int], *args: Any, **given: Any) -> Any:
    """Call the overload of an operation that takes numbers at some places."""
    numbers = (each.tolist() if n in places else each for n, each in enumerate(args))
    return func.overloadpacket.default(*numbers, **given)


def _caller() -> tuple[CodeType, int] | None:
    """Return the code position that called the operation: two frames above.

    A thread of torch's own, as for backward on a GPU, has none.
    """
    frame = sys._getframe(2).f_back  # noqa: SLF001 -- the documented way to it
    return None if frame is None else (frame.f_code, frame.f_lasti)
