"""Finds the command that restores an earlier result."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from ipytorchseed.determinism.libraries import BY_NAME
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.entropy import PLACES, call_of
from ipytorchseed.why.evidence import Evidence, Present, run_word
from ipytorchseed.why.experiments import CARRIED, MAY_MATTER, PROVED, UNPROVED
from ipytorchseed.why.explanation import Cause, Remedy, Root
from ipytorchseed.why.finders.settings import is_secret
from ipytorchseed.why.planner import make_plan
from ipytorchseed.why.unknown import hides, unseen
from ipytorchseed.why.words import listed

# Advice that seeds a library's generators before each run.
_SEED_ALL = "put `%seed 42 --generators` at the top of this cell"


def find_remedy(evidence: Evidence, causes: Sequence[Cause], present: Present | None) -> Remedy:
    """Return the way back from the present state of the kernel.

    Args:
        evidence: The evidence.
        causes: The causes that were found in the evidence.
        present: The kernel that asks, if any.
    """
    if evidence.two_cells or not causes or present is None:
        return Remedy()  # a cell cannot restore the result of another cell
    plan = make_plan(evidence.against, present)
    if plan.blocked:
        return Remedy(obstacle=plan.blocked)
    reads = evidence.against.reads
    made = {it for step in plan.steps for it in step.makes if it in reads and hides(reads[it])}
    stay = [each for each in causes if not (each.kind == "input" and each.name in made)]
    obstacles = [*plan.doubts, *filter(None, (_obstacle(evidence, cause) for cause in stay))]
    obstacles += _unseen(evidence, made.union(cause.name for cause in causes))
    word, phrase = run_word(evidence.against, present.kernel), evidence.name(evidence.against)
    writes = " --yes" if any(step.run.outside.wrote for step in plan.steps[:-1]) else ""
    obstacle = next(iter(obstacles), "")
    renamed = not obstacle and word.startswith("#") and word != phrase
    note = f"{word} is {phrase}" if renamed else ""
    return Remedy((f"%replay {word}{writes}",), not obstacle, obstacle, note)


def _unseen(evidence: Evidence, known: Collection[str]) -> list[str]:
    """Return clauses about opaque inputs that other cells used between the runs.

    Args:
        evidence: The evidence.
        known: Names to leave out, since a cause already covers them.
    """
    others = [run for run in evidence.history if run.cell != evidence.run.cell]
    found = []
    for name in unseen(evidence.against.reads, evidence.run.reads):
        users = [run for run in others if name in run.reads or name in run.writes]
        if users and name not in known:
            found.append(f"`{name}` cannot be inspected, and {evidence.name(users[-1])} used it")
    return found


def _obstacle(evidence: Evidence, cause: Cause) -> str:
    """Return why a cause may change the result of running the cell again, or ""."""
    if cause.kind == "operation":
        return f"{cause.name} does not repeat"
    if cause.kind == "entropy":
        place = PLACES.get(cause.name)
        return (
            f"it depends on where {place}"
            if place
            else f"{call_of(cause.name)} is different every time"
        )
    if cause.kind == "flag" and cause.prevents:
        return f"%replay does not undo {evidence.who(cause.blame)}"
    against = evidence.against
    stays = {
        "input": cause.prevents or cause.name not in {*against.reads, *against.missing},
        "flag": cause.name in BY_NAME
        and not BY_NAME[cause.name].can_be(against.settings.get(cause.name)),
        "environment": not is_secret(cause.name),
        "file": not cause.fix and cause.name not in {file.path for file in against.files},
    }
    return f"%replay does not restore {cause.name}" if stays.get(cause.kind) else ""


def find_keep(causes: Sequence[Cause], roots: Sequence[Root], run: Run) -> tuple[str, ...]:
    """Return how to make the cell repeat from now on: commands, or what to change.

    Args:
        causes: The causes of its changed result.
        roots: The origins of the causes.
        run: The cell's later run.
    """
    found = [cause.fix for cause in causes if cause.fix and not cause.goes_back]
    found += [root.fix for root in roots if root.fix]
    # Libraries draw names and ids from Python's stream.
    unsure = {each.name for each in causes[1:] if each.finding.level == MAY_MATTER} & {"python"}
    for root in (each for each in roots if each.name not in unsure):
        if root.kind == "rng" and root.name in run.generators:
            is_librarys = " in " in run.generators[root.name]
            seed = f"seed `{root.name}` in the cell that draws from it"
            found.append(_SEED_ALL if is_librarys else seed)
        elif root.kind == "rng" and not any(each.startswith("%seed") for each in found):
            found.append("%seed each 42")
    settled = any(each.kind == "entropy" or each.finding.level == PROVED for each in causes)
    carried = [
        f"`{cause.name}`"
        for cause in causes
        if cause.name.isidentifier()
        and not (settled and cause.finding.how.startswith(UNPROVED))
        and (cause.finding.level == CARRIED or cause.is_carried(run.cell))
    ]
    if carried:
        found.append(f"create {listed(carried)} in this cell")
    found += [cause.keep for cause in causes if cause.keep]
    return tuple(dict.fromkeys(found))


def with_fixes(causes: Sequence[Cause], remedy: Remedy) -> list[Cause]:
    """Return the causes; those that a replay restores get its command as their fix."""
    fix = next(iter(remedy.commands), "")
    return [
        replace(cause, fix=fix) if cause.kind == "input" and not cause.prevents else cause
        for cause in causes
    ]
