"""Describes which runs moved a source or generator."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from operator import itemgetter

from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.actions import may_set_state
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause
from ipytorchseed.why.finders import movers
from ipytorchseed.why.words import first_of, listed, many, owner_of, stream_of

# The command that makes an unseeded source repeat if it runs before the cell.
_SEED = "%seed 42"

# The maximum number of moves that a message names.
_MAX_NAMED = 4

# The maximum number of calls that a message names.
_MAX_CALLS = 2

# Verb phrases with a placeholder for the source's name.
_BRIEFLY = {
    movers.MOVED: "changed the state of {}",
    movers.RESTORED: "restored an earlier state of {}",
    movers.MADE: "made {}",
    movers.IMPORTED: "imported {}",
    "seeded it": "seeded {}",
}


def rng_cause(evidence: Evidence, name: str, before: str | None, after: str) -> Cause:
    """Return the cause for a source or generator that started in a different state.

    Args:
        evidence: The evidence.
        name: Its name.
        before: Its state when the earlier run began; None if that run created it.
        after: Its state when the later run began.
    """
    run, blame = evidence.run, movers.find_movers(evidence, name, before)
    if before is None:
        message = (
            f"{owner_of(name)} was never seeded: {evidence.name(evidence.against)} imported it, and"
            f" {evidence.name(run)} continues its random stream"
        )
        return Cause("rng", name, message, fix=_SEED, blame=tuple(blame), prevents=True)
    was, now = (evidence.states.position(name, each) or UNKNOWN for each in (before, after))
    seeded = now.is_chosen or any(
        each.run is None or movers.is_reseeding(each) or may_set_state(each.run.actions, name)
        for each in blame
    )
    left_out = movers.find_missing(evidence, name, blame, after)
    if left_out:
        blame, did = left_out, _describe(evidence, left_out, name, stream_of(name))
        message = f"{did}; since the restart, no cell did"
    elif not (evidence.same_kernel or seeded or name in run.generators):
        if not was.is_chosen:
            return never_seeded(name, run)
        message = f"{owner_of(name)} was not seeded {_since(evidence)}"
    else:
        message = _say_moved(evidence, name, blame, was, now)
    return Cause("rng", name, message, fix=_fix(evidence, was), blame=tuple(blame))


def _since(evidence: Evidence) -> str:
    return "here" if evidence.elsewhere else "since the restart"


def never_seeded(name: str, run: Run, *, since_restart: bool = False) -> Cause:
    """Return the cause for a source that was not seeded in the later run's kernel.

    Args:
        name: The source.
        run: The later run.
        since_restart: Whether the source was seeded before the restart, but not since.
    """
    how = "never seeded, so it starts differently after every restart"
    how = "not seeded since the restart" if since_restart else how
    calls = drawing_calls(run, name)
    drew = f"; {calls} drew from it here" if calls else ""
    return Cause("rng", name, f"{owner_of(name)} was {how}{drew}", fix=_SEED, prevents=True)


def drawing_calls(run: Run | None, source: str) -> str:
    """Return the calls of a run that were observed to draw from a source.

    For example, "`torch.randn`, `Linear` and 2 more"; "" if none was observed.
    """
    calls = () if run is None or run.observed is None else run.observed.drew.get(source, ())
    return first_of([f"`{call}`" for call in calls], _MAX_CALLS)


def _fix(evidence: Evidence, was: Position) -> str:
    """Return the command that restores a source, or "".

    For a receipt, only the seed is known, not the state.
    """
    if not evidence.elsewhere:
        return f"%seed rewind {evidence.word(evidence.against)}"
    return f"%seed {was.seed}" if was.is_chosen and not was.draws else ""


def _say_moved(
    evidence: Evidence, name: str, blame: Sequence[Blame], was: Position, now: Position
) -> str:
    """Return a sentence about who seeded a source or drew from it.

    Args:
        evidence: The evidence.
        name: The source.
        blame: The known moves of the source, oldest first.
        was: The position of its state when the earlier run began.
        now: The position of its state when the later run began.
    """
    if was.seed is not None and was.seed == now.seed:
        counted = evidence.same_kernel and None not in (was.draws, now.draws)
        said = counted and _say_drawn(evidence, name, blame, (now.draws or 0) - (was.draws or 0))
        if said:
            return said
    elif now.seed is not None and any(map(movers.is_reseeding, blame[:1])):
        said = f"{_who(evidence, blame[0])} {_in_brief(blame[0]).format(owner_of(name))}"
        said += f", not with {was.seed}" if was.is_chosen else ""
        return f"{said}; then {_describe(evidence, blame[1:], name)}" if blame[1:] else said
    if blame and blame[0].how == movers.RESTORED:
        return _describe(evidence, blame, name, stream_of(name))
    how = "had moved on" if evidence.same_kernel else "started in a different state"
    if blame:
        return f"{stream_of(name)} {how}: {_describe(evidence, blame, name)}"
    known = [str(each) for each in (now, was) if each.seed is not None]
    return f"{stream_of(name)} {how}{f' ({known[0]}, not {known[1]})' if known[1:] else ''}"


def _say_drawn(evidence: Evidence, name: str, blame: Sequence[Blame], taken: int) -> str:
    """Return a sentence about the runs that drew between two states of one seed.

    Args:
        evidence: The evidence.
        name: The source.
        blame: The moves of the source, oldest first.
        taken: How many more numbers were drawn before the later run than before the earlier run.

    Returns:
        "" if draws alone do not explain the difference.
    """
    seeds = any(map(movers.is_reseeding, blame[:1]))
    drew = [each for each in blame if "drew " in each.how]
    if taken <= 0 or not drew or not all(map(movers.is_draw, blame[seeds:])):
        return ""
    names = [*dict.fromkeys(_who(evidence, each, name) for each in drew)]
    who = listed(names) if len(names) <= _MAX_NAMED else first_of(names, _MAX_NAMED)
    took, stream = f"{who} took {many(taken, 'number')} from", stream_of(name)
    if seeds:
        return f"{took} {stream} between the seed and this cell"
    return f"{stream} had moved on: {took} it"


def _describe(evidence: Evidence, blame: Sequence[Blame], name: str, it: str = "it") -> str:
    """Return clauses about the latest moves of a source; equal moves share a clause.

    Args:
        evidence: The evidence.
        blame: The moves, oldest first.
        name: The source.
        it: The word for the source when it is first mentioned.
    """
    told = list[str]()
    doings = [
        (_who(evidence, each, name if movers.is_draw(each) else ""), _in_brief(each))
        for each in blame[-_MAX_NAMED:]
    ]
    for how, alike in itertools.groupby(doings, key=itemgetter(1)):
        did = how.format("it" if told else it).replace("the state of it", "its state")
        told.append(f"{listed(who for who, _ in alike)} {did}")
    return ", ".join(told)


def _in_brief(blame: Blame) -> str:
    """Return a verb phrase for a move, with ``{}`` for the source, without counts."""
    if movers.is_draw(blame):
        return "drew from {}"
    how = blame.how.partition(" and drew ")[0].replace("reseeded to", "seeded {} with")
    return _BRIEFLY.get(how, how)


def _who(evidence: Evidence, blame: Blame, source: str = "") -> str:
    """Return a run's name, with its calls that drew from the source, if known."""
    if blame.run is None:
        return "something between cells"
    calls = drawing_calls(blame.run, source)
    return evidence.name(blame.run) + (f" ({calls})" if calls else "")
