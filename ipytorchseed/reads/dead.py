"""Conditions that are answered alike in every notebook: what they forbid is never run."""

from __future__ import annotations

import ast

_ANSWERS = {"TYPE_CHECKING": False, "__debug__": __debug__}


def constant_answer(node: ast.expr) -> bool | None:
    """Tell whether a condition is always true, or always false; None where it hangs on more.

    ``__name__`` is ``"__main__"`` in a notebook.

    Args:
        node: The condition.
    """
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.Name):
        return _ANSWERS.get(node.id)
    if isinstance(node, ast.Attribute):
        return _ANSWERS.get(node.attr)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = [_as_name(node.left), _as_name(node.comparators[0])]
        if sorted(sides) == ["__main__", "__name__"]:
            return {ast.Eq: True, ast.NotEq: False}.get(type(node.ops[0]))
    return None


def _as_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
