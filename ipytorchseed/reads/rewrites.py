"""Whether code sets items of a value before it looks at any, or only counts, as its text tells."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from operator import itemgetter
from typing import TypeGuard

from ipytorchseed.reads.inside import OPAQUE
from ipytorchseed.reads.parsing import names_in, nodes_in, parse_text


def sets_items_first(source: str, name: str) -> bool:
    """Tell whether a cell sets items, as in ``scores[k] = score``, in all of a first statement.

    That may be a loop: which items it sets, the text does not tell.

    Args:
        source: The cell's text.
        name: The name of the value.
    """
    tree = parse_text(source)
    for statement in tree.body if tree is not None else ():
        if name not in names_in(statement):
            continue
        nodes = nodes_in(statement)
        named = sum(isinstance(each, ast.Name) and each.id == name for each in nodes)
        sets = [
            ((node.end_lineno or 0, 1), each)
            for node in nodes
            if isinstance(node, ast.Assign)
            for each in node.targets
            if _is_item(each, name)
        ]
        looks = [
            ((each.lineno, 0), each)
            for each in nodes
            if _is_item(each, name) and isinstance(each.ctx, ast.Load)
        ]
        items = sorted([*sets, *looks], key=itemgetter(0))
        return len(items) == named and _sets_before([each for _, each in items])
    return False


def only_counts(texts: Iterable[str], name: str) -> bool:
    """Tell whether code does nothing with a number but to set it and add to it: ``calls += 1``.

    Args:
        texts: All that may know the name.
        name: The name.
    """
    trees = [*map(parse_text, texts)]
    nodes = [each for tree in trees for each in (() if tree is None else nodes_in(tree))]
    adds = {id(each.target) for each in nodes if isinstance(each, ast.AugAssign)}
    named = [each for each in nodes if isinstance(each, ast.Name) and each.id == name]
    hidden = any(isinstance(each, ast.Name) and each.id in OPAQUE for each in nodes)
    stored = all(isinstance(each.ctx, ast.Store) for each in named)
    return None not in trees and not hidden and stored and any(id(each) in adds for each in named)


def _is_item(node: ast.AST, name: str) -> TypeGuard[ast.Subscript]:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    )


def _sets_before(items: Iterable[ast.Subscript]) -> bool:
    """Tell whether each item that is looked at was set before."""
    known = set[str]()
    for each in items:
        key = ast.unparse(each.slice)
        if isinstance(each.ctx, ast.Store):
            known.add(key)
        elif key not in known:
            return False
    return True
