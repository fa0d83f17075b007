"""Keys and indices of items that are constants in the code."""

from __future__ import annotations

import ast

SIZES = frozenset({"__len__", "dim", "ndim", "numel", "shape", "size"})
"""Attributes that tell nothing but a size."""


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
