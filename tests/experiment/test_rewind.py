"""Putting back states that the ledger holds.

All that fit, none by halves, and what is reported.
"""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
import torch

from ipytorchseed.errors import StateError
from ipytorchseed.experiment.rewind import put_back as put
from ipytorchseed.experiment.rewind import rewind
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.snapshot import snapshot


@pytest.fixture
def drawing(torch_names):
    """A notebook with a generator, and a run that drew from everything."""
    torch_names.run("g = np.random.default_rng(1)")
    run = torch_names.run("random.random(), np.random.rand(), torch.rand(1), g.random();")
    return torch_names, run


def back(notebook, run, *, after=False):
    """Put everything back to where a run began or ended."""
    found = find_generators({n: v for n, v in notebook.names.items() if n != "In"})
    return rewind(notebook.session.ledger, run, found, "In[3]", after=after)


def test_everything_stands_where_the_run_began(drawing):
    """Or ended; and is named."""
    notebook, run = drawing
    random.random()
    done = back(notebook, run)
    assert done.names == ("python", "numpy", "torch.cpu", "g")
    assert (done.missing, done.left, done.dropped) == ((), (), ())
    assert snapshot().digests.items() <= run.before.items()
    back(notebook, run, after=True)
    assert snapshot().digests.items() <= run.after.items()


def test_sources_and_generators_are_named_together(drawing):
    """As ``%rng diff`` lists them."""
    run = drawing[1]
    assert [*run.before] == ["python", "numpy", "torch.cpu", "g"]
    assert run.before["g"] != run.after["g"]


def test_what_is_gone_is_missing_and_what_is_new_is_left(drawing):
    """Neither is moved."""
    notebook, run = drawing
    del notebook.names["g"]
    notebook.names["new"] = random.Random(3)
    state = notebook.names["new"].getstate()
    done = back(notebook, run)
    assert (done.missing, done.left) == (("g",), ("new",))
    assert notebook.names["new"].getstate() == state


def test_states_that_were_pruned_are_told(drawing, monkeypatch):
    """The others are restored; where none is left, it is an error that says why."""
    notebook, run = drawing
    ledger = notebook.session.ledger
    full = ledger.states([*run.before.values()])
    lost = {each: state for each, state in full.items() if each != run.before["numpy"]}
    monkeypatch.setattr(type(ledger), "states", lambda *_: lost)
    done = back(notebook, run)
    assert done.dropped == ("numpy",)
    assert done.left == ()
    monkeypatch.setattr(type(ledger), "states", lambda *_: {})
    with pytest.raises(StateError, match=r"In\[3\] are no longer in the ledger: states are pruned"):
        back(notebook, run)


def test_a_state_that_does_not_fit_moves_nothing(put_back):
    """What was restored before it is undone."""
    states = {"python": snapshot().states["python"], "torch.cpu": b"no state"}
    random.random()
    before = random.getstate(), torch.get_rng_state().tolist()
    with pytest.raises(StateError):
        put(states, [])
    assert (random.getstate(), torch.get_rng_state().tolist()) == before


def test_a_generator_is_found_by_any_of_its_names(put_back):
    """One that was saved as ``box.rng`` and is reached as ``b`` first, too."""
    rng = np.random.default_rng(5)
    (found,) = find_generators({"box": {"rng": rng}})
    saved = found.kind.read(rng)
    first = rng.random()
    (both,) = find_generators({"b": rng, "box": {"rng": rng}})
    done = put({"box['rng']": saved}, [both])
    assert done.names == ("box['rng']",)
    assert rng.random() == first


def test_a_name_that_is_bound_to_a_generator_of_another_kind_is_missing(put_back):
    """The state is not forced on it."""
    (then,) = find_generators({"g": np.random.default_rng(1)})
    (now,) = find_generators({"g": random.Random(3)})
    done = put({"g": then.read()}, [now])
    assert (done.names, done.missing) == ((), ("g",))


def test_a_source_that_its_package_loads_late_is_loaded_for_its_state(put_back, monkeypatch):
    """As numpy loads its own at the first use."""
    states = {"numpy": snapshot().states["numpy"]}
    late = sys.modules["numpy.random.mtrand"]
    monkeypatch.delitem(sys.modules, "numpy.random.mtrand")
    load = "ipytorchseed.rng.table.import_module"
    monkeypatch.setattr(load, lambda name: sys.modules.update({name: late}))
    assert put(states, []).names == ("numpy",)


def test_a_device_that_did_not_start_yet_is_started_where_it_is_there(monkeypatch):
    """Its state can be restored to nothing else; where there is none, it is missing."""
    started = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.cuda, "init", lambda: started.append("cuda"))
    for there in (False, True):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        done = put({"torch.cuda:0": bytes(16)}, [])
        assert done.missing == ("torch.cuda:0",)
    put({"python": snapshot().states["python"]}, [])
    assert started == ["cuda"]
