"""Finds the runs that moved a source or generator, and describes how."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from operator import itemgetter

from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.actions import may_set_state
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.rng.seeds import LIMIT
from ipytorchseed.why.evidence import Evidence, HistoryLookup, does
from ipytorchseed.why.explanation import Blame, Cause
from ipytorchseed.why.words import first_of, listed, many, owner_of, stream_of

# The command that makes an unseeded source repeat if it runs before the cell.
_SEED = "%seed 42"

# How many moves are analyzed, the latest ones. A move is a change of a source's state, by draws or
# by seeding.
_MAX_MOVES = 20

# The maximum number of moves that a message names.
_MAX_NAMED = 4

# The maximum number of calls that a message names.
_MAX_CALLS = 2

# For a run that may have drawn or seeded.
_MOVED = "moved it"

# For runs that restored a state, created a generator, or imported a source.
_RESTORED, _MADE, _IMPORTED = "restored it", "made it", "imported it"

# Verb phrases with a placeholder for the source's name.
_BRIEFLY = {
    _MOVED: "changed the state of {}",
    _RESTORED: "restored an earlier state of {}",
    _MADE: "made {}",
    _IMPORTED: "imported {}",
    "seeded it": "seeded {}",
}

# Matches cells that restore the states of sources.
_RESTORES = lazy_pattern(r"^%seed\s+(-\S+\s+)*(rewind|restore)\b")


def rng_cause(evidence: Evidence, name: str, before: str | None, after: str) -> Cause:
    """Return the cause for a source or generator that started in a different state.

    Args:
        evidence: The evidence.
        name: Its name.
        before: Its state when the earlier run began; None if that run created it.
        after: Its state when the later run began.
    """
    run, blame = evidence.run, _blame(evidence, name, before)
    if before is None:
        message = (
            f"{owner_of(name)} was never seeded: {evidence.name(evidence.against)} imported it, and"
            f" {evidence.name(run)} continues its random stream"
        )
        return Cause("rng", name, message, fix=_SEED, blame=tuple(blame), prevents=True)
    was, now = (evidence.states.position(name, each) or UNKNOWN for each in (before, after))
    seeded = is_chosen(now) or any(
        each.run is None or _is_reseeding(each) or may_set_state(each.run.actions, name)
        for each in blame
    )
    left_out = _missing_moves(evidence, name, blame, after)
    if left_out:
        blame, did = left_out, _describe(evidence, left_out, name, stream_of(name))
        message = f"{did}; since the restart, no cell did"
    elif not (evidence.same_kernel or seeded or name in run.generators):
        if not is_chosen(was):
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
    return f"%seed {was.seed}" if is_chosen(was) and not was.draws else ""


def is_chosen(position: Position) -> bool:
    """Return whether a user can have set the seed of a state.

    Seeds from the system's entropy are larger.
    """
    return position.seed is not None and position.seed < LIMIT


# --------------------------------------------------------------------------------------------------
# Sentences


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
    elif now.seed is not None and any(map(_is_reseeding, blame[:1])):
        said = f"{_who(evidence, blame[0])} {_in_brief(blame[0]).format(owner_of(name))}"
        said += f", not with {was.seed}" if is_chosen(was) else ""
        return f"{said}; then {_describe(evidence, blame[1:], name)}" if blame[1:] else said
    if blame and blame[0].how == _RESTORED:
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
    seeds = any(map(_is_reseeding, blame[:1]))
    drew = [each for each in blame if "drew " in each.how]
    if taken <= 0 or not drew or not all(map(_is_draw, blame[seeds:])):
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
        (_who(evidence, each, name if _is_draw(each) else ""), _in_brief(each))
        for each in blame[-_MAX_NAMED:]
    ]
    for how, alike in itertools.groupby(doings, key=itemgetter(1)):
        did = how.format("it" if told else it).replace("the state of it", "its state")
        told.append(f"{listed(who for who, _ in alike)} {did}")
    return ", ".join(told)


def _in_brief(blame: Blame) -> str:
    """Return a verb phrase for a move, with ``{}`` for the source, without counts."""
    if _is_draw(blame):
        return "drew from {}"
    how = blame.how.partition(" and drew ")[0].replace("reseeded to", "seeded {} with")
    return _BRIEFLY.get(how, how)


def _is_draw(blame: Blame) -> bool:
    return blame.how.startswith("drew ")


def _is_reseeding(blame: Blame) -> bool:
    return blame.how.startswith("reseeded")


def _who(evidence: Evidence, blame: Blame, source: str = "") -> str:
    """Return a run's name, with its calls that drew from the source, if known."""
    if blame.run is None:
        return "something between cells"
    calls = drawing_calls(blame.run, source)
    return evidence.name(blame.run) + (f" ({calls})" if calls else "")


# --------------------------------------------------------------------------------------------------
# Moves


def _blame(evidence: Evidence, name: str, before: str | None) -> list[Blame]:
    """Return the last reseeding between the starts of the two runs, and later moves.

    Moves that led to the state in which the earlier run began are left out: they were the same for
    both runs.
    """
    blame: list[Blame] = []
    is_same = False
    for run, begin, end in _moves([*evidence.history, evidence.run], name)[::-1]:
        if begin is None:
            blame.append(Blame(run, _how_created(evidence, run, name, end)))
            break
        far = len(blame) >= _MAX_MOVES
        move = Blame(run, _MOVED if far else _how_moved(evidence, run, name, begin, end))
        is_last = _is_reseeding(move) or move.how == _RESTORED
        is_same |= end == before
        if is_last or not is_same:
            blame.append(move)
        if is_last:
            break
    return blame[::-1]


def _missing_moves(
    evidence: Evidence, name: str, blame: Sequence[Blame], after: str
) -> list[Blame]:
    """Return the moves of the earlier kernel that are missing in the later kernel.

    These are the moves after the state in which the later run began. Empty unless the later
    kernel only seeded the source, and the earlier kernel had the same state once.

    Args:
        evidence: The evidence.
        name: The source.
        blame: The moves in the later run's kernel.
        after: The state of the source when the later run began.
    """
    if evidence.same_kernel or evidence.elsewhere or [*map(_is_reseeding, blame)] != [True]:
        return []
    latest = evidence.latest[::-1]
    earlier = [run for run in latest if run.started < evidence.against.started]
    moves = _moves([*earlier, evidence.against], name)
    ends = [end for _, _, end in moves]
    led_on = moves[len(ends) - ends[::-1].index(after) :] if after in ends else []
    return [
        Blame(run, _how_moved(evidence, run, name, begin, end))
        for run, begin, end in led_on
        if begin is not None
    ]


def _how_created(evidence: Evidence, run: Run | None, name: str, end: str) -> str:
    """Return a phrase for how a run created a source or generator."""
    if run is None or name in run.generators:
        return _MADE
    return "seeded it" if has_seeded(evidence.states, run, name, end) else _IMPORTED


def has_seeded(states: HistoryLookup, run: Run, name: str, end: str) -> bool:
    """Return whether a run seeded a source that it created.

    Args:
        states: Looks up the positions of states.
        run: The run.
        name: The source.
        end: The source's state when the run ended.
    """
    asked = not run.outputs.error and may_set_state(run.actions, name)
    chosen = is_chosen(states.position(name, end) or UNKNOWN)
    return asked or (chosen and any("seed" in each for each in run.actions))


def _moves(runs: Sequence[Run], name: str) -> list[tuple[Run | None, str | None, str]]:
    """Return the moves of a source from the first run to the start of the last.

    Args:
        runs: The runs, oldest first.
        name: The source or generator.

    Returns:
        For each move, oldest first: the run, or None for a move between two runs, and the states
        before and after. Only moves in the last run's kernel are included.
    """
    moves: list[tuple[Run | None, str | None, str]] = []
    last = runs[-1]
    for run in runs:
        if run.kernel != last.kernel:
            continue
        moved = run.between.get(name)
        if moved is not None and run is not runs[0]:
            moves.append((None, *moved))
        if run is last:
            break
        begin, end = run.before.get(name), run.after.get(name)
        brought_in = name not in run.generators or run.writes
        if end is not None and begin != end and (begin is not None or brought_in):
            moves.append((run, begin, end))
    return moves


def _how_moved(evidence: Evidence, run: Run | None, name: str, begin: str, end: str) -> str:
    """Return a phrase for how a run moved a source from one state to another."""
    if run is not None and does(run, _RESTORES):
        return _RESTORED
    draws = evidence.states.draws(begin, end)
    if draws is not None:
        return f"drew {_numbers(draws)}"
    was, now = (evidence.states.position(name, each) or UNKNOWN for each in (begin, end))
    if was.seed is None:
        drew = evidence.states.leads(begin, end)
    else:  # more draws than can be counted
        drew = was.seed == now.seed and (was.draws is None or was.draws <= (now.draws or 0))
    if drew or now.draws is None:
        return _MOVED
    how = f"reseeded to {now.seed}"
    return f"{how} and drew {_numbers(now.draws)}" if now.draws else how


def _numbers(draws: int) -> str:
    """Return how many numbers were drawn."""
    if not draws:  # the stream had stored it: normal numbers are generated in pairs, for example
        return "a number left over from an earlier draw"
    return many(draws, "number")
