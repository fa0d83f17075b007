"""Predictions for random programs include what their runs do along every path."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings

from ipytorchseed.reads.cell import effects_of_cell
from tests.reads.programs import DATA, FUNCTIONS, programs, run


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(source=programs())
def test_reads_and_writes(limited_run, source):
    """No read and no write of any run is missed."""
    try:
        seen = limited_run(source)
    except UnboundLocalError:  # the program is wrong
        seen = None
    assume(seen is not None)
    read, written = seen
    effects = effects_of_cell(source, str)
    predicted = {*effects.reads} & {*DATA, *FUNCTIONS}
    assert read <= predicted, "missed"
    assert written <= effects.writes, "missed"


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("a = use(b)", {"b"}),
        ("if flip():\n    a = use()\nuse(a)", {"a"}),
        ("a = use(); use(a)", set()),
    ],
)
def test_lookups_are_recorded(source, read):
    """The lookups of the runs are recorded correctly."""
    assert run(source)[0] == read
