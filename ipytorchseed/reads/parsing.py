"""Parses text without showing warnings, which Python shows when the code runs."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ipytorchseed.introspection.quiet import hidden_warnings
from ipytorchseed.patterns import lazy_pattern

NAME = "<a cell, read>"
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
