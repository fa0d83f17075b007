"""What a run records of its code clears an input or a source, beside a cause."""

from __future__ import annotations

import pytest

from tests.render.explanations import AGAIN, START, TRAINED, States, explain, number, run, value


def cleared(reads, **more):
    """Return what is cleared beside a changed rate, by name.

    Args:
        reads: What each of two runs read of ``it``.
        **more: What is recorded of both runs.
    """
    runs = [
        run(n, "out = use(it, rate)", reads={"it": read, "rate": number(10 * n)},
            writes={"out": number(n)}, **more)
        for n, read in enumerate(reads, start=1)
    ]  # fmt: skip
    said = explain(runs[1], runs[0], runs[:1], States(runs))
    assert "rate" in [cause.name for cause in said.causes]
    return {each.name: each.message for each in said.cleared}


def differing(kind, part):
    """Return two values of a kind that differ in a part."""
    return [value(f"0{n}", kind, parts={part: f"{n}"}) for n in (1, 2)]


@pytest.mark.parametrize(
    ("kind", "part", "record", "reason"),
    [
        ("object", "a:calls", {"counted": ("calls",)}, "differs only in what it counts"),
        ("object", "a:total", {"overwritten": ("it.total",)}, "set anew by the cell"),
        ("module", "p:weight", {"overwritten": ("it",)}, "set anew by the cell"),
        ("module", "p:weight", {"initialised": ("it",)}, "initialised anew by the cell"),
    ],
    ids=["counter", "attribute", "content", "layers"],
)
def test_what_the_cell_sets_or_only_counts_is_no_cause(kind, part, record, reason):
    """Without the record it is one."""
    reads = differing(kind, part)
    assert cleared(reads, **record)["it"].startswith(reason)
    assert "it" not in cleared(reads)


def test_a_source_that_only_imports_drew_from_is_no_cause():
    """Without the record it is one."""
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
