"""Tells whether a cell shows where objects lie in memory, which is another place each time."""

from __future__ import annotations

import ast
from functools import lru_cache

from ipytorchseed.reads.entropy import ADDRESS
from ipytorchseed.reads.magics import parse_beside_magics
from ipytorchseed.reads.parsing import nodes_in


@lru_cache(maxsize=64)
def shows_addresses(source: str) -> bool:
    """Return whether what a cell prints or shows may be the answer of ``id``.

    Args:
        source: Its text. Only an answer that it hands on at once is seen, as ``print(id(x))`` does.
    """
    if f"{ADDRESS}(" not in source:
        return False
    shown = (each for each in nodes_in(parse_beside_magics(source)) if isinstance(each, ast.Expr))
    return any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == ADDRESS
        for expression in shown
        for each in nodes_in(expression)
    )
