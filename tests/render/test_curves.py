"""Series of numbers as lines of blocks and as SVG without script."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipytorchseed.render.curves import BOX, draw_curves, sparklines
from ipytorchseed.render.view import fill


def curves_svg(before, after):
    """Return the drawing as it is in the HTML of ``%why``."""
    return fill("curves", paths=draw_curves(before, after), box=BOX)


NUMBERS = st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=700)


@given(NUMBERS)
def test_any_series_is_a_line_of_blocks(series):
    """One block for each of at most 60 numbers; non-finite ones are question marks."""
    for line in sparklines(series, series[::-1]):
        assert len(line) == min(len(series), 60)
        assert set(line) <= set("▁▂▃▄▅▆▇█?")


def test_a_line_rises_and_falls_with_its_numbers():
    """Both series have one scale; the scale of the difference starts at zero."""
    assert sparklines([0, 1, 2, 3, 4, 5, 6, 7], [0]) == ["▁▂▃▄▅▆▇█", "▁", "▄"]
    assert sparklines([7, 0, 7], [0, 0, 0]) == ["█▁█", "▁▁▁", "█▁█"]
    assert sparklines([7, 7], [0, 3]) == ["██", "▁▄", "█▅"]
    assert sparklines([2, 2], [2, 2])[:2] == ["▄▄", "▄▄"]
    assert sparklines([0, math.nan, 1], [0, 0, 0]) == ["▁?█", "▁▁▁", "▁?█"]
    assert sparklines([math.inf], [])[0] == "?"
    assert sparklines([], []) == ["", "", ""]


@given(NUMBERS, NUMBERS)
def test_any_two_series_are_a_drawing(before, after):
    """It is well-formed and small, with finite coordinates inside its frame."""
    svg = curves_svg(before, after)
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert "script" not in svg
    assert len(svg) < 20_000
    for path in root.iter("path"):
        for point in path.get("d").removeprefix("M").split("L"):
            if point:
                x, y = map(float, point.split())
                assert -1 <= x <= 421
                assert -1 <= y <= 87


@pytest.mark.parametrize("value", [1e308, -1e308, 5e-324])
def test_extremes_do_not_overflow(value):
    """The range of a series may be larger than the largest number."""
    assert "nan" not in curves_svg([value, -value, 0.0], [0.0, value, -value])
    assert "?" not in "".join(sparklines([value, -value], [0.0])[:2])
