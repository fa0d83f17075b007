"""Whether code asks nothing of a value that hangs on the order of its items, or on its class."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from ipytorchseed.reads.parsing import dotted_name, nodes_in, parse_without_magics

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
    nodes = _nodes(source)
    names = [each for each in nodes if isinstance(each, ast.Name)]
    if any(
        each.id in _IN_ANY_ORDER | _HOLDS and not isinstance(each.ctx, ast.Load) for each in names
    ):
        return False  # it is another function now
    return _are_all(name, names, [given for each in nodes for given in _given_in_any_order(each)])


def takes_any_sequence(source: str, name: str, users: Collection[str]) -> bool:
    """Tell whether all that a cell does with a value does the same with a list as with a tuple.

    It goes through it, takes an item of it, or gives it to a package's code.

    Args:
        source: The cell's text.
        name: The value's name there.
        users: Names of functions and classes of the user's.
    """
    nodes = _nodes(source)
    names = [each for each in nodes if isinstance(each, ast.Name)]
    apart = {*users, *_ASKS_CLASS}
    return _are_all(name, names, [taken for each in nodes for taken in _taken(each, apart)])


_ASKS_CLASS = frozenset({
    "ascii", "display", "format", "hash", "isinstance", "print", "repr", "str", "type",
})  # fmt: skip
"""Builtins to which a list is not the same as a tuple."""


def _taken(node: ast.AST, apart: Collection[str]) -> list[ast.expr]:
    """Return what a node takes as a sequence of any class."""
    if isinstance(node, ast.For | ast.comprehension):
        return [node.iter]
    if isinstance(node, ast.Starred):
        return [node.value]
    if isinstance(node, ast.Subscript):
        return [node.value] if isinstance(node.slice, ast.Constant) else []
    if not isinstance(node, ast.Call) or dotted_name(node.func) in {"", *apart}:
        return []
    return [*node.args, *(each.value for each in node.keywords)]


def _nodes(source: str) -> list[ast.AST]:
    """Return all nodes of a cell; none where it cannot be parsed."""
    tree = parse_without_magics(source)
    return [each for node in (tree.body if tree is not None else ()) for each in nodes_in(node)]


def _are_all(name: str, names: Iterable[ast.Name], known: Collection[ast.expr]) -> bool:
    """Tell whether a name is mentioned, and that among some nodes alone."""
    mentions = [each for each in names if each.id == name]
    return bool(mentions) and all(any(each is one for one in known) for each in mentions)


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
