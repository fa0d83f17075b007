"""Explains why two runs of a cell gave different results: ``explain``."""

from __future__ import annotations

from collections.abc import Sequence

from ipytorchseed.introspection.quiet import uncollected
from ipytorchseed.ledger.records import Operation, Run
from ipytorchseed.why.changes import find_changes, say_same
from ipytorchseed.why.evidence import Evidence, HistoryLookup, Present, run_phrase, run_word
from ipytorchseed.why.explanation import NEXT_STEP, Cause, Cleared, Explanation
from ipytorchseed.why.finders import FINDERS, LAST_RESORT
from ipytorchseed.why.ranking import is_carried_on, ranked
from ipytorchseed.why.remedy import find_remedy, with_fixes
from ipytorchseed.why.roots import with_roots
from ipytorchseed.why.unknown import (
    find_unknown_inputs,
    say,
    say_hidden,
    say_unseen,
    unknown_outcome,
    unseen,
)

_TIMED = "holds times or addresses, and other causes account for the change"


@uncollected
def explain(  # noqa: PLR0913, PLR0917 -- all the evidence
    run: Run,
    against: Run | None,
    history: Sequence[Run],
    states: HistoryLookup,
    operations: Sequence[tuple[Run, Operation]] = (),
    present: Present | None = None,
) -> Explanation:
    """Explain why two runs of a cell gave different results.

    Args:
        run: The run in question.
        against: The earlier run, if any.
        history: The runs from ``against`` to the one before ``run``, oldest first. If ``against``
            is None: a run that ``run`` may be compared with, if any.
        states: Looks up positions of states and other runs.
        operations: Operations that gave different results in runs of the same text, each with the
            run in which this was seen.
        present: The kernel that asks. If None, no remedy is searched for.
    """
    reader = run.kernel if present is None else present.kernel
    if against is None:
        return Explanation(run, None, "first-run", _first_message(run, history, reader))
    changed = find_changes(against, run)
    evidence = Evidence(run, against, history, states, reader, changed, tuple(operations))
    causes, cleared = _find(evidence)
    if not changed:
        return _explain_same(evidence, causes, cleared)
    causes, roots, makers = with_roots(evidence, causes)
    remedy = find_remedy(evidence, causes, present)
    unknown, hidden = find_unknown_inputs(evidence), ""
    message = f"{evidence.name(run)} differs from {evidence.name(against)}"
    if causes:
        message += f"; {say(unknown)}" if unknown else ""
    elif unknown:
        message += f", but no compared input changed; {say(unknown)}"
    elif evidence.two_cells:
        message += ", which is another cell: only their text differs in the record"
    else:
        hidden = say_unseen(against, run, states.written(run).calls)
        message += f", but no recorded input changed{f'; {hidden}' if hidden else ''}{NEXT_STEP}"
    return Explanation(
        run,
        against,
        "explained" if causes else "unexplained",
        message,
        changed,
        tuple(with_fixes(causes, remedy)),
        roots,
        cleared,
        remedy,
        unknown,
        makers=makers,
        hidden=hidden,
    )


def _find(evidence: Evidence) -> tuple[list[Cause], tuple[Cleared, ...]]:
    """Run all finders; return causes by rank and cleared suspects, without duplicates.

    If no recorded difference is a cause, the causes also include suspects that were cleared without
    certainty, after all others.
    """
    causes: dict[tuple[str, str], Cause] = {}
    cleared: dict[tuple[str, str], Cleared] = {}
    certain = False
    for finder in (*FINDERS, *LAST_RESORT):
        # what a cell adds to an object is often its result
        others = not all(is_carried_on(evidence, each) for each in causes.values())
        if others and finder in LAST_RESORT:
            break
        for each in finder(evidence):
            key = each.kind, each.name
            if isinstance(each, Cause):
                causes.setdefault(key, each)
                certain |= finder in FINDERS
            elif each.alone and each.otherwise is not None and not others:
                causes.setdefault(key, each.otherwise)
            else:
                cleared.setdefault(key, each)
    timed = {("input", name) for name in {*evidence.run.timed} & {*evidence.against.timed}}
    if causes.keys() - timed:
        for key in timed & causes.keys():
            del causes[key]
            cleared[key] = Cleared(*key, _TIMED)
    doubts: list[Cause] = []
    if not (certain or evidence.two_cells):
        suspects = (each.otherwise for key, each in cleared.items() if key not in causes)
        doubts = [each for each in suspects if each is not None]
    found = [*ranked(evidence, [*causes.values()]), *ranked(evidence, doubts)]
    kept = {(each.kind, each.name) for each in found}
    return found, tuple(each for key, each in cleared.items() if key not in kept)


def _explain_same(
    evidence: Evidence, causes: Sequence[Cause], cleared: Sequence[Cleared]
) -> Explanation:
    """Return an explanation for two results that are not known to differ."""
    without_effect = [
        Cleared(cause.kind, cause.name, f"without effect: {cause.message}") for cause in causes
    ]
    told, other = (*without_effect, *cleared), evidence.name(evidence.against)
    unknown = tuple(unknown_outcome(evidence.against, evidence.run))
    if unknown:
        verdict = "unexplained"
        message = f"no difference from {other} was seen, but {say(unknown)}"
    else:
        hidden = unseen(evidence.against.writes, evidence.run.writes) if causes else []
        unknown = tuple(hidden)
        but = f"; {say_hidden(hidden)}" if hidden else ""
        verdict = "same"
        message = say_same(evidence.against.outputs, evidence.run.outputs, other) + but
    return Explanation(
        evidence.run, evidence.against, verdict, message, cleared=told, unknown=unknown
    )


def _first_message(run: Run, others: Sequence[Run], reader: str) -> str:
    """Return the message, with advice, for a run that has no earlier run to compare."""
    name, word = run_phrase(run, reader), run_word(run, reader)
    compare = f"`%why {word} --against {run_word(others[-1], reader)}`" if others else ""
    if others and others[-1].cell == run.cell:
        return f"{name} is the first run of its cell. Compare: {compare}"
    return f"{name} has run only once. Run it again{f', or compare: {compare}' if compare else ''}"
