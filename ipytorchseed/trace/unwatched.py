"""Calls operations as torch does where no dispatch mode watches."""

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
    """Takes operations back to the way that torch goes by itself.

    ``ctc_loss`` goes another way where a mode watches (aten/src/ATen/native/LossCTC.cpp): lengths,
    which lie on the CPU, are handed on as tensors, which its algorithm and its mean refuse on a
    GPU. Else they are numbers, and for the mean a tensor beside the losses.
    """

    def __init__(self) -> None:
        self._lengths: weakref.ref[torch.Tensor] | None = None
        self._beside: dict[str, Any] = {}
        self._from: tuple[CodeType, int] | None = None

    def call_of(self, func: Any) -> Callable[..., Any]:  # an operation's overload
        """Return what calls an operation: from the frame of ``__torch_dispatch__`` itself."""
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
        """Keep lengths from zero, for the mean: it comes from the same call as the losses."""
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
    """Return where the code stands that called the operation: two frames above the method.

    A thread of torch's own, as for backward on a GPU, has none.
    """
    frame = sys._getframe(2).f_back  # noqa: SLF001 -- the documented way to it
    return None if frame is None else (frame.f_code, frame.f_lasti)
