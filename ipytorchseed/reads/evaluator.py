"""Computes the effects of a cell or function from its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ipytorchseed.reads import calling, statements
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.functions import function_effects, lambda_effects
from ipytorchseed.reads.scope import Reader, Scope

__all__ = ["calling", "follow", "follow_functions", "statements"]  # modules register evaluators


def follow_functions(nodes: Iterable[ast.AST], free: Iterable[str], reader: Reader) -> Effects:
    """Return the effects of calling any of several functions.

    Args:
        nodes: The functions, lambdas or generator expressions.
        free: The free variables of the functions.
        reader: Parses strings inside the code.
    """
    around = Scope({*free}, reader)
    for node in nodes:
        if isinstance(node, ast.Lambda):
            around.run_all([lambda_effects(around, node)])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            around.run_all([function_effects(around, node)])
        elif isinstance(node, ast.GeneratorExp):  # its first iterator is evaluated by the caller
            first, *others = node.generators
            nothing = ast.Tuple([], ast.Load())
            given = ast.comprehension(first.target, nothing, first.ifs, first.is_async)
            around.use(ast.GeneratorExp(node.elt, [given, *others]))
    return around.effects


def follow(tree: ast.Module, reader: Reader) -> Effects:
    """Return the effects of a cell.

    Args:
        tree: The syntax tree of the cell.
        reader: Parses strings inside the code.
    """
    scope = Scope(set(), reader)
    scope.block(tree.body)
    effects = scope.effects
    for name, value in scope.bound.items():
        if value.bodies:
            inner = Scope(set(), reader)
            inner.run_all(value.bodies)
            effects.defined[name] = inner.effects
    return effects
