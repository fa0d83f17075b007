"""Imports the modules that code uses, so that their sources can be restored."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.dependencies import Dependencies
from ipytorchseed.reads.following import find_dependencies
from ipytorchseed.reads.parsing import parse_cell
from ipytorchseed.rng.table import check_folder, libraries

# Seconds for finding what code reads.
IN_DEPENDENCIES = 1.0


def find_reached(
    source: str,
    transform: Callable[[str], str],
    namespace: Mapping[str, Any],
    hidden: Collection[str],
    sources: Collection[str] = (),
) -> Dependencies:
    """Import the modules of code, and return the names that it reads and writes.

    Names that the code reaches through functions are included. Errors of imports are ignored: the
    code will raise them.

    Args:
        source: The code.
        transform: Turns a cell's text into Python, as the shell does.
        namespace: The user's namespace.
        hidden: Names in the namespace that belong to the shell.
        sources: Packages whose random sources are imported too.
    """
    tree = parse_cell(source, transform)
    for module, name in [] if tree is None else _imported(tree):
        _import(module)
        if name and module in sys.modules and not hasattr(sys.modules[module], name):
            _import(f"{module}.{name}")
    effects = effects_of_cell(source, transform)
    reached = find_dependencies(effects, namespace, hidden, seconds=IN_DEPENDENCIES)
    import_sources({*reached.packages, *sources})
    return reached


def import_sources(packages: Collection[str]) -> None:
    """Import the random sources of the given packages, and of all imported packages.

    numpy, for example, loads ``numpy.random`` only on first use.
    """
    for library in libraries():
        package = library.module.partition(".")[0]
        if package in packages or package in sys.modules:
            _import(library.module)


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield modules in import order, each with a name that may be a submodule, or ""."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif node.module and not node.level and node.module != "__future__":
            yield from ((node.module, alias.name.strip("*")) for alias in node.names)


def _import(module: str) -> None:
    if module not in sys.modules:
        with suppress(Exception):  # the cell will raise it, if it reaches the statement
            check_folder(module)
            importlib.import_module(module)
