"""Finds which replaced functions and classes of packages some code uses.

A package's code is followed by the names that it reads, without its source and without running it.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.anatomy import module_of_class, mro, own, per_object
from ipytorchseed.introspection.ownership import is_local_module

# A module's name, and a name in it: ``relu``, or ``Linear.forward`` for an attribute of a class.
Place = tuple[str, str]

# The most functions and classes of packages that are followed.
_MAX_FOLLOWED = 1_500

# The most calls between the user's code and a function that is followed.
_MAX_DEPTH = 2

# Methods that run without being named.
_IMPLIED = frozenset(
    {"__call__", "__init__", "__new__", "__iter__", "__next__", "__len__", "__getitem__"}
    | {"__setitem__", "__enter__", "__exit__", "__getattr__", "__setattr__", "__torch_function__"}
    | {f"__{side}{name}__" for side in ("", "r", "i")
       for name in ("add", "sub", "mul", "truediv", "pow", "matmul", "floordiv", "mod")}
    | {f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "abs", "bool")}
)  # fmt: skip

_SHOW_FUNCTIONS = frozenset({"print", "repr", "str", "format", "display"})

_SHOW_METHODS = frozenset({"__repr__", "__str__", "__format__"})


class Met(Struct):
    """What the user's code uses.

    Attributes:
        classes: Classes of packages: those of objects that it reaches, and those that it names.
        functions: Functions of packages that it names.
        names: Names of attributes that it reads, and of builtins that it may call.
        looked_up: Attributes of modules that it reads: identity of the dictionary, and name.
    """

    classes: list[type] = []
    functions: list[Any] = []
    names: set[str] = set()
    looked_up: set[tuple[int, str]] = set()

    def meet(self, value: Any) -> None:  # noqa: ANN401
        """Add a value that code names, if it is a function or a class."""
        if introspection.is_class(value):
            self.classes.append(value)
        elif introspection.is_function(value):
            self.functions.append(value)


def place_in(owner: Any, name: str) -> Place | None:  # noqa: ANN401
    """Return the place of an attribute of a package's module or class, or None."""
    if introspection.is_module(owner):
        module = introspection.module_of(owner)
        return (module, name) if module in sys.modules and not is_local_module(module) else None
    if not introspection.is_class(owner) or is_local_module(module_of_class(owner)):
        return None
    made = introspection.qualified_name(owner)
    parts = module_of_class(owner).split(".")
    for last in range(1, len(parts) + 1):  # by its import name: torch.nn.Linear
        module = ".".join(parts[:last])
        if introspection.imported(module, made) is owner:
            return module, f"{made}.{name}"
    return None


def find_at(place: Place) -> Any:  # noqa: ANN401
    """Return the value at a place.

    Raises:
        KeyError: There is none.
    """
    module, name = place
    made, _, attribute = name.partition(".")
    found = introspection.module_names(sys.modules[module])[made]
    if attribute and not introspection.is_class(found):
        raise KeyError(name)
    return own(found)[attribute] if attribute else found


def place_of(name: str) -> Place | None:
    """Return the place with a dotted name in an imported module, or None."""
    parts = name.split(".")
    for last in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:last])
        if module in sys.modules:
            return module, ".".join(parts[last:])
    return None


def put_at(place: Place, value: Any) -> None:  # noqa: ANN401
    """Put a value at a place without running the user's code."""
    module, name = place
    made, _, attribute = name.partition(".")
    names = introspection.module_names(sys.modules[module])
    if attribute:
        type.__setattr__(names[made], attribute, value)
    else:
        names[made] = value


def is_replaced(place: Place) -> bool:
    """Return whether the value at a place differs from the package's original."""
    try:
        value = find_at(place)
    except KeyError:
        return False
    value = getattr(value, "__func__", value) if type(value) in _METHODS else value
    if not (introspection.is_function(value) or introspection.is_class(value)):
        return True
    packages = {each.partition(".")[0] for each in (place[0], introspection.module_of(value))}
    name = introspection.qualified_name(value)
    given = name if "." in place[1] else name.rpartition(".")[2]
    return len(packages) > 1 or place[1] != given


_METHODS = (staticmethod, classmethod)


def find_used(patched: Mapping[str, Place], met: Met, packages: Iterable[str]) -> list[str]:
    """Return which of the places that the user set code uses, also through packages.

    Args:
        patched: The places, by name.
        met: What the code uses.
        packages: Packages that it reaches.

    Returns:
        The names.
    """
    names = {*packages, "builtins"}
    places = {name: at for name, at in patched.items() if at[0].partition(".")[0] in names}
    if not places:
        return []
    follower = _Follower(met, {at[0].partition(".")[0] for at in places.values()})
    used = {name for name, at in places.items() if follower.uses(at)}
    if used != places.keys():  # not always, since it is slow
        follower.drain()
    return [name for name, at in places.items() if name in used or follower.uses(at)]


class _Follower:
    """Follows code of packages by the names that it reads.

    Args:
        met: Where to start.
        packages: The packages whose code is followed.
    """

    def __init__(self, met: Met, packages: set[str]) -> None:
        self._packages = packages
        self._names = {*met.names, *_IMPLIED}
        self._names |= set() if _SHOW_FUNCTIONS.isdisjoint(met.names) else _SHOW_METHODS
        self._depths: dict[int, tuple[type, int]] = {}
        self._codes: set[int] = set()
        self._looked_up = {*met.looked_up}
        for value in (*met.classes, *met.functions):
            self._add(value, 0)

    def drain(self) -> None:
        """Follow methods of classes until no new ones are named."""
        known = -1
        while known != len(self._codes) + len(self._depths) and known < _MAX_FOLLOWED:
            known = len(self._codes) + len(self._depths)
            for made, depth in [*self._depths.values()]:
                methods = own(made)
                for name in filter(self._names.__contains__, [*methods]):
                    self._add(methods[name], depth)

    def uses(self, place: Place) -> bool:
        """Return whether the code followed so far uses a place."""
        module, name = place
        made, _, attribute = name.partition(".")
        names = introspection.module_names(sys.modules.get(module))
        if not attribute:
            return (id(names), made) in self._looked_up
        met = id(names.get(made)) in self._depths or "." not in module  # torch.Tensor: in any code
        return met and attribute in self._names

    def _add(self, value: Any, depth: int) -> None:  # noqa: ANN401
        """Follow a function or class at this number of calls from the user's code."""
        if depth > _MAX_DEPTH or not self._is_theirs(value):
            return
        if introspection.is_class(value):
            for base in mro(value):
                self._depths.setdefault(id(base), (base, depth))
            return
        if type(value) in _METHODS:
            value = value.__func__
        if type(value) is property:
            value = value.fget
        if type(value) is types.FunctionType and id(value.__code__) not in self._codes:
            self._codes.add(id(value.__code__))
            names = names_of_code(value.__code__)
            self._names |= names if depth < _MAX_DEPTH else set()
            self._look_up(value.__globals__, names - {value.__code__.co_name}, depth)

    def _is_theirs(self, value: Any) -> bool:  # noqa: ANN401
        inner = value.fget if type(value) is property else value
        inner = value.__func__ if type(value) in _METHODS else inner
        return introspection.module_of(inner).partition(".")[0] in self._packages

    def _look_up(self, home: Mapping[str, Any], names: frozenset[str], depth: int) -> None:
        """Follow the values of names, including those of attributes of modules."""
        waiting, seen = [home], set[int]()
        while waiting:
            inside = waiting.pop()
            if inside and id(inside) not in seen:
                seen.add(id(inside))
                for name in filter(inside.__contains__, names):
                    value = inside[name]
                    self._looked_up.add((id(inside), name))
                    if introspection.is_module(value):
                        waiting.append(introspection.module_names(value))
                    elif introspection.is_class(value) or type(value) is types.FunctionType:
                        self._add(value, depth + 1)


def _names_of_code(code: types.CodeType) -> frozenset[str]:
    found = {*code.co_names}
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            found |= names_of_code(constant)
    return frozenset(found)


# Returns the names that code reads, including functions defined inside it.
names_of_code = per_object(_names_of_code)
