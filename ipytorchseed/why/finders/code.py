"""Finds that the cell's own text was edited."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from ipytorchseed.fingerprint.functions import code_digest
from ipytorchseed.introspection.quiet import hidden_warnings
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.bindings import bound_by
from ipytorchseed.reads.draws import are_silent
from ipytorchseed.reads.parsing import NAME, parse_text
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Cleared


def find_code(case: Evidence) -> Iterator[Cause | Cleared]:
    """Compare the text of the two runs, without comments and layout."""
    run, against = case.run, case.against
    if case.two_cells:
        return
    if run.code == against.code:
        if run.source != against.source:
            yield Cleared("code", run.cell, "only comments or layout were edited")
    elif run.source and len({_without_unused_imports(each.source) for each in (run, against)}) == 1:
        reason = "only imports were edited, to the same effect"
        yield Cleared("code", run.cell, reason, _cause(case))
    elif run.source and _compiled(run.source) == _compiled(against.source) != b"":
        reason = "only local names, docstrings or the like were edited"
        yield Cleared("code", run.cell, reason, _cause(case))
    else:
        yield _cause(case)


_ASK_WORDS = lazy_pattern(
    r"\b(?:__doc__|__annotations__|annotations|docstring|doctest|get_?docs?|get_type_hints"
    r"|getsource|help|inspect|pydoc|signature|singledispatch|type_hints)\b"
)
"""Words of code that may ask for the docstrings and annotations of its functions."""


def _compiled(source: str) -> bytes:
    """Digest what a cell does as a whole; nothing where it cannot be compiled, or reads itself."""
    if _ASK_WORDS.search(source):
        return b""
    try:
        tree = _WithoutHints().visit(parse_text(source) or ast.Module([], []))
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        with hidden_warnings(NAME):
            return code_digest(compile(tree, NAME, "exec", flags)) if tree.body else b""
    except (SyntaxError, ValueError, RecursionError):
        return b""


class _WithoutHints(ast.NodeTransformer):
    """Takes annotations away: not those of a class, of which data may be made, or a decorator."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.body = [
            self.visit(each) if isinstance(each, ast.FunctionDef) else each for each in node.body
        ]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if not node.decorator_list:
            node.returns = _left_of(node.returns)
            for each in ast.walk(node.args):
                if isinstance(each, ast.arg):
                    each.annotation = _left_of(each.annotation)
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if _left_of(node.annotation) is not None or not isinstance(node.target, ast.Name):
            return node
        made = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
        return ast.copy_location(made, node)


def _left_of(hint: ast.expr | None) -> ast.expr | None:
    """Return an annotation that does more than to name types."""
    runs = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    return hint if hint and any(isinstance(each, runs) for each in ast.walk(hint)) else None


def _without_unused_imports(source: str) -> str:
    """Write a cell's code anew without imports of well-known packages that nothing in it names.

    The others of such come in one order.
    """
    tree = parse_text(source)
    if tree is None:
        return source
    imports = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    rest = ast.unparse(ast.Module([each for each in tree.body if each not in imports], []))
    words = {*re.findall(r"\w+", rest), "*"}
    used, unknown = dict[str, str](), []
    for each in imports:
        for name in each.names:
            (bound,) = bound_by(name)
            one = ast.unparse(type(each)(**{**vars(each), "names": [name]}))
            if not are_silent([(getattr(each, "module", name.name) or ".").partition(".")[0]]):
                unknown.append(one)
            elif bound in words:
                used[bound] = used.get(bound, "") + one
    return "\n".join([rest, *sorted(used.values()), *unknown])


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
    fix = f"%recall {case.word(against)}" if against.kernel == case.reader else ""
    message = f"the cell was edited: {changed} {noun} changed since {case.name(against)}"
    return Cause("code", run.cell, message, "\n".join(lines), fix)
