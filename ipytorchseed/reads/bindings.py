"""Determines which names are local to a function."""

from __future__ import annotations

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def type_parameters(node: ast.AST) -> set[str]:
    """Return the type parameters of a definition, such as ``T`` in ``def f[T]``."""
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


def names_of(scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef) -> set[str]:
    """Return the names that are local to a function or to the body of a class."""
    outer, local = set[str](), type_parameters(scope)
    if not isinstance(scope, ast.ClassDef):
        arguments = ast.iter_child_nodes(scope.args)
        local |= {each.arg for each in arguments if isinstance(each, ast.arg)}
    stack: list[ast.AST] = [scope.body] if isinstance(scope, ast.Lambda) else [*scope.body]
    while stack:
        node = stack.pop()
        if type(node) is ast.Name:
            if type(node.ctx) is not ast.Load:
                local.add(node.id)
            continue
        local |= bound_by(node)
        if isinstance(node, ast.Global | ast.Nonlocal):
            outer.update(node.names)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            stack += node.decorator_list
        elif isinstance(node, ast.comprehension):  # only `:=` binds names outside a comprehension
            stack += [node.iter, *node.ifs]
        elif not isinstance(node, ast.Lambda):
            stack += ast.iter_child_nodes(node)
    return local - outer


def bound_by(node: ast.AST) -> set[str]:
    """Return the names that a node itself binds, not those that its children bind."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.alias):
        return {node.asname or node.name.partition(".")[0]}
    if isinstance(node, ast.ExceptHandler):
        return {node.name} if node.name else set()
    return captures_of(node.pattern) if isinstance(node, ast.match_case) else set()


def captures_of(pattern: ast.pattern) -> set[str]:
    """Return the names that a ``match`` pattern captures."""
    parts = [part for part in ast.walk(pattern) if isinstance(part, ast.pattern)]
    found = (getattr(part, "name", None) or getattr(part, "rest", None) for part in parts)
    return {name for name in found if isinstance(name, str)}
