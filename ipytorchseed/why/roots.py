"""Traces causes back through the runs that produced them to their roots."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import PurePath

from msgspec.structs import replace

from ipytorchseed.fingerprint.value import same
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.evidence import Evidence, differ
from ipytorchseed.why.experiments import NO_EFFECT, PROVED
from ipytorchseed.why.explanation import Blame, Cause, Change, Cleared, Root
from ipytorchseed.why.finders import FINDERS
from ipytorchseed.why.finders.changers import LEFT_OUT, front_end_id
from ipytorchseed.why.ranking import ranked

# The maximum number of pairs of runs to compare for one answer.
_MAX_PAIRS = 200

# CPU seconds for tracing. With wall time, the answer would depend on other work on the machine.
_SECONDS = 0.1

# Kinds of causes whose fix also works for later runs.
_LASTING = frozenset({"entropy", "environment", "flag", "operation"})

_THIS_CELL = lazy_pattern(r"\b(?:this|the) cell\b(?! that)")

# How many causes of one pair of runs are traced, the most likely first.
_MAX_FOLLOWED = 3


def with_roots(
    evidence: Evidence, causes: Sequence[Cause]
) -> tuple[list[Cause], tuple[Root, ...], tuple[tuple[Run, Run], ...]]:
    """Trace causes to their roots.

    Args:
        evidence: The evidence.
        causes: The causes that were found in the evidence, the most likely first.

    Returns:
        Three items. First, the causes, which now also blame the runs of their roots. Second, the
        roots, without duplicates, in the order of the causes. Third, pairs of runs of cells that
        created inputs, if the two runs differ in several ways and experiments have not yet shown
        which of these matter.
    """
    tracer = _Tracer()
    found = [tracer.trace(evidence, cause, (), (cause.kind, cause.name))[0] for cause in causes]
    return found, (*tracer.roots.values(),), (*tracer.open,)


# The identity of a root: its kind, and its name or the cell that was edited.
_Key = tuple[str, str]


class _Tracer:
    """A walk from causes back to their roots.

    Attributes:
        roots: The roots found so far.
        open: Pairs of runs that differ in several ways and were not tested.
    """

    def __init__(self) -> None:
        self.roots: dict[_Key, Root] = {}
        self.open: list[tuple[Run, Run]] = []
        self._reached: dict[tuple[int | None, int | None], list[_Key]] = {}
        self._deadline = time.thread_time() + _SECONDS
        self._stopped = False

    def trace(
        self, evidence: Evidence, cause: Cause, path: tuple[str, ...], via: tuple[str, str]
    ) -> tuple[Cause, list[_Key]]:
        """Follow a cause to its roots.

        Args:
            evidence: The evidence in which the cause was found.
            cause: The cause.
            path: The variables through which the cause affects the cell in question.
            via: Kind and name of the cause with which the trace began.

        Returns:
            The cause, which also blames the runs of its roots, and its roots.
        """
        name = PurePath(cause.name).name if cause.kind == "file" else cause.name
        reached = self._trace_makers(evidence, cause, (name, *path), via)
        if not reached:
            return cause, [self._add(evidence, cause, path, via)]
        for key in reached:
            self._lead(key, via)
        blamed = {each.run and each.run.id for each in cause.blame}
        roots = {each.run.id: each for key in reached for each in self.roots[key].blame if each.run}
        further = (each for number, each in roots.items() if number not in blamed)
        return replace(cause, blame=(*further, *cause.blame)), reached

    def _trace_makers(
        self, evidence: Evidence, cause: Cause, path: tuple[str, ...], via: tuple[str, str]
    ) -> list[_Key]:
        """Trace an input or file to the roots of the runs that created it, if any."""
        for maker, earlier in _makers(evidence, cause):
            pair = maker.id, earlier.id
            if pair not in self._reached:
                if len(self._reached) >= _MAX_PAIRS or time.thread_time() > self._deadline:
                    self._stopped = True
                    return []
                reached = self._reached[pair] = []
                inner = _between(evidence, earlier, maker, cause.name)
                for each in self._choose(inner, ranked(inner, [*_causes(inner)]))[:_MAX_FOLLOWED]:
                    reached += self.trace(inner, each, path, via)[1]
            if self._reached[pair]:
                return self._reached[pair]
        return []

    def _choose(self, evidence: Evidence, causes: list[Cause]) -> list[Cause]:
        """Return the causes that may matter: those proved, else those not cleared."""
        found = evidence.states.findings(evidence.run, evidence.against)
        if found is None:
            self.open += [(evidence.run, evidence.against)] if len(causes) > 1 else []
            return causes
        levels = {(kind, name): finding.level for kind, name, finding in found.causes}
        proved = [each for each in causes if levels.get((each.kind, each.name)) == PROVED]
        return proved or [
            each for each in causes if levels.get((each.kind, each.name)) != NO_EFFECT
        ]

    def _add(
        self, evidence: Evidence, cause: Cause, path: tuple[str, ...], via: tuple[str, str]
    ) -> _Key:
        key = cause.kind, evidence.run.cell if cause.kind == "code" else cause.name
        if key not in self.roots:
            edited = cause.kind == "code"
            blame = (Blame(evidence.run, "edited"),) if edited else cause.blame
            message = cause.message
            if edited or path:  # the message may be about another cell than the one in question
                message = _THIS_CELL.sub(evidence.name(evidence.run), message, count=edited)
            if self._stopped:
                message += " (not traced further back)"
                self._stopped = False
            name = front_end_id(evidence.run) if edited and path else cause.name
            fix = cause.fix if cause.kind in _LASTING else cause.keep
            self.roots[key] = Root(cause.kind, name, message, path, blame, fix=fix)
        self._lead(key, via)
        return key

    def _lead(self, key: _Key, via: tuple[str, str]) -> None:
        """Record that a root leads to a cause."""
        root = self.roots[key]
        self.roots[key] = replace(root, via=(*dict.fromkeys((*root.via, via)),))


def _makers(evidence: Evidence, cause: Cause) -> Iterator[tuple[Run, Run]]:
    """Yield the runs that created an input or file, each with its cell's earlier run."""
    for blame in cause.blame if cause.kind in ("input", "file") else ():
        maker = blame.run
        if maker is None or blame.how == LEFT_OUT:
            continue
        earlier = _earlier(evidence, maker, cause.name) if cause.kind == "input" else None
        for path in maker.outside.wrote:
            if path == cause.name or blame.how == f"wrote {PurePath(path).name}":
                earlier = earlier or _earlier_writer(evidence, maker, path)
        if earlier is not None:
            yield maker, earlier


def _earlier_writer(evidence: Evidence, maker: Run, path: str) -> Run | None:
    """Return the run of the same cell that wrote the file's earlier content, if any."""
    wrote = (run for run in evidence.latest if path in run.outside.wrote)
    earlier = next((run for run in wrote if _comes_before(run, evidence.against)), None)
    if earlier is None or front_end_id(earlier) != front_end_id(maker):
        return None
    return replace(earlier, cell=maker.cell)


def _earlier(evidence: Evidence, maker: Run, name: str) -> Run | None:
    """Return the earlier run of a cell that created an input, if it can be compared.

    If the cell continues from the input's old value, its runs are compared only if it was edited
    between them.
    """
    found = [
        replace(run, cell=maker.cell)
        for run in evidence.latest
        if front_end_id(run) == front_end_id(maker)
        and _comes_before(run, maker)
        and name in run.writes
    ]
    wanted = evidence.against.reads.get(name)
    exact = [run for run in found if wanted is not None and same(run.writes[name], wanted)]
    until = [run for run in found if not _comes_before(evidence.against, run)]
    earlier = next(iter(exact or until), None)
    if earlier is None or (not exact and _is_remade(evidence, earlier, name)):
        return None
    continues = differ(earlier.reads.get(name), maker.reads.get(name))
    return None if continues and earlier.code == maker.code else earlier


def _is_remade(evidence: Evidence, maker: Run, name: str) -> bool:
    """Return whether another cell created an input again before the earlier run."""
    return any(
        run.cell != maker.cell and name in run.writes and name not in run.reads
        for run in evidence.latest
        if _comes_before(maker, run) and _comes_before(run, evidence.against)
    )


def _comes_before(run: Run, other: Run) -> bool:
    return run.id is not None and other.id is not None and run.id < other.id


def _between(evidence: Evidence, earlier: Run, maker: Run, name: str) -> Evidence:
    """Return the evidence about two runs of a cell that created an input."""
    history = [
        run
        for run in evidence.latest[::-1]
        if not _comes_before(run, earlier) and _comes_before(run, maker)
    ]
    changed = (Change("variable", name),)
    return Evidence(maker, earlier, history, evidence.states, evidence.reader, changed)


def _causes(evidence: Evidence) -> Iterator[Cause]:
    """Yield the causes in a run that created an input, without duplicates."""
    found = chain.from_iterable(finder(evidence) for finder in FINDERS)
    causes = [each for each in found if not isinstance(each, Cleared)]
    yield from {(each.kind, each.name): each for each in causes}.values()
