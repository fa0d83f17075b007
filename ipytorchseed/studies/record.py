"""What a piece of code gave under several seeds, as it is kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec import Struct

from ipytorchseed.errors import SeedError
from ipytorchseed.rng.seeds import LIMIT, check_seed
from ipytorchseed.studies.readings import RESULT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ipytorchseed.studies.body import Outcome

MOST = 10_000
"""Seeds of one study."""

SHOWN = 20
"""Numbers, and failed seeds, that are shown; all are in the JSON."""


def choose_seeds(count: object, start: int) -> range:
    """Return so many seeds from one on.

    Raises:
        SeedError: One of them is no seed, or they are fewer than 2 or more than ``MOST``.
    """
    if type(count) is not int or not 2 <= count <= MOST:  # noqa: PLR2004 -- one has no spread
        msg = f"a study takes 2 to {MOST} seeds, not {count!r}: one tells nothing of their noise"
        raise SeedError(msg)
    first = check_seed(start)
    if first + count > LIMIT:
        msg = f"{count} seeds from {first} end beyond {LIMIT - 1}, the largest one: begin earlier"
        raise SeedError(msg)
    return range(first, first + count)


class Record(Struct, frozen=True):
    """What each seed gave.

    Attributes:
        seeds: In the order in which they were asked for.
        numbers: By name, a value for each seed; None where it gave none.
        errors: The errors of the seeds that failed, each in a line.
        notes: What else is to be said, each in a sentence.
    """

    seeds: tuple[int, ...]
    numbers: dict[str, tuple[float | None, ...]] = {}
    errors: dict[int, str] = {}
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], notes: Iterable[str] = ()) -> Record:
        """Put together what the seeds gave: each number that one of them made."""
        made = dict.fromkeys(path for each in outcomes for path in each.values if path in each.made)
        numbers = {path: tuple(each.values.get(path) for each in outcomes) for path in made}
        others = [values for path, values in numbers.items() if path != RESULT]
        if numbers.get(RESULT) in others:  # the last line shows a variable
            del numbers[RESULT]
        alone = ", ".join(dict.fromkeys(name for each in outcomes for name in each.alone))
        cut = ", ".join(dict.fromkeys(name for each in outcomes for name in each.cut))
        said = {
            f"The same in every run, as no seed is for them: {alone}.": alone,
            f"No gradient flowed back into {cut}: the graph behind it cannot be copied.": cut,
        }
        return cls(
            seeds=tuple(each.seed for each in outcomes),
            numbers=numbers,
            errors={each.seed: each.error for each in outcomes if each.error is not None},
            notes=(*(text for text, holds in said.items() if holds), *notes),
        )

    def value(self, name: str, seed: int) -> float:
        """Return what a seed gave; nan where it gave nothing."""
        found = self.numbers[name][self.seeds.index(seed)]
        return math.nan if found is None else found


def listed(names: Iterable[str]) -> str:
    """List names, at most some of them."""
    known = [*names]
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return (", ".join(known[:SHOWN]) or "none") + more
