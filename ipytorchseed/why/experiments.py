"""Determines by experiments which of several suspects caused a changed result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import Enum
from functools import cache
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ledger.records import Finding, Part
from ipytorchseed.why.words import listed

T = TypeVar("T")

Trials = Callable[[frozenset[str]], "Result"]

PROVED, CARRIED, MAY_MATTER = "proved", "carried", "may-matter"
NO_EFFECT = "no effect"

# The placeholder in findings for what an experiment restored.
IT = "{it}"

UNCHANGED = f"{NO_EFFECT}: restoring {IT} changes nothing"

# The beginnings of findings about suspects that were tested without proof, or not tested.
UNPROVED, UNTESTED = "not proved", "not tested"


class Result(Enum):
    """The result of an experiment, compared bit for bit."""

    EARLIER = "the earlier run's"
    LATER = "the later run's"
    OTHER = "another result than both runs', or not fully comparable"


# Placeholders for the two runs in findings. The names of runs depend on the kernel that asks.
EARLIER, LATER = "{earlier}", "{later}"
RESULT = f"{EARLIER}'s result"


def with_names(finding: Finding, earlier: str, later: str) -> Finding:
    """Return a finding with the names of the two runs."""
    return replace(finding, how=finding.how.replace(EARLIER, earlier).replace(LATER, later))


class Verdict(Struct, frozen=True):
    """What experiments showed about a suspect.

    Attributes:
        how: A clause with ``IT`` in place of the suspect.
        level: As in ``Finding``.
        others: The suspects that must be restored too.
    """

    how: str
    level: str = MAY_MATTER
    others: tuple[str, ...] = ()

    def find(self, it: str, others: Sequence[str] = (), parts: tuple[Part, ...] = ()) -> Finding:
        """Return the finding.

        Args:
            it: The word for what was restored.
            others: What was restored together with it in each experiment.
            parts: Its parts that suffice.
        """
        if together := [*others, *self.others]:
            it = f"{it} together with {listed(together)}"
        return Finding(self.level, self.how.replace(IT, it), parts)


def count_most(suspects: int) -> int:
    """Return the maximum number of experiments in ``judge``; ``extra`` is a suspect."""
    return {0: 1, 1: 2, 2: 5}.get(suspects, 2 * suspects + 5)


def judge(
    suspects: Sequence[str],
    run: Trials,
    obstacle: str = "",
    extra: str = "",
    result: str = RESULT,
) -> dict[str, Verdict]:
    """Find out by experiment which suspects are causes.

    A suspect is proved only if restoring nothing gives the later result, and restoring all suspects
    gives the earlier result. Otherwise, something other than the suspects affects the result. A
    suspect is cleared only if restoring it changes neither of the two results.

    Args:
        suspects: Names of variables, sources and settings that can be restored, at least one.
        run: Runs the cell in the later run's initial state, with the earlier run's values for the
            named suspects.
        obstacle: Why the cell may differ when it runs again; "" if unknown.
        extra: A further suspect, restored only if restoring the others does not give the earlier
            result; or "".
        result: A phrase for what the experiments compare.
    """
    trials = cache(run)  # run each experiment once
    if trials(frozenset()) is not Result.LATER:
        how = obstacle or f"run again from where {LATER} began, the cell gave a different result"
        return dict.fromkeys(suspects, Verdict(f"{UNPROVED}: {how}"))
    whole = trials(frozenset(suspects))
    every = [*suspects, extra] if extra and whole is not Result.EARLIER else [*suspects]
    if trials(frozenset(every)) is not Result.EARLIER:
        what = "all of them together" if len(suspects) > 1 else IT
        return dict.fromkeys(
            suspects, Verdict(f"{UNPROVED}: restoring {what} does not give {result} again")
        )
    found = _judge_each(every, trials, result)
    if extra in found and trials(frozenset({extra})) is Result.EARLIER:
        how = f"{UNCHANGED}; restoring {extra} gives {result} again"
        cleared = [each for each in suspects if found[each].level == NO_EFFECT]
        found |= dict.fromkeys(cleared, Verdict(how, NO_EFFECT))
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


def judge_repeat(result: Result, hidden: Sequence[str]) -> Finding:
    """Return the finding for a cell whose changed result no recorded cause explains.

    Args:
        result: The result of running the cell again from the state in which the later run began.
        hidden: The inputs that could not be restored.
    """
    state = "from the same state"
    if hidden:
        state = f"without restoring {listed(f'`{name}`' for name in hidden)}"
    if result is Result.LATER:
        how = f"run again {state}, the cell gave {LATER}'s result again, so something"
        return Finding(NO_EFFECT, f"{how} that is not recorded was different before")
    return Finding(PROVED, f"run twice {state}, the cell gave two results")


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


def _judge_each(suspects: Sequence[str], trials: Trials, result: str) -> dict[str, Verdict]:
    """Return verdicts on suspects that together restore the earlier result."""
    every = frozenset(suspects)
    alone = {each: trials(frozenset({each})) for each in suspects}
    how = f"{PROVED}: restoring {IT} gives {result} again"
    enough = [each for each in suspects if alone[each] is Result.EARLIER]
    needed = enough or [each for each in suspects if trials(every - {each}) is not Result.EARLIER]
    spare = every.difference(needed)
    if enough:
        found = dict.fromkeys(enough, Verdict(how, PROVED))
    elif trials(frozenset(needed)) is Result.EARLIER:
        found = {
            each: Verdict(how, PROVED, tuple(other for other in needed if other != each))
            for each in needed
        }
    else:
        how = f"{PROVED}: unless {IT} is restored, the result is not {EARLIER}'s"
        any_one = f"{UNPROVED}: at least one of {listed(sorted(spare))} must be restored too"
        return dict.fromkeys(needed, Verdict(how, PROVED)) | dict.fromkeys(spare, Verdict(any_one))
    idle = frozenset(each for each in spare if alone[each] is Result.LATER)
    how = f"{UNPROVED}: it affects the result, but {EARLIER}'s comes back without it too"
    found |= dict.fromkeys(spare, Verdict(how))
    if idle and trials(idle) is Result.LATER:
        found |= dict.fromkeys(idle, Verdict(UNCHANGED, NO_EFFECT))
    return found
