"""Functions that copy containers, functions, tensors and arrays for ``Copier``."""

from __future__ import annotations

import copy
import sys
import types
import weakref
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

from ipytorchseed.experiment.memories import make_sure
from ipytorchseed.introspection.ownership import is_installed_file

# The ids of types whose objects are immutable, so that copies share them. They are compared by id,
# because a user's metaclass may define hash and equality.
ATOMIC = frozenset(map(id, (
    type(None), type(Ellipsis), type(NotImplemented), int, float, bool, complex, str, bytes, range,
    slice, type, property, types.BuiltinFunctionType, types.CodeType, types.MappingProxyType,
    types.ModuleType,
)))  # fmt: skip

# A generator that copies one object. It yields each part of the original, with the part's step in
# the access path. It receives the copy of the part by ``send``, and returns the object's copy.
Copying = Generator[tuple[str, Any], Any, Any]

Copier = Any  # the class in ``copier.py``, which imports this file

# Starts the generator that copies an object.
Copies = Callable[[Copier, Any], Copying]

# The attribute of the function by which a scheduler replaces its optimizer's ``step``.
_OF_SCHEDULER = "_wrapped_by_lr_sched"


# --------------------------------------------------------------------------------------------------
# Python's own types, except types that `__reduce_ex__` copies equally fast


def _list(copier: Copier, value: list[Any]) -> Copying:
    made: list[Any] = []
    copier.keep(value, made)
    return (yield from copier.parts(value, made=made))


def _dict(copier: Copier, value: dict[Any, Any]) -> Copying:
    made: dict[Any, Any] = {}
    copier.keep(value, made)
    return (yield from copier.fill(made, [*value.items()]))


def _tuple(copier: Copier, value: tuple[Any, ...]) -> Copying:
    items = yield from copier.parts(value)
    known = copier.known(value)
    if known is not None:  # it contains itself, through a list
        return known
    same = all(one is other for one, other in zip(items, value, strict=True))
    return value if same else tuple(items)


def _set(copier: Copier, value: Any) -> Copying:
    return type(value)((yield from copier.parts(value, "{{…}}")))


def _function(copier: Copier, value: types.FunctionType) -> Copying:
    """Copy a function if it has a closure, attributes or mutable defaults.

    Other functions, and functions of packages, are shared.
    """
    if is_installed_file(value.__code__.co_filename) and not hasattr(value, _OF_SCHEDULER):
        return value
    defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    changing = {id(type(each)) for each in defaults} - ATOMIC - {id(tuple)}
    if not (value.__closure__ or vars(value) or changing):
        return value
    cells = tuple((yield from copier.parts(value.__closure__ or (), ""))) or None
    made = types.FunctionType(value.__code__, value.__globals__, closure=cells)
    copier.keep(value, made)
    made.__defaults__ = yield "", value.__defaults__
    made.__kwdefaults__ = yield "", value.__kwdefaults__
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__"):
        setattr(made, name, getattr(value, name))
    vars(made).update((yield from copier.state(vars(value))))
    return made


def _cell(copier: Copier, value: types.CellType) -> Copying:
    made = types.CellType()
    copier.keep(value, made)
    with suppress(ValueError):  # it is empty
        made.cell_contents = yield "", value.cell_contents
    return made


def _method(copier: Copier, value: types.MethodType) -> Copying:
    return types.MethodType(*(yield from copier.parts((value.__func__, value.__self__), "")))


def _weak(_: Copier, value: weakref.ref[Any]) -> Copying:
    there = value()
    return value if there is None else weakref.ref((yield "", there))


# The functions that copy objects of builtin types, by the ``id`` of the type.
_BUILTIN: dict[int, Copies] = {
    id(list): _list,
    id(dict): _dict,
    id(tuple): _tuple,
    id(set): _set,
    id(frozenset): _set,
    id(types.FunctionType): _function,
    id(types.CellType): _cell,
    id(types.MethodType): _method,
    id(weakref.ref): _weak,
}


# --------------------------------------------------------------------------------------------------
# Objects of torch and numpy, with memory, gradients and hooks


def copier_for(kind: type) -> Copies | None:
    """Return the function that copies objects of a class, if it is a special case."""
    if id(kind) in _BUILTIN:
        return _BUILTIN[id(kind)]
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "nn"):
        if kind is torch.Tensor or issubclass(kind, torch.nn.Parameter):
            return _tensor
        if kind is torch.Generator:
            return lambda copier, value: copier.reduced(value)
        if issubclass(kind, (torch.optim.Optimizer, torch.amp.GradScaler)):
            return _by_attributes
    numpy: Any = sys.modules.get("numpy")
    return _array if numpy is not None and kind is numpy.ndarray else None


def _tensor(copier: Copier, value: Any) -> Copying:
    made = copier.memories.tensor(value)
    if made is None:  # it has no plain memory: sparse, quantized, or on another device
        make_sure(value)
        made = value.detach().clone()
    if type(value) is not sys.modules["torch"].Tensor:
        made = type(value)(made, value.requires_grad)
    elif value.grad_fn is not None:
        copier.cut.append(copier.path())
        made = _computed(made)
    elif value.requires_grad:
        made.requires_grad_()
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


def _computed(leaf: Any) -> Any:
    """Return a non-leaf copy of a leaf tensor, so that cells can mutate it in place."""
    torch = sys.modules["torch"]
    made = leaf.requires_grad_().clone()
    plain = leaf.layout is torch.strided and not leaf.is_nested and leaf.numel()
    if not plain or made.stride() == leaf.stride():
        return made
    # A clone has no gaps between elements, so the original strides are restored.
    sizes = zip(leaf.size(), leaf.stride(), strict=True)
    reach = 1 + sum((size - 1) * step for size, step in sizes)
    line = leaf.detach().as_strided((reach,), (1,)).requires_grad_()
    return line.clone().as_strided(leaf.size(), leaf.stride())


def _array(copier: Copier, value: Any) -> Copying:
    if not value.dtype.hasobject:
        return copier.memories.array(value)
    make_sure(value)
    made = value.copy(order="K")
    copier.keep(value, made)
    for index in range(made.size):
        made.flat[index] = yield "", made.flat[index]
    return made


def _by_attributes(copier: Copier, value: Any) -> Copying:
    """Copy all attributes, including some that are not pickled, such as hooks."""
    return (yield from copier.rebuild(value, object.__new__, (type(value),), vars(value)))
