"""Parses and compiles texts without showing warnings, which are shown when the code runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from ipytorchseed.introspection.quiet import hidden_warnings
from ipytorchseed.patterns import lazy_pattern

NAME = "<a cell, read>"
_KEPT = "nodes_inside"
_MAY_WARN = lazy_pattern(r"\\|[0-9](?:and|else|for|if|in|is|not|or)\b")


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


def nodes_in(node: ast.AST) -> list[ast.AST]:
    """Return a piece of code and all nodes in it, in the order of ``ast.walk``, which is slower.

    The contexts of names are left out: each name has its own as a field. What is inside a statement
    is kept with it, as several passes ask for it.
    """
    kept: list[ast.AST] | None = getattr(node, _KEPT, None)
    if kept is not None:
        return [node, *kept]
    found = children_of(node)
    for each in found:  # which grows
        if INNER[type(each)]:
            found += children_of(each)
    if isinstance(node, ast.stmt):
        setattr(node, _KEPT, found)  # without itself, so that both are gone with the tree
    return [node, *found]


def children_of(node: ast.AST) -> list[ast.AST]:
    """Return the nodes directly in one, as ``ast.iter_child_nodes``, which is slower, but contexts.

    Args:
        node: The node.
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


class Visitor:
    """Visits nodes by methods such as ``visit_Name``, as ``ast.NodeVisitor``, which is slower."""

    _visits: Mapping[type[ast.AST], Callable[[Any, Any], None]] = {}

    def __init_subclass__(cls) -> None:
        named = [(name.removeprefix("visit_"), each) for name, each in vars(cls).items()]
        cls._visits = {getattr(ast, name): each for name, each in named if hasattr(ast, name)}

    def visit(self, node: ast.AST) -> None:
        """Visit a node."""
        self._visits.get(type(node), Visitor.generic_visit)(self, node)

    def generic_visit(self, node: ast.AST) -> None:
        """Visit the nodes directly in one."""
        for each in children_of(node):
            self.visit(each)


_NO_NODES = {"arg", "attr", "ctx", "id", "kind", "module", "type_comment", "type_ignores"}
INNER = {
    kind: tuple(field for field in kind._fields if field not in _NO_NODES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
} | {ast.Constant: ()}
"""By kind of node, the fields in which there may be others."""


def names_in(node: ast.AST) -> set[str]:
    """Return the names that stand in a piece of code."""
    return {each.id for each in nodes_in(node) if isinstance(each, ast.Name)}


def dotted_name(node: ast.AST) -> str:
    """Return the text of ``torch.nn.init``; nothing for any other expression."""
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(words)]) if isinstance(node, ast.Name) else ""


def base_of(node: ast.AST) -> set[str]:
    """Return the name at which an expression begins, as ``{"a"}`` for ``a.b[c].d()``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()
