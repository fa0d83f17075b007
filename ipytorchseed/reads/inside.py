"""Which names the functions and classes of a cell may look up when they run, later."""

from __future__ import annotations

import ast
from functools import lru_cache

from ipytorchseed.reads.bindings import FUNCTIONS, set_by
from ipytorchseed.reads.parsing import base_of, nodes_in, parse_without_magics

OPAQUE = frozenset({"delattr", "eval", "exec", "globals", "input", "locals", "setattr", "vars"})
"""Functions that may heed and change anything, besides those of settings."""


SETTING = ("set_", "use_", "putenv")
"""How names of functions begin that set them."""

_SET = frozenset({"np", "numpy", "os", "pandas", "pd", "random", "sys", "torch"})
"""Modules that have settings."""

_LATER = (*FUNCTIONS, ast.ClassDef, ast.Lambda, ast.GeneratorExp)
"""What holds code that may run later."""


@lru_cache(maxsize=512)
def look_inside(source: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Find the names that a cell sets, and those that stand in its functions and classes.

    Args:
        source: The cell's text, of which lines that are magics or for the system's shell are passed
            over.

    Returns:
        None where there may be any.
    """
    tree = parse_without_magics(source)
    if tree is None:
        return None
    nodes = [each for node in tree.body for each in nodes_in(node)]
    later = [inner for each in nodes if isinstance(each, _LATER) for inner in nodes_in(each)]
    if any(map(_is_beyond, later)) or any(
        isinstance(each, ast.Name) and each.id in OPAQUE for each in nodes
    ):
        return None
    names = frozenset(each.id for each in later if isinstance(each, ast.Name))
    return frozenset(set_by(nodes)), names


def _is_beyond(node: ast.AST) -> bool:
    """Tell whether code sets something of a library's, on which whatever it does may hang."""
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        sets = isinstance(node.ctx, ast.Store)
        name = "" if sets else getattr(node, "attr", "")
        return (sets or name.startswith(SETTING)) and base_of(node) <= _SET and bool(base_of(node))
    return False
