"""Finds edits of the cell, and its operations that do not repeat."""

from __future__ import annotations

from collections.abc import Iterator

from ipytorchseed.ledger.records import Operation, Run
from ipytorchseed.why.edits import say_edit
from ipytorchseed.why.evidence import Evidence, is_strict
from ipytorchseed.why.explanation import Blame, Cause, Cleared, unless_others

# The remedy for an operation that is deterministic under the flags.
MENDS = "put %%deterministic at the top of the cell"


def find_code(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Compare the cell's text in the two runs, ignoring comments and layout."""
    run, against = evidence.run, evidence.against
    if evidence.two_cells:
        return
    if run.code != against.code:
        edited = "the cell was edited"
        if evidence.elsewhere:  # receipts have no text
            message = f"{edited}: its text is not that of {evidence.name(against)}"
            yield Cause("code", run.cell, message)
        else:
            edit, lines = say_edit(against.source, run.source)
            fix = f"%recall {evidence.word(against)}" if against.kernel == evidence.reader else ""
            yield Cause("code", run.cell, f"{edited}: {edit}", lines, fix)
    elif run.source != against.source:
        yield Cleared("code", run.cell, "only comments or layout were edited")


def find_operations(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Find nondeterministic operations that were reported in this cell.

    An operation that ``--check`` caught is always a cause. An operation that torch only warned of
    is a cause only if there is no other.
    """
    strict = all(map(is_strict, evidence.both))
    for run, seen in evidence.operations:
        cause = _cause(evidence, run, seen)
        if strict and (seen.mends or seen.how == "alert"):
            yield Cleared("operation", cause.name, "repeats under deterministic flags")
        elif seen.how == "alert":
            yield unless_others(cause)
        else:
            yield cause


def _cause(evidence: Evidence, run: Run, seen: Operation) -> Cause:
    where = "" if seen.line is None else f" on line {seen.line}"
    if seen.backward and seen.line is not None:
        where = f", in the backward pass of line {seen.line},"
    said, how = "has no deterministic algorithm, as torch said in", "may not repeat"
    if seen.how == "check":
        said, how = "does not repeat: %%deterministic --check caught it in", "does not repeat"
    return Cause(
        kind="operation",
        name=seen.operation,
        message=f"{seen.operation}{where} {said} {evidence.name(run)}",
        fix=MENDS if seen.mends else "",
        blame=(Blame(run, how),),
    )
