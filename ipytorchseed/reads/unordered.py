"""Whether code asks nothing of a value that hangs on the order of its items, as its text tells."""

from __future__ import annotations

import ast

from ipytorchseed.reads.parsing import nodes_in, parse_without_magics

_IN_ANY_ORDER = frozenset({"all", "any", "len", "max", "min", "sorted"})
"""Builtins that make the same of equal items in any order, where they are given no key."""

_HOLDS = frozenset({"frozenset", "list", "set", "tuple"})
"""Builtins that hold the same items, also in an order that hangs on the one in which they came."""


def heeds_no_order(source: str, name: str) -> bool:
    """Tell whether all that a cell does with a value comes out the same in any order of its items.

    Args:
        source: The cell's text.
        name: The value's name there.
    """
    tree = parse_without_magics(source)
    if tree is None:
        return False
    nodes = [each for statement in tree.body for each in nodes_in(statement)]
    names = [each for each in nodes if isinstance(each, ast.Name)]
    if any(
        each.id in _IN_ANY_ORDER | _HOLDS and not isinstance(each.ctx, ast.Load) for each in names
    ):
        return False  # it is another function now
    known = [given for each in nodes for given in _given_in_any_order(each)]
    return all(each.id != name or any(each is given for given in known) for each in names)


def _given_in_any_order(node: ast.AST) -> list[ast.expr]:
    """Return what a node looks at without its order."""
    if isinstance(node, ast.Compare) and all(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
        return node.comparators
    given = _argument(node, _IN_ANY_ORDER)
    while given is not None and (inner := _argument(given, _HOLDS)) is not None:
        given = inner
    return [] if given is None else [given]


def _argument(node: ast.AST, functions: frozenset[str]) -> ast.expr | None:
    """Return the one argument that one of some builtins is given."""
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) != 1:
        return None
    known = isinstance(node.func, ast.Name) and node.func.id in functions
    return node.args[0] if known else None
