"""Keys and indices of items that are constants in the code."""

from __future__ import annotations

import ast
from collections.abc import Iterable

SIZES = frozenset({"__len__", "dim", "ndim", "numel", "shape", "size"})
"""Attributes that tell nothing but a size."""

PUTS = frozenset({"add", "append", "appendleft", "extend"})
"""Methods of lists and sets that only put something in, and look at nothing of what is there."""

EACH = frozenset({"buffers", "parameters"})
"""Methods of models of which one may ask how large each tensor is: ``parameters.numel``."""


def over_sizes(node: ast.comprehension, others: Iterable[ast.AST]) -> ast.expr:
    """Return what a comprehension goes over: ``net.parameters.numel`` where it asks only sizes.

    Args:
        node: Its ``for``.
        others: The rest of it.
    """
    over, each = node.iter, node.target
    if not (isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute)):
        return over
    if over.args or over.keywords or over.func.attr not in EACH or not isinstance(each, ast.Name):
        return over
    inside = [part for other in (*node.ifs, *others) for part in ast.walk(other)]
    uses = sum(isinstance(part, ast.Name) and part.id == each.id for part in inside)
    sizes = sum(
        isinstance(part, ast.Attribute)
        and part.attr in SIZES | {"requires_grad"}
        and isinstance(part.value, ast.Name)
        and part.value.id == each.id
        for part in inside
    )
    return ast.Attribute(over.func, "numel", ast.Load()) if uses == sizes else over


def constant_keys(node: ast.expr, *, places: bool = False) -> list[str]:
    """Return the texts in ``["a"]`` and ``[["a", "b"]]``; none for anything else.

    Args:
        node: What stands in the brackets.
        places: Whether integers count too, as the texts ``[0]`` and ``[-1]``, and what is made of
            them: ``[:8]``, ``[:,0]``.
    """
    place = _place(node) if places else ""
    if place.strip(":,"):  # else it is all
        return [f"[{place}]"]
    parts = node.elts if isinstance(node, ast.List) else [node]
    keys = [each.value for each in parts if isinstance(each, ast.Constant)]
    return [key for key in keys if isinstance(key, str)] if len(keys) == len(parts) else []


def _place(node: ast.expr) -> str:
    """Write an index or a slice of constants, or several; nothing for anything else."""
    if isinstance(node, ast.Tuple):
        each = [_place(part) for part in node.elts]
        return ",".join(each) if len(each) > 1 and all(each) else ""
    if not isinstance(node, ast.Slice):
        return _integer(node)
    ends = [node.lower, node.upper, *([node.step] if node.step else [])]
    text = ":".join("" if end is None else _integer(end) or "?" for end in ends)
    return "" if "?" in text else text


def _integer(node: ast.expr) -> str:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        positive = _integer(node.operand)
        return f"-{positive}" if positive else ""
    number = getattr(node, "value", None)
    return str(number) if type(number) is int else ""
