"""Finds that the cell's own text was edited."""

from __future__ import annotations

import ast
import difflib
import re
from typing import TYPE_CHECKING

from ipytorchseed.reads.bindings import annotations_of, bound_by
from ipytorchseed.reads.draws import are_silent
from ipytorchseed.reads.parsing import nodes_in, parse_text
from ipytorchseed.why.explanation import Cause, Cleared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    rest = ast.Module([each for each in tree.body if each not in imports], [])
    text = ast.unparse(_Trim().visit(rest))
    words = {*re.findall(r"\w+", text), "*"}
    used, unknown = dict[str, str](), []
    for each in imports:
        for name in each.names:
            (bound,) = bound_by(name)
            one = ast.unparse(type(each)(**{**vars(each), "names": [name]}))
            if not are_silent([(getattr(each, "module", name.name) or ".").partition(".")[0]]):
                unknown.append(one)
            elif bound in words:
                used[bound] = used.get(bound, "") + one
    return "\n".join([text, *sorted(used.values()), *unknown])


class _Trim(ast.NodeTransformer):
    """Leaves out hints of variables, and those and the docstrings of functions."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                self.visit_FunctionDef(each)
        return node  # whose own hints may be fields

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        plain = node.simple and node.value is not None and not _runs_code([node.annotation])
        return ast.Assign([node.target], node.value, lineno=0) if plain else node  # type: ignore[arg-type]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        if node.decorator_list or _runs_code(annotations_of(node)):
            return node  # what is given it may look at them
        node.returns, node.body = None, node.body[ast.get_docstring(node) is not None :]
        for each in ast.walk(node.args):
            if isinstance(each, ast.arg):
                each.annotation = None
        return node


def _runs_code(hints: Iterable[ast.expr]) -> bool:
    return any(isinstance(each, ast.Call) for hint in hints for each in nodes_in(hint))


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
