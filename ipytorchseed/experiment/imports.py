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
from ipytorchseed.rng.table import check_folder, import_lazy

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
    import_lazy({*reached.packages, *sources})
    return reached


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each imported module, and a name imported from it or ""."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name.strip("*")) for alias in node.names)


def _import(module: str) -> None:
    if module not in sys.modules:
        with suppress(Exception):  # the cell will raise it, if it reaches the statement
            check_folder(module)
            importlib.import_module(module)
