"""Makes ``ctc_loss`` use the same algorithm with and without a dispatch mode."""

from __future__ import annotations

import sys
from functools import wraps
from typing import Any

from ipytorchseed.introspection.replacing import Replacements


def pass_lengths_as_numbers(replaced: Replacements) -> None:
    """Make ``torch.ctc_loss`` pass lengths on the CPU as numbers.

    Under a dispatch mode, ``ctc_loss`` passes them as tensors (aten/src/ATen/native/LossCTC.cpp).
    On a GPU, its algorithm and its mean raise an error for such tensors.

    Args:
        replaced: Registers the replaced function, to restore it later.
    """
    torch: Any = sys.modules["torch"]
    original = torch.ctc_loss

    def numbers(value: Any) -> Any:
        found = value.tolist() if isinstance(value, torch.Tensor) else value
        return [found] if value is not found and type(found) is int else found

    @wraps(original, assigned=("__name__", "__doc__"))
    def ctc_loss(log_probs: Any, targets: Any, *args: Any, **given: Any) -> Any:
        lengths = [*args[:2], given.get("input_lengths"), given.get("target_lengths")]
        on_cpu = any(isinstance(each, torch.Tensor) and each.is_cpu for each in lengths)
        if on_cpu and not torch.compiler.is_compiling():
            args = (*map(numbers, args),)
            given = {name: numbers(each) for name, each in given.items()}
        return original(log_probs, targets, *args, **given)

    replaced.put(torch, "ctc_loss", ctc_loss)
