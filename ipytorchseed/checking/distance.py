"""Measures how far two texts are apart, number by number."""

from __future__ import annotations

import itertools
import math
import sys
from decimal import Decimal, InvalidOperation

from msgspec import Struct

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.changes import ROUNDING

NUMBER = lazy_pattern(
    # not within a word, a version, a colour; with or without commas between thousands; digits that
    # begin with a zero, or of which a float does not hold all, are a name
    r"(?<![\w.#])[-+]?(?!0\d|\d{16})"
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?!\d|\.\d)"
)
_RULE = lazy_pattern(r"([-=_─━═])\1+")
"""Rules of tables, whose length depends on the widest number."""

_AROUND_SIGNS = lazy_pattern(r" ?([^\w\s]) ?")

_SMALLEST = 1e-9
"""The least that differences are divided by: numbers that should be 0 have no correct digits."""

_ZERO = 1e-8
"""The largest difference of two numbers that may be what rounding left of 0; numpy's ``atol``."""


class Distance(Struct, frozen=True):
    """The difference of two texts that differ in numbers, blanks and the length of rules only.

    Attributes:
        largest: The largest difference of two numbers, divided by the larger one.
        counts: Whether integers are among those that differ, which are not subject to rounding.
        beyond_zero: As ``largest``, of those that differ by more than rounding leaves of 0.
        absolute: The largest difference of two numbers.
    """

    largest: float = 0.0
    counts: bool = False
    beyond_zero: float = 0.0
    absolute: float = 0.0


def find_distance(before: str, after: str) -> Distance | None:
    """Compare two texts number by number; blanks and the length of rules do not count.

    Args:
        before: The earlier text.
        after: The later text.

    Returns:
        Their difference; None where they differ in more than numbers.
    """
    pairs = zip(NUMBER.split(before), NUMBER.split(after), strict=False)
    numbers = [
        [found.replace(",", "") for found in NUMBER.findall(each)] for each in (before, after)
    ]
    if len(numbers[0]) != len(numbers[1]) or any(_plain(x) != _plain(y) for x, y in pairs):
        return None
    apart = [(x, y) for x, y in zip(*numbers, strict=True) if x != y]
    steps = [*itertools.starmap(_apart, apart)]
    return Distance(
        max((relative for _, relative in steps), default=0.0),
        any(_is_whole(x) and _is_whole(y) and not _is_equal(x, y) for x, y in apart),
        max((relative for step, relative in steps if step > _ZERO), default=0.0),
        max((step for step, _ in steps), default=0.0),
    )


def _plain(words: str) -> str:
    return _AROUND_SIGNS.sub(r"\1", _RULE.sub(r"\1", " ".join(words.split())))


def _apart(before: str, after: str) -> tuple[float, float]:
    """Return the difference of two numbers, and that divided by the larger one."""
    one, other = float(before), float(after)
    if one == other:
        return 0.0, 0.0 if _is_equal(before, after) else sys.float_info.epsilon
    step, larger = abs(one - other), max(abs(one), abs(other), _SMALLEST)
    return step, step / larger if math.isfinite(larger) else math.inf


def _is_equal(before: str, after: str) -> bool:
    """Compare all digits, also those beyond the precision of a float."""
    try:
        return Decimal(before) == Decimal(after)
    except InvalidOperation:  # an exponent of many digits
        return False


def _is_whole(number: str) -> bool:
    return number.lstrip("+-").isdigit()


def say_rounding(distance: Distance) -> str:
    """Say by how much texts differ that differ by rounding."""
    relative = distance.beyond_zero or distance.largest
    if relative <= ROUNDING:
        return f"rounding, at most {say_bound(relative)} of the value"
    return f"rounding of what should be 0, at most {say_bound(distance.absolute)}"


def say_bound(distance: float) -> str:
    """Write a distance with one digit, and never less than it is: ``3e-7``."""
    digits, _, power = f"{distance:.6e}".partition("e")
    if not power:
        return digits  # inf
    bound = Decimal(math.ceil(float(digits))).scaleb(int(power))
    return f"{bound:f}" if int(power) > -3 else f"{bound:.0e}"  # noqa: PLR2004 -- 0.03
