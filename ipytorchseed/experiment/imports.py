"""Imports what a cell imports before it runs, so that its sources exist and can be restored."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress

from ipytorchseed.reads.parsing import parse_cell
from ipytorchseed.rng.table import check_folder, libraries


def import_ahead(source: str, transform: Callable[[str], str]) -> None:
    """Import the modules that a cell's import statements name, in their order.

    What is imported already is left alone, and an import that fails is left to the cell.

    Args:
        source: The cell's text.
        transform: Turns a cell's text into Python, as the shell does.
    """
    tree = parse_cell(source, transform)
    for module, name in [] if tree is None else _imported(tree):
        _import(module)
        if name and module in sys.modules and not hasattr(sys.modules[module], name):
            _import(f"{module}.{name}")


def import_sources(packages: Collection[str]) -> None:
    """Import the sources of random numbers that some packages have, or those imported already.

    numpy, for one, loads ``numpy.random`` only where it is asked for.
    """
    for library in libraries():
        package = library.module.partition(".")[0]
        if package in packages or package in sys.modules:
            _import(library.module)


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield modules, and names that may be modules inside them, in the order of the text."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif node.module and not node.level and node.module != "__future__":
            yield from ((node.module, alias.name.strip("*")) for alias in node.names)


def _import(module: str) -> None:
    if module not in sys.modules:
        with suppress(Exception):  # the cell will meet it, if it comes to the statement
            check_folder(module)
            importlib.import_module(module)
