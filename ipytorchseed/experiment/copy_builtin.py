"""Copies containers, functions and files in memory, part by part."""

from __future__ import annotations

import io
import itertools
import types
import weakref
from contextlib import suppress
from typing import Any

from ipytorchseed.experiment.copying import ATOMIC, Copies, Copying, ObjectCopier
from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.introspection.quiet import hidden_warnings

_OF_SCHEDULER = "_wrapped_by_lr_sched"
"""What tells the function that a scheduler puts in the place of its optimizer's ``step``."""


def _list(copier: ObjectCopier, value: list[Any]) -> Copying:
    made: list[Any] = []
    copier.keep(value, made)
    return (yield from copier.parts(value, "[{}]", made))


def _tuple(copier: ObjectCopier, value: tuple[Any, ...]) -> Copying:
    items = yield from copier.parts(value, "[{}]")
    known = copier.known(value)
    if known is not None:  # it holds itself, by way of a list
        return known
    same = all(one is other for one, other in zip(items, value, strict=True))
    return value if same else tuple(items)


def _dict(copier: ObjectCopier, value: dict[Any, Any]) -> Copying:
    made: dict[Any, Any] = {}
    copier.keep(value, made)
    return (yield from copier.fill(made, [*value.items()]))


def _set(copier: ObjectCopier, value: set[Any]) -> Copying:
    return {*(yield from copier.parts([*value], "{{…}}"))}


def _frozenset(copier: ObjectCopier, value: frozenset[Any]) -> Copying:
    items = yield from copier.parts(value, "{{…}}")
    same = all(one is other for one, other in zip(items, value, strict=True))
    return value if same else frozenset(items)


def _function(copier: ObjectCopier, value: types.FunctionType) -> Copying:
    """Copy a function that keeps something from call to call; others are shared."""
    if is_installed_file(value.__code__.co_filename) and not hasattr(value, _OF_SCHEDULER):
        return value
    defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    if not (value.__closure__ or vars(value) or any(map(_changes, defaults))):
        return value
    cells = tuple((yield from copier.parts(value.__closure__ or ()))) or None
    made = types.FunctionType(value.__code__, value.__globals__, value.__name__, None, cells)
    copier.keep(value, made)
    made.__defaults__ = yield "", value.__defaults__
    made.__kwdefaults__ = yield "", value.__kwdefaults__
    made.__qualname__, made.__module__ = value.__qualname__, value.__module__
    made.__doc__, made.__annotations__ = value.__doc__, value.__annotations__
    vars(made).update((yield from copier.state(vars(value))))
    return made


def _cell(copier: ObjectCopier, value: types.CellType) -> Copying:
    made = types.CellType()
    copier.keep(value, made)
    with suppress(ValueError):  # it is empty
        made.cell_contents = yield "", value.cell_contents
    return made


def _method(copier: ObjectCopier, value: types.MethodType) -> Copying:
    return types.MethodType(*(yield from copier.parts((value.__func__, value.__self__))))


def _weak(_: ObjectCopier, value: weakref.ref[Any]) -> Copying:
    there = value()
    return value if there is None else weakref.ref((yield "", there))


def _file(_: ObjectCopier, value: Any) -> Copying:
    yield from ()
    made = type(value)(value.getvalue())
    made.seek(value.tell())
    return made


def _iterator(copier: ObjectCopier, value: Any) -> Copying:
    with hidden_warnings("ipytorchseed.experiment", DeprecationWarning):  # from Python 3.12 on
        reduced = value.__reduce_ex__(4)
    return (yield from copier.rebuild(value, *reduced))


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
