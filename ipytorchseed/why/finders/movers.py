"""Finds the runs that moved a source or generator, and describes how."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence

from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.actions import may_set_state
from ipytorchseed.rng.position import Position
from ipytorchseed.rng.seeds import LIMIT
from ipytorchseed.why.evidence import Evidence, HistoryLookup, does
from ipytorchseed.why.explanation import Blame, Cause
from ipytorchseed.why.words import first_of, listed, many, owner_of, stream_of

# Run before the cell, it makes an unseeded source repeat.
_SEED = "%seed 42"

# How many moves are analyzed, the latest.
_MAX_MOVES = 20

# How many of them a message names.
_MAX_NAMED = 4

# For a run that may have drawn or seeded.
_MOVED = "moved it"

# Matches cells that restore the states of sources.
_PUTS_BACK = lazy_pattern(r"^%seed\s+(-\S+\s+)*(rewind|restore)\b")

# Sources and types of generators whose numbers have 32 bits.
_OF_32_BITS = frozenset(
    {"python", "numpy", "torch.cpu", "random.Random", "numpy.random.RandomState"}
)


def rng_cause(evidence: Evidence, name: str, before: str | None, after: str) -> Cause:
    """Return the cause for a source or generator that started in another state.

    Args:
        evidence: The evidence.
        name: Its name.
        before: The state in which the earlier run found it; None if that run created it.
        after: The state in which the later run found it.
    """
    was = None if before is None else evidence.states.position(name, before)
    now = evidence.states.position(name, after)
    blame = _blame(evidence, name)
    if before is None:
        message = (
            f"{owner_of(name)} was never seeded: {evidence.name(evidence.against)} imported it, and"
        )
        message += f" {evidence.name(evidence.run)} continues its random stream"
        proof = f"state new → {after[:8]}"
        return Cause("rng", name, message, proof, _SEED, tuple(blame), prevents=True)
    proof = f"state {before[:8]} → {after[:8]}"
    seeded = any(each is not None and is_chosen(each) for each in (was, now)) or any(
        each.run is None or may_set_state(each.run.actions, name) or each.how.startswith("reseeded")
        for each in blame
    )
    if not (evidence.same_kernel or seeded) and name not in evidence.run.generators:
        return never_seeded(name, before, after)
    left_out = (
        ()
        if evidence.same_kernel or evidence.elsewhere
        else _missing_moves(evidence, name, blame, after)
    )
    if left_out:
        blame = [*left_out]
        message = f"{_describe(evidence, name, blame)}; since the restart, nothing did"
    else:
        said = _say_along_a_seed(evidence, name, blame, was, now)
        message = said or _say_seeded(evidence, name, blame, was, now)
        message = message or _say_moved(evidence, name, blame, was, now)
    library = evidence.run.generators.get(name, "").partition(" in ")[2]
    if library:
        message = message.replace(f"`{name}`", f"{library}'s `{name}`", 1)
    return Cause(
        kind="rng",
        name=name,
        message=message,
        proof=proof,
        fix=_fix(evidence, was),
        blame=tuple(blame),
    )


def _fix(evidence: Evidence, was: Position | None) -> str:
    """Return the command that restores a source. A receipt has no states, only seeds."""
    if not evidence.elsewhere:
        return f"%seed rewind {evidence.word(evidence.against)}"
    seed = None if was is None or was.draws else was.seed
    return f"%seed {seed}" if seed is not None and seed < LIMIT else ""


def _say_along_a_seed(
    evidence: Evidence,
    name: str,
    blame: Sequence[Blame],
    was: Position | None,
    now: Position | None,
) -> str:
    """Return who drew since the seed of both states, or "" if the seeds differ."""
    if not (evidence.same_kernel and blame and was and now and was.seed == now.seed is not None):
        return ""
    if was.draws is None or now.draws is None or was.draws == now.draws:
        return ""
    stream, seeds = stream_of(name), blame[0].how.startswith("reseeded")
    if now.draws < was.draws:
        again = f"{_who(evidence, blame[0])} seeded {owner_of(name)} with {now.seed} again" * seeds
        further = many(was.draws - now.draws, "number")
        return (
            again
            and f"{again}; in {evidence.name(evidence.against)}, {further} more had been drawn"
        )
    drew = [each for each in blame if "drew " in each.how]
    if not drew or not all(each.how.startswith("drew ") for each in blame[seeds:]):
        return ""
    names = [*dict.fromkeys(_who(evidence, each) for each in drew)]
    who = listed(names) if len(names) <= _MAX_NAMED else first_of(names, _MAX_NAMED)
    taken = many(now.draws - was.draws, "number")
    if seeds:
        return f"{who} took {taken} from {stream} between the seed and this cell"
    return f"{stream} had moved on: {who} took {taken} from it"


def _say_seeded(
    evidence: Evidence,
    name: str,
    blame: Sequence[Blame],
    was: Position | None,
    now: Position | None,
) -> str:
    """Return who used another seed, or "" if unknown."""
    seeding = blame[0].how.startswith("reseeded") if blame else False
    if not (seeding and now and now.seed is not None) or (was and was.seed == now.seed):
        return ""
    said = f"{_who(evidence, blame[0])} seeded {owner_of(name)} with {now.seed}"
    if "inside a library" in blame[0].how:
        said += ", inside a library"
    said += f", not with {was.seed}" if was is not None and is_chosen(was) else ""
    return f"{said}; then {_describe(evidence, name, blame[1:], it='it')}" if blame[1:] else said


def _say_moved(
    evidence: Evidence,
    name: str,
    blame: Sequence[Blame],
    was: Position | None,
    now: Position | None,
) -> str:
    """Return who moved a source, or only its position if that is unknown."""
    if not (evidence.same_kernel or evidence.elsewhere) and _is_left_unseeded(blame, was, now):
        return f"{owner_of(name)} was not seeded since the restart"
    if blame and blame[0].how.startswith("put"):
        return _describe(evidence, name, blame)
    if blame:
        how = "had moved on" if evidence.same_kernel else "started in another state"
        return f"{stream_of(name)} {how}: {_describe(evidence, name, blame, it='it')}"
    told = f"{stream_of(name)} started in another state"
    if not (evidence.same_kernel or evidence.elsewhere):
        return f"{told}: the kernel was restarted"
    stood = [_position(now), _position(was)]
    if stood[0] == stood[1]:
        known = now is not None and now.draws is not None
        return (
            f"{told} ({stood[0]} both times, except for a number that was kept)" if known else told
        )
    return f"{told} ({stood[0]}, not {stood[1]})" if all(stood) else told


def _is_left_unseeded(blame: Sequence[Blame], was: Position | None, now: Position | None) -> bool:
    """Return whether a source had a chosen seed, but none since the restart."""
    had, has = (each is not None and is_chosen(each) for each in (was, now))
    return had and not has and all(each.how in ("imported it", "started it") for each in blame)


def _describe(evidence: Evidence, name: str, blame: Sequence[Blame], it: str = "") -> str:
    """Return what the latest runs did to a source, grouping those that did the same.

    Args:
        evidence: The evidence.
        name: The source.
        blame: What they did.
        it: The word for the source; by default its name at first, then "it".
    """
    doings = [(_who(evidence, each), _in_brief(each.how)) for each in blame[-_MAX_NAMED:]]
    told = list[str]()
    for how, alike in itertools.groupby(doings, key=operator.itemgetter(1)):
        what = "it" if it or told else stream_of(name)
        told.append(f"{listed(who for who, _ in alike)} {how.format(it=what)}")
    return ", ".join(told)


def _missing_moves(
    evidence: Evidence, name: str, blame: list[Blame], after: str
) -> tuple[Blame, ...]:
    """Return the earlier kernel's moves after the state where the later run began.

    Both kernels were seeded alike, and nothing else moved the source in the later one.

    Args:
        evidence: The evidence.
        name: The source.
        blame: The moves in the later run's kernel.
        after: The state in which the later run found it.
    """
    if len(blame) != 1 or not blame[0].how.startswith("reseeded"):
        return ()
    latest = evidence.states.latest(evidence.run)[::-1]
    earlier = [run for run in latest if run.started < evidence.against.started]
    moves = _moves([*earlier, evidence.against], name)
    ends = [end for _, _, end in moves]
    led_on = moves[len(ends) - ends[::-1].index(after) :] if after in ends else []
    return tuple(
        _move(evidence, run, name, begin, end)[0] for run, begin, end in led_on if begin is not None
    )


def _in_brief(how: str) -> str:
    """Return what a run did to a source, ``{it}``, without counts of numbers."""
    if how.startswith("drew "):
        return "drew from {it}"
    how = how.partition(" and drew ")[0]
    return _BRIEFLY.get(how) or how.replace("reseeded to", "seeded {it} with")


_BRIEFLY = {
    _MOVED: "changed the state of {it}",
    "put it back": "put {it} back to an earlier state",
    "made it": "made {it}",
    "seeded it": "seeded {it}",
    "started it": "started {it}",
    "imported it": "imported {it}",
}


def is_chosen(position: Position) -> bool:
    """Return whether a state comes from a seed and not from the system's entropy."""
    return position.seed is not None and position.seed < LIMIT


def _position(position: Position | None) -> str:
    """Return a state's position in the stream of a seed, or "" if unknown."""
    said = "" if position is None else str(position)
    return "" if said == "seed unknown" else said


def _who(evidence: Evidence, blame: Blame) -> str:
    return "something between cells" if blame.run is None else evidence.name(blame.run)


def _blame(evidence: Evidence, name: str) -> list[Blame]:
    """Return the moves between the starts of the two runs, since the last reseeding."""
    blame: list[Blame] = []
    for run, begin, end in _moves([*evidence.history, evidence.run], name)[::-1]:
        if begin is None:
            blame.append(Blame(run, _how_created(evidence, run, name, end)))
            break
        told, reseeded = (
            _move(evidence, run, name, begin, end)
            if len(blame) < _MAX_MOVES
            else (Blame(run, _MOVED), run is not None and bool(run.seeds))
        )
        blame.append(told)
        if reseeded:
            break
    return blame[::-1]


def _how_created(evidence: Evidence, run: Run | None, name: str, end: str) -> str:
    """Return how a run created a source or generator that did not exist before."""
    if run is None or name in run.generators:
        return "made it"
    if has_seeded(evidence.states, run, name, end):
        return "seeded it"
    return "started it" if ":" in name else "imported it"


def has_seeded(states: HistoryLookup, run: Run, name: str, end: str) -> bool:
    """Return whether a run seeded a source that it created.

    Args:
        states: Looks up positions.
        run: The run.
        name: The source.
        end: Its state when the run ended.
    """
    position = states.position(name, end)
    chosen = position is not None and is_chosen(position)
    asked = not run.outputs.error and may_set_state(run.actions, name)
    return asked or (chosen and any("seed" in each for each in run.actions))


def _moves(runs: Sequence[Run], name: str) -> list[tuple[Run | None, str | None, str]]:
    """Return the moves of a source from the first run to the start of the last.

    Args:
        runs: The runs, oldest first.
        name: The source or generator.

    Returns:
        For each move the run, or None for something between runs, and the states before and after
        it; oldest first. Moves in other kernels than the last run's are ignored.
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


def _move(
    evidence: Evidence, run: Run | None, name: str, begin: str, end: str
) -> tuple[Blame, bool]:
    """Return the blame for a move, and whether earlier moves no longer matter."""
    if run is not None and does(run, _PUTS_BACK):
        return Blame(run, "put it back"), True
    draws = evidence.states.draws(begin, end)
    if draws is not None:
        return Blame(run, f"drew {_numbers(run, name, draws)}"), False
    was, now = (evidence.states.position(name, each) for each in (begin, end))
    if now is None or now.seed is None or now.draws is None:
        return Blame(run, _MOVED), False
    if was is not None and was.seed == now.seed and (was.draws is None or was.draws <= now.draws):
        return Blame(run, _MOVED), False  # draws that were too many to count
    if was is None and evidence.states.leads(begin, end):
        return Blame(run, _MOVED), False  # likewise, or perhaps: its start is unknown
    ours = run is not None and any(seed == now.seed for seed, _ in run.seeds)
    asked = ours or run is None or any("seed" in each for each in run.actions)
    how = f"reseeded to {now.seed}" if asked else f"reseeded to {now.seed}, inside a library"
    if now.draws:
        how += f" and drew {_numbers(run, name, now.draws)}"
    return Blame(run, how), True


def _numbers(run: Run | None, name: str, draws: int) -> str:
    """Return how many numbers were drawn, and their size: a call may take several."""
    if not draws:  # one of two made at once: normal numbers, or halves of one
        return "a number that was kept"
    kind = name if run is None else run.generators.get(name, name).partition(" in ")[0]
    bits = " of 32 bits" if kind in _OF_32_BITS else ""
    return f"{many(draws, 'number')}{bits}"


def never_seeded(name: str, before: str, after: str, *, since_restart: bool = False) -> Cause:
    """Return the cause for a source that was not seeded in the later run's kernel.

    Args:
        name: Its name.
        before: Its state when the earlier run ended.
        after: Its state when the later run ended.
        since_restart: Whether it was seeded before the restart.
    """
    how = "not seeded since the restart"
    if not since_restart:
        how = "never seeded, so it starts differently after every restart"
    message = f"{owner_of(name)} was {how}"
    proof = f"state {before[:8]} → {after[:8]}"
    return Cause("rng", name, message, proof, _SEED, prevents=True)
