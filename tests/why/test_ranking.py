"""The order of causes that no experiment has tested."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ipytorchseed.ledger.records import FileRead
from ipytorchseed.why.explain import explain
from tests.render.explanations import States, number, run

STATES = [{name: f"{name}{count}" for name in ("python", "numpy", "torch.cpu")} for count in (1, 2)]


def order(*actions, settings=({}, {}), packages=("torch", "mlflow"), cell=""):
    """Return the names of the causes of a cell that draws from three sources."""
    given = {"actions": actions, "packages": packages}
    first = run(
        1, "y = f()", before=STATES[0], after=STATES[1], writes={"y": number(1.0)},
        started=1.0, settings=settings[0], **given,
    )  # fmt: skip
    between = run(2, cell, started=2.0, settings=settings[0], actions=(cell,), packages=packages)
    last = run(
        3, "y = f()", before=STATES[1], after={name: f"{name}3" for name in STATES[0]},
        writes={"y": number(2.0)}, started=3.0, settings=settings[1], **given,
    )  # fmt: skip
    runs = [first, between, last]
    return [cause.name for cause in explain(last, first, runs[:2], States(runs)).causes]


@pytest.mark.parametrize(
    ("action", "first"),
    [("torch.rand", "torch.cpu"), ("numpy.random.rand", "numpy"), ("random.random", "python")],
)
def test_what_the_code_draws_from_comes_first(action, first):
    """Other sources are drawn from inside of libraries."""
    assert order(action)[0] == first


def test_pythons_stream_comes_last_if_only_libraries_draw():
    """Many draw names and ids from it."""
    assert order("mlflow.start_run")[-1] == "python"


def test_a_setting_that_a_cell_changed_comes_before_what_libraries_draw():
    """Few cells change one, and most runs draw."""
    settings = {"mlflow.active_run": []}, {"mlflow.active_run": ["a"]}
    names = order("mlflow.start_run", settings=settings, cell="mlflow.start_run")
    assert names[0] == "mlflow.active_run"


def test_a_file_that_the_cell_itself_writes_comes_late():
    """It is often a log, such as the database of an experiment tracker.

    Only what libraries draw from Python's stream is less likely.
    """
    files = [(FileRead("/n/runs.db", size, f"d{size}", True, 0),) for size in (10, 20)]
    runs = [
        run(
            n, "y = f()", started=float(n), before=STATES[n - 1], after={},
            writes={"y": number(n)}, files=files[n - 1], wrote=("/n/runs.db",),
        )
        for n in (1, 2)
    ]  # fmt: skip
    runs[0] = replace(runs[0], after=STATES[1])
    runs[1] = replace(runs[1], after=dict.fromkeys(STATES[0], "end"))
    told = explain(runs[1], runs[0], runs[:1], States(runs))
    names = [cause.name for cause in told.causes]
    assert names == ["numpy", "torch.cpu", "/n/runs.db", "python"]
