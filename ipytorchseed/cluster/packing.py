"""Prepares the variables of a notebook for sending with ipyparallel."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from msgspec import Struct

# How the type names of functions end.
_CODE = ("function", "builtin_function_or_method", "ufunc")


class Packed(Struct):
    """Values of a namespace, by name and by how they are sent.

    Attributes:
        imports: The import paths of modules, functions and classes: ``torch.nn``, ``math:sqrt``.
        code: Functions and classes that the notebook defines, canned by ipyparallel.
        values: All other values, sent in one message so that objects they share stay shared.
        left: The reason for each value that cannot be sent.
    """

    imports: dict[str, str] = {}
    code: dict[str, Any] = {}
    values: dict[str, Any] = {}
    left: dict[str, str] = {}


def pack(namespace: Mapping[str, Any], names: Collection[str]) -> Packed:
    """Sort values by how they are sent.

    Args:
        namespace: The user's namespace. The import paths of all its values are sent.
        names: The names whose values are sent.
    """
    from ipyparallel.serialize import can, serialize_object
    from ipyparallel.serialize.canning import CannedArray, CannedBytes, CannedObject

    paths = {name: _path_of(it) for name, it in [*namespace.items()] if type(name) is str}
    packed = Packed({name: path for name, path in paths.items() if path})
    for name in names - packed.imports.keys():
        value = namespace[name]
        canned = _attempt(partial(can, value))
        sent = _attempt(partial(serialize_object, [value]))
        errors = [each for each in (canned, sent) if isinstance(each, Exception)]
        if errors:
            packed.left[name] = _why(errors[0])
        elif isinstance(canned, (CannedArray, CannedBytes)) or not isinstance(canned, CannedObject):
            packed.values[name] = value
        else:
            packed.code[name] = canned
    return packed


def import_there(imports: Mapping[str, str]) -> dict[str, Any]:
    """Import the paths that exist on this engine; return the imported values by name."""
    found = {name: _resolve(path) for name, path in imports.items()}
    return {name: value for name, value in found.items() if not isinstance(value, Exception)}


def _path_of(value: Any) -> str:
    """Return the import path of a module, function or class; empty for anything else."""
    kind = type(value)
    if issubclass(kind, ModuleType):
        return str(value.__name__)
    if not (issubclass(kind, type) or kind.__name__.endswith(_CODE)):
        return ""
    module = getattr(value, "__module__", None) or kind.__module__
    path = f"{module}:{getattr(value, '__qualname__', value.__name__)}"
    return path if module != "__main__" and _resolve(path) is value else ""


def _resolve(path: str) -> Any:  # the value, or the error
    return _attempt(partial(pkgutil.resolve_name, path))


def _attempt(make: Callable[[], Any]) -> Any:  # the result, or the error
    try:
        return make()
    except Exception as error:  # noqa: BLE001 -- pickling runs the user's code
        return error


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "ipyparallel sends no class whose methods call super()"
    return f"{type(error).__name__}: {error}".partition("\n")[0]
