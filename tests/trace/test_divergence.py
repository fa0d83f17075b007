"""Finds the first operation that made two runs differ, and no other."""

from __future__ import annotations

import pytest
import torch

from ipytorchseed.trace.comparing import compare
from tests.trace.recorded import drift, record

pytestmark = pytest.mark.usefixtures("put_back")


def _twice(source, *given):
    """Record a source twice, from the same state, and compare.

    New memory is filled differently in each, as it may be when no one fills it.
    """
    traces = []
    for number, names in enumerate(given or ({}, {}), 1):
        torch.manual_seed(0)
        given_here = {"torch": torch, "drift": drift, **names}
        traces.append(record(source, given_here, fill=0x35 * number).trace.load())
    return compare(*traces)


def test_equal_runs_have_none():
    """With draws, training and views."""
    source = """\
x = torch.rand(4, 3, requires_grad=True)
y = torch.nn.functional.dropout(x.t(), 0.5).exp()
y.sum().backward()
"""
    assert _twice(source).equal


def test_the_first_operation_that_differs_is_named():
    """It has its line and its number in the run. Operations after it are not named."""
    found = _twice("x = torch.ones(2)\ny = x * 2\nz = drift(y)\nw = z.exp()\nv = drift(w)")
    assert found.operation.shown.name == "ipytorchseed_tests::drift"
    assert (found.operation.shown.place.line, found.operation.shown.index) == (3, 2)
    assert not found.first.outside


def test_runs_of_unequal_length_are_aligned():
    """A line that only one run reaches is not accused, and does not hide others."""
    source = "for _ in range(n):\n    torch.ones(2).sin()\nz = drift(torch.ones(3))"
    found = _twice(source, {"n": 1}, {"n": 5})
    assert (found.operation.shown.name, found.operation.shown.place.line) == (
        "ipytorchseed_tests::drift",
        3,
    )


def test_a_value_from_outside_is_told_from_an_operation():
    """The operation with another input is not the cause."""
    found = _twice("x = torch.ones(2)\ny = x * n\nz = y.exp()", {"n": 2.0}, {"n": 3.0})
    assert found.operation is None
    assert (found.first.shown.name, found.first.shown.place.line) == ("aten::mul", 2)


def test_both_are_told_where_both_are():
    """The earlier one first."""
    source = "x = torch.ones(2) * n\ny = drift(torch.ones(3))"
    found = _twice(source, {"n": 2.0}, {"n": 3.0})
    assert found.operation.shown.place.line == 2
    assert found.first.shown.place.line == 1
    assert found.first.outside


def test_a_draw_from_another_place_in_the_stream_comes_from_outside():
    """The generator is an input of a draw."""
    generators = [{"g": torch.Generator().manual_seed(seed)} for seed in (1, 2)]
    found = _twice("torch.rand(2, generator=g)", *generators)
    assert found.operation is None
    assert found.first.draws


def test_threads_may_come_in_any_order():
    """The same work in another thread is equal."""
    source = """\
import threading
def work(k):
    torch.full((2,), float(k)).exp()
for k in order:
    thread = threading.Thread(target=work, args=(k,)); thread.start(); thread.join()
"""
    assert _twice(source, {"order": (1, 2)}, {"order": (2, 1)}).equal


WRITTEN = {
    "at once": "x = torch.empty(1000)\nx.uniform_()\nz = x + 1",
    "by copying": "y = torch.empty(10)\ny.copy_(torch.ones(10))\nz = y + 1",
    "in parts": "d = torch.empty(4)\nd[:2] = 1\nd[2:] = 2\ne = d + 1",
    "as an output": "d = torch.empty(4)\ntorch.add(torch.ones(4), 1, out=d)\ne = d + 1",
    "by numpy": "d = torch.empty(4)\nd.numpy()[:] = 1\ne = d + 1",
    "as layers are made": "layer = torch.nn.Linear(3, 3)\ny = layer(torch.ones(3))",
    "enlarged": "d = torch.ones(4)\nd.resize_(8)\nd[4:] = 2\ne = d + 1",
}


@pytest.mark.parametrize("source", WRITTEN.values(), ids=WRITTEN)
def test_memory_that_is_written_before_it_is_read_is_no_difference(source):
    """The way of writing does not matter."""
    assert _twice(source).equal


@pytest.mark.parametrize("read", ["y = x + 1", "y = w + 1", "x.add_(1)", "x[5:].exp()"])
def test_memory_that_is_read_before_it_is_written_is_traced_to_where_it_was_given(read):
    """Also where other memory of the same size was given before or after."""
    source = f"u = torch.empty(1003)\nw = x = torch.empty(1003)\nv = torch.empty(1003)\n{read}"
    found = _twice(source)
    first = found.first
    assert not first.outside
    assert (first.kind, first.shown.place.line) == ("unwritten", 4)
    assert (first.source.name, first.source.place.line) == ("aten::empty", 2)


@pytest.fixture
def many_threads():
    """Use more threads than cores, so that their order differs each time."""
    before = torch.get_num_threads()
    torch.set_num_threads(8)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", ["index_put_", "put_"])
def test_a_real_operation_that_adds_in_any_order_is_found(name, many_threads):
    """Threads add to the same places.

    Many times, as a busy machine may run them in turn.
    """
    arguments = "(index,), value" if name == "index_put_" else "index, value"
    source = f"for _ in range(40):\n    torch.zeros(500).{name}({arguments}, accumulate=True)"
    torch.manual_seed(0)
    given = {"index": torch.randint(0, 500, (1_000_000,)), "value": torch.randn(1_000_000)}
    found = _twice(source, given, given)
    assert found.operation.shown.name == f"aten::{name}"
    assert found.operation.shown.place.line == 2
