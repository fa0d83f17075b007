"""Compares two texts number by number: how far they are apart that differ in nothing else."""

from __future__ import annotations

import itertools
import math
import re
import sys
from decimal import Decimal, InvalidOperation

from msgspec import Struct

_NUMBER = re.compile(
    # not within a word, a version, a colour; with or without commas between thousands
    r"(?<![\w.#])[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?!\d|\.\d)"
)
_RULE = re.compile(r"([-=_─━═])\1+")
"""What tables are drawn with; how long it is hangs on the widest number."""

_SMALLEST = 1e-9
"""Numbers below it are held against it: what is left of a zero has no digit that is right."""


class Distance(Struct, frozen=True):
    """How far two texts are apart that differ in numbers only.

    Attributes:
        count: How many numbers each has.
        apart: How many of them are written otherwise.
        largest: The largest difference of two numbers, divided by the larger one.
        counts: Whether whole numbers are among those that differ: they are counted, not rounded.
    """

    count: int = 0
    apart: int = 0
    largest: float = 0.0
    counts: bool = False


def find_distance(before: str, after: str) -> Distance | None:
    """Compare two texts number by number; blanks and the length of rules do not count.

    Args:
        before: The earlier text.
        after: The later text.

    Returns:
        How far they are apart; None where they differ in more than numbers.
    """
    pairs = zip(_NUMBER.split(before), _NUMBER.split(after), strict=False)
    numbers = _NUMBER.findall(before), _NUMBER.findall(after)
    if len(numbers[0]) != len(numbers[1]) or any(_plain(x) != _plain(y) for x, y in pairs):
        return None
    apart = [(x, y) for x, y in zip(*map(_without_commas, numbers), strict=True) if x != y]
    if not apart:
        return None  # other blanks between the same numbers
    largest = max(itertools.starmap(_apart, apart))
    counts = any(_is_whole(x) and _is_whole(y) and not _is_equal(x, y) for x, y in apart)
    return Distance(len(numbers[0]), len(apart), largest, counts)


def _without_commas(numbers: list[str]) -> list[str]:
    return [number.replace(",", "") for number in numbers]


def _plain(words: str) -> str:
    return _RULE.sub(r"\1", " ".join(words.split()))


def _apart(before: str, after: str) -> float:
    one, other = float(before), float(after)
    if one == other:
        return 0.0 if _is_equal(before, after) else sys.float_info.epsilon
    larger = max(abs(one), abs(other), _SMALLEST)
    return abs(one - other) / larger if math.isfinite(larger) else math.inf


def _is_equal(before: str, after: str) -> bool:
    """Compare all digits, also those that no float has."""
    try:
        return Decimal(before) == Decimal(after)
    except InvalidOperation:  # an exponent of many digits
        return False


def _is_whole(number: str) -> bool:
    return number.lstrip("+-").isdigit()


def say_bound(distance: float) -> str:
    """Write a distance with one digit, and never less than it is: ``3e-7``."""
    digits, _, power = f"{distance:.6e}".partition("e")
    if not power:
        return digits  # inf
    bound = Decimal(math.ceil(float(digits))).scaleb(int(power))
    return f"{bound:f}" if int(power) > -3 else f"{bound:.0e}"  # noqa: PLR2004 -- 0.03
