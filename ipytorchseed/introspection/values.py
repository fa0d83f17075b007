"""Fast checks of values that run no user code.

``getattr``, ``isinstance`` and ``hash`` may run code of a value's class, so they are not used.
Attributes are read with the descriptors of builtin types instead.
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

# The maximum number of items of a container, or attributes of an object, to visit.
_MANY = 64

_DICTIONARY: Any = vars(types.ModuleType)["__dict__"]
_FACTORY: Any = vars(collections.defaultdict)["default_factory"]


def identities(kinds: Iterable[type]) -> frozenset[int]:
    """Return the ``id`` of each type, for lookups that run no code of a metaclass."""
    return frozenset(map(id, kinds))


# The ``id`` of each type whose objects contain no user code.
PLAIN: frozenset[int] = identities(
    {type(None), bool, int, float, complex, str, bytes, bytearray, range, slice, object}
    | {type(NotImplemented), type(...), types.CodeType, types.FrameType, types.TracebackType}
    | {types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType}
    | {types.MethodDescriptorType, types.ClassMethodDescriptorType}
)

_SCALARS: frozenset[int] = identities({type(None), bool, int, float, complex, str, bytes})

_BEGUN: tuple[object, ...] = (
    iter([]), reversed([]), iter(()), iter(""), iter("\xff"), iter(b""), iter(bytearray()),
    iter(range(0)), iter(range(2**70)), iter({}), iter({}.values()), iter({}.items()),
    reversed({}), reversed({}.values()), reversed({}.items()), iter(set()), enumerate(()),
    zip(), map(id, ()), filter(None, ()), iter(int, 1), reversed(""),
)  # fmt: skip

# Builtin iterators whose C ``__reduce__`` returns the position without advancing the iterator.
ITERATORS = frozenset(map(type, _BEGUN))

ITERTOOLS = frozenset(kind for kind in vars(itertools).values() if type(kind) is type)

# The ``id`` of each builtin type whose parts only ``gc.get_referents`` returns.
_REFERRING = identities({types.MappingProxyType, *ITERATORS, *ITERTOOLS})

# Matches names that IPython assigns to cells and their results.
shell_name = re.compile(r"_+|_i+\d*|_\d+|_dh|_ih|_oh|In|Out|__warningregistry__").fullmatch


def is_scalar(value: object) -> bool:
    """Return whether a value is a number, a boolean, a string, bytes or None."""
    return id(type(value)) in _SCALARS


def is_module(value: object) -> bool:
    """Return whether a value is a module, including objects of subclasses."""
    return issubclass(type(value), types.ModuleType)


def module_names(module: object) -> dict[str, Any]:
    """Return the ``__dict__`` of a module, or an empty dictionary for other values."""
    return (_DICTIONARY.__get__(module) or {}) if is_module(module) else {}


def imported(module: str, name: str) -> Any:
    """Return the value of a name in a module, or None if there is none."""
    return module_names(sys.modules.get(module)).get(name)


def text(value: object) -> str:
    """Return a value that is a plain ``str``, or an empty string for any other value."""
    return value if type(value) is str else ""


def is_class(value: object) -> bool:
    """Return whether a value is a class."""
    return issubclass(type(value), type)


def is_function(value: object) -> bool:
    """Return whether a value is a function or method, written in Python, C or Cython."""
    kind = type(value)
    return id(kind) in _FUNCTIONS or (
        name_of_class(kind) in _CYTHON
        and type(own(kind).get("__qualname__")) is types.GetSetDescriptorType
    )


_FUNCTIONS = identities({types.FunctionType, types.BuiltinFunctionType, types.MethodType})
_CYTHON = frozenset({"cython_function_or_method", "fused_cython_function"})


def module_of(value: Any) -> str:
    """Return the name of the module that defines a value or its class; "" if unknown."""
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
    """Return the qualified name of a function or class, or an empty string."""
    if is_class(value):
        return name_of_class(value)
    if type(value) is types.MethodType:
        return qualified_name(value.__func__)
    if type(value) is types.BuiltinFunctionType or is_function(value):
        return text(value.__qualname__)
    return ""


def is_from_its_module(value: Any) -> bool:
    """Return whether a bound method can be found in a module or class.

    For example, ``random.shuffle`` is a method of the hidden generator that ``random`` exports.
    """
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
    """Return the first items of a container, or the first values of a dictionary.

    The factory of a ``defaultdict`` is added.
    """
    kind = type(value)
    found: Any = dict.values(value) if issubclass(kind, dict) else None
    if found is None:
        found = next((each.__iter__(value) for each in _ITERABLES if issubclass(kind, each)), ())
    try:
        first = list(itertools.islice(found, _MANY))
    except RuntimeError:  # another thread has changed the container
        return []
    is_made = issubclass(kind, collections.defaultdict)
    return [*first, _FACTORY.__get__(value)] if is_made else first


_ITERABLES = (list, tuple, set, frozenset, collections.deque)

# The ``id`` of each builtin container type.
CONTAINERS = identities({*_ITERABLES, dict, collections.OrderedDict, collections.defaultdict})


def parts(value: object) -> Iterator[Any]:
    """Yield the parts of an object: items, slots and attributes."""
    kind = type(value)
    if id(kind) in _REFERRING:
        yield from gc.get_referents(value)[:_MANY]
        return
    if kind is types.BuiltinFunctionType:
        yield value.__self__  # type: ignore[attr-defined]
        return
    yield from items(value)
    made = anatomy(kind)
    yield from [each for _, each in itertools.islice(made.slot_values(value), _MANY)]
    yield from items(made.dictionary(value) or {})
