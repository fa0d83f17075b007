"""Detects cells that show memory addresses, which differ in every run."""

from __future__ import annotations

import ast
from functools import lru_cache

from ipytorchseed.reads.entropy import ADDRESS
from ipytorchseed.reads.magics import parse_without_magics
from ipytorchseed.reads.parsing import nodes_in


@lru_cache(maxsize=64)
def shows_addresses(source: str) -> bool:
    """Return whether a cell prints or displays the result of ``id``.

    Args:
        source: The cell's text. Only direct uses are found, such as ``print(id(x))``.
    """
    if f"{ADDRESS}(" not in source:
        return False
    shown = (each for each in nodes_in(parse_without_magics(source)) if isinstance(each, ast.Expr))
    return any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == ADDRESS
        for expression in shown
        for each in nodes_in(expression)
    )
