"""Edits that insert a call at a place where the notebook's names for it are known."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ipytorchseed.checking.program import Code, Edit, Edits, Program, Splice, imported


def insert_after_import(
    program: Program, codes: Sequence[Code], call: str, kind: str, why: str
) -> Edits:
    """Insert a call after the imports of its library, or after the first imports.

    Args:
        program: The notebook's code.
        codes: The code of some cells. The call is inserted into one of them.
        call: The call, with the function's full dotted name.
        kind: The kind of the edit.
        why: What the edit does.

    Returns:
        One edit; none if no earlier code imports anything.
    """
    imports = [
        (code, statement) for code in codes for statement in code.tree.body if libraries(statement)
    ]
    own = [each for each in imports if call.partition(".")[0] in libraries(each[1])]
    return tuple(
        insert(program, code, last_import(code, statement), call, kind, why)
        for code, statement in (own or imports)[:1]
    )


def insert_at_top(program: Program, code: Code, call: str, kind: str, why: str) -> Edits:
    """Insert a call after the import of its library, or at the start of a cell.

    The call is before the cell's other imports, because those modules may draw, too.

    Args:
        program: The notebook's code.
        code: The code of the cell.
        call: The call, with the function's full dotted name.
        kind: The kind of the edit.
        why: What the edit does.

    Returns:
        One edit; none if the cell is not Python.
    """
    library = call.partition(".")[0]
    last = next((each for each in code.tree.body if library in libraries(each)), None)
    return (insert(program, code, last, call, kind, why),) if code.tree.body else ()


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


def insert(  # noqa: PLR0913, PLR0917 -- an edit, and its place
    program: Program, code: Code, last: ast.stmt | None, call: str, kind: str, why: str
) -> Edit:
    """Insert a call after a statement of a cell, or at the start of the cell."""
    lines = spell(program, code, last, call)
    if last is None:
        end, text = code.start(code.tree.body[0]), "".join(f"{line}\n" for line in lines)
    else:
        end = code.line_end(last)
        rest = code.cell.source[code.end(last) : end].lstrip()
        follows = rest.startswith(";") and rest.strip(" \t;") != ""  # another statement
        end, mark = (code.end(last), "; ") if follows else (end, "\n")
        text = "".join(f"{mark}{line}" for line in lines)
    if last is code.tree.body[-1] and call.startswith("torch.manual_seed("):
        text += ";"  # else the cell would show what it returns
    return Edit(code.cell, kind, why, (Splice(end, end, text),))


def _imports(statement: ast.stmt) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports that run with a statement, without those in function bodies."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    return [each for each in ast.walk(statement) if isinstance(each, (ast.Import, ast.ImportFrom))]


def libraries(statement: ast.stmt) -> set[str]:
    """Return the libraries that a statement imports from."""
    paths = (path for node in _imports(statement) for _, path in imported(node))
    return {path.partition(".")[0] for path in paths}


def last_import(code: Code, first: ast.stmt) -> ast.stmt:
    """Return the last import of a block of imports, which may contain magics."""
    last = first
    for statement in code.tree.body[code.tree.body.index(first) :]:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            last = statement
        elif not isinstance(statement, ast.Pass) and statement is not last:
            break
    return last
