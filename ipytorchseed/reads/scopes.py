"""Which names belong to a function, and which to its surroundings."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def arguments_of(arguments: ast.arguments) -> set[str]:
    """Return the names of a function's arguments."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return {each.arg for each in every}


def defaults_of(arguments: ast.arguments) -> list[ast.expr]:
    """Return the defaults of a function's arguments."""
    return [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]


def annotations_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """Return the annotations of a function's arguments and result."""
    own = function.args
    every = [*own.posonlyargs, *own.args, *own.kwonlyargs, own.vararg, own.kwarg]
    found = [each.annotation for each in every if each is not None]
    return [each for each in (*found, function.returns) if each is not None]


def type_parameters(node: ast.AST) -> set[str]:
    """Return the names in ``def f[T]``, ``class A[T]`` and ``type X[T]``."""
    return {each.name for each in getattr(node, "type_params", ())}


def targets_of(target: ast.expr) -> set[str]:
    """Return the names that a target sets."""
    if isinstance(target, ast.Name):
        return {target.id}
    return {
        part.id
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    }


def names_of(
    function: ast.FunctionDef | ast.AsyncFunctionDef, *, walrus: bool
) -> tuple[set[str], set[str]]:
    """Collect the names that belong to a function, and those that it declares global.

    Args:
        function: The function.
        walrus: Whether there may be ``:=`` in it: to find these takes a look at every expression.
    """
    outer: set[str] = set()
    declared: set[str] = set()
    local = arguments_of(function.args) | type_parameters(function)
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Global):
            declared.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            outer.update(node.names)
        else:
            local |= _set_by(node)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            stack += _statements_of(node)
    if walrus:
        local |= _walrus_targets(function)
    return local - outer - declared, declared


def _set_by(node: ast.AST) -> set[str]:  # noqa: PLR0911 -- one for each kind
    """Return the names that a statement sets itself, apart from those in its blocks."""
    if isinstance(node, ast.Assign | ast.Delete):
        return set().union(*map(targets_of, node.targets))
    if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
        return targets_of(node.target)
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {each.asname or each.name.partition(".")[0] for each in node.names}
    if isinstance(node, ast.With | ast.AsyncWith):
        targets = [each.optional_vars for each in node.items if each.optional_vars is not None]
        return set().union(*map(targets_of, targets))
    if isinstance(node, ast.ExceptHandler):
        return {node.name} if node.name else set()
    if isinstance(node, ast.match_case):
        return captures_of(node.pattern)
    alias = getattr(node, "name", None)  # type X = ...
    return targets_of(alias) if isinstance(alias, ast.Name) else set()


def _statements_of(node: ast.AST) -> list[ast.AST]:
    """Return the statements, handlers and cases directly inside a statement."""
    found: list[ast.AST] = []
    for field in _BLOCKS:
        found += getattr(node, field, ())
    return found


_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


def captures_of(pattern: ast.pattern) -> set[str]:
    """Return the names that a pattern of ``match`` sets."""
    found = (getattr(part, "name", None) or getattr(part, "rest", None) for part in _parts(pattern))
    return {name for name in found if isinstance(name, str)}


def _parts(pattern: ast.pattern) -> Iterator[ast.AST]:
    return (part for part in ast.walk(pattern) if isinstance(part, ast.pattern))


def _walrus_targets(function: ast.AST) -> set[str]:
    """Return the names set by ``:=`` in a function, but for those inside functions in it."""
    found: set[str] = set()
    stack = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.NamedExpr):
            found.add(node.target.id)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            stack += node.decorator_list
        elif not isinstance(node, ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))
    return found
