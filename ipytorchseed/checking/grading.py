"""Compares the outputs of two runs of a cell: the same, rounding, or different."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from msgspec.structs import replace

from ipytorchseed.checking.distance import Distance, find_distance, say_rounding
from ipytorchseed.checking.html_text import read_html
from ipytorchseed.checking.notebook import Cell
from ipytorchseed.checking.outputs import (
    STREAMS,
    WIDGET,
    Outputs,
    Pixels,
    clean,
    error_text,
    say_pixels,
    stream_text,
    tells_addresses,
    without_addresses,
    without_ours,
)
from ipytorchseed.checking.spelling import in_one_spelling
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.entropy import reads_clock
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.reads.shell import prints_no_result
from ipytorchseed.session.outputs import text_value
from ipytorchseed.why.changes import ROUNDING, SHOWN_OTHERWISE
from ipytorchseed.why.explanation import Change
from ipytorchseed.why.value_changes import how_far

# The largest invisible difference of a pixel's colours, out of 255.
LEVELS = 8

# A relative limit that no difference meets, not even 0: for runs with the same libraries.
EXACT = -1.0

_BLANK = lazy_pattern(r"\s+")

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


def grade_cell(  # noqa: PLR0913, PLR0917 -- two outputs, and how to compare them
    cell: Cell,
    before: Outputs,
    after: Outputs,
    run: Run | None,
    rtol: float | None = EXACT,
    code: str = "",
) -> tuple[Grade, ...]:
    """Return the grades of a cell's outputs that count as results and differ.

    Args:
        cell: The cell.
        before: The cell's earlier outputs.
        after: The cell's later outputs.
        run: The record of the cell's later run; None if there is none.
        rtol: As for ``compare_outputs``.
        code: The text of the functions that the cell calls.
    """
    if is_inspection(cell.source):
        return ()  # our own reports are not results
    if run is not None and tells_addresses(f"{cell.source}\n{code}", run.missing):
        before, after = map(without_addresses, (before, after))
    timed = run is not None and reads_clock(run.nondeterministic_calls)
    no_results = STREAMS if prints_no_result(cell.source) else ()
    grades = compare_outputs(before, after, rtol, timed=timed)
    return tuple(each for each in grades if each.what not in no_results)


def compare_outputs(
    before: Outputs, after: Outputs, rtol: float | None = EXACT, *, timed: bool = False
) -> tuple[Grade, ...]:
    """Return the grades of a cell's outputs that differ, or that look different.

    Ignored differences: addresses, execution counts, ids of widgets and HTML elements, progress
    bars, timings of ``%time``, and how printed text was split.

    Args:
        before: The earlier outputs, in nbformat's form.
        after: The later outputs.
        rtol: The largest relative difference of two numbers that is ignored; None to report a
            small one as rounding.
        timed: Whether the cell reads a clock; differences in printed times are then ignored.
    """
    before, after = without_ours(before), without_ours(after)
    grades = []
    for name in STREAMS:
        earlier, later = (stream_text(each, name, timed=timed) for each in (before, after))
        grades.append(grade_text(name, earlier, later, rtol))
    shown = [[each for each in outputs if "data" in each] for outputs in (before, after)]
    if len(shown[0]) == len(shown[1]):
        pairs = zip(*shown, strict=True)
        grades += [_grade_bundle(one, other, rtol, timed=timed) for one, other in pairs]
    else:
        grades.append(Grade("display", detail=f"{len(shown[0])} and {len(shown[1])} shown"))
    earlier, later = error_text(before), error_text(after)
    error = grade_text("error", earlier, later, rtol)
    detail = " → ".join((each or "no error").removesuffix(":") for each in (earlier, later))
    grades.append(replace(error, detail=error.detail and detail))
    return tuple(each for each in grades if each.detail)


def _grade_bundle(
    before: Mapping[str, Any], after: Mapping[str, Any], rtol: float | None, *, timed: bool
) -> Grade:
    """Return the worst grade of two displays or results, among their MIME types.

    The plain text of a picture is ignored, because front ends do not show it.
    """
    what = str(after["output_type"]).removeprefix("execute_").removesuffix("_data")
    pairs = [
        {
            kind: clean(kind, data, timed=timed)
            for kind, data in each["data"].items()
            if not kind.startswith(WIDGET)
        }
        for each in (before, after)
    ]
    if pairs[0].keys() != pairs[1].keys():
        kinds = (", ".join(sorted(pair)) or "nothing" for pair in pairs)
        return Grade(what, detail=" → ".join(kinds))
    pictured = any(kind.startswith("image/") for kind in pairs[1])
    grades = [
        _grade_data(what, kind, pairs[0][kind], pairs[1][kind], rtol)
        for kind in sorted(pairs[1], key="text/plain".__ne__)
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
        rtol: As for ``compare_outputs``.
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
    if len({_BLANK.sub("", text) for text in (before, after)}) == 1:
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
