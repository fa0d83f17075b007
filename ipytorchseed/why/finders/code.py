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
    elif run.source and len({_without_unused_imports(each.source) for each in (run, against)}) == 1:
        yield Cleared("code", run.cell, "only imports that it does not use were edited")
    else:
        yield _cause(case)


def find_cleared_code(case: Evidence) -> Iterator[Cause]:
    """Come back to an edit of imports that the cell does not use: they may run code."""
    if not case.two_cells and case.run.code != case.against.code:
        yield _cause(case)


def _without_unused_imports(source: str) -> str:
    """Write a cell's code anew without imports of well-known packages that nothing in it names."""
    tree = parse_text(source)
    if tree is None:
        return source
    imports = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    rest = ast.unparse(ast.Module([each for each in tree.body if each not in imports], []))
    words = {*re.findall(r"\w+", rest), "*"}
    for each in imports:
        roots = [getattr(each, "module", name.name) or "." for name in each.names]
        named = any(words & bound_by(name) for name in each.names)
        if named or not are_silent(root.partition(".")[0] for root in roots):
            rest += f"\n{ast.unparse(each)}"
    return rest


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
