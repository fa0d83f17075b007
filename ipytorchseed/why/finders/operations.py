"""Finds nondeterministic operations that ``--check`` or torch's alert reported."""

from __future__ import annotations

from collections.abc import Iterator

from ipytorchseed.ledger.records import Operation, Run
from ipytorchseed.why.evidence import Evidence, is_strict
from ipytorchseed.why.explanation import Blame, Cause, Cleared

# The remedy for an operation that is deterministic under the flags.
MENDS = "put %%deterministic on top of the cell"


def find_operations(evidence: Evidence, others: bool) -> Iterator[Cause | Cleared]:  # noqa: FBT001
    """Find nondeterministic operations that were reported in this cell.

    Args:
        evidence: The evidence.
        others: Whether another cause was found. Operations from alerts are then left out, since
            an alert only warns. Those that a check caught are not.
    """
    causes: dict[str, Cause] = {}
    cleared: dict[str, Cleared] = {}
    strict = all(map(is_strict, (evidence.run, evidence.against)))
    for run, seen in evidence.operations:
        name = seen.operation
        if name in causes:
            continue
        if strict and (seen.mends or seen.how == "alert"):
            cleared[name] = Cleared("operation", name, "repeats under deterministic flags")
        elif others and seen.how == "alert":
            cleared[name] = Cleared("operation", name, "other causes account for the change")
        else:
            causes[name] = _cause(evidence, run, seen)
    yield from causes.values()
    yield from (each for each in cleared.values() if each.name not in causes)


def _cause(evidence: Evidence, run: Run, seen: Operation) -> Cause:
    where = "" if seen.line is None else f" on line {seen.line}"
    if seen.backward and seen.line is not None:
        where = f", in the backward pass of line {seen.line},"
    if seen.how == "check":
        message = (
            f"{seen.operation}{where} does not repeat: %%deterministic --check caught it in"
            f" {evidence.name(run)}"
        )
    else:
        message = (
            f"{seen.operation}{where} has no deterministic algorithm, as torch said in"
            f" {evidence.name(run)}"
        )
    how = "does not repeat" if seen.how == "check" else "may not repeat"
    return Cause(
        kind="operation",
        name=seen.operation,
        message=message,
        proof=seen.code,
        fix=MENDS if seen.mends else "",
        blame=(Blame(run, how),),
    )
