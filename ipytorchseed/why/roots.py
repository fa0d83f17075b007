"""Follows a changed input to the causes in the cell that made it, one level further."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from msgspec.structs import replace

from ipytorchseed.fingerprint.value import same
from ipytorchseed.ledger.records import Run
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause, Change, Cleared
from ipytorchseed.why.finders import FINDERS
from ipytorchseed.why.finders.changers import NOT_RUN, front_end_id
from ipytorchseed.why.finders.entropy import find_entropy
from ipytorchseed.why.finders.libraries import find_libraries
from ipytorchseed.why.value_changes import how_far, write_step

_TOLD = 3
"""Roots of one input that are told."""


def with_roots(case: Evidence, causes: Sequence[Cause]) -> list[Cause]:
    """Add to inputs that were made from something else than before what that was.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    known = {(cause.kind, cause.name) for cause in causes}
    return [_with_root(case, cause, known) if cause.kind == "input" else cause for cause in causes]


def _with_root(case: Evidence, cause: Cause, known: set[tuple[str, str]]) -> Cause:
    for blame in cause.blame:
        earlier = None if blame.run is None else _earlier(case, blame.run, cause.name)
        if blame.run is None or earlier is None:
            continue
        roots = [*_roots(_between(case, earlier, blame.run, cause.name), known)]
        if not roots:
            continue
        said = " and ".join(message for message, _ in roots[:_TOLD])
        runs = {each.run.id for each in cause.blame if each.run is not None}
        found = [each for _, more in roots[:_TOLD] for each in more if each.run]
        further = {each.run.id: each for each in found if each.run and each.run.id not in runs}
        edited = len(cause.blame) == 1 and said == f"{case.name(blame.run)} was edited"
        return replace(
            cause,
            message=cause.message
            + (" (its text was edited)" if edited else f"; behind it: {said}"),
            blame=(*further.values(), *cause.blame),
        )
    return cause


def _earlier(case: Evidence, maker: Run, name: str) -> Run | None:
    """Return the run that made an input as it was before, where only what else it read differs."""
    found = [
        replace(run, cell=maker.cell)
        for run in case.states.latest(case.run)
        if front_end_id(run) == front_end_id(maker)
        and _comes_before(run, maker)
        and name in run.writes
    ]
    wanted = case.against.reads.get(name)
    exact = [run for run in found if wanted is not None and same(run.writes[name], wanted)]
    until = [run for run in found if not _comes_before(case.against, run)]
    earlier = next(iter(exact or until), None)
    if earlier is None or (not exact and _is_remade(case, earlier, name)):
        return None
    before, after = earlier.reads.get(name), maker.reads.get(name)
    alike = before is after is None or (before and after and same(before, after))
    return earlier if alike else None


def _is_remade(case: Evidence, maker: Run, name: str) -> bool:
    """Tell whether another cell made an input anew before the earlier run read it."""
    return any(
        run.cell != maker.cell and name in run.writes and name not in run.reads
        for run in case.states.latest(case.run)
        if _comes_before(maker, run) and _comes_before(run, case.against)
    )


def _comes_before(run: Run, other: Run) -> bool:
    return run.id is not None and other.id is not None and run.id < other.id


def _between(case: Evidence, earlier: Run, maker: Run, name: str) -> Evidence:
    """Return the evidence about two runs of a cell that made an input of this name."""
    history = [
        run
        for run in case.states.latest(case.run)[::-1]
        if not _comes_before(run, earlier) and _comes_before(run, maker)
    ]
    changed = (Change("variable", name),)
    return Evidence(maker, earlier, history, case.states, case.reader, changed)


def _roots(case: Evidence, known: set[tuple[str, str]]) -> Iterator[tuple[str, tuple[Blame, ...]]]:
    """Find the causes in the cell that made an input, each with the runs to blame."""
    found = chain(*(finder(case) for finder in FINDERS))
    found = chain(found, find_libraries(case, True), find_entropy(case, True))  # noqa: FBT003
    for cause in found:
        if isinstance(cause, Cleared):
            continue
        told = cause.kind != "rng" and (cause.kind, cause.name) in known  # a state is the run's own
        if not told:
            if cause.kind == "code":
                steps = _steps(case, cause, known)
                yield f"{steps}{case.name(case.run)} was edited", ()
            elif cause.kind == "input" and cause.name in {*case.against.reads} & {*case.run.reads}:
                yield _input(case, cause), cause.blame
            elif cause.kind == "rng":
                yield f"{cause.name} began elsewhere in {case.name(case.run)}", ()
            else:
                yield cause.message, cause.blame


def _steps(case: Evidence, code: Cause, known: set[tuple[str, str]]) -> str:
    """Say which numbers an edit changed that are not told by themselves: ``lr 0.01 → 0.03, ``."""
    said = []
    for name, after in case.run.writes.items():
        before = case.against.writes.get(name)
        if before is None or same(before, after) is not False or ("input", name) in known:
            continue
        if f"{name} = " not in code.proof:
            continue
        if before.series and after.series and len(before.series) == len(after.series) == 1:
            said.append(f"{name} {write_step(before.series[0], after.series[0])}, ")
    return "".join(said[:_TOLD])


def _input(case: Evidence, cause: Cause) -> str:
    """Say how an input of the maker differs, and who made it so: ``(In[4], edited)``."""
    far = how_far(case.against.reads[cause.name], case.run.reads[cause.name])
    said = f"{cause.name} {far}"
    makers = [each.run for each in cause.blame if each.run is not None]
    if not makers:
        return said
    if cause.blame[-1].how == NOT_RUN:
        return f"{said} ({case.name(makers[-1])} {NOT_RUN})"
    earlier = _earlier(case, makers[-1], cause.name)
    edited = earlier is not None and earlier.code != makers[-1].code
    return f"{said} ({case.name(makers[-1])}{', edited' if edited else ''})"
