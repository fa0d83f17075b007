"""Measures how much two texts differ, number by number."""

from __future__ import annotations

import itertools
import math
import sys
from decimal import Decimal, InvalidOperation

from msgspec import Struct

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.changes import ROUNDING

NUMBER = lazy_pattern(
    # Not in a word, a version or a colour. Commas between thousands are optional. Digits that
    # start with a zero, or that are too many for a float, are a name.
    r"(?<![\w.#])[-+]?(?!0\d|\d{16})"
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?!\d|\.\d)"
)

# Rules of tables, whose length depends on the widest number.
_RULE = lazy_pattern(r"([-=_─━═])\1+")

_AROUND_SIGNS = lazy_pattern(r" ?([^\w\s]) ?")

# The smallest divisor of a difference: numbers that should be 0 have no correct digits.
_SMALLEST = 1e-9

# The largest difference of two numbers that rounding may explain near 0; numpy's ``atol``.
_ZERO = 1e-8


class Distance(Struct, frozen=True):
    """The difference of two texts that differ only in numbers, whitespace and rules.

    Attributes:
        largest: The largest difference of two numbers, divided by the larger one.
        counts: Whether integers differ, which is never rounding.
        beyond_zero: Like ``largest``, without differences that rounding may explain near 0.
        absolute: The largest difference of two numbers.
    """

    largest: float = 0.0
    counts: bool = False
    beyond_zero: float = 0.0
    absolute: float = 0.0


def find_distance(before: str, after: str) -> Distance | None:
    """Compare two texts number by number; ignore whitespace and the length of rules.

    Args:
        before: The earlier text.
        after: The later text.

    Returns:
        Their difference; None if they differ in more than numbers.
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
    """Return the difference of two numbers, absolute and relative to the larger one."""
    one, other = float(before), float(after)
    if one == other:
        return 0.0, 0.0 if _is_equal(before, after) else sys.float_info.epsilon
    step, larger = abs(one - other), max(abs(one), abs(other), _SMALLEST)
    return step, step / larger if math.isfinite(larger) else math.inf


def _is_equal(before: str, after: str) -> bool:
    """Return whether all digits are equal, also those beyond a float's precision."""
    try:
        return Decimal(before) == Decimal(after)
    except InvalidOperation:  # an exponent of many digits
        return False


def _is_whole(number: str) -> bool:
    return number.lstrip("+-").isdigit()


def say_rounding(distance: Distance) -> str:
    """Describe a difference that is rounding."""
    relative = distance.beyond_zero or distance.largest
    if relative <= ROUNDING:
        return f"rounding, at most {say_bound(relative)} of the value"
    return f"rounding of what should be 0, at most {say_bound(distance.absolute)}"


def say_bound(distance: float) -> str:
    """Return a distance, rounded up to one digit: ``3e-7``."""
    digits, _, power = f"{distance:.6e}".partition("e")
    if not power:
        return digits  # inf
    bound = Decimal(math.ceil(float(digits))).scaleb(int(power))
    return f"{bound:f}" if int(power) > -3 else f"{bound:.0e}"  # noqa: PLR2004 -- 0.03
