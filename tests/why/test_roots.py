"""What lies behind a changed input is told of the run that made it as it was, and of no other."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.render.explanations import (
    AGAIN,
    DONE,
    MORE,
    SHUFFLED,
    START,
    TRAINED,
    UNTRAINED,
    States,
    explain,
    number,
    run,
    states,
)

READ = "loss = test(model)"
MAKE = "model = Net()"


@pytest.mark.parametrize(
    ("between", "told"),
    [
        (run(2, "train(model)", reads={"model": UNTRAINED}, writes={"model": DONE}), True),
        (run(2, "model = Other()", cell="other", writes={"model": DONE}), False),
    ],
)
def test_another_cell_that_made_it_anew_ends_the_search(between, told):
    """One that trained it does not: it went on from what the first cell had made."""
    runs = [
        run(1, MAKE, **states(START, TRAINED), writes={"model": UNTRAINED}),
        between,
        run(3, READ, reads={"model": DONE}, writes={"loss": number(2.3)}),
        run(4, MAKE, **states(SHUFFLED, AGAIN), writes={"model": MORE}),
        run(5, READ, reads={"model": MORE}, writes={"loss": number(1.9)}),
    ]
    (cause,) = explain(runs[4], runs[2], runs[2:4], States(runs)).causes
    assert cause.name == "model"
    assert ("behind it: torch.cpu began elsewhere" in cause.message) is told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("noise = torch.randn(3)\nrate = 0.1", False),
        ("rate = {'first': 0.1}\nnoise = torch.randn(3)", False),
        ("rate = 0.1\nrate += float(torch.randn(3)[0])", True),
        ("rate = kept = [0.1]\nkept += torch.randn(3).tolist()", True),
        ("rate = [0.1]\nadd(torch.randn(3), rate)", True),
        ("rate = float(torch.randn(3)[0])", True),
        ("def draw():\n    global rate\n    rate = torch.randn(3)\nrate = 0.1\ndraw()", True),
    ],
)
def test_no_source_lies_behind_what_a_cell_sets_to_a_constant(text, told):
    """That the cell was edited is all that lies behind it."""
    kind = "list" if "[0.1]" in text else "float"
    first, second = (replace(number(each), kind=kind) for each in (0.1, 0.3))
    runs = [
        run(1, text, **states(START, TRAINED), writes={"rate": first}, cell="maker"),
        run(2, READ, reads={"rate": first}, writes={"loss": number(2.3)}),
        run(3, text.replace("0.1", "0.3").replace("(3)", "(4)"), **states(SHUFFLED, AGAIN),
            writes={"rate": second}, cell="maker"),
        run(4, READ, reads={"rate": second}, writes={"loss": number(1.9)}),
    ]  # fmt: skip
    (cause,) = explain(runs[3], runs[1], runs[1:3], States(runs)).causes
    assert ("torch.cpu began elsewhere" in cause.message) is told
    assert "edited" in cause.message


@pytest.mark.parametrize(
    ("line", "told"),
    [("noise = np.random.rand(3)", False), ("x = x + np.random.rand()", True)],
)
def test_what_acts_on_another_variable_of_the_maker_is_not_behind_it(line, told):
    """An edit and draws that the text of the maker leads to other variables only."""
    runs = [
        run(1, "x = data * 2", **states(START, TRAINED), reads={"data": number(1)},
            writes={"x": number(2)}, cell="maker"),
        run(2, READ, reads={"x": number(2)}, writes={"loss": number(2.3)}),
        run(3, f"x = data * 2\n{line}", **states(SHUFFLED, AGAIN), reads={"data": number(3)},
            writes={"x": number(6)}, cell="maker"),
        run(4, READ, reads={"x": number(6)}, writes={"loss": number(1.9)}),
    ]  # fmt: skip
    (cause,) = explain(runs[3], runs[1], runs[1:3], States(runs)).causes
    assert "behind it: " in cause.message
    assert "data 1 → 3" in cause.message
    assert ("edited" in cause.message) is ("began elsewhere" in cause.message) is told
