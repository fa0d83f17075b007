"""Copies containers, functions and files in memory, part by part."""

from __future__ import annotations

import io
import itertools
import types
import weakref
from contextlib import suppress
from typing import Any

from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.introspection.quiet import hidden_warnings
from ipytorchseed.sandbox.copying import ATOMIC, Copies, ObjectCopier

_OF_SCHEDULER = "_wrapped_by_lr_sched"
"""What tells the function that a scheduler puts in the place of its optimizer's ``step``."""


def _list(copier: ObjectCopier, value: list[Any]) -> list[Any]:
    made: list[Any] = []
    copier.keep(value, made)
    for index, item in enumerate(value):
        made.append(copier.named(f"[{index}]", item))
    return made


def _tuple(copier: ObjectCopier, value: tuple[Any, ...]) -> Any:
    items = [copier.named(f"[{index}]", item) for index, item in enumerate(value)]
    known = copier.known(value)
    if known is not None:  # it holds itself, by way of a list
        return known
    same = all(one is other for one, other in zip(items, value, strict=True))
    return value if same else tuple(items)


def _dict(copier: ObjectCopier, value: dict[Any, Any]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    copier.keep(value, made)
    copier.fill(made, list(value.items()))
    return made


def _set(copier: ObjectCopier, value: set[Any]) -> set[Any]:
    return {copier.named("{…}", item) for item in value}


def _frozenset(copier: ObjectCopier, value: frozenset[Any]) -> frozenset[Any]:
    items = [(item, copier.named("{…}", item)) for item in value]
    same = all(one is other for one, other in items)
    return value if same else frozenset(other for _, other in items)


def _function(copier: ObjectCopier, value: types.FunctionType) -> types.FunctionType:
    """Copy a function that keeps something from call to call; others are shared."""
    if is_installed_file(value.__code__.co_filename) and not hasattr(value, _OF_SCHEDULER):
        return value
    defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    if not (value.__closure__ or vars(value) or any(map(_changes, defaults))):
        return value
    cells = None if value.__closure__ is None else tuple(map(copier.copy, value.__closure__))
    made = types.FunctionType(value.__code__, value.__globals__, value.__name__, None, cells)
    copier.keep(value, made)
    made.__defaults__ = copier.copy(value.__defaults__)
    made.__kwdefaults__ = copier.copy(value.__kwdefaults__)
    made.__qualname__, made.__module__ = value.__qualname__, value.__module__
    made.__doc__, made.__annotations__ = value.__doc__, value.__annotations__
    vars(made).update(copier.state(vars(value)))
    return made


def _cell(copier: ObjectCopier, value: types.CellType) -> types.CellType:
    made = types.CellType()
    copier.keep(value, made)
    with suppress(ValueError):  # it is empty
        made.cell_contents = copier.copy(value.cell_contents)
    return made


def _method(copier: ObjectCopier, value: types.MethodType) -> types.MethodType:
    return types.MethodType(copier.copy(value.__func__), copier.copy(value.__self__))


def _weak(copier: ObjectCopier, value: weakref.ref[Any]) -> weakref.ref[Any]:
    there = value()
    return value if there is None else weakref.ref(copier.copy(there))


def _file(_: ObjectCopier, value: Any) -> Any:
    made = type(value)(value.getvalue())
    made.seek(value.tell())
    return made


def _iterator(copier: ObjectCopier, value: Any) -> Any:
    with hidden_warnings("ipytorchseed.sandbox", DeprecationWarning):  # from Python 3.12 on
        return copier.rebuild(value, *value.__reduce_ex__(4))


def _changes(value: object) -> bool:
    return id(type(value)) not in ATOMIC and type(value) is not tuple


BUILTIN: dict[int, Copies] = {
    id(list): _list,
    id(tuple): _tuple,
    id(dict): _dict,
    id(set): _set,
    id(frozenset): _frozenset,
    id(types.FunctionType): _function,
    id(types.CellType): _cell,
    id(types.MethodType): _method,
    id(weakref.ref): _weak,
    id(io.StringIO): _file,
    id(io.BytesIO): _file,
    **{id(each): _iterator for each in vars(itertools).values() if isinstance(each, type)},
}
"""By the identity of a builtin type, how its objects are copied."""
