"""What lies behind a changed input is told of the run that made it as it was, and of no other."""

from __future__ import annotations

import pytest

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
