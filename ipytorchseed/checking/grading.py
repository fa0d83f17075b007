"""Compares the outputs of two runs of a cell: the same, rounding, or different."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.checking.outputs import BLANK, STREAMS, Pixels, Shown, read_html, say_pixels
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.session.outputs import text_value
from ipytorchseed.why.changes import ROUNDING, SHOWN_OTHERWISE
from ipytorchseed.why.explanation import Change
from ipytorchseed.why.value_changes import how_far

NUMBER = lazy_pattern(
    # Not in a word, a version or a colour. Commas between thousands are optional. Digits that
    # start with a zero, or are too many for a float, count as a name.
    r"(?<![\w.#])[-+]?(?!0\d|\d{16})"
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?!\d|\.\d)"
)

# Horizontal rules of tables, whose length depends on the widest number.
_RULE = lazy_pattern(r"([-=_─━═])\1+")

_AROUND_SIGNS = lazy_pattern(r" ?([^\w\s]) ?")

# The smallest divisor of a difference: numbers that should be 0 have no correct digits.
_SMALLEST = 1e-9

# The largest difference of two numbers that rounding may explain near 0; numpy's ``atol``.
_ZERO = 1e-8


class Distance(Struct):
    """The difference of two texts that differ only in numbers, whitespace and rules.

    Attributes:
        largest: The largest difference of two numbers, divided by the larger one.
        counts: Whether integers differ, which is never rounding.
        beyond_zero: Like ``largest``, without differences that rounding may explain near 0.
    """

    largest: float = 0.0
    counts: bool = False
    beyond_zero: float = 0.0


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
    found = Distance()
    for pair in zip(*numbers, strict=True):
        one, other = map(float, pair)
        if one != other:
            step, larger = abs(one - other), max(abs(one), abs(other), _SMALLEST)
            relative = step / larger if math.isfinite(larger) else math.inf
            found.largest = max(found.largest, relative)
            found.counts |= all(each.lstrip("+-").isdigit() for each in pair)
            found.beyond_zero = max(found.beyond_zero, relative if step > _ZERO else 0.0)
    return found


def _plain(words: str) -> str:
    return _AROUND_SIGNS.sub(r"\1", _RULE.sub(r"\1", " ".join(words.split())))


def say_rounding(distance: Distance) -> str:
    """Describe a difference that is rounding."""
    relative = distance.beyond_zero or distance.largest
    if relative > ROUNDING:
        return "rounding of what should be 0"
    return f"rounding, at most {say_bound(relative)} of the value"


def say_bound(distance: float) -> str:
    """Return a distance, rounded up to one digit: ``3e-7``."""
    digits, _, power = f"{distance:.6e}".partition("e")
    if not power:
        return digits  # inf
    bound = Decimal(math.ceil(float(digits))).scaleb(int(power))
    return f"{bound:f}" if int(power) > -3 else f"{bound:.0e}"  # noqa: PLR2004 -- 0.03


_SIZED = r"(?:u?int|float|datetime|timedelta)\d+"
_OTHERS = r"u?intc|u?longlong|longdouble|bool_?|str_|bytes_"

# numpy 2 names the type: np.int64(19)
_SPELLINGS = [
    (lazy_pattern(r"\bnumpy\.(?=\w+\()"), "np."),
    (lazy_pattern(r"\bnp\.c(?:omplex\d+|longdouble)\(([^()]*)\)"), r"(\1)"),
    (lazy_pattern(rf"\bnp\.(?:{_SIZED}|{_OTHERS})\(([^()]*)\)"), r"\1"),
    (lazy_pattern(r"\bnp\.(True|False)_(?!\w)"), r"\1"),
]

# An object shown only by its class and address, as ``without_noise`` leaves it.
_BARE = lazy_pattern(r"<[\w.]+(?: object)? at>")

# Any object; matplotlib's ``AxesSubplot`` is now an ``Axes``.
_OBJECT = lazy_pattern(r"<(?:\w+\.)*+(\w+?)(?:Subplot)?\b[^<>]*+>")


def in_one_spelling(before: str, after: str) -> tuple[str, str]:
    """Return two texts with equal values written alike.

    If one text shows an object only by its class, so does the other.

    Args:
        before: The earlier text, without parts that differ in every run.
        after: The later text, also without them.
    """
    texts = before, after
    for pattern, instead in _SPELLINGS:
        texts = pattern.sub(instead, texts[0]), pattern.sub(instead, texts[1])
    if any(_BARE.search(each) for each in texts):
        texts = _OBJECT.sub(r"<\1>", texts[0]), _OBJECT.sub(r"<\1>", texts[1])
    return texts


# The largest invisible difference of a pixel's colours, out of 255.
LEVELS = 8

# A relative limit that no difference meets, not even 0: for runs with the same libraries.
EXACT = -1.0

# Columns shown of a long line, and how many of them are before the first difference.
_WIDTH = 66
_BEFORE = 24


class Found(enum.Enum):
    """The result of one comparison; the first three are ordered from best to worst."""

    SAME = "same"
    ROUNDING = "rounding"
    DIFFERENT = "different"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


class Grade(Change, frozen=True, kw_only=True):
    """The grade of two outputs; its ``detail`` is empty if they are the same.

    Attributes:
        found: Same, rounding or different.
        saved: The first line of the earlier output that differs, or an excerpt of it.
        fresh: The line of the later output in the same place, or an excerpt of it.
    """

    found: Found = Found.DIFFERENT
    saved: str = ""
    fresh: str = ""


def worst(grades: Sequence[Grade]) -> Grade:
    """Return the first of the worst grades."""
    return max(grades, key=lambda each: [*Found].index(each.found))


def compare_shown(before: Shown, after: Shown, rtol: float | None = EXACT) -> tuple[Grade, ...]:
    """Return the grades of what a cell shows that differs, or that looks different.

    Args:
        before: What it showed earlier.
        after: What it showed later.
        rtol: The largest relative difference of two numbers that is ignored; None to report a
            small one as rounding.
    """
    grades = [grade_text(each, before.texts[each], after.texts[each], rtol) for each in STREAMS]
    counts = len(before.displays), len(after.displays)
    if counts[0] == counts[1]:
        pairs = zip(before.displays, after.displays, strict=True)
        grades += [_grade_bundle(what, one, other, rtol) for (_, one), (what, other) in pairs]
    else:
        grades.append(Grade("display", detail=f"{counts[0]} and {counts[1]} shown"))
    texts = before.texts["error"], after.texts["error"]
    detail = " → ".join((each or "no error").removesuffix(":") for each in texts)
    error = grade_text("error", *texts, rtol)
    grades.append(replace(error, detail=error.detail and detail))
    return tuple(each for each in grades if each.detail)


def _grade_bundle(
    what: str, before: Mapping[str, object], after: Mapping[str, object], rtol: float | None
) -> Grade:
    """Return the worst grade of two displays or results, among their MIME types.

    The plain text of a picture is ignored, because front ends do not show it.
    """
    if before.keys() != after.keys():
        kinds = (", ".join(sorted(each)) or "nothing" for each in (before, after))
        return Grade(what, detail=" → ".join(kinds))
    pictured = any(kind.startswith("image/") for kind in after)
    grades = [
        _grade_data(what, kind, before[kind], after[kind], rtol)
        for kind in sorted(after, key="text/plain".__ne__)
        if not (pictured and kind == "text/plain")
    ]
    return worst(grades) if grades else Grade(what, found=Found.SAME)


def _grade_data(what: str, kind: str, before: object, after: object, rtol: float | None) -> Grade:
    """Grade the cleaned data of one MIME type."""
    if isinstance(before, Pixels) and isinstance(after, Pixels):
        detail = say_pixels(kind, before, after, 0 if rtol == EXACT else LEVELS)
    elif isinstance(before, str) and isinstance(after, str):
        return grade_text(what, before, after, rtol, kind)
    else:
        detail = "" if before == after else f"{kind} with different content"
    return Grade(what, detail=detail, found=Found.DIFFERENT if detail else Found.SAME)


def grade_text(what: str, saved: str, fresh: str, rtol: float | None, kind: str = "") -> Grade:
    """Compare two texts and return the grade, ignoring spaces at the ends of lines.

    Args:
        what: The kind of output, as in ``Grade``.
        saved: The earlier text, without parts that differ in every run.
        fresh: The later text, also without them.
        rtol: As for ``compare_shown``.
        kind: The MIME type; empty for plain text.
    """
    shown = before, after = _as_seen(saved), _as_seen(fresh)
    if before == after:
        return Grade(what, found=Found.SAME)
    plain = kind in {"", "text/plain"}
    if plain and rtol != EXACT:
        before, after = in_one_spelling(before, after)
    distance = find_distance(before, after)
    found = _grade(distance, rtol)
    if found is Found.DIFFERENT and kind == "text/html" and rtol != EXACT:
        texts = [read_html(each) for each in (before, after)]
        if texts[0] and all("<table" in each for each in (before, after)):
            # library versions and front ends wrap tables in different markup
            return grade_text(what, texts[0], texts[1], rtol)
        before, after = texts if texts[0] != texts[1] else (before, after)
    if found is Found.SAME:
        within = distance is not None and distance.largest
        detail, (before, after) = "" if within else SHOWN_OTHERWISE, shown
    else:
        rounding = distance if found is Found.ROUNDING else None
        detail = say_rounding(rounding) if rounding else _say_texts(before, after)
        detail = detail if plain else f"{kind}: {detail}"
    lines = _differing_lines(before, after, rtol)
    return Grade(what, detail=detail, found=found, saved=lines[0], fresh=lines[1])


def _as_seen(text: str) -> str:
    return "\n".join(line.rstrip(" \t") for line in text.split("\n")).strip("\n")


def _grade(distance: Distance | None, rtol: float | None) -> Found:
    if distance is None:
        return Found.DIFFERENT
    if rtol is not None:
        return Found.SAME if distance.largest <= rtol else Found.DIFFERENT
    if not distance.largest:
        return Found.SAME
    rounded = not distance.counts and distance.beyond_zero <= ROUNDING
    return Found.ROUNDING if rounded else Found.DIFFERENT


def _say_texts(before: str, after: str) -> str:
    if not before or not after:
        return "nothing → something" if after else "something → nothing"
    if len({BLANK.sub("", text) for text in (before, after)}) == 1:
        return "only whitespace differs"
    return how_far(text_value(before), text_value(after))


def _differing_lines(before: str, after: str, rtol: float | None) -> tuple[str, str]:
    """Return the first lines that differ by more than rounding, or else at all."""
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
