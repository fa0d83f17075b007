"""Finds the runs that ``%why`` compares, and collects evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec.structs import replace

from ipytorchseed.errors import LookupFailure
from ipytorchseed.ledger.records import UNDONE, Operation, Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.reads.seed_arguments import takes_seed, without_seed
from ipytorchseed.receipts.privacy import reveal
from ipytorchseed.receipts.receipt import Receipt, match
from ipytorchseed.session.present import RecordedKernel
from ipytorchseed.session.session import Session
from ipytorchseed.session.states import EitherStates, LedgerStates
from ipytorchseed.why.changes import find_changes
from ipytorchseed.why.explain import explain
from ipytorchseed.why.explanation import Cause, Explanation, Root
from ipytorchseed.why.tested import with_findings
from ipytorchseed.why.unknown import find_alike

# The number of latest runs in which to search for a run to explain.
_LOOKED_BACK = 500

# The number of runs of a cell in which to search for the same result, and for nondeterministic
# operations.
_SEEN = 20

# The number of runs in which to search for a run to compare with the first run of a cell.
_NEAR = 20

_HEAD = lazy_pattern(r"%%deterministic(?![\w?]).*\n?")

# The maximum number of calls for which to advise passing a seed.
_MOST_PASSED = 3

# The maximum number of runs between the two compared ones that are searched for causes.
_HISTORY = 250


def why(
    session: Session, run: Run, against: Run | None = None, *, tested: bool = True
) -> Explanation:
    """Explain why a run differs from an earlier one.

    Args:
        session: The session of this kernel.
        run: The run to explain.
        against: The run to compare with; None for the previous run of the same cell.
        tested: Whether to add the findings of earlier experiments about these two runs.
    """
    ledger = session.ledger
    if against is None:
        against = run_before(session, run)
    history: list[Run] = _comparable(session, run) if against is None else []
    if against is not None and against.id is not None and run.id is not None:
        numbers = ledger.run_ids_between(run.notebook, against.id, run.id - 1)
        begin = numbers[-_HISTORY] - 1 if len(numbers) > _HISTORY else against.id
        history = [against, *ledger.runs_between(run.notebook, begin, run.id - 1)]
        if against.kernel == run.kernel:  # runs in other kernels changed nothing in this one
            history = [each for each in history if each.kernel == run.kernel]
        history = [each for each in history if each.status != UNDONE]
    states, present = LedgerStates(ledger), RecordedKernel(session, against or run)
    runs = [*ledger.runs(run.notebook, run.cell, limit=_SEEN, undone=False)]
    said = explain(run, against, history, states, _operations(session, run, runs), present)
    if not said.changed:
        return said
    earlier = (each for each in runs if (each.id or 0) < (run.id or 0))
    said = replace(said, again=find_alike(run, earlier))
    found = states.findings(run, against) if tested and against is not None else None
    return said if found is None else with_findings(said, found, session.kernel)


def with_seeds(said: Explanation, namespace: Mapping[str, Any]) -> Explanation:
    """Add advice to an explanation: the calls to which a seed should be passed.

    Args:
        said: The explanation.
        namespace: The user's namespace.
    """
    fix = "; ".join(_passing(said.run, namespace))
    causes = [*said.causes]
    for at, cause in enumerate(causes if fix else ()):
        if takes_seed(cause.kind, cause.name):
            causes[at] = replace(cause, fix=fix)
    drawing = [said.run] if _draws_global(said.causes) else []
    for cause in said.causes:
        if cause.kind == "input" and _draws_global(said.roots):
            drawing += [each.run for each in cause.blame if each.run is not None]
    keep = dict.fromkeys(each for run in drawing for each in _passing(run, namespace))
    return replace(said, causes=tuple(causes), keep=tuple(keep)[:_MOST_PASSED])


def _draws_global(found: Sequence[Cause | Root]) -> bool:
    """Return whether a cause is the stream from which unseeded functions draw."""
    return any(each.kind == "rng" and each.name in {"numpy", "python"} for each in found)


def _passing(run: Run, namespace: Mapping[str, Any]) -> Iterator[str]:
    """Yield the advice to pass a seed, for each call in a run's cell that accepts one."""
    for function, name, _ in dict.fromkeys(without_seed(run.source, namespace)):
        yield f"pass `{name}=42` to `{function}()`"


def why_elsewhere(session: Session, receipt: Receipt, run: Run | None = None) -> Explanation:
    """Explain why a run differs from the run of the same cell in a receipt.

    Args:
        session: The session of this kernel.
        receipt: The receipt.
        run: The run to explain; None for the first cell in this kernel whose run differs.

    Raises:
        LookupFailure: The receipt does not contain the cell.
    """
    runs = _last_of_each(session) if run is None else [run]
    there = match(runs, receipt.runs)
    pairs = [(reveal(there[each.cell], each), each) for each in runs if each.cell in there]
    if not pairs:
        asked = "none of the cells of this kernel" if run is None else "no such cell"
        msg = f"the receipt of {receipt.notebook} has {asked}: no cell has the same id or text"
        raise LookupFailure(msg)
    against, run = next((pair for pair in pairs if find_changes(*pair)), pairs[-1])
    before = session.ledger.runs(run.notebook, kernel=run.kernel, before_id=run.id, limit=_HISTORY)
    states = EitherStates(receipt, LedgerStates(session.ledger))
    return explain(run, against, [*before][::-1], states)


def why_all(session: Session) -> tuple[list[Explanation], int]:
    """Explain the last run of each cell of this kernel that ran more than once.

    Args:
        session: The session of this kernel.

    Returns:
        The explanations, oldest run first, and the number of cells that ran in this kernel.
    """
    runs = _last_of_each(session)
    found = [why(session, run) for run in runs]
    return [said for said in found if said.against is not None], len(runs)


def _last_of_each(session: Session) -> list[Run]:
    """Return the last run of each cell of this kernel, oldest first."""
    runs = session.ledger.runs(session.history_key, kernel=session.kernel, limit=_LOOKED_BACK)
    return [*{run.cell: run for run in [*runs][::-1] if not is_inspection(run.source)}.values()]


def _comparable(session: Session, run: Run) -> list[Run]:
    """Return a run to compare with the first run of a cell, or an empty list."""
    latest = session.ledger.last_run(run.notebook, run.cell)
    if latest is not None and latest.id != run.id:
        return [latest]
    earlier = session.ledger.runs(run.notebook, before_id=run.id, limit=_NEAR, undone=False)
    return [*islice((each for each in earlier if not is_inspection(each.source)), 1)]


def _operations(session: Session, run: Run, runs: Sequence[Run]) -> list[tuple[Run, Operation]]:
    """Return the recorded nondeterministic operations of runs with the same text."""
    body = _body(run.source)
    alike = [each for each in runs if _body(each.source) == body]
    traces = session.ledger.traces(each.id or 0 for each in alike)
    pairs = [(each, trace) for each in alike for trace in traces.get(each.id or 0, ())]
    return [(each, operation) for each, trace in pairs for operation in trace.operations]


def _body(source: str) -> str:
    """Return a cell's text without its ``%%deterministic`` line."""
    return _HEAD.sub("", source, count=1).strip()


def last_repeated(session: Session) -> Run:
    """Return the latest run of a cell that ran more than once, else the latest run.

    Runs in this kernel are preferred, because other kernels may run the same notebook.

    Raises:
        LookupFailure: No run is recorded.
    """
    newest = None
    for run in _latest(session):
        if not is_inspection(run.source):
            newest = newest or run
            if run_before(session, run) is not None:
                return run
    if newest is None:
        raise LookupFailure("no run is recorded yet; run a cell, run it again, and ask then")
    return newest


def last_setting(session: Session, name: str) -> Run | None:
    """Return the latest run that set or changed a variable, preferably in this kernel."""
    return next((run for run in _latest(session) if name in run.writes), None)


def _latest(session: Session) -> Iterator[Run]:
    """Yield the latest runs in this kernel, then those in all; both newest first."""
    for kernel in (session.kernel, None):
        yield from session.ledger.runs(
            session.history_key, kernel=kernel, limit=_LOOKED_BACK, undone=False
        )


def run_before(session: Session, run: Run) -> Run | None:
    """Return the previous run of the same cell, preferably in the same kernel."""
    ledger, where = session.ledger, (run.notebook, run.cell)
    mine = ledger.last_run(*where, run.kernel, before_id=run.id)
    return mine or ledger.last_run(*where, before_id=run.id)
