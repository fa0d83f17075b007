"""What the code of a cell or of a function does with names, from its syntax tree."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ipytorchseed.reads import blocks, calling
from ipytorchseed.reads.flow import Flow
from ipytorchseed.reads.functions import function_flow, lambda_flow
from ipytorchseed.reads.guess import Body
from ipytorchseed.reads.scope import Scope, State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ipytorchseed.reads.scope import Reader

__all__ = ["blocks", "calling", "follow", "follow_function"]  # the two register their evaluators


def follow_function(node: ast.AST, free: Iterable[str], reader: Reader) -> Flow:
    """Follow what a function does when it is called.

    Args:
        node: The function, lambda or generator expression.
        free: Names that it takes from the functions around it.
        reader: What reads the texts inside.
    """
    around = Scope({*free}, State({*free}, {}), reader)
    if isinstance(node, ast.Lambda):
        around.run(Body(lambda_flow(around, node)))
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        around.run(Body(function_flow(around, node)))
    elif isinstance(node, ast.GeneratorExp):  # whose first iterator it was given when it was made
        first, *others = node.generators
        nothing = ast.Tuple([], ast.Load())
        given = ast.comprehension(first.target, nothing, first.ifs, first.is_async)
        around.spend(around.visit(ast.GeneratorExp(node.elt, [given, *others])))
    return around.flow


def follow(tree: ast.Module, reader: Reader) -> Flow:
    """Follow the code of a cell.

    Args:
        tree: The cell, parsed.
        reader: What reads the texts inside.
    """
    walker = Scope(set(), State(set(), {}), reader)
    walker.block(tree.body)
    walker.settle()
    flow = walker.flow
    flow.sure = {name for name in walker.known if name in flow.writes}
    for name, guess in walker.bound.items():
        if guess.bodies:
            flow.defined[name] = merged = Flow()
            walker_of_bodies = Scope(set(), State(set(), {}), reader)
            walker_of_bodies.run_all(guess.bodies)
            merged.add(walker_of_bodies.flow)
    return flow
