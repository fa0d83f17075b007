"""Texts parsed and compiled without a warning: those are shown when the code runs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ipytorchseed.introspection.quiet import hidden_warnings

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "<a cell, read>"
_MAY_WARN = re.compile(r"\\|[0-9](?:and|else|for|if|in|is|not|or)\b")


def parse_text(text: str) -> ast.Module | None:
    """Parse Python; None where it is none.

    Args:
        text: The text.
    """
    try:
        if not _MAY_WARN.search(text):
            return ast.parse(text, NAME)
        with hidden_warnings(NAME):
            return ast.parse(text, NAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse_cell(source: str, transform: Callable[[str], str]) -> ast.Module | None:
    """Parse a cell; None where it is no Python.

    Args:
        source: The cell's text.
        transform: Turns a cell's text into Python, as the shell does. It is asked only where the
            text is not Python as it stands, and not kept.
    """
    tree = parse_text(source)
    if tree is not None:
        return tree
    try:
        text: object = transform(source)  # a transformer of the user's may return anything
    except Exception:  # noqa: BLE001 -- a transformer of the user's may raise anything
        return None
    return parse_text(text) if isinstance(text, str) and text != source else None


def names_in(node: ast.AST) -> set[str]:
    """Return the names that stand in a piece of code."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def dotted_name(node: ast.AST) -> str:
    """Return the text of ``torch.nn.init``; nothing for any other expression."""
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(words)]) if isinstance(node, ast.Name) else ""
