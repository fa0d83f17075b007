"""What functions of the user's do with their arguments, by their source."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from typing import Any

from ipytorchseed.introspection.anatomy import mro, own, per_object
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.introspection.values import is_class, module_of
from ipytorchseed.reads.bindings import bound_by
from ipytorchseed.reads.parsing import nodes_in
from ipytorchseed.reads.scan import Function, Uses, uses_of_parameters
from ipytorchseed.reads.source import find_source

SPREAD = "**"
"""The place of a dictionary whose items are given by name."""

_MOST, _LONGEST = 200, 10_000
"""Functions that are followed for one argument, and bytes of the code of one."""


def part_named(name: str) -> str:
    """Name a part as fingerprints do, of which ``Uses`` has the name."""
    return f"k:{name[1:].replace(']', '', 1)}" if name[:1] == "[" else f"a:{name}"


def argument_read(
    function: Any,  # noqa: ANN401
    place: int | str,
    *,
    of_frame: bool = False,
) -> set[str] | None:
    """Find which attributes and items a function or class of the user's reads of an argument.

    Args:
        function: The function, or the class that is called.
        place: The argument's place, from 0, or its name; ``SPREAD`` for a dictionary whose items
            are given by name.
        of_frame: Whether the argument is a data frame.

    Returns:
        Names as in ``Uses``. None where that cannot be told.
    """
    found: set[str] = set()
    queue: list[tuple[Any, int | str]] = [(function, place)]
    seen: set[tuple[types.CodeType, int | str]] = set()
    while queue:
        called, at = queue.pop()
        if is_class(called):
            called, at = _find_constructor(called), at + 1 if isinstance(at, int) else at
        user = user_function(called)
        if user is None or len(seen) > _MOST:
            return None
        if (user.__code__, at) in seen:
            continue
        seen.add((user.__code__, at))
        use = use_of(user, at)
        if use is None or use.above or use.of_frame > of_frame:
            return None
        found |= use.names
        queue += [(user.__globals__.get(each), where) for each, where in use.given]
    return found


def _find_constructor(made: type) -> object:
    """Return the method by which a class makes its objects; None where that is not ``__init__``."""
    found = [own(base) for base in mro(made)[:-1]]
    plain = type(made) is type and not any("__new__" in each for each in found)
    return next((each["__init__"] for each in found if plain and "__init__" in each), None)


def user_function(member: Any) -> types.FunctionType | None:  # noqa: ANN401
    """Return the user's function that runs when this is called, or looked up in an object."""
    kind = type(member)
    if kind is property:
        member = member.fget
    elif kind is functools.cached_property:
        member = member.func
    while type(member) is types.FunctionType:
        if is_local_module(module_of(member)):
            return member
        member = vars(member).get("__wrapped__")  # such as that of torch.no_grad()
    return None


def use_of(function: types.FunctionType, place: int | str) -> Uses | None:
    """Return what a function does with one argument, by its place or name; None for anything."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    if place == SPREAD:
        return _spread(code)
    name = place if isinstance(place, str) else next(iter(names[place:]), "")
    return _uses(code).get(name)


@functools.lru_cache(maxsize=16)
def use_of_own(function: Function, place: int | str) -> Uses | None:
    """Return what a function that a cell defines does with one argument; None for anything.

    Args:
        function: Its syntax.
        place: The argument's place, from 0, or its name.
    """
    given = function.args
    placed = [each.arg for each in (*given.posonlyargs, *given.args)]
    named = [each.arg for each in (*given.args, *given.kwonlyargs)]
    wanted = placed[place : place + 1] if isinstance(place, int) else {place}.intersection(named)
    inside = nodes_in(function)
    taken = {name for each in inside if each is not function for name in bound_by(each)}
    taken |= {each.arg for each in inside if isinstance(each, ast.arg)}
    try:
        uses = uses_of_parameters(function, taken) if wanted else {}
    except RecursionError:
        return None
    use = uses.get(*wanted) if wanted else None
    return None if use is None or use.above or use.of_frame else use


def _spread(code: types.CodeType) -> Uses | None:
    """Return which items of a dictionary a function uses that is given them by name."""
    uses = _uses(code)
    named = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    after = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    others = code.co_varnames[after] if code.co_flags & inspect.CO_VARKEYWORDS else ""
    if not uses or (others and uses.get(others) != Uses()):
        return None
    return Uses(frozenset(f"[{name}]" for name in named if uses.get(name) != Uses()))


def _find_uses(code: types.CodeType) -> dict[str, Uses | None]:
    """Find what a function does with each of its arguments; None where that may be anything."""
    functions = find_source(code) if len(code.co_code) <= _LONGEST else []
    function: Any = functions[0] if len(functions) == 1 else None
    if not isinstance(function, Function):
        return {}
    try:
        return uses_of_parameters(
            function, {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        )
    except RecursionError:
        return {}


_uses = per_object(_find_uses)
