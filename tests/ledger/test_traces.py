"""Recorded operations are stored with their run, found, and deleted with it."""

from __future__ import annotations

import sqlite3

from ipytorchseed.ledger.maintenance import Limits
from ipytorchseed.ledger.records import Draw, Operation, Trace
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples

TRACE = Trace(
    checked=2,
    traced=1_000,
    operations=(
        Operation("aten::index_put_", 7, "y[index] += x", "model.layer", True, "check", True),
        Operation("aten::put_", None, how="alert"),
    ),
    draws=(
        Draw("torch.cpu", "aten::bernoulli_", 5, "model.1", False, 4, 120),
        Draw("python", "python's own", None),
    ),
    notes=("recording stopped",),
)


def test_a_trace_comes_back_as_it_was(tmp_path):
    """In order, each with its run; also from another process's view of the file."""
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        first, second = samples.add(ledger, 2)
        ledger.add_trace(first, TRACE)
        ledger.add_trace(first, Trace(traced=5))
        with Ledger.open(path, read_only=True) as other:
            assert other.traces([first, second]) == {first: [TRACE, Trace(traced=5)]}


def test_a_trace_goes_with_its_run(tmp_path):
    """However the run is dropped."""
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        (number,) = samples.add(ledger, 1)
        ledger.add_trace(number, TRACE)
        ledger.limits = Limits(runs_days=0)
        ledger.clock = lambda: samples.BEGIN + 10 * 86_400
        assert ledger.tidy().runs == 1
        assert ledger.traces([number]) == {}
        assert ledger.verify() == []


def test_a_damaged_trace_is_passed_over_and_found(tmp_path):
    """The others are reported; ``verify`` names it."""
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        (number,) = samples.add(ledger, 1)
        ledger.add_trace(number, TRACE)
        ledger.add_trace(number, TRACE)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE traces SET record = x'00' WHERE id = 1")
    connection.execute(
        "INSERT INTO traces (run, record) SELECT 99, record FROM traces WHERE id = 2"
    )
    connection.commit()
    connection.close()
    with Ledger.open(path) as ledger:
        assert ledger.traces([number]) == {number: [TRACE]}
        said = ledger.verify()
    assert said[0].startswith("trace 1: ")
    assert said[1:] == ["trace 3: its run 99 is missing"]
