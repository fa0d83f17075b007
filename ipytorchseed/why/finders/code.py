"""Finds that the cell's own text was edited."""

from __future__ import annotations

import ast
import difflib
import re
from typing import TYPE_CHECKING

from ipytorchseed.reads.bindings import bound_by
from ipytorchseed.reads.draws import are_silent
from ipytorchseed.reads.parsing import parse_text
from ipytorchseed.why.explanation import Cause, Cleared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ipytorchseed.why.evidence import Evidence


def find_code(case: Evidence) -> Iterator[Cause | Cleared]:
    """Compare the text of the two runs, without comments and layout."""
    run, against = case.run, case.against
    if case.two_cells:
        return
    if run.code == against.code:
        if run.source != against.source:
            yield Cleared("code", run.cell, "only comments or layout were edited")
    elif run.source and len({_without_trimmings(each.source) for each in (run, against)}) == 1:
        yield Cleared(
            "code", run.cell, "only imports, hints or docstrings were edited, without effect"
        )
    else:
        yield _cause(case)


def find_cleared_code(case: Evidence) -> Iterator[Cause]:
    """Come back to an edit of imports or hints: something may look at them."""
    if not case.two_cells and case.run.code != case.against.code:
        yield _cause(case)


def _without_trimmings(source: str) -> str:
    """Write a cell's code anew without what functions do not heed, and well-known packages do not.

    Hints and docstrings, imports that nothing in it names, and the order of the others.
    """
    tree = parse_text(source)
    if tree is None:
        return source
    imports = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    rest = [_without_hints(each, source) for each in tree.body if each not in imports]
    text = "\n".join(map(ast.unparse, rest))
    used, unknown = dict[str, str](), []
    for each in imports:
        for name in each.names:
            (bound,) = bound_by(name)
            one = ast.unparse(type(each)(**{**vars(each), "names": [name]}))
            if not are_silent([(getattr(each, "module", name.name) or ".").partition(".")[0]]):
                unknown.append(one)
            elif bound == "*" or re.search(rf"\b{bound}\b", text):
                used[bound] = used.get(bound, "") + one
    return "\n".join([text, *sorted(used.values()), *unknown])


def _without_hints(statement: ast.stmt, source: str) -> ast.stmt:
    """Take hints and docstrings from functions, and the hint from a variable.

    Fields of classes keep theirs, and functions that are not only called: decorators may look at
    them, and whoever is given the function.
    """
    if isinstance(statement, ast.AnnAssign) and statement.value and "__anno" not in source:
        return ast.Assign([statement.target], statement.value, lineno=0)
    functions = [each for each in ast.walk(statement) if isinstance(each, ast.FunctionDef)]
    for each in functions:
        if not each.decorator_list and not re.search(rf"\b{each.name}\b(?!\s*\()", source):
            each.returns, each.body = None, each.body[ast.get_docstring(each) is not None :]
            for argument in ast.walk(each.args):
                vars(argument).pop("annotation", None)
    return statement


def _cause(case: Evidence) -> Cause:
    run, against = case.run, case.against
    if case.elsewhere:  # which has no text
        message = f"the cell was edited: its text is not that of {case.name(against)}"
        return Cause("code", run.cell, message)
    lines = [
        line
        for line in difflib.unified_diff(
            against.source.splitlines(), run.source.splitlines(), lineterm="", n=0
        )
        if not line.startswith(("---", "+++", "@@"))
    ]
    changed = sum(line.startswith("+") for line in lines) or len(lines)
    noun = "line was" if changed == 1 else "lines were"
    fix = f"%recall {case.word(against)}" if case.same_kernel else ""
    message = f"the cell was edited: {changed} {noun} changed since {case.name(against)}"
    return Cause("code", run.cell, message, "\n".join(lines), fix)
