"""Quick looks at values that run no code of the user's.

Nothing is asked of a value by ``getattr``, ``isinstance`` or ``hash``: a class of the user's may
answer these with its own code. What the interpreter keeps is read through its own descriptors.
"""

from __future__ import annotations

import collections
import gc
import itertools
import re
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from ipytorchseed.introspection.anatomy import anatomy, module_of_class, name_of_class, own

_MANY = 64
"""Items of a container, or attributes of an object, that are looked at."""

_DICTIONARY: Any = vars(types.ModuleType)["__dict__"]
_FACTORY: Any = vars(collections.defaultdict)["default_factory"]


def identities(kinds: Iterable[type]) -> frozenset[int]:
    """Return the identities of types, to look others up in: a metaclass may compare and hash."""
    return frozenset(map(id, kinds))


PLAIN: frozenset[int] = identities(
    {type(None), bool, int, float, complex, str, bytes, bytearray, range, slice, object}
    | {type(NotImplemented), type(...), types.CodeType, types.FrameType, types.TracebackType}
    | {types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType}
    | {types.MethodDescriptorType, types.ClassMethodDescriptorType}
)
"""Types whose objects hold no code of the user's, by identity."""

_SCALARS: frozenset[int] = identities({type(None), bool, int, float, complex, str, bytes})

_ITERATORS: frozenset[int] = identities(
    {map, filter, zip, enumerate, reversed, types.MappingProxyType}
    | {kind for kind in vars(itertools).values() if type(kind) is type}
    | {type(iter(())), type(iter([])), type(iter({})), type(iter({}.values()))}
    | {type(iter({}.items())), type(iter(set())), type(iter(print, None))}
)
"""Types of the interpreter's whose parts only the garbage collector knows, by identity."""

shell_name = re.compile(r"_+|_i+\d*|_\d+|_dh|_ih|_oh|In|Out|__warningregistry__").fullmatch
"""Matches the names under which IPython keeps cells and their results."""


def is_scalar(value: object) -> bool:
    """Return whether a value is of a scalar type: without parts, and possibly shared if equal."""
    return id(type(value)) in _SCALARS


def is_module(value: object) -> bool:
    """Return whether a value is a module, also of a subclass."""
    return issubclass(type(value), types.ModuleType)


def module_names(module: object) -> dict[str, Any]:
    """Return the dictionary of a module; an empty one for any other value."""
    return (_DICTIONARY.__get__(module) or {}) if is_module(module) else {}


def imported(module: str, name: str) -> Any:
    """Return the value of a name in a module, or None; the module is not imported for it."""
    return module_names(sys.modules.get(module)).get(name)


def text(value: object) -> str:
    """Return a value that is a plain ``str``, and "" for any other."""
    return value if type(value) is str else ""


def is_class(value: object) -> bool:
    """Return whether a value is a class."""
    return issubclass(type(value), type)


def is_function(value: object) -> bool:
    """Return whether a value is a function, one of the interpreter's or of Cython's included."""
    kind = type(value)
    return id(kind) in _FUNCTIONS or (
        name_of_class(kind) in _CYTHON
        and type(own(kind).get("__qualname__")) is types.GetSetDescriptorType
    )


_FUNCTIONS = identities({types.FunctionType, types.BuiltinFunctionType, types.MethodType})
_CYTHON = frozenset({"cython_function_or_method", "fused_cython_function"})


def module_of(value: Any) -> str:
    """Return the name of the module that a value, or its class, comes from, or ""."""
    kind = type(value)
    if issubclass(kind, types.ModuleType):
        return text(module_names(value).get("__name__"))
    if issubclass(kind, type):
        return module_of_class(value)
    if kind is types.FunctionType:
        return text(value.__globals__.get("__name__")) or text(value.__module__)
    if kind is types.MethodType:
        inner = value.__func__
        return module_of(inner) if type(inner) is types.FunctionType else ""
    if is_function(value):
        owner = value.__self__ if kind is types.BuiltinFunctionType else None
        found = text(value.__module__)
        return found or ("" if owner is None else module_of(owner))
    return module_of_class(kind)


def qualified_name(value: Any) -> str:
    """Return the name of a function or class in its module, or ""."""
    if is_class(value):
        return name_of_class(value)
    if type(value) is types.MethodType:
        return qualified_name(value.__func__)
    if type(value) is types.BuiltinFunctionType or is_function(value):
        return text(value.__qualname__)
    return ""


def is_from_its_module(value: Any) -> bool:
    """Return whether a bound method is what its module gives out, as ``random.shuffle`` is."""
    owner = value.__self__
    if is_module(owner) or is_class(owner):
        return True
    name = qualified_name(value).rpartition(".")[2]
    kind = type(owner)
    for module in {module_of(value), module_of_class(kind), "secrets"}:
        if imported(module, name) is value:
            return True
    return False


# --------------------------------------------------------------------------------------------------
# Parts


def items(value: Any) -> list[Any]:
    """Return the first items of a container; of a dictionary, its values, and what makes more."""
    kind = type(value)
    found: Any = dict.values(value) if issubclass(kind, dict) else None
    if found is None:
        found = next((each.__iter__(value) for each in _ITERABLES if issubclass(kind, each)), ())
    try:
        first = list(itertools.islice(found, _MANY))
    except RuntimeError:  # another thread is changing it
        return []
    is_made = issubclass(kind, collections.defaultdict)
    return [*first, _FACTORY.__get__(value)] if is_made else first


_ITERABLES = (list, tuple, set, frozenset, collections.deque)

CONTAINERS: frozenset[int] = identities(
    {*_ITERABLES, dict, collections.OrderedDict, collections.defaultdict}
)
"""Types of containers whose length may be asked for, by identity."""


def parts(value: object) -> Iterator[Any]:
    """Return what an object holds: its items, its slots and the values in its dictionary."""
    kind = type(value)
    if id(kind) in _ITERATORS:
        yield from gc.get_referents(value)[:_MANY]
        return
    if kind is types.BuiltinFunctionType:
        yield value.__self__  # type: ignore[attr-defined]
        return
    yield from items(value)
    made = anatomy(kind)
    yield from [each for _, each in itertools.islice(made.slot_values(value), _MANY)]
    yield from items(made.dictionary(value) or {})
