"""Grades the difference of two outputs of a cell: the same, rounding, or different."""

from __future__ import annotations

import itertools
import math
import sys
from decimal import Decimal, InvalidOperation
from html.parser import HTMLParser
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from ipytorchseed.checking.outputs import cleaner, say_pixels
from ipytorchseed.checking.verdict import Found
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.changes import ROUNDING

_NUMBER = lazy_pattern(
    # not within a word, a version, a colour; with or without commas between thousands
    r"(?<![\w.#])[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?!\d|\.\d)"
)
_RULE = lazy_pattern(r"([-=_─━═])\1+")
"""Rules of tables, whose length depends on the widest number."""

_SMALLEST = 1e-9
"""The least that differences are divided by: numbers that should be 0 have no correct digits."""


class Distance(Struct, frozen=True):
    """The difference of two texts that differ in numbers only.

    Attributes:
        count: The number of numbers in each.
        apart: How many of them differ.
        largest: The largest difference of two numbers, divided by the larger one.
        counts: Whether integers are among those that differ, which are not subject to rounding.
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
        Their difference; None where they differ in more than numbers.
    """
    pairs = zip(_NUMBER.split(before), _NUMBER.split(after), strict=False)
    numbers = [
        [found.replace(",", "") for found in _NUMBER.findall(each)] for each in (before, after)
    ]
    if len(numbers[0]) != len(numbers[1]) or any(_plain(x) != _plain(y) for x, y in pairs):
        return None
    apart = [(x, y) for x, y in zip(*numbers, strict=True) if x != y]
    if not apart:
        return None  # other blanks between the same numbers
    largest = max(itertools.starmap(_apart, apart))
    counts = any(_is_whole(x) and _is_whole(y) and not _is_equal(x, y) for x, y in apart)
    return Distance(len(numbers[0]), len(apart), largest, counts)


def _plain(words: str) -> str:
    return _RULE.sub(r"\1", " ".join(words.split()))


def _apart(before: str, after: str) -> float:
    one, other = float(before), float(after)
    if one == other:
        return 0.0 if _is_equal(before, after) else sys.float_info.epsilon
    larger = max(abs(one), abs(other), _SMALLEST)
    return abs(one - other) / larger if math.isfinite(larger) else math.inf


def _is_equal(before: str, after: str) -> bool:
    """Compare all digits, also those beyond the precision of a float."""
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


LEVELS = 8
"""The largest difference of a pixel's colours, of 255, that nobody sees."""

_BLANK = lazy_pattern(r"\s+")
_WIDTH = 66
_BEFORE = 24
"""The columns shown of a long line, and those of them before the first difference."""


_RANKS = (Found.SAME, Found.ROUNDING, Found.DIFFERENT)


class Grade(Struct, frozen=True):
    """The grade of two outputs.

    Attributes:
        found: Same, rounding or different.
        what: ``stdout``, ``stderr``, ``result``, ``display`` or ``error``.
        detail: The difference in a few words; empty where they are the same.
        saved: The first line of the earlier output that differs, or an excerpt of it.
        fresh: The same of the later output.
    """

    found: Found
    what: str
    detail: str = ""
    saved: str = ""
    fresh: str = ""

    @property
    def rank(self) -> int:
        """The place of its grade in the order same, rounding, different."""
        return _RANKS.index(self.found)


def grade_data(  # noqa: PLR0913 -- two outputs, and how to compare them
    what: str,
    kind: str,
    saved: Any,  # noqa: ANN401 -- as nbformat has it
    fresh: Any,  # noqa: ANN401 -- as above
    rtol: float | None,
    *,
    timed: bool = False,
) -> Grade:
    """Grade data of a MIME type.

    Args:
        what: The kind of output, as in ``Grade``.
        kind: The MIME type.
        saved: The earlier data, as nbformat has it.
        fresh: The later data.
        rtol: The largest relative difference of two numbers that counts as none; None to call a
            small one rounding.
        timed: Whether the cell reads a clock; differences in times are then ignored.

    Raises:
        ImportError: It is an image, and pillow is not installed.
    """
    before, after = map(cleaner(kind, timed=timed), (saved, fresh))
    if isinstance(before, tuple) and isinstance(after, tuple):
        detail = say_pixels(kind, before, after, LEVELS)
        return Grade(Found.DIFFERENT if detail else Found.SAME, what, detail)
    if isinstance(before, str) and isinstance(after, str):
        return grade_text(what, before, after, rtol, kind)
    if before == after:
        return Grade(Found.SAME, what)
    return Grade(Found.DIFFERENT, what, f"{kind} with other content")


def grade_text(what: str, saved: str, fresh: str, rtol: float | None, kind: str = "") -> Grade:
    """Grade a text; blanks at the ends of lines do not count.

    Args:
        what: The kind of output, as in ``Grade``.
        saved: The earlier text, without what varies by nature.
        fresh: The later text.
        rtol: As for ``grade_data``.
        kind: Its MIME type, where that is not plain text.
    """
    before, after = map(_as_seen, (saved, fresh))
    if before == after:
        return Grade(Found.SAME, what)
    distance = find_distance(before, after)
    found = _grade(distance, rtol)
    if found is Found.DIFFERENT and kind == "text/html":
        texts = [read_html(each) for each in (before, after)]
        if texts[0] and all("<table" in each for each in (before, after)):
            # other versions, and front ends, wrap tables in other markup
            return grade_text(what, texts[0], texts[1], rtol)
        before, after = texts if texts[0] != texts[1] else (before, after)
    if found is Found.SAME:
        return Grade(found, what)
    if distance is None:
        detail = _say_lines(before, after)
    elif found is Found.ROUNDING:
        detail = f"rounding, at most {say_bound(distance.largest)}"
    else:
        numbers = f"{distance.apart:,} of {distance.count:,} numbers differ"
        detail = f"{numbers}, by {say_bound(distance.largest)} at most"
    detail = detail if kind in {"", "text/plain"} else f"{kind}: {detail}"
    return Grade(found, what, detail, *_differing_lines(before, after, rtol))


def _as_seen(text: str) -> str:
    return "\n".join(line.rstrip(" \t") for line in text.split("\n")).strip("\n")


def _grade(distance: Distance | None, rtol: float | None) -> Found:
    if distance is None:
        return Found.DIFFERENT
    if rtol is not None:
        return Found.SAME if distance.largest <= rtol else Found.DIFFERENT
    rounded = not distance.counts and distance.largest <= ROUNDING
    return Found.ROUNDING if rounded else Found.DIFFERENT


def _say_lines(before: str, after: str) -> str:
    if not before or not after:
        return "nothing before, something now" if after else "something before, nothing now"
    if len({_BLANK.sub("", text) for text in (before, after)}) == 1:
        return "only blanks differ"
    counts = [text.count("\n") + 1 for text in (before, after)]
    if counts[0] == counts[1]:
        return "other text"
    return f"{counts[0]:,} → {counts[1]:,} lines"


def _differing_lines(before: str, after: str, rtol: float | None) -> tuple[str, str]:
    """Return the first lines that differ by more than rounding, or that differ at all."""
    pairs = zip_longest(before.split("\n"), after.split("\n"), fillvalue="")
    apart = [pair for pair in pairs if pair[0] != pair[1]]
    first = next(
        (pair for pair in apart if _grade(find_distance(*pair), rtol) is Found.DIFFERENT), apart[0]
    )
    columns = enumerate(zip_longest(*first))
    begin = max(0, next(at for at, (x, y) in columns if x != y) - _BEFORE)
    return _excerpt(first[0], begin), _excerpt(first[1], begin)


def _excerpt(line: str, begin: int) -> str:
    if len(line) <= _WIDTH:
        return line.strip()
    begin = min(begin, len(line) - _WIDTH)
    shown = line[begin : begin + _WIDTH]
    return f"{'…' * (begin > 0)}{shown.strip()}{'…' * (begin + _WIDTH < len(line))}"


# --------------------------------------------------------------------------------------------------
# HTML as it is read

_UNSEEN = frozenset({"script", "style", "head", "title", "template"})
_CELL = frozenset({"td", "th"})
_IN_LINE = frozenset({"a", "b", "code", "em", "i", "small", "span", "strong", "sub", "sup", "u"})


class _Text(HTMLParser):
    """Collects the visible text of HTML, with a line for each row of a table."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 -- the parser's
        self._unseen += tag in _UNSEEN
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in _UNSEEN and self._unseen > 0
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.said.append(_BLANK.sub(" ", data))

    def _break(self, tag: str) -> None:
        if tag not in _IN_LINE:
            self.said.append("  " if tag in _CELL else "\n")


def read_html(html: str) -> str:
    """Return the visible text of HTML."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.said).split("\n"))
    return "\n".join(line for line in lines if line)
