"""Which attributes of an object its methods read, where these do no more with ``self``."""

from __future__ import annotations

import ast
from types import CodeType, FunctionType
from typing import Any

from ipytorchseed.introspection.anatomy import (
    PerObject,
    anatomy,
    module_of_class,
    mro,
    own,
)
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.introspection.values import is_scalar
from ipytorchseed.reads.source import find_source

_ASKED = frozenset({"__getattr__", "__getattribute__"})
"""Methods that are asked for attributes."""


def attributes_read(value: Any, name: str) -> set[str]:  # noqa: ANN401
    """Return the object's own attributes that a method or property of the user's class reads.

    Args:
        value: The object.
        name: The method's.

    Returns:
        The name itself where what it reads is not known, or where it is no method.
    """
    made = type(value)
    if not _is_users(made):
        return {name}
    held = anatomy(made).dictionary(value) or {}
    found: set[str] = set()
    seen: set[str] = set()
    waiting = {name}
    while waiting:
        each = waiting.pop()
        seen.add(each)
        entry = next((names[each] for names in map(own, mro(made)[:-1]) if each in names), None)
        function = entry.fget if type(entry) is property else entry
        if entry is None or (each in held and function is entry):
            found.add(each)
        elif type(function) is FunctionType:
            used = _used_of_self(function.__code__)
            if used is None:
                return {name}
            waiting |= used - seen
        elif not is_scalar(entry):
            return {name}
    return found


def _look_into(made: type) -> bool:
    """Tell whether a class and its bases are the user's, and look attributes up as usual."""
    users = mro(made)[:-1]
    usual = not any(name in own(base) for base in users for name in _ASKED)
    return bool(users) and usual and all(is_local_module(module_of_class(base)) for base in users)


_is_users: PerObject[type, bool] = PerObject(_look_into)


def _read_self(code: CodeType) -> frozenset[str] | None:
    """Return the attributes of its first argument that a method uses; None for more of it."""
    nodes = find_source(code)
    if len(nodes) != 1 or not isinstance(nodes[0], ast.FunctionDef) or not code.co_argcount:
        return None
    me = code.co_varnames[0]
    used: set[str] = set()
    alone = 0
    for node in ast.walk(nodes[0]):
        if isinstance(node, ast.Name):
            alone += node.id == me
            if node.id == "super":
                return None
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == me:
                alone -= 1
                used |= {node.attr} if isinstance(node.ctx, ast.Load) else set()
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            used.add(node.target.attr)
    return None if alone or any(name.startswith("__") for name in used) else frozenset(used)


_used_of_self: PerObject[CodeType, frozenset[str] | None] = PerObject(_read_self)
