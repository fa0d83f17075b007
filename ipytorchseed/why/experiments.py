"""Determines by experiments which of several suspects caused a changed result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import Enum
from functools import cache
from typing import TypeVar

from ipytorchseed.ledger.records import Finding
from ipytorchseed.why.words import listed

T = TypeVar("T")

Trials = Callable[[frozenset[str]], "Result"]

PROVED, CARRIED, MAY_MATTER = "proved", "carried", "may-matter"
NO_EFFECT = "no effect"

UNCHANGED = f"{NO_EFFECT}: restoring it changes nothing"

# The beginnings of findings: tested without proof, and not tested.
UNPROVED, UNTESTED = "not proved", "not tested"


class Result(Enum):
    """The result of an experiment, compared bit for bit."""

    EARLIER = "the earlier run's"
    LATER = "the later run's"
    OTHER = "neither run's, or not fully comparable"


# Placeholders for the two runs in findings. The names of runs depend on the kernel that asks.
EARLIER, LATER = "{earlier}", "{later}"


def count_most(suspects: int) -> int:
    """Return the most experiments that ``judge`` runs; ``extra`` counts as a suspect."""
    return {0: 1, 1: 2, 2: 5}.get(suspects, 2 * suspects + 5)


def judge(
    suspects: Sequence[str],
    run: Trials,
    obstacle: Callable[[], str] = str,
    extra: str = "",
) -> dict[str, Finding]:
    """Find out by experiment which suspects are causes.

    A suspect is proved only if restoring nothing gives the later result, and restoring all suspects
    gives the earlier result. Otherwise, something other than the suspects affects the result. A
    suspect is cleared only if restoring it changes neither of the two results.

    Args:
        suspects: Names of variables, sources and settings that can be restored, at least one.
        run: Runs the cell in the state that the later run found, except that the named suspects
            have the values that the earlier run found.
        obstacle: Returns why the cell may differ when it runs again; "" if unknown.
        extra: A further suspect, restored only if restoring the others does not give the earlier
            result; or "".
    """
    trials = cache(run)  # run each experiment once
    if trials(frozenset()) is not Result.LATER:
        how = f"run again from where {LATER} began, the cell gave a different result"
        return dict.fromkeys(suspects, Finding(how=f"{UNPROVED}: {obstacle() or how}"))
    whole = trials(frozenset(suspects))
    every = [*suspects, extra] if extra and whole is not Result.EARLIER else [*suspects]
    if trials(frozenset(every)) is not Result.EARLIER:
        what = "all of them together" if len(suspects) > 1 else "it"
        how = f"{UNPROVED}: restoring {what} does not give {EARLIER}'s result again"
        return dict.fromkeys(suspects, Finding(how=how))
    found = _judge_each(every, trials)
    if extra in found and trials(frozenset({extra})) is Result.EARLIER:
        how = f"{UNCHANGED}; restoring {extra} gives {EARLIER}'s result again"
        cleared = [each for each in suspects if found[each].level == NO_EFFECT]
        found |= dict.fromkeys(cleared, Finding(NO_EFFECT, how))
    return {each: found[each] for each in suspects}


def minimize(parts: Sequence[T], gives: Callable[[Sequence[T]], bool]) -> Sequence[T]:
    """Return a minimal subset of parts that gives the earlier result: ``ddmin``.

    Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, TSE 2002.

    Args:
        parts: Parts that together give the earlier result.
        gives: Returns whether a subset gives the earlier result.
    """
    count = 2
    while len(parts) > 1:
        size = -(-len(parts) // count)
        pieces = [parts[begin : begin + size] for begin in range(0, len(parts), size)]
        rests = [[part for part in parts if part not in piece] for piece in pieces]
        if fewer := next(filter(gives, pieces), None):
            parts, count = fewer, 2
        elif fewer := next(filter(gives, rests), None):
            parts, count = fewer, max(count - 1, 2)
        elif count < len(parts):
            count = min(2 * count, len(parts))
        else:
            break
    return parts


def judge_repeat(result: Result) -> Finding:
    """Return the finding for a cell whose changed result no recorded cause explains.

    Args:
        result: The result of running the cell again from the state in which the later run began.
    """
    if result is Result.LATER:
        how = f"run again from the same state, the cell gave {LATER}'s result again, so something"
        how += " that is not recorded was different before"
        return Finding(NO_EFFECT, how)
    return Finding(PROVED, "run twice from the same state, the cell gave two results")


def judge_unrepeated(
    repeats: Result, volatile: Collection[str], *, settled: bool, alone: bool
) -> Finding | None:
    """Return the finding for a clock, entropy or an operation that does not repeat.

    Args:
        repeats: The result of running the cell again from the state in which the later run began.
        volatile: Names of values that differed in that experiment, although the rest repeated.
        settled: Whether restoring other causes gives the earlier result again.
        alone: Whether this is the only known reason why the cell may not repeat.

    Returns:
        None if the experiment shows nothing. For instance, a date is the same all day.
    """
    if volatile and alone:
        return Finding(
            how=f"run twice from the same state, the cell gave two values of {listed(volatile)}"
        )
    if repeats is Result.LATER and settled:
        return Finding(NO_EFFECT, f"{NO_EFFECT}: run again, the cell gave {LATER}'s result again")
    if repeats is Result.OTHER and alone:
        how = f"{PROVED}: run twice from the same state, the cell gave two results"
        return Finding(PROVED, how)
    return None


def _judge_each(suspects: Sequence[str], trials: Trials) -> dict[str, Finding]:
    """Return findings for suspects that together restore the earlier result."""
    every = frozenset(suspects)
    alone = {each: trials(frozenset({each})) for each in suspects}
    enough = [each for each in suspects if alone[each] is Result.EARLIER]
    if enough:
        word = " alone" if len(every) > 1 else ""
        how = f"{PROVED}: restoring it{word} gives {EARLIER}'s result again"
        found = dict.fromkeys(enough, Finding(PROVED, how))
        return found | _judge_unneeded(trials, every.difference(enough), alone)
    needed = [each for each in suspects if trials(every - {each}) is not Result.EARLIER]
    spare = every.difference(needed)
    found = {each: _judge_needed(each, needed, alone) for each in needed}
    if trials(frozenset(needed)) is Result.EARLIER:
        return found | _judge_unneeded(trials, spare, alone)
    how = f"{UNPROVED}: any one of {listed(sorted(spare))} must be restored too"
    return found | dict.fromkeys(spare, Finding(how=how))


def _judge_needed(each: str, needed: Sequence[str], alone: dict[str, Result]) -> Finding:
    """Return the finding for a suspect that is needed, alone or with others."""
    others = [other for other in needed if other != each]
    if not others:  # the findings for the spare suspects say what else to restore
        how = f"{PROVED}: unless it is restored, the result is not {EARLIER}'s"
    else:
        how = (
            f"{PROVED}: restoring it together with {listed(others)} gives {EARLIER}'s result again"
        )
        if all(alone[name] is Result.LATER for name in needed):
            how += "; alone it changes nothing"
    return Finding(PROVED, how)


def _judge_unneeded(
    trials: Trials, spare: frozenset[str], alone: dict[str, Result]
) -> dict[str, Finding]:
    """Return findings for suspects that are not needed for the earlier result."""
    idle = frozenset(each for each in spare if alone[each] is Result.LATER)
    clear = bool(idle) and trials(idle) is Result.LATER
    cleared = Finding(NO_EFFECT, UNCHANGED)
    how = f"{UNPROVED}: it affects the result, but {EARLIER}'s comes back without it too"
    acts = Finding(how=how)
    return {each: cleared if clear and each in idle else acts for each in spare}
