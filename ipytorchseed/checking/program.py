"""A notebook's code, parsed: what its names stand for, what it calls, and where that stands."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ipytorchseed.reads.entropy import ALIASES
from ipytorchseed.reads.magics import CELL_MAGICS
from ipytorchseed.reads.parsing import parse_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ipytorchseed.checking.notebook import Cell, Notebook

_MAGIC = re.compile(
    r"^([ \t]*)(?:[%!?].*|[\w.,][\w., \t]*=[ \t]*[%!]\w.*|[\w.]+\?\??[ \t]*)$", re.MULTILINE
)
"""A line of the shell's, as far as the text is no Python with it."""

_CELL_MAGIC = re.compile(r"%%(\w+)")

_REPEATING = (
    ast.For, ast.While, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda,
)  # fmt: skip
"""Code whose body may run more than once."""


class Call(NamedTuple):
    """A call in a notebook's code.

    Attributes:
        code: The cell in which it stands.
        node: The call.
        path: The dotted name that is called, as one would import it: ``numpy.random.seed``.
        repeated: Whether it may run more than once.
    """

    code: Code
    node: ast.Call
    path: str
    repeated: bool


class Code(Struct, dict=True):
    """The code of a cell.

    Attributes:
        cell: The cell.
        tree: Its code; magics stand there as ``pass``. Nothing, where it is no Python.
    """

    cell: Cell
    tree: ast.Module

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.cell.source))]

    def offset(self, line: int, column: int) -> int:
        """Return a place in the text, in characters.

        Args:
            line: Counted from 1.
            column: In bytes of UTF-8, as ``ast`` counts them.
        """
        start = self._starts[line - 1]
        text = self.cell.source[start:].partition("\n")[0]
        return start + len(text.encode()[:column].decode(errors="ignore"))

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return where a node begins, with its decorators."""
        above = [node, *getattr(node, "decorator_list", [])]
        first = min((each.lineno, each.col_offset) for each in above)
        return self.offset(*first) - (above[-1] is not node)  # the sign before a decorator

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return where a node ends."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def line_end(self, node: ast.stmt) -> int:
        """Return where the line ends on which a statement ends."""
        end = self.cell.source.find("\n", self.end(node))
        return len(self.cell.source) if end < 0 else end

    def shares_line(self, node: ast.stmt) -> bool:
        """Tell whether another statement follows on the line on which one ends."""
        rest = self.cell.source[self.end(node) : self.line_end(node)]
        return rest.lstrip().startswith(";") and rest.strip(" \t;") != ""


class Program:
    """The code of a notebook.

    Args:
        notebook: The notebook.

    Attributes:
        codes: Its cells that are run, in their order.
        names: What each name that some cell imports stands for: ``np`` for ``numpy``.
        bound: Names that some cell binds to something else as well.
    """

    def __init__(self, notebook: Notebook) -> None:
        self.codes = [Code(cell, _parse(cell.source)) for cell in notebook.runnable]
        self.names: dict[str, str] = {}
        self.bound: set[str] = set()
        for code in self.codes:
            for node in ast.walk(code.tree):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    for name, path in imported(node):
                        if self.names.setdefault(name, path) != path:
                            self.bound.add(name)
                elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                    self.bound.add(node.id)
                elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    self.bound.add(node.name)

    def of(self, cell: Cell) -> Code:
        """Return the code of a cell that is run."""
        return next(each for each in self.codes if each.cell.place == cell.place)

    def after(self, code: Code) -> Code | None:
        """Return the code of the cell that runs next and is Python; None after the last."""
        return next(
            (each for each in self.codes if each.cell.place > code.cell.place and each.tree.body),
            None,
        )

    def path(self, node: ast.expr) -> str:
        """Return the dotted name of an expression, as one would import it; empty for others."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ".".join(["", *reversed(parts)]) if parts else ""  # a method of something
        whole = ".".join([self.names.get(node.id, node.id), *reversed(parts)])
        return ALIASES.get(whole, whole)

    def calls(self, codes: Sequence[Code]) -> Iterator[Call]:
        """Yield the calls in the code of cells, in the order in which they stand."""
        for code in codes:
            found = [*self._calls(code, code.tree, repeated=False)]
            yield from sorted(found, key=lambda each: code.start(each.node))

    def _calls(self, code: Code, node: ast.AST, *, repeated: bool) -> Iterator[Call]:
        repeated |= isinstance(node, _REPEATING)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                yield Call(code, child, self.path(child.func), repeated)
            yield from self._calls(code, child, repeated=repeated)


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, and what it stands for."""
    for each in node.names:
        if isinstance(node, ast.ImportFrom):
            if node.module and not node.level and each.name != "*":
                yield each.asname or each.name, f"{node.module}.{each.name}"
        elif each.asname:
            yield each.asname, each.name
        else:
            top = each.name.partition(".")[0]
            yield top, top


def _parse(source: str) -> ast.Module:
    """Parse a cell; lines keep their places."""
    tree = parse_text(source)
    if tree is None:
        head = _CELL_MAGIC.match(source.lstrip())
        if head and head[1] not in CELL_MAGICS:
            return ast.Module([], [])
        source = source.replace("%%", "##", 1) if head else source
        tree = parse_text(_MAGIC.sub(r"\1pass", source))
    return tree or ast.Module([], [])
