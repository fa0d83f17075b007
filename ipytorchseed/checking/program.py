"""A notebook's code, and edits of it, which change no other byte of the file."""

from __future__ import annotations

import ast
import difflib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from ipytorchseed.checking.notebook import MARK, VARIES, Cell, Notebook
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.bindings import bound_by
from ipytorchseed.reads.entropy import ALIASES
from ipytorchseed.reads.magics import parse_without_magics
from ipytorchseed.reads.parsing import dotted_name

# The kind of an edit that adds ``VARIES`` to the tags of its cell.
TAG = "tag"

# Lines of a cell that a diff shows around each edit.
_CONTEXT = 2

_SPACE = lazy_pattern(r"[ \t\r\n]*")
# A character as written in a JSON string.
_UNIT = lazy_pattern(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)


class Splice(NamedTuple):
    """A replacement in a text.

    Attributes:
        start: Where the replaced text begins, in characters.
        end: Where the replaced text ends; equal to ``start`` for an insertion.
        text: The new text.
    """

    start: int
    end: int
    text: str


class Edit(Struct, frozen=True):
    """An edit of one cell.

    Attributes:
        cell: The cell, without edits.
        kind: ``seed``, ``generator``, ``order``, ``operation``, ``threads``, ``file`` or ``tag``.
        why: What the edit does, in a clause.
        splices: Where the cell's text changes; none for a tag.
    """

    cell: Cell
    kind: str
    why: str
    splices: tuple[Splice, ...] = ()


# Edits that belong together.
Edits = tuple[Edit, ...]


def edit_text(source: str, edits: Iterable[Edit]) -> str:
    """Return the text of a cell after its edits."""
    return _splice(source, [each for edit in edits for each in edit.splices])


def edit_file(text: str, edits: Sequence[Edit]) -> str:
    """Return the text of a notebook's file after edits.

    Args:
        text: The file's text, of format 4.
        edits: The edits. Insertions at one place keep their order.
    """
    whole = _members(text, _skip(text, text.startswith(MARK)))
    cells = _members(text, whole["cells"][0])
    splices: list[Splice] = []
    by_place = sorted(edits, key=lambda each: each.cell.index)
    for index, group in groupby(by_place, lambda each: each.cell.index):
        of_cell, parts = [*group], _members(text, cells[index][0])
        splices += _in_source(text, *parts["source"], of_cell)
        if any(each.kind == TAG for each in of_cell):
            splices.append(_tagged(text, parts["metadata"][0]))
    return _splice(text, splices)


def diff(name: str, source: str, edits: Sequence[Edit]) -> str:
    """Return the edits of one cell as a unified diff.

    Args:
        name: The cell's name.
        source: The cell's text.
        edits: The cell's edits.
    """
    tags = [f"tag {VARIES}"] if any(each.kind == TAG for each in edits) else []
    before, after = source.split("\n"), edit_text(source, edits).split("\n")
    made = [*difflib.unified_diff(before, after, name, name, lineterm="", n=_CONTEXT)]
    head = made or [f"--- {name}", f"+++ {name}"]
    return "\n".join([*head[:2], *(f"+{tag}" for tag in tags), *head[2:]])


def write(path: Path, before: str, after: str) -> None:
    """Replace a file's content atomically; keep its mode.

    Args:
        path: The file; a link is followed.
        before: The text that it must still have.
        after: The new text.

    Raises:
        OSError: The file cannot be written, or has changed meanwhile.
    """
    target = Path(os.path.realpath(path))
    if target.read_bytes() != before.encode():
        raise OSError(0, "another program has changed it in the meantime")
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        fresh.write_bytes(after.encode())
        shutil.copymode(target, fresh)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)


def _splice(text: str, splices: Iterable[Splice]) -> str:
    """Replace pieces of a text.

    Insertions at one place keep their order.
    """
    parts, done = [], 0
    for start, end, new in sorted(splices, key=lambda each: each[:2]):
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _members(text: str, at: int) -> dict[str | int, tuple[int, int]]:
    """Return where each value in a JSON object or array begins and ends.

    Args:
        text: The file's text.
        at: Where the object or array begins.

    Returns:
        The start and the end of each value, by key or index.
    """
    decode: Callable[[str, int], tuple[object, int]] = json.JSONDecoder().raw_decode
    found: dict[str | int, tuple[int, int]] = {}
    keyed, at = text[at] == "{", _skip(text, at + 1)
    while text[at] not in "]}":
        key: str | int = len(found)
        if keyed:
            named, at = decode(text, at)
            key, at = str(named), _skip(text, _skip(text, at) + 1)  # a colon
        _, end = decode(text, at)
        found[key] = at, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _in_source(text: str, at: int, end: int, edits: Sequence[Edit]) -> Iterator[Splice]:
    """Yield the splices of a cell's ``source``: one string, or a list of its lines."""
    newline, strings = r"\n", [(at, end)]
    if text[at] == "[":
        strings = [*_members(text, at).values()]
        newline = rf'\n",{text[at + 1 : strings[0][0]] if strings else ""}"'
    places = [
        unit.start()
        for begin, stop in strings
        for unit in _UNIT.finditer(text, begin + 1, stop - 1)
    ]
    places += [strings[-1][1] - 1] if strings else []
    for start, stop, new in (each for edit in edits for each in edit.splices):
        lines = (json.dumps(line, ensure_ascii=text.isascii())[1:-1] for line in new.split("\n"))
        yield Splice(places[start], places[stop], newline.join(lines))


def _tagged(text: str, at: int) -> Splice:
    """Return the splice of a cell's ``metadata`` that adds the tag."""
    members, word = _members(text, at), json.dumps(VARIES)
    begin, made = at, f'"tags": [{word}]'
    if "tags" in members:
        (begin, _), made = members["tags"], word
        members = _members(text, begin)
    comma = ", " if members else ""
    return Splice(begin + 1, begin + 1, f"{made}{comma}")


# Code whose body may run more than once.
_REPEATING = (
    ast.For, ast.While, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda,
)  # fmt: skip


class Call(NamedTuple):
    """A call in a notebook's code.

    Attributes:
        code: The code of the cell.
        node: The call.
        path: The full dotted name of the function: ``numpy.random.seed``.
        repeated: Whether it may run more than once.
    """

    code: Code
    node: ast.Call
    path: str
    repeated: bool

    @property
    def given(self) -> list[ast.expr]:
        """The arguments, positional ones first."""
        return [*self.node.args, *(each.value for each in self.node.keywords)]


class Code(Struct, dict=True):
    """The code of a cell.

    Attributes:
        cell: The cell.
        tree: Its syntax tree, with ``pass`` for magics; empty if the cell is not Python.
    """

    cell: Cell
    tree: ast.Module

    @cached_property
    def around(self) -> dict[ast.AST, ast.AST]:
        """The parent of each node."""
        nodes = ast.walk(self.tree)
        return {inner: node for node in nodes for inner in ast.iter_child_nodes(node)}

    def is_repeated(self, node: ast.AST) -> bool:
        """Return whether a node may run more than once."""
        outer = self.around.get(node)
        return outer is not None and (isinstance(outer, _REPEATING) or self.is_repeated(outer))

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place in the text, in characters.

        Args:
            line: The line, counted from 1.
            column: The column in bytes of UTF-8, as in ``ast``.
        """
        *above, text = self.cell.source.split("\n", line)[:line]
        start = sum(len(each) + 1 for each in above)
        return start + len(text.encode()[:column].decode(errors="ignore"))

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset at which a node begins, with its decorators."""
        above = [node, *getattr(node, "decorator_list", [])]
        first = min((each.lineno, each.col_offset) for each in above)
        return self.offset(*first) - (above[-1] is not node)  # the @ before a decorator

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset at which a node ends."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def replace(self, node: ast.expr, text: str) -> Splice:
        """Return the splice that replaces a node."""
        return Splice(self.start(node), self.end(node), text)

    def line_end(self, node: ast.stmt) -> int:
        """Return the offset at which the last line of a statement ends."""
        end = self.cell.source.find("\n", self.end(node))
        return len(self.cell.source) if end < 0 else end


class Program:
    """The code of a notebook.

    Args:
        notebook: The notebook.

    Attributes:
        codes: The code of each cell that is run, in order.
        names: The module or function of each imported name: ``numpy`` for ``np``.
        bound: Names that a cell also binds in another way, or imports from another module.
    """

    def __init__(self, notebook: Notebook) -> None:
        self.codes = [Code(cell, parse_without_magics(cell.source)) for cell in notebook.runnable]
        self.names: dict[str, str] = {}
        self.bound: set[str] = set()
        for code in self.codes:
            for node in ast.walk(code.tree):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    for name, path in imported(node):
                        if self.names.setdefault(name, path) != path:
                            self.bound.add(name)
                elif not isinstance(node, ast.alias):
                    self.bound |= bound_by(node)

    def of(self, cell: Cell) -> Code:
        """Return the code of one of the cells that the program runs."""
        return next(each for each in self.codes if each.cell.index == cell.index)

    def path(self, node: ast.expr) -> str:
        """Return the full dotted name of a name or attribute.

        It is ``.method`` for a method of any other expression, and empty for anything else.
        """
        name, dot, rest = dotted_name(node).partition(".")
        if not name:  # a method of an expression
            return f".{node.attr}" if isinstance(node, ast.Attribute) else ""
        whole = f"{self.names.get(name, name)}{dot}{rest}"
        return ALIASES.get(whole, whole)

    def calls(self, codes: Sequence[Code]) -> Iterator[Call]:
        """Yield the calls in the code of cells, in the order of the text."""
        for code in codes:
            nodes = [node for node in ast.walk(code.tree) if isinstance(node, ast.Call)]
            for node in sorted(nodes, key=code.start):
                yield Call(code, node, self.path(node.func), code.is_repeated(node))


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, with its module or function."""
    for each in node.names:
        if isinstance(node, ast.ImportFrom):
            if node.module and not node.level and each.name != "*":
                yield each.asname or each.name, f"{node.module}.{each.name}"
        elif each.asname:
            yield each.asname, each.name
        else:
            top = each.name.partition(".")[0]
            yield top, top
