"""Expressions in a notebook's code whose order may vary, where the order counts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ipytorchseed.checking.program import Code, Program

_CALM = frozenset({
    "all", "any", "bool", "frozenset", "isinstance", "len", "max", "min", "set", "sorted", "sum",
    "collections.Counter",
})  # fmt: skip
"""Functions to which the order of what they are given makes no difference."""

_CALM_METHODS = frozenset({
    "add", "difference", "difference_update", "discard", "intersection", "intersection_update",
    "isdisjoint", "isin", "issubset", "issuperset", "remove", "symmetric_difference", "union",
    "update",
})  # fmt: skip
_LISTED = frozenset({"iter", "list", "tuple"})
"""Functions that only hand the order on."""

_SETS = frozenset({"frozenset", "set"})
_SET_METHODS = frozenset({"copy", "difference", "intersection", "symmetric_difference", "union"})
_SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)

_LISTINGS = frozenset({"glob.glob", "glob.iglob", "os.listdir"})
_LISTING_METHODS = frozenset({"glob", "iterdir", "rglob"})


def ordered_sets(program: Program, codes: Sequence[Code]) -> Iterator[tuple[Code, ast.expr]]:
    """Yield the sets in cells over which is gone in their order, each with its cell.

    Args:
        program: The notebook's code.
        codes: The cells to look in.
    """
    names: set[str] = set()
    for code in program.codes:
        for node in ast.walk(code.tree):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            if _is_set(program, node.value, names):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names.update(map(ast.unparse, targets))
    for code in codes:
        lists = _listed(program, code)
        for node in _ordered(program, code.tree):
            if _is_set(program, node, names):
                yield code, lists.get(id(node), node)


def ordered_listings(program: Program, code: Code) -> Iterator[tuple[Code, ast.expr]]:
    """Yield the calls in a cell that list folders, and whose order counts."""
    calm = {id(each) for each in _unordered(program, code.tree)}
    lists = _listed(program, code)
    for call in program.calls([code]):
        method = call.path.rpartition(".")[2]
        is_one = call.path in _LISTINGS or (
            method in _LISTING_METHODS and isinstance(call.node.func, ast.Attribute)
        )
        if is_one and id(call.node) not in calm:
            yield code, lists.get(id(call.node), call.node)


def makes_list(program: Program, node: ast.expr) -> bool:
    """Tell whether an expression is a call of ``list`` with one argument."""
    return isinstance(node, ast.Call) and program.path(node.func) == "list" and len(node.args) == 1


def _listed(program: Program, code: Code) -> dict[int, ast.expr]:
    """Return the calls of ``list``, by the identity of what they are given."""
    return {
        id(node.args[0]): node
        for node in ast.walk(code.tree)
        if isinstance(node, ast.Call) and makes_list(program, node)
    }


def _is_set(program: Program, node: ast.expr, names: set[str]) -> bool:
    """Tell whether an expression is a set, as far as the code alone tells."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ast.unparse(node) in names
    if isinstance(node, ast.BinOp) and isinstance(node.op, _SET_OPERATORS):
        return any(_is_set(program, each, names) for each in (node.left, node.right))
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in _SET_METHODS:
        return _is_set(program, node.func.value, names)
    return program.path(node.func) in _SETS


def _ordered(program: Program, tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that stand where an order counts."""
    calm = {id(each) for each in _unordered(program, tree)}
    for node in ast.walk(tree):
        found: list[ast.expr] = []
        if isinstance(node, (ast.For, ast.AsyncFor)):
            found = [node.iter]
        elif isinstance(node, (ast.ListComp, ast.DictComp, ast.GeneratorExp)):
            if id(node) not in calm:
                found = [each.iter for each in node.generators]
        elif isinstance(node, ast.Call):
            found = [*node.args, *(each.value for each in node.keywords)]
        elif isinstance(node, (ast.Starred, ast.FormattedValue)):
            found = [node.value]
        yield from (each for each in found if id(each) not in calm)


def _unordered(program: Program, tree: ast.AST) -> Iterator[ast.expr]:
    """Yield what is given to calls that heed no order, also by way of a list."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if program.path(node.func) not in _CALM and method not in _CALM_METHODS:
            continue
        within = [*node.args]
        while within:
            each = within.pop()
            yield each
            if isinstance(each, ast.Call) and program.path(each.func) in _LISTED:
                within += each.args
