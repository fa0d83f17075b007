"""A notebook's parsed code: imported names, calls, and places for new lines."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from ipytorchseed.checking.edits import Edit, Edits, Splice
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.verdict import CellVerdict
from ipytorchseed.reads.bindings import bound_by
from ipytorchseed.reads.entropy import ALIASES
from ipytorchseed.reads.magics import parse_beside_magics
from ipytorchseed.reads.parsing import dotted_name
from ipytorchseed.why.explanation import Cause

# Code whose body may run more than once.
_REPEATING = (
    ast.For, ast.While, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda,
)  # fmt: skip


# Calls that we insert and that do not return None.
_RETURN = ("torch.manual_seed(",)


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

    def shares_line(self, node: ast.stmt) -> bool:
        """Return whether another statement follows on a statement's last line."""
        rest = self.cell.source[self.end(node) : self.line_end(node)]
        return rest.lstrip().startswith(";") and rest.strip(" \t;") != ""


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
        self.codes = [Code(cell, parse_beside_magics(cell.source)) for cell in notebook.runnable]
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
        """Return the full dotted name of a name or attribute; empty for anything else."""
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


# The cause of a difference that nothing recorded explains.
UNRECORDED = Cause("", "", "fresh kernels give different output, and no cause was recorded")


class FixTarget(Struct, frozen=True):
    """A cell where a difference starts, and one cause of it.

    Attributes:
        program: The notebook's code.
        found: The verdict on the cell.
        cause: The cause; ``UNRECORDED`` if nothing recorded explains the difference.
        seed: The seed to use in edits.
        own_file: Returns the path, relative to the notebook's folder, of a file that the notebook
            created since it first ran; an empty string for any other file.
        cells: The verdicts on all cells.
    """

    program: Program
    found: CellVerdict
    cause: Cause
    seed: int
    own_file: Callable[[str], str] = lambda _: ""
    cells: Sequence[CellVerdict] = ()

    @property
    def code(self) -> Code:
        """The code of the cell."""
        return self.program.of(self.found.cell)

    @property
    def writers(self) -> list[Code]:
        """The code of the cells up to this one that wrote the file that is the cause."""
        names = {each.cell.index for each in self.cells if self.cause.name in each.wrote}
        return [each for each in self.until if each.cell.index in names]

    @property
    def before(self) -> list[Code]:
        """The code of the cells before this one."""
        return [each for each in self.program.codes if each.cell.index < self.found.cell.index]

    @property
    def until(self) -> list[Code]:
        """The code of the cells up to this one."""
        return [*self.before, self.code]


def insert_after_import(target: FixTarget, call: str, kind: str, why: str) -> Edits:
    """Insert a call after the imports of its library, or after the first imports.

    Args:
        target: The target. The call is inserted in the target's cell or an earlier one.
        call: The call, with the function's full dotted name.
        kind: The kind of the edit.
        why: What the edit does.

    Returns:
        One edit; none if nothing is imported before.
    """
    imports = [
        (code, place, libraries)
        for code in target.until
        for place, statement in enumerate(code.tree.body)
        if (libraries := _libraries(statement))
    ]
    own = [each for each in imports if call.partition(".")[0] in each[2]]
    return tuple(
        _insert(target.program, code, _last_import(code, place), call, kind, why)
        for code, place, _ in (own or imports)[:1]
    )


def insert_at_top(target: FixTarget, code: Code, call: str, kind: str, why: str) -> Edits:
    """Insert a call after the import of its library, or at the start of a cell.

    The call is before the cell's other imports, because those modules may draw, too.

    Args:
        target: A target in the notebook.
        code: The code of the cell.
        call: The call, with the function's full dotted name.
        kind: The kind of the edit.
        why: What the edit does.

    Returns:
        One edit; none if the cell is not Python.
    """
    library = call.partition(".")[0]
    last = next((each for each in code.tree.body if library in _libraries(each)), None)
    return (_insert(target.program, code, last, call, kind, why),) if code.tree.body else ()


def spell(program: Program, code: Code, after: ast.stmt | None, call: str) -> list[str]:
    """Return the lines of a call: it uses the notebook's imports, or adds its own.

    Args:
        program: The notebook's code.
        code: The code of the cell to insert the call in.
        after: The statement in or after which to insert the call; None for the top of the cell.
        call: The call, with the function's full dotted name.
    """
    known: dict[str, str] = {}
    for each in program.codes:
        for statement in each.tree.body:
            later = each is code and (after is None or statement.lineno > after.lineno)
            if each.cell.index > code.cell.index or later:
                break
            known.update(pair for node in _imports(statement) for pair in imported(node))
    for name, path in known.items():
        if name not in program.bound and call.startswith((f"{path}.", f"{path}(")):
            return [f"{name}{call[len(path) :]}"]
    library = call.partition(".")[0]
    if library in program.bound or program.names.get(library, library) != library:
        return [f"import {library} as _{library}", f"_{call}"]
    return [f"import {library}", call]


def _insert(  # noqa: PLR0913, PLR0917 -- an edit, and its place
    program: Program, code: Code, last: ast.stmt | None, call: str, kind: str, why: str
) -> Edit:
    """Insert a call after a statement of a cell, or at the start of the cell."""
    lines = spell(program, code, last, call)
    if last is None:
        end, text = code.start(code.tree.body[0]), "".join(f"{line}\n" for line in lines)
    elif code.shares_line(last):
        end, text = code.end(last), "".join(f"; {line}" for line in lines)
    else:
        end, text = code.line_end(last), "".join(f"\n{line}" for line in lines)
    if last is code.tree.body[-1] and call.startswith(_RETURN):
        text += ";"  # else the cell would show what it returns
    return Edit(code.cell, kind, why, (Splice(end, end, text),))


def _imports(statement: ast.stmt) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports that run with a statement, without those in function bodies."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    return [each for each in ast.walk(statement) if isinstance(each, (ast.Import, ast.ImportFrom))]


def _libraries(statement: ast.stmt) -> set[str]:
    """Return the libraries that a statement imports from."""
    paths = (path for node in _imports(statement) for _, path in imported(node))
    return {path.partition(".")[0] for path in paths}


def _last_import(code: Code, place: int) -> ast.stmt:
    """Return the last import of a block of imports, which may contain magics."""
    last = code.tree.body[place]
    for statement in code.tree.body[place:]:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            last = statement
        elif not isinstance(statement, ast.Pass) and statement is not last:
            break
    return last
