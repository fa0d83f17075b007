"""Determines which called functions read a clock or the system's entropy."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ipytorchseed.introspection.anatomy import find_member, module_of_class, name_of_class
from ipytorchseed.introspection.values import (
    imported,
    is_class,
    is_function,
    is_module,
    module_names,
    module_of,
    qualified_name,
    text,
)
from ipytorchseed.reads.entropy import ALIASES, ANY, NONDETERMINISTIC, SIZED, SYSTEM_RANDOM

# The result of a lookup that fails.
MISSING: Any = object()


def nondeterministic_call(
    path: str, given: int, names: Mapping[str, Any], package: str = ""
) -> str | None:
    """Return the name of the nondeterministic function that is called, or None.

    Args:
        path: The dotted name that is called, as in ``effects.Effects.paths``.
        given: The number of arguments.
        names: The namespace in which to look up the first part of the path.
        package: The package of the calling module, for relative imports.
    """
    root, _, rest = path.partition(".") if path[:1] != ":" else (path, "", "")
    if path[:1] == ":":
        known = canonical(path.lstrip(":").replace("()", ""))
        if _asks(known, given):
            return known
        value, rest = find_imported(path[1:], package)
    else:
        value = names.get(root.removesuffix("()"), MISSING)
        if root.endswith("()") and not is_class(value):
            return None  # the result of a function is unknown
    if value is MISSING:
        return None
    return next((known for known in names_of_call(value, rest) if _asks(known, given)), None)


def _asks(known: str, given: int) -> bool:
    if known in SIZED:
        return 1 < given < ANY  # ANY: the number of arguments is unknown
    return given <= NONDETERMINISTIC.get(known, -1)


def names_of_call(value: Any, rest: str) -> list[str]:  # noqa: ANN401
    """Return possible import names of the function that is called.

    Args:
        value: The value of the first part of the dotted name.
        rest: The rest of the dotted name.
    """
    steps = rest.replace("()", "").split(".") if rest else []
    found = []
    while True:
        name = public_name(value)
        if name == SYSTEM_RANDOM:
            return [SYSTEM_RANDOM]
        if name:
            found.append(canonical(".".join([name, *steps])))
        inner = _attribute(value, steps[0]) if steps else MISSING
        if inner is MISSING:
            return found
        value = inner
        del steps[0]


def _attribute(value: Any, name: str) -> object:  # noqa: ANN401
    if is_module(value):
        return module_names(value).get(name, MISSING)
    if is_class(value):
        inner = find_member(value, name)
        return inner if is_class(inner) else MISSING
    return MISSING


def find_imported(path: str, package: str = "") -> tuple[Any, str]:
    """Find the loaded module at the beginning of a dotted name.

    Args:
        path: A dotted name, such as ``numpy.random.default_rng``.
        package: The package to which a path with leading dots is relative.

    Returns:
        The module or ``MISSING``, and the rest of the path.
    """
    if path.startswith("."):
        bare = path.lstrip(".")
        above = package.split(".")
        above = above[: len(above) - (len(path) - len(bare) - 1)]
        path = ".".join([*above, bare])
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        module = sys.modules.get(".".join(parts[:end]))
        if is_module(module):
            return module, ".".join(parts[end:])
    return MISSING, ""


def public_name(value: Any) -> str:  # noqa: ANN401
    """Return the import name of a module, function or class, or of a value's class."""
    if is_module(value):
        return text(module_names(value).get("__name__"))
    if type(value) is types.MethodType:
        return _name_of_method(value)
    if is_class(value) or is_function(value):
        owner: Any = value.__self__ if type(value) is types.BuiltinFunctionType else None
        if owner is not None and is_class(owner):  # datetime.now
            return canonical(f"{module_of_class(owner)}.{qualified_name(value)}")
        return canonical(f"{module_of(value)}.{qualified_name(value)}")
    kind = type(value)
    return canonical(f"{module_of_class(kind)}.{name_of_class(kind)}")


def _name_of_method(value: types.MethodType) -> str:
    """Return the import name of a bound method.

    For a method that a module exports as a function, such as ``random.randint``, this is the name
    of the function.
    """
    owner: Any = value.__self__
    name = qualified_name(value.__func__).rpartition(".")[2]
    kind = owner if is_class(owner) else type(owner)
    made_in = module_of_class(kind)
    for module in (made_in, "secrets"):
        if imported(module, name) is value:
            return canonical(f"{module}.{name}")
    owner_name = canonical(f"{made_in}.{name_of_class(kind)}")
    return owner_name if owner_name == SYSTEM_RANDOM else f"{owner_name}.{name}"


@lru_cache(maxsize=4096)
def canonical(name: str) -> str:
    """Return the public form of a dotted name, without private parts; see ``ALIASES``."""
    if "._" in name or name.startswith("_"):
        name = ".".join(part for part in name.split(".") if not part.startswith("_"))
    for inner, outer in ALIASES.items():
        if name.startswith(f"{inner}."):
            return f"{outer}{name[len(inner) :]}"
    return ALIASES.get(name, name)
