"""Finds calls that pass no seed to a function that takes one."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

from ipytorchseed.introspection.anatomy import find_member
from ipytorchseed.introspection.values import is_class, is_module, module_names
from ipytorchseed.reads.entropy import ENTROPY, NONDETERMINISTIC
from ipytorchseed.reads.magics import parse_without_magics

# Names that libraries give to the argument. If a function has two, the second is deprecated.
SEED_NAMES = ("random_state", "rng", "seed")


def takes_seed(kind: str, name: str) -> bool:
    """Return whether a cause may be a call to which a seed can be passed.

    Args:
        kind: The kind of the cause.
        name: The name of the cause.
    """
    is_path = "." in name and name.replace(".", "").isidentifier()  # not a program
    answers = name in NONDETERMINISTIC and ENTROPY.get(name) != 0
    return kind == "entropy" and is_path and not answers


# A call without a seed: the function as written, and the name and position of the argument.
Lacking = tuple[str, str, int]


def without_seed(source: str, namespace: Mapping[str, Any]) -> Iterator[Lacking]:
    """Yield the calls in a cell that pass no seed, without running any of its code.

    Args:
        source: The cell's text.
        namespace: The user's namespace.
    """
    for node in ast.walk(parse_without_magics(source)):
        if not isinstance(node, ast.Call) or any(isinstance(it, ast.Starred) for it in node.args):
            continue
        places = _places(*_find(node.func, namespace))
        name = next((each for each in SEED_NAMES if each in places), None)
        given = {keyword.arg for keyword in node.keywords}
        if name is not None and not given & {name, None} and places[name] >= len(node.args):
            yield ast.unparse(node.func), name, places[name]


def _find(node: ast.expr, namespace: Mapping[str, Any]) -> tuple[Any, bool]:
    """Return the value of a dotted name or None, and whether it is a bound method."""
    if isinstance(node, ast.Name):
        return namespace.get(node.id), False
    if not isinstance(node, ast.Attribute):
        return None, False
    if isinstance(node.value, ast.Call):  # a new object: ``Forest().grow()``
        kind, _ = _find(node.value.func, namespace)
        return find_member(kind, node.attr) if is_class(kind) else None, True
    owner, _ = _find(node.value, namespace)
    if is_module(owner):
        return module_names(owner).get(node.attr), False
    kind = owner if is_class(owner) else type(owner)
    return find_member(kind, node.attr), kind is not owner


def _places(function: Any, is_method: bool) -> dict[str, int]:  # noqa: ANN401, FBT001 -- any value
    """Return the positions of the parameters whose default is None.

    The result is empty for functions and classes that are not written in Python.
    """
    if is_class(function):
        function, is_method = find_member(function, "__init__"), True
    while type(function) is FunctionType and "__wrapped__" in vars(function):
        function = vars(function)["__wrapped__"]
    if type(function) is not FunctionType:
        return {}
    count, defaults = function.__code__.co_argcount, function.__defaults__ or ()
    names = function.__code__.co_varnames[count - len(defaults) : count]
    places = {name: count - at - is_method for at, name in enumerate(reversed(names), 1)}
    by_name = dict.fromkeys(function.__kwdefaults__ or {}, sys.maxsize)
    given = {**dict(zip(names, defaults, strict=True)), **(function.__kwdefaults__ or {})}
    return {name: at for name, at in (places | by_name).items() if given[name] is None}
