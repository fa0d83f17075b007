"""Places new lines in a notebook's code, in its own names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from msgspec import Struct

from ipytorchseed.checking.edits import Edit, Splice
from ipytorchseed.checking.program import imported

if TYPE_CHECKING:
    from collections.abc import Callable

    from ipytorchseed.checking.program import Code, Program
    from ipytorchseed.checking.verdict import CellVerdict
    from ipytorchseed.why.explanation import Cause


class Site(Struct, frozen=True):
    """A cell in which a difference begins, and one cause of it.

    Attributes:
        program: The notebook's code.
        found: What was found of the cell.
        cause: The cause; None where nothing that was recorded accounts for the difference.
        seed: The seed to give.
        own_file: Returns the path, from the notebook's folder, of a file that the notebook made
            itself since it first ran; of any other file, nothing.
    """

    program: Program
    found: CellVerdict
    cause: Cause | None
    seed: int
    own_file: Callable[[str], str]

    @property
    def code(self) -> Code:
        """The cell's code."""
        return self.program.of(self.found.cell)

    @property
    def kind(self) -> str:
        """The kind of the cause; empty where there is none."""
        return "" if self.cause is None else self.cause.kind

    @property
    def name(self) -> str:
        """The name of the cause; empty where there is none."""
        return "" if self.cause is None else self.cause.name

    @property
    def until(self) -> list[Code]:
        """The code of the cells before it, and its own."""
        return [each for each in self.program.codes if each.cell.place <= self.found.cell.place]


def after_import(site: Site, call: str, kind: str, why: str) -> tuple[Edit, ...]:
    """Put a line after the imports among which its library is, or after the first imports.

    Args:
        site: Before whose end it has to stand.
        call: A call by its dotted name.
        kind: The kind of the edit.
        why: What it does.

    Returns:
        One edit; none where nothing is imported before.
    """
    library = call.partition(".")[0]
    first = None
    for code in site.until:
        for place, statement in enumerate(code.tree.body):
            paths = [path for node in _imports(statement) for _, path in imported(node)]
            if any(path.partition(".")[0] == library for path in paths):
                return (_insert_after(site.program, code, place, call, kind, why),)
            if paths and first is None:
                first = code, place
    return () if first is None else (_insert_after(site.program, *first, call, kind, why),)


def at_top(site: Site, code: Code, call: str, kind: str, why: str) -> tuple[Edit, ...]:
    """Put a line where a cell begins, after its imports.

    Args:
        site: The notebook's.
        code: The cell.
        call: A call by its dotted name.
        kind: The kind of the edit.
        why: What it does.

    Returns:
        One edit; none where the cell is no Python.
    """
    if not code.tree.body:
        return ()
    if _imports(code.tree.body[0]):
        return (_insert_after(site.program, code, 0, call, kind, why),)
    start = code.start(code.tree.body[0])
    lines = spell(site.program, code, None, call)
    splice = Splice(start, start, "".join(f"{line}\n" for line in lines))
    return (Edit(code.cell.index, kind, why, (splice,)),)


def spell(program: Program, code: Code, after: ast.stmt | None, call: str) -> list[str]:
    """Return a call in the notebook's own names, below an import where it takes one.

    Args:
        program: The notebook's code.
        code: The cell in which it will stand.
        after: The statement in or after which it will stand; None at the cell's top.
        call: The call by its dotted name.
    """
    known: dict[str, str] = {}
    for each in program.codes:
        for statement in each.tree.body:
            later = each is code and (after is None or statement.lineno > after.lineno)
            if each.cell.place > code.cell.place or later:
                break
            known.update(pair for node in _imports(statement) for pair in imported(node))
    for name, path in known.items():
        if name not in program.bound and call.startswith((f"{path}.", f"{path}(")):
            return [f"{name}{call[len(path) :]}"]
    library = call.partition(".")[0]
    if library in program.bound or program.names.get(library, library) != library:
        return [f"import {library} as _{library}", f"_{call}"]
    return [f"import {library}", call]


def _insert_after(  # noqa: PLR0913, PLR0917 -- an edit, and where it stands
    program: Program, code: Code, place: int, call: str, kind: str, why: str
) -> Edit:
    """Put a line after the run of imports that begins at a place in a cell."""
    last = _last_import(code, place)
    lines = spell(program, code, last, call)
    if code.shares_line(last):
        end, text = code.end(last), "".join(f"; {line}" for line in lines)
    else:
        end, text = code.line_end(last), "".join(f"\n{line}" for line in lines)
    return Edit(code.cell.index, kind, why, (Splice(end, end, text),))


def _imports(statement: ast.stmt) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports that a statement runs, and not only defines."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    return [each for each in ast.walk(statement) if isinstance(each, (ast.Import, ast.ImportFrom))]


def _last_import(code: Code, place: int) -> ast.stmt:
    """Return the last statement of a run of imports, between which magics may stand."""
    last = code.tree.body[place]
    for statement in code.tree.body[place:]:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            last = statement
        elif not isinstance(statement, ast.Pass) and statement is not last:
            break
    return last
