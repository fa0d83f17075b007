"""Copies torch's and numpy's objects, with memory, gradients and hooks."""

from __future__ import annotations

import copy
import sys
from typing import Any

from ipytorchseed.experiment.copying import Copies, Copying, ObjectCopier
from ipytorchseed.experiment.memories import make_sure

_DEEPEST = 1000
"""Arrays of objects inside one another that are copied; numpy frees such by recursion in C."""


def of_library(kind: type) -> Copies | None:
    """Return how torch's and numpy's own types are copied."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "nn"):
        rows = (
            (torch.nn.Parameter, _parameter),
            (torch.optim.Optimizer, _optimizer),
            (torch.amp.GradScaler, _scaler),
            (torch.Generator, _generator),
            ((torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size), _same),
        )
        if kind is torch.Tensor:
            return _tensor
        for made, copies in rows:
            if issubclass(kind, made):
                return copies
    numpy: Any = sys.modules.get("numpy")
    return _array if numpy is not None and kind is numpy.ndarray else None


def _tensor(copier: ObjectCopier, value: Any) -> Copying:
    made = _leaf(copier, value)
    if value.requires_grad:
        if value.grad_fn is not None:
            copier.cut.append(copier.path())
            made = _computed(made)
        else:
            made = made.requires_grad_()
    return (yield from _finish(copier, value, made))


def _computed(leaf: Any) -> Any:
    """Make a leaf the result of an operation, which can be changed in place where a leaf cannot."""
    torch = sys.modules["torch"]
    made = leaf.requires_grad_().clone()
    plain = leaf.layout is torch.strided and not leaf.is_nested and leaf.numel()
    if not plain or made.stride() == leaf.stride():
        return made
    sizes = zip(leaf.size(), leaf.stride(), strict=True)  # a clone has no gaps between elements
    reach = 1 + sum((size - 1) * step for size, step in sizes)
    line = leaf.detach().as_strided((reach,), (1,)).requires_grad_()
    return line.clone().as_strided(leaf.size(), leaf.stride())


def _parameter(copier: ObjectCopier, value: Any) -> Copying:
    made = type(value)(_leaf(copier, value), value.requires_grad)
    return (yield from _finish(copier, value, made))


def _leaf(copier: ObjectCopier, value: Any) -> Any:
    """Copy the numbers of a tensor."""
    made = copier.memories.tensor(value)
    if made is None:  # no plain memory: sparse, quantized, on another device
        make_sure(value)
        made = value.detach().clone()
    return made


def _finish(copier: ObjectCopier, value: Any, made: Any) -> Copying:
    """Give a tensor the gradient, the hooks and the attributes of another."""
    copier.keep(value, made)
    if value.is_leaf and value.grad is not None:
        made.grad = yield ".grad", value.grad
    for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        hooks = getattr(value, name, None)
        if hooks:
            setattr(made, name, copy.copy(hooks))
    if vars(value):
        vars(made).update((yield from copier.state(vars(value))))
    return made


def _generator(_: ObjectCopier, value: Any) -> Copying:
    yield from ()
    torch = sys.modules["torch"]
    made = torch.Generator(device=value.device)
    made.set_state(value.get_state())
    return made


def _array(copier: ObjectCopier, value: Any) -> Copying:
    if value.dtype.hasobject:
        if copier.depth(type(value)) > _DEEPEST:
            return copier.share(value, "nested too deeply to copy")
        make_sure(value)
        made = value.copy(order="K")
        copier.keep(value, made)
        for index in range(made.size):
            made.flat[index] = yield "", made.flat[index]
        return made
    return copier.memories.array(value)


def _optimizer(copier: ObjectCopier, value: Any) -> Copying:
    """Copy also what its pickles leave out: hooks, and what a scheduler put around ``step``."""
    made: Any = yield from copier.rebuild(value, *value.__reduce_ex__(4))
    rest = {name: each for name, each in vars(value).items() if name not in vars(made)}
    hooks = {name: each for name, each in vars(value).items() if name.endswith("_hooks")}
    vars(made).update((yield from copier.state(rest | hooks)))
    return made


def _scaler(copier: ObjectCopier, value: Any) -> Copying:
    """Copy it as it is: in its pickles the scale of now becomes the one that it began with."""
    made = object.__new__(type(value))
    copier.keep(value, made)
    vars(made).update((yield from copier.state(vars(value))))
    return made


def _same(_: ObjectCopier, value: Any) -> Copying:
    yield from ()
    return value
