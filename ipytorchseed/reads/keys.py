"""Keys and indices of items that are constants in the code."""

from __future__ import annotations

import ast

_SLICED = 8  # items that a slice may name one by one


def constant_keys(node: ast.expr, *, places: bool = False) -> list[str]:
    """Return the texts in ``["a"]`` and ``[["a", "b"]]``; none for anything else.

    Args:
        node: What stands in the brackets.
        places: Whether integers count too, as the texts ``[0]`` and ``[-1]``; those of ``[1:3]``
            are ``[1]`` and ``[2]``, of a few items only.
    """
    numbers = _places(node) if places else range(0)
    if numbers:
        return [f"[{number}]" for number in numbers] if len(numbers) <= _SLICED else []
    parts = node.elts if isinstance(node, ast.List) else [node]
    keys = [each.value for each in parts if isinstance(each, ast.Constant)]
    return [key for key in keys if isinstance(key, str)] if len(keys) == len(parts) else []


def _places(node: ast.expr) -> range:
    """Return the places in a sequence that an index or a slice of constants names, or more."""
    if isinstance(node, ast.Slice):
        begin, end = (0 if each is None else _integer(each) for each in (node.lower, node.upper))
        if begin is None or end is None or node.step is not None:
            return range(0)
        return range(begin, end)
    number = _integer(node)
    return range(0) if number is None else range(number, number + 1)


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _integer(node.operand)
        return None if number is None else -number
    number = getattr(node, "value", None)
    return number if type(number) is int else None
