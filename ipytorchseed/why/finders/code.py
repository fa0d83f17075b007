"""Finds edits of the cell's own text."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Cleared


def find_code(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Compare the text of the two runs, without comments and layout."""
    run, against = evidence.run, evidence.against
    if evidence.two_cells:
        return
    if run.code == against.code:
        if run.source != against.source:
            yield Cleared("code", run.cell, "only comments or layout were edited")
    else:
        yield _cause(evidence)


def _cause(evidence: Evidence) -> Cause:
    run, against = evidence.run, evidence.against
    if evidence.elsewhere:  # receipts have no text
        message = f"the cell was edited: its text is not that of {evidence.name(against)}"
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
    fix = f"%recall {evidence.word(against)}" if against.kernel == evidence.reader else ""
    message = f"the cell was edited: {changed} {noun} changed since {evidence.name(against)}"
    return Cause("code", run.cell, message, "\n".join(lines), fix)
