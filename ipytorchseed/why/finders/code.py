"""Finds edits of the cell's own text."""

from __future__ import annotations

from collections.abc import Iterator

from ipytorchseed.why.edits import say_edit
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Cleared

_EDITED = "the cell was edited"


def find_code(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Compare the cell's text in the two runs, ignoring comments and layout."""
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
        there = evidence.name(against)
        return Cause("code", run.cell, f"{_EDITED}: its text is not that of {there}")
    edit, lines = say_edit(against.source, run.source)
    fix = f"%recall {evidence.word(against)}" if against.kernel == evidence.reader else ""
    return Cause("code", run.cell, f"{_EDITED}: {edit}", lines, fix)
