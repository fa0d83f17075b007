"""Finds the runs that moved a source or generator, and how they did."""

from __future__ import annotations

from collections.abc import Sequence

from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.actions import may_set_state
from ipytorchseed.rng.position import UNKNOWN
from ipytorchseed.why.evidence import Evidence, HistoryLookup, does
from ipytorchseed.why.explanation import Blame
from ipytorchseed.why.words import many

# How many moves are analyzed, the latest ones. A move is a change of a source's state, by draws or
# by seeding.
_MAX_MOVES = 20

# For a run that may have drawn or seeded.
MOVED = "moved it"

# For runs that restored a state, created a generator, or imported a source.
RESTORED, MADE, IMPORTED = "restored it", "made it", "imported it"

# Matches cells that restore the states of sources.
_RESTORES = lazy_pattern(r"^%seed\s+(-\S+\s+)*(rewind|restore)\b")


def find_movers(evidence: Evidence, name: str, before: str | None) -> list[Blame]:
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
        move = Blame(run, MOVED if far else _how_moved(evidence, run, name, begin, end))
        is_last = is_reseeding(move) or move.how == RESTORED
        is_same |= end == before
        if is_last or not is_same:
            blame.append(move)
        if is_last:
            break
    return blame[::-1]


def find_missing(evidence: Evidence, name: str, blame: Sequence[Blame], after: str) -> list[Blame]:
    """Return the moves of the earlier kernel that are missing in the later kernel.

    These are the moves after the state in which the later run began. Empty unless the later
    kernel only seeded the source, and the earlier kernel had the same state once.

    Args:
        evidence: The evidence.
        name: The source.
        blame: The moves in the later run's kernel.
        after: The state of the source when the later run began.
    """
    if evidence.same_kernel or evidence.elsewhere or [*map(is_reseeding, blame)] != [True]:
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
        return MADE
    return "seeded it" if has_seeded(evidence.states, run, name, end) else IMPORTED


def has_seeded(states: HistoryLookup, run: Run, name: str, end: str) -> bool:
    """Return whether a run seeded a source that it created.

    Args:
        states: Looks up the positions of states.
        run: The run.
        name: The source.
        end: The source's state when the run ended.
    """
    asked = not run.outputs.error and may_set_state(run.actions, name)
    chosen = (states.position(name, end) or UNKNOWN).is_chosen
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
        return RESTORED
    draws = evidence.states.draws(begin, end)
    if draws is not None:
        return f"drew {_numbers(draws)}"
    was, now = (evidence.states.position(name, each) or UNKNOWN for each in (begin, end))
    if was.seed is None:
        drew = evidence.states.leads(begin, end)
    else:  # more draws than can be counted
        drew = was.seed == now.seed and (was.draws is None or was.draws <= (now.draws or 0))
    if drew or now.draws is None:
        return MOVED
    how = f"reseeded to {now.seed}"
    return f"{how} and drew {_numbers(now.draws)}" if now.draws else how


def _numbers(draws: int) -> str:
    """Return how many numbers were drawn."""
    if not draws:  # the stream had stored it: normal numbers are generated in pairs, for example
        return "a number left over from an earlier draw"
    return many(draws, "number")


def is_draw(blame: Blame) -> bool:
    """Return whether a run did nothing to a source but draw numbers."""
    return blame.how.startswith("drew ")


def is_reseeding(blame: Blame) -> bool:
    """Return whether a run seeded the source."""
    return blame.how.startswith("reseeded")
