"""Compares the outputs of two runs of a cell: the same, rounding, or different."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from html.parser import HTMLParser
from itertools import zip_longest
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.checking.outputs import (
    STREAMS,
    WIDGET,
    Outputs,
    cleaner,
    error_text,
    say_pixels,
    stream_text,
    without_ours,
)
from ipytorchseed.checking.verdict import Found
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.session.outputs import text_value
from ipytorchseed.why.changes import ROUNDING
from ipytorchseed.why.explanation import Change
from ipytorchseed.why.value_changes import how_far

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
        largest: The largest difference of two numbers, divided by the larger one.
        counts: Whether integers are among those that differ, which are not subject to rounding.
    """

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
    return Distance(largest, counts)


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
"""The largest difference of a pixel's colours, of 255, that is invisible."""

EXACT = -1.0
"""A limit for differences within which no two numbers are: for runs with the same libraries."""

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

    @property
    def change(self) -> Change:
        """The difference as reports have it."""
        return Change(self.what, "", self.detail)


def compare_outputs(
    before: Outputs, after: Outputs, rtol: float | None = EXACT, *, timed: bool = False
) -> tuple[Grade, ...]:
    """Return the grades of the outputs of a cell that are not the same.

    Addresses, execution counts, ids of widgets and of HTML elements, progress bars and the timings
    of ``%time`` make no difference; nor does how printed text was cut into pieces.

    Args:
        before: The earlier outputs, as nbformat has them.
        after: The later ones.
        rtol: The largest relative difference of two numbers that counts as none; None to call a
            small one rounding.
        timed: Whether the cell reads a clock; differences in printed times are then ignored.

    Raises:
        ImportError: One is an image, and pillow is not installed.
    """
    before, after = map(without_ours, (before, after))
    grades = _grade_outputs(before, after, rtol, timed=timed)
    return tuple(each for each in grades if each.found is not Found.SAME)


def _grade_outputs(
    before: Outputs, after: Outputs, rtol: float | None, *, timed: bool
) -> Iterator[Grade]:
    for name in STREAMS:
        earlier, later = (stream_text(each, name, timed=timed) for each in (before, after))
        yield grade_text(name, earlier, later, rtol)
    shown = [[each for each in outputs if "data" in each] for outputs in (before, after)]
    if len(shown[0]) != len(shown[1]):
        counts = f"{len(shown[0])} and {len(shown[1])} shown"
        yield Grade(Found.DIFFERENT, "display", counts)
    else:
        for one, other in zip(*shown, strict=True):
            yield _grade_bundle(one, other, rtol, timed=timed)
    earlier, later = error_text(before), error_text(after)
    detail = " → ".join((each or "no error").removesuffix(":") for each in (earlier, later))
    yield replace(grade_text("error", earlier, later, rtol), detail=detail)


def _grade_bundle(
    before: Mapping[str, Any], after: Mapping[str, Any], rtol: float | None, *, timed: bool
) -> Grade:
    """Return the worst grade of two displays or results, among their MIME types."""
    what = str(after["output_type"]).removeprefix("execute_").removesuffix("_data")
    pairs = [
        {kind: data for kind, data in each["data"].items() if not kind.startswith(WIDGET)}
        for each in (before, after)
    ]
    if pairs[0].keys() != pairs[1].keys():
        kinds = (", ".join(sorted(pair)) or "nothing" for pair in pairs)
        return Grade(Found.DIFFERENT, what, " → ".join(kinds))
    grades = [
        _grade_data(what, kind, pairs[0][kind], pairs[1][kind], rtol, timed=timed)
        for kind in sorted(pairs[1], key="text/plain".__ne__)
    ]
    return max(grades, key=lambda each: each.rank, default=Grade(Found.SAME, what))


def _grade_data(  # noqa: PLR0913 -- two outputs, and how to compare them
    what: str,
    kind: str,
    saved: Any,  # noqa: ANN401 -- as nbformat has it
    fresh: Any,  # noqa: ANN401 -- as above
    rtol: float | None,
    *,
    timed: bool,
) -> Grade:
    """Grade data of a MIME type."""
    before, after = map(cleaner(kind, timed=timed), (saved, fresh))
    if isinstance(before, tuple) and isinstance(after, tuple):
        detail = say_pixels(kind, before, after, 0 if rtol == EXACT else LEVELS)
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
        rtol: As for ``compare_outputs``.
        kind: Its MIME type, where that is not plain text.
    """
    before, after = map(_as_seen, (saved, fresh))
    if before == after:
        return Grade(Found.SAME, what)
    distance = find_distance(before, after)
    found = _grade(distance, rtol)
    if found is Found.DIFFERENT and kind == "text/html" and rtol != EXACT:
        texts = [read_html(each) for each in (before, after)]
        if texts[0] and all("<table" in each for each in (before, after)):
            # other versions, and front ends, wrap tables in other markup
            return grade_text(what, texts[0], texts[1], rtol)
        before, after = texts if texts[0] != texts[1] else (before, after)
    if found is Found.SAME:
        return Grade(found, what)
    if found is Found.ROUNDING and distance is not None:
        detail = f"rounding, at most {say_bound(distance.largest)}"
    else:
        detail = _say_texts(before, after)
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


def _say_texts(before: str, after: str) -> str:
    if not before or not after:
        return "nothing → something" if after else "something → nothing"
    if len({_BLANK.sub("", text) for text in (before, after)}) == 1:
        return "only blanks differ"
    return how_far(text_value(before), text_value(after))


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
