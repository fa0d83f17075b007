"""Measures how much two texts differ, number by number."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ipytorchseed.checking.grading import Distance, find_distance, say_bound, say_rounding

PAIRS = {
    "one of two": ("loss 0.5, epoch 1", "loss 0.25, epoch 1", (0.5, False)),
    "a whole number": ("n = 10", "n = 8", (0.2, True)),
    "thousands": ("1,000.0 s", "1,250.0 s", (0.2, False)),
    "a sign that takes a blank": ("[ 0.5 1. ]", "[-0.5 1. ]", (2.0, False)),
    "the end of a sentence": ("It is 0.5.", "It is 0.4.", (0.2, False)),
    "a wider table": ("| 0.5 |\n+---+", "| 0.25  |\n+------+", (0.5, False)),
    "another line break": ("[0.5 0.5\n 1]", "[0.25 0.5 1]", (0.5, False)),
    "the same value": ("x 0.50", "x 0.5", (0.0, False)),
    "what is left of zero": ("1e-17", "-1e-17", (2e-8, False)),
    "other blanks": ("a  1", "a 1", (0.0, False)),
    "other blanks at a bracket": ("[ 1. 2.]", "[1. 2.]", (0.0, False)),
    "with and without commas": ("1,234", "1234", (0.0, False)),
    "no end": ("1e999", "1", (math.inf, True)),
}


@pytest.mark.parametrize("case", PAIRS)
def test_texts_that_differ_in_numbers(case):
    """The largest difference, and whether integers differ."""
    before, after, (largest, counts) = PAIRS[case]
    for pair in ((before, after), (after, before)):
        found = find_distance(*pair)
        assert found.largest == pytest.approx(largest)
        assert found.counts is (counts and case != "no end")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a 1", "b 1"),
        ("1 2", "1 2 3"),
        ("torch 2.13.0", "torch 2.14.0"),
        ("#1f77b4", "#2f77b4"),
        ("x1", "x2"),
        ("nan", "0.5"),
        ("a b 1", "ab 1"),
        ("run 007", "run 008"),
        ("at 2024-01-05", "at 2024-01-06"),
        (f"{2**70}", f"{2**70 + 1}"),
        ("0.5 kg", "0.6 lb"),
    ],
)
def test_texts_that_differ_in_more(before, after):
    """Words, versions, names, digits that are a name: there is no distance."""
    assert find_distance(before, after) is None


NUMBERS = st.floats(-1e12, 1e12).filter(lambda number: abs(number) > 1e-6)
WORDS = st.text(st.characters(categories=["L", "Zs", "Po"], exclude_characters=".,#"), max_size=8)


@given(
    WORDS,
    st.lists(NUMBERS, min_size=1),
    st.data(),
    st.floats(1e-14, 0.1),
    st.floats(1e-12, 0.1),
)
def test_any_numbers_moved_a_little(word, numbers, data, move, rtol):
    """The distance is at most R exactly if the numbers moved by at most R.

    The text in between does not matter.
    """
    place = data.draw(st.integers(0, len(numbers) - 1))
    moved = [*numbers]
    moved[place] *= 1 + move
    texts = [f"{word} ".join(["", *map(repr, each)]) for each in (numbers, moved)]
    assume(texts[0] != texts[1])
    found = find_distance(*texts)
    if move < rtol / 1.01:
        assert found.largest <= rtol
    if move > rtol * 1.2 + 1e-14:
        assert found.largest > rtol


@given(st.text(), st.text())
def test_any_texts(before, after):
    """Nothing is raised, and the order does not matter."""
    found = find_distance(before, after)
    assert found == find_distance(after, before)
    if before == after:
        assert found == Distance()


@given(st.floats(0, exclude_min=True))
def test_a_bound_is_never_less(distance):
    """One digit, rounded up."""
    said = say_bound(distance)
    assert float(said) >= distance * (1 - 1e-6)
    assert float(said) <= distance * 2.1
    assert len(said.strip("0.").partition("e")[0]) <= 1 or said == "inf"


def test_bounds_as_people_write_them():
    """A power of ten only where it is shorter."""
    said = [say_bound(each) for each in (3e-7, 3.01e-7, 9.5e-7, 0.021, 0.5, 1.0, 12.0, 0.0)]
    assert said == ["3e-7", "4e-7", "1e-6", "0.03", "0.5", "1", "20", "0"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("0.3", "0.30000001", "rounding, at most 4e-8 of the value"),
        ("5e-9", "-3e-9", "rounding of what should be 0"),
        ("1.0 5e-9", "1.000001 3e-9", "rounding, at most 1e-6 of the value"),
    ],
)
def test_what_rounding_is_relative_to(before, after, said):
    """A part of the value; what is left of 0 has no digit that is right."""
    assert say_rounding(find_distance(before, after)) == said
