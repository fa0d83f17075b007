"""``explain``: two runs in, an explanation out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ipytorchseed.reads.entropy import programs_of, say_programs
from ipytorchseed.why.case import Case, States
from ipytorchseed.why.changes import find_changes, not_compared
from ipytorchseed.why.explanation import Cause, Cleared, Explanation
from ipytorchseed.why.finders import FINDERS, LAST_RESORT
from ipytorchseed.why.mend import find_mend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.ledger.records import Operation, Run


def explain(
    run: Run,
    against: Run | None,
    history: Sequence[Run],
    states: States,
    operations: Sequence[tuple[Run, Operation]] = (),
) -> Explanation:
    """Say why two runs of a cell gave different results.

    Args:
        run: The run asked about.
        against: The earlier run, or None where there is none.
        history: The runs from ``against`` to the one before ``run``, oldest first.
        states: Where recorded states stand in their streams.
        operations: Operations that were seen not to repeat in runs of the same text, each with
            the run in which it was seen.
    """
    if against is None:
        message = "this is the first recorded run of the cell: there is nothing to compare it with"
        return Explanation(run, None, "first-run", message)
    case = Case(run, against, history, states, operations=tuple(operations))
    changed = find_changes(against, run)
    case = replace(case, changed=changed)
    causes: list[Cause] = []
    cleared: list[Cleared] = []
    for finder in FINDERS:
        found, innocent = finder(case)
        causes += found
        cleared += innocent
    for last in LAST_RESORT:
        found, innocent = last(case, bool(causes))
        causes += found
        cleared += innocent
    if not changed:
        without_effect = [
            Cleared(cause.kind, cause.name, f"without effect: {cause.message}") for cause in causes
        ]
        message = f"bitwise the same result as {case.name(against)}"
        unseen = not_compared(against, run)
        if unseen:
            message = (
                f"the same result as {case.name(against)}, as far as it was looked at; not looked"
                f" at whole: {', '.join(unseen)}"
            )
        return Explanation(run, against, "same", message, cleared=(*without_effect, *cleared))
    if causes:
        count = "1 cause" if len(causes) == 1 else f"{len(causes)} causes"
        message = f"{case.name(run)} differs from {case.name(against)}: {count} found"
        return Explanation(
            run,
            against,
            "explained",
            message,
            changed,
            tuple(causes),
            tuple(cleared),
            find_mend(case, causes),
        )
    programs = programs_of(run.asks)
    what = say_programs(programs) if programs else "itself does not repeat"
    message = (
        f"{case.name(run)} differs from {case.name(against)}, and nothing that was recorded does:"
        f" the cell {what}. Next step: %%deterministic --check on top of the cell"
    )
    return Explanation(run, against, "unexplained", message, changed, (), tuple(cleared))
