"""Recorded actions of a run clear inputs and sources if there is another cause."""

from __future__ import annotations

from tests.render.explanations import AGAIN, START, TRAINED, States, explain, number, run


def test_a_source_that_only_imports_drew_from_is_no_cause():
    """Without the recorded imports, it is a cause."""
    moved = [(START, TRAINED), (TRAINED, AGAIN)]

    def causes(**more):
        runs = [
            run(n, "import tools\nout = use(rate)", reads={"rate": number(10 * n)},
                writes={"out": number(n)}, before={"numpy": begin}, after={"numpy": end}, **more)
            for n, (begin, end) in enumerate(moved, start=1)
        ]  # fmt: skip
        said = explain(runs[1], runs[0], runs[:1], States(runs))
        return {cause.name for cause in said.causes}

    assert causes() == {"rate", "numpy"}
    assert causes(imported=("numpy",)) == {"rate"}
