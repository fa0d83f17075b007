"""An edit is described in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipytorchseed.why.edits import say_edit

LONG = "opt = torch.optim.SGD(model.parameters(), lr=3e-3)"
ROWS = "\n".join(f"a{place} = 1" for place in range(20))
TEXTS = st.text("ab=<,()[]{}'\" \n", max_size=60)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("n = 10", "n = 20", "`n = 10` → `n = 20`"),
        ("a = 1\nb = 2\nc = 3", "a = 2\nb = 2\nc = 4", "`a = 1` → `a = 2` and `c = 3` → `c = 4`"),
        ("a = 1", "a = 1\nprint(a)", "added `print(a)`"),
        ("a = 1\nprint(a)", "a = 1", "removed `print(a)`"),
        ("a = 1", "a = 2\nprint(a)", "now `a = 2` and `print(a)`"),
        ("if a:\n    b = 1", "if a:\n  b = 1", "the indentation of `b = 1`"),
        (LONG, LONG.replace("3e-3", "1e-2"), "`lr=3e-3` → `lr=1e-2`"),
        (
            LONG,
            LONG.replace("3e-3", "3e-3, momentum=0.9"),
            f"`{LONG}` → `{LONG.replace('3e-3', '3e-3, momentum=0.9')}`",
        ),
        (LONG, LONG.replace(", lr=3e-3", ""), f"`{LONG}` → `{LONG.replace(', lr=3e-3', '')}`"),
        (
            "df = df[df.age > 30].groupby('town').mean().reset_index()",
            "df = df[df.age > 35].groupby('town').mean().reset_index()",
            "`df.age > 30` → `df.age > 35`",
        ),
        (
            "model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))",
            "model = nn.Sequential(nn.Linear(4, 9), nn.Linear(9, 2))",
            "`model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))` →"
            " `model = nn.Sequential(nn.Linear(4, 9), nn.Linear(9, 2))`",
        ),
    ],
)
def test_up_to_two_lines_are_told(before, after, told):
    """Of a long line, it is the keyword argument or comparison that was edited."""
    assert say_edit(before, after) == (told, "")


def test_further_lines_are_shown_as_a_diff():
    """A long diff ends with the number of its other lines."""
    told, diff = say_edit(ROWS, ROWS.replace("1", "2"))
    assert told.startswith("`a0 = 1` → `a0 = 2` and ")
    assert diff.splitlines()[-1].endswith("more lines")
    assert say_edit("a\nb\nc", "d\ne\nf")[1] == "-a\n-b\n-c\n+d\n+e\n+f"


@given(TEXTS, TEXTS)
def test_any_edit_is_described(before, after):
    """The description is never empty, whatever the brackets and quotation marks."""
    told, _ = say_edit(before, after)
    assert told
    assert "\n" not in told
