"""Parses text without showing warnings, which Python shows when the code runs."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ipytorchseed.introspection.quiet import hidden_warnings
from ipytorchseed.patterns import lazy_pattern

NAME = "<a cell, read>"
_KEPT = "nodes_inside"
_MAY_WARN = lazy_pattern(r"\\|[0-9](?:and|else|for|if|in|is|not|or)\b")


def parse_text(text: str) -> ast.Module | None:
    """Parse Python code; return None if it is invalid."""
    try:
        if not _MAY_WARN.search(text):
            return ast.parse(text, NAME)
        with hidden_warnings(NAME):
            return ast.parse(text, NAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse_cell(source: str, transform: Callable[[str], str]) -> ast.Module | None:
    """Parse a cell; return None if it is invalid.

    Args:
        source: The cell's text.
        transform: Converts a cell's text to Python, as the shell does. It is only called if the
            text is not valid Python. No reference to it is kept.
    """
    tree = parse_text(source)
    if tree is not None:
        return tree
    try:
        text: object = transform(source)  # the user's transformer may return anything
    except Exception:  # noqa: BLE001 -- the user's transformer may raise anything
        return None
    return parse_text(text) if isinstance(text, str) and text != source else None


def nodes_in(node: ast.AST) -> list[ast.AST]:
    """Return a node and all nodes in it, in the order of ``ast.walk``, but faster.

    Contexts such as ``ast.Load`` are left out. For statements, the result is cached as an
    attribute, because several passes need it.
    """
    kept: list[ast.AST] | None = getattr(node, _KEPT, None)
    if kept is not None:
        return [node, *kept]
    found = children_of(node)
    for each in found:  # grows during iteration
        if INNER[type(each)]:
            found += children_of(each)
    if isinstance(node, ast.stmt):
        setattr(node, _KEPT, found)  # without `node`, to avoid a reference cycle
    return [node, *found]


def children_of(node: ast.AST) -> list[ast.AST]:
    """Return the direct children of a node, without contexts.

    This is faster than ``ast.iter_child_nodes``.
    """
    found: list[ast.AST] = []
    fields = node.__dict__
    for field in INNER[type(node)]:
        value = fields.get(field)
        if type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


_NO_NODES = {"arg", "attr", "ctx", "id", "kind", "module", "type_comment", "type_ignores"}

# The names of the fields that may contain nodes, by node class.
INNER = {
    kind: tuple(field for field in kind._fields if field not in _NO_NODES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
} | {ast.Constant: ()}


def dotted_name(node: ast.AST) -> str:
    """Return the text of a dotted name such as ``torch.nn.init``, or ""."""
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(words)]) if isinstance(node, ast.Name) else ""


def base_of(node: ast.AST) -> set[str]:
    """Return the first name of an expression: ``{"a"}`` for ``a.b[c].d()``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()
