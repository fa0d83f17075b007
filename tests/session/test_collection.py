"""Recording collects no garbage, so user objects end when they would without us."""

from __future__ import annotations

import gc

import pytest

CELL = "made = {n: [[n]] for n in v}"
OFTEN = 300


@pytest.fixture
def collections():
    """Yield the events of the garbage collector, which is set to run often."""
    told = []

    def tell(phase, info):
        told.append((phase, info["generation"]))

    often, enabled = gc.get_threshold(), gc.isenabled()
    gc.callbacks.append(tell)
    gc.set_threshold(OFTEN)
    yield told
    gc.set_threshold(*often)
    gc.callbacks.remove(tell)
    (gc.enable if enabled else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_a_look_collects_nothing(notebook, collections, enabled):
    """It may allocate any amount, and leaves the collector on or off as it was."""
    notebook.run("v = {n: [[n]] for n in range(2000)}")
    if not enabled:
        gc.disable()
    gc.collect()
    collections.clear()
    notebook.session.begin_cell(CELL, CELL, 2, notebook.names)
    assert not collections
    exec(CELL, notebook.names)  # noqa: S102 -- as a notebook does
    assert bool(collections) is enabled
    gc.collect()
    collections.clear()
    run = notebook.session.end_cell(notebook.names)
    assert not collections
    assert "made" in run.writes
    assert gc.isenabled() is enabled
