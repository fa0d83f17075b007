"""What experiments prove: which of several suspects bring an earlier result back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache

from msgspec import Struct

from ipytorchseed.why.words import listed

Trials = Callable[[frozenset[str]], "Result"]

PROVED, LIKELY, CLEARED = "proved", "likely", "cleared by experiment"


class Result(Enum):
    """Which result an experiment gave, bit for bit."""

    EARLIER = "the earlier run's"
    LATER = "the later run's"
    OTHER = "neither's, or not all of it could be compared"


class Finding(Struct, frozen=True):
    """The findings of experiments on a suspect.

    Attributes:
        level: ``PROVED``, ``LIKELY`` or ``CLEARED``.
        how: What was seen, or why there was no experiment, in a clause.
    """

    level: str = LIKELY
    how: str = ""


class Names(Struct, frozen=True):
    """How the two runs are called: ``In[5]``."""

    earlier: str
    later: str


def count_most(suspects: int) -> int:
    """Return how many experiments ``judge`` makes at most, ``beside`` counted as a suspect."""
    return {0: 1, 1: 2, 2: 5}.get(suspects, 2 * suspects + 5)


def judge(
    suspects: Sequence[str],
    run: Trials,
    names: Names,
    obstacle: Callable[[], str] = str,
    beside: str = "",
) -> dict[str, Finding]:
    """Find out by experiment which suspects are causes.

    Nothing is proved unless the later result comes where nothing is put back, and the earlier one
    where all is: else something acts that is not among them. A suspect is cleared only if it has
    no effect on the later result, and none on the earlier one.

    Args:
        suspects: Names of what can be put back, at least one.
        run: Runs the cell as the later run found everything, but for the named suspects, put back
            to what they were for the earlier one.
        names: How the runs are called.
        obstacle: Says why a cell that is run again may give something else, if that is known.
        beside: Names what else can go back, where the earlier result does not come without it.
    """
    trials = cache(run)  # each experiment once
    if trials(frozenset()) is not Result.LATER:
        how = f"run again from where {names.later} began, the cell gave another result"
        return dict.fromkeys(suspects, Finding(how=obstacle() or how))
    whole = trials(frozenset(suspects))
    every = [*suspects, beside] if beside and whole is not Result.EARLIER else [*suspects]
    if trials(frozenset(every)) is not Result.EARLIER:
        stays = whole is Result.LATER
        what = f"stays {names.later}'s" if stays else f"is not {names.earlier}'s"
        together = " with all others" if len(suspects) > 1 else ""
        return dict.fromkeys(suspects, Finding(how=f"put back{together}, the result {what}"))
    found = _tell_apart(every, trials, names)
    if beside in found and trials(frozenset({beside})) is Result.EARLIER:
        how = f"put back, the result stays {names.later}'s: {beside} brings {names.earlier}'s back"
        cleared = [each for each in suspects if found[each].level == CLEARED]
        found |= dict.fromkeys(cleared, Finding(CLEARED, how))
    return {each: found[each] for each in suspects}


def _tell_apart(suspects: Sequence[str], trials: Trials, names: Names) -> dict[str, Finding]:
    """Judge suspects that bring the earlier result back together."""
    every = frozenset(suspects)
    alone = {each: trials(frozenset({each})) for each in suspects}
    enough = [each for each in suspects if alone[each] is Result.EARLIER]
    if enough:
        word = " alone" if len(every) > 1 else ""
        how = f"put back{word}, it brings {names.earlier}'s result back, bit for bit"
        found = dict.fromkeys(enough, Finding(PROVED, how))
        return found | _spare(trials, every.difference(enough), alone, names)
    needed = [each for each in suspects if trials(every - {each}) is not Result.EARLIER]
    spare = every.difference(needed)
    found = {each: _together(each, needed, alone, names) for each in needed}
    if trials(frozenset(needed)) is Result.EARLIER:
        return found | _spare(trials, spare, alone, names)
    how = f"one of {listed(sorted(spare))} has to be put back, whichever"
    return found | dict.fromkeys(spare, Finding(how=how))


def _together(each: str, needed: Sequence[str], alone: dict[str, Result], names: Names) -> Finding:
    """Say that several suspects bring the earlier result back, and none of them without."""
    others = [other for other in needed if other != each]
    if not others:  # what else has to be put back is told with that
        how = f"without it put back, the result is not {names.earlier}'s"
    elif all(alone[name] is Result.LATER for name in needed):
        how = f"acts only together with {listed(others)}: put back together, they bring"
        how += f" {names.earlier}'s result back, bit for bit"
    else:
        how = f"put back together with {listed(others)}, it brings {names.earlier}'s result back,"
        how += " bit for bit"
    return Finding(PROVED, how)


def _spare(
    trials: Trials, spare: frozenset[str], alone: dict[str, Result], names: Names
) -> dict[str, Finding]:
    """Judge suspects without which the earlier result comes back."""
    idle = frozenset(each for each in spare if alone[each] is Result.LATER)
    clear = bool(idle) and trials(idle) is Result.LATER
    cleared = Finding(CLEARED, f"put back, the result stays {names.later}'s")
    acts = Finding(how=f"acts on the result, which is {names.earlier}'s without it as well")
    return {each: cleared if clear and each in idle else acts for each in spare}
