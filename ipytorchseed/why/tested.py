"""Adds the findings of experiments to an explanation."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ipytorchseed.ledger.records import Finding, Findings, Run
from ipytorchseed.reads.entropy import PLACES, call_of
from ipytorchseed.why.evidence import run_phrase
from ipytorchseed.why.experiments import (
    CARRIED,
    MAY_MATTER,
    NO_EFFECT,
    PROVED,
    UNPROVED,
    with_names,
)
from ipytorchseed.why.explanation import NEXT_STEP, Cause, Cleared, Explanation, Remedy, Root
from ipytorchseed.why.remedy import with_fixes
from ipytorchseed.why.words import listed

_IDLE = f"{NO_EFFECT}: only the cell itself changes it, and nothing else that changed depends on it"

# The key of the finding that says whether an unexplained cell repeats.
THE_CELL = ("cell", "")


def with_findings(said: Explanation, found: Findings, kernel: str) -> Explanation:
    """Return an explanation with findings added. Causes without proof come last.

    A cleared suspect becomes a cause if an experiment proved it.

    Args:
        said: The explanation.
        found: The findings of experiments. Some may be about causes that are not in ``said``.
        kernel: The kernel that asks. The names of runs depend on it.
    """
    against = said.against or said.run
    names = _name(against, said.run, kernel), _name(said.run, against, kernel)
    known = {(kind, name): with_names(each, *names) for kind, name, each in found.causes}
    causes, cleared = list[Cause](), list[Cleared]()
    suspects: list[Cause | Cleared] = [*said.causes, *said.cleared]
    for each in suspects:
        cause = each if isinstance(each, Cause) else each.otherwise
        finding = known.get((each.kind, each.name), Finding())
        if cause is not None and finding.level == NO_EFFECT:
            how = _IDLE if cause.is_carried(said.run.cell) else finding.how
            cleared.append(Cleared(each.kind, each.name, how))
        elif cause is not None and (finding.level == PROVED or isinstance(each, Cause)):
            causes.append(_with_finding(said, cause, finding))
        elif isinstance(each, Cleared):
            cleared.append(each)
    if not causes:  # the cause is something that no finder names
        hows = {key: each.how.replace(NO_EFFECT, UNPROVED, 1) for key, each in known.items()}
        causes = [
            replace(each, finding=Finding(how=hows[each.kind, each.name])) for each in said.causes
        ]
        cleared = [*said.cleared]
    causes.sort(key=lambda cause: cause.finding.level == MAY_MATTER)
    remedy = _without_clocks(said.remedy, causes)
    causes = with_fixes(causes, remedy)
    repeats = Finding() if said.suspects else known.get(THE_CELL, Finding())
    return replace(
        said,
        message=_with_repeat(said.message, repeats),
        repeats=repeats,
        causes=tuple(causes),
        roots=_roots_of(causes, said.roots),
        cleared=tuple(cleared),
        remedy=remedy,
        tested=({(each.kind, each.name) for each in said.suspects} or {THE_CELL}) <= known.keys(),
    )


def _without_clocks(remedy: Remedy, causes: Sequence[Cause]) -> Remedy:
    """Remove the way back if the result was proved to depend on a clock or on entropy."""
    asked = [
        call_of(each.name)
        for each in causes
        if (each.kind, each.finding.level) == ("entropy", PROVED) and each.name not in PLACES
    ]
    return Remedy(note=f"it depends on {listed(asked)}") if asked else remedy


def _name(run: Run, other: Run, kernel: str) -> str:
    """Return a run's name; ``this run`` or ``the earlier run`` if the kernels differ."""
    if run.kernel == other.kernel or run.receipt:
        return run_phrase(run, kernel).removesuffix(" before the restart")
    return "the earlier run" if (run.id or 0) < (other.id or 0) else "this run"


def with_newer(said: Explanation, fresh: Explanation) -> Explanation:
    """Return a tested explanation with a newer one's messages, blame and roots."""
    known = {(each.kind, each.name): each for each in fresh.causes}
    causes = list[Cause]()
    for each in said.causes:
        new = known.get((each.kind, each.name), each)
        causes.append(replace(each, message=new.message, blame=new.blame, keep=new.keep))
    roots = _roots_of(causes, fresh.roots)
    return replace(said, causes=tuple(causes), roots=roots, makers=fresh.makers)


def _roots_of(causes: Sequence[Cause], roots: Sequence[Root]) -> tuple[Root, ...]:
    """Return the roots of causes, in the order of the causes.

    A suspect that became a cause by an experiment was not traced, so it is its own root.
    """
    reached = {via for root in roots for via in root.via}
    alone = [each for each in causes if (each.kind, each.name) not in reached]
    roots = [*roots, *map(_as_root, alone)]
    place = {(cause.kind, cause.name): place for place, cause in enumerate(causes)}
    kept = [root for root in roots if not place.keys().isdisjoint(root.via)]
    return tuple(sorted(kept, key=lambda root: min(place[via] for via in root.via if via in place)))


def _as_root(cause: Cause) -> Root:
    via = (cause.kind, cause.name)
    return Root(*via, cause.message, blame=cause.blame, via=(via,))


def _with_repeat(message: str, repeats: Finding) -> str:
    """Return a message with the finding of running the cell again added."""
    if not repeats.how:
        return message
    said, step, _ = message.partition(NEXT_STEP)
    return f"{said}; {repeats.how}{step}"


def _with_finding(said: Explanation, cause: Cause, finding: Finding) -> Cause:
    """Return a cause with a finding: ``carried`` if only the cell itself changed it."""
    if finding.level == PROVED and cause.is_carried(said.run.cell):
        how = finding.how.removeprefix(f"{PROVED}: ")
        how = f"{CARRIED} on by the cell itself: {how}"
        finding = replace(finding, level=CARRIED, how=how)
    return replace(cause, finding=finding)
