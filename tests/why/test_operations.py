"""Operations without a deterministic algorithm, by the flags of the runs."""

from __future__ import annotations

import pytest

from ipytorchseed.ledger.records import Operation
from ipytorchseed.why.explain import explain
from tests.render.explanations import States, number, run

FLAG = "torch.use_deterministic_algorithms"
ALERT = Operation("aten::put_", None, how="alert")


@pytest.mark.parametrize(
    ("source", "settings", "named"),
    [
        ("out = f(x)", {FLAG: False}, True),
        ("out = f(x)", {FLAG: True, f"{FLAG}.warn_only": True}, True),
        ("out = f(x)", {FLAG: True, f"{FLAG}.warn_only": False}, False),
        ("%%deterministic 3\nout = f(x)", {FLAG: False}, False),
        ("%%deterministic 3 --warn\nout = f(x)", {FLAG: False}, True),
    ],
)
def test_an_alert_counts_unless_operations_were_held_to_repeat(source, settings, named):
    """If torch only warns, the operation ran without a deterministic algorithm."""
    runs = [run(n, source, writes={"out": number(n)}, settings=settings) for n in (1, 2)]
    told = explain(runs[1], runs[0], runs[:1], States(runs), [(runs[0], ALERT)])
    assert [cause.name for cause in told.causes] == ["aten::put_"] * named
    assert [each.name for each in told.cleared if each.kind == "operation"] == ["aten::put_"] * (
        not named
    )
