"""``its.RandomState``: every source and generator, in a real checkpoint."""

from __future__ import annotations

import random
import subprocess
import sys
import warnings

import msgspec
import numpy as np
import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch.utils.data import DataLoader

import ipytorchseed as its
from ipytorchseed.errors import SourceError, StateError

pytestmark = [
    pytest.mark.usefixtures("put_back"),
    pytest.mark.filterwarnings("ignore:torch.distributed is disabled"),
]


def draw(g=None, rng=None):
    """Draw from every source, and from given generators."""
    drawn = [random.random(), random.gauss(0, 1), np.random.rand(), torch.randn(1).item()]
    drawn += [] if g is None else [torch.rand(1, generator=g).item()]
    return drawn + ([] if rng is None else [rng.random()])


def generators():
    """Return a generator of torch and one of numpy that have drawn some numbers."""
    g, rng = torch.Generator().manual_seed(3), np.random.default_rng(4)
    torch.rand(5, generator=g)
    rng.random(5)
    return g, rng


def test_it_comes_back_from_a_file_read_with_weights_only(tmp_path):
    """Sources and generators continue as they would have.

    A new object restores them, with generators in other states.
    """
    g, rng = generators()
    random.gauss(0, 1)  # leaves a cached normal behind
    torch.randn(1)
    torch.save({"random": its.RandomState(g=g, rng=rng).state_dict()}, tmp_path / "c.pt")
    expected = draw(g, rng)
    its.seed(7)
    other = torch.Generator(), np.random.default_rng()
    held = torch.load(tmp_path / "c.pt", weights_only=True)
    its.RandomState(g=other[0], rng=other[1]).load_state_dict(held["random"])
    assert draw(*other) == expected


def test_saving_draws_nothing_and_names_what_is_kept():
    """Reading moves no source. Its text lists its content."""
    g, rng = generators()
    before = its.snapshot()
    kept = its.RandomState(g=g, rng=rng)
    assert kept.state_dict() == kept.state_dict()
    assert its.snapshot() == before
    assert [word.split(" ")[0] for word in repr(kept)[12:-1].split(", ")] == [
        *before.states,
        "g",
        "rng",
    ]


def test_a_loader_brings_its_generator():
    """An object with generators is a valid argument."""
    loader = DataLoader(range(8), shuffle=True, generator=torch.Generator().manual_seed(1))
    kept = its.RandomState(loader=loader)
    held = kept.state_dict()
    first = [item.item() for item in loader]
    assert [item.item() for item in loader] != first
    kept.load_state_dict(held)
    assert [item.item() for item in loader] == first


HOSTILE = [
    "torch.os:0",
    "torch.cuda:-1",
    "torch.cuda:" + "9" * 5_000,
    "torch.cuda.x:0",
    "torch.:0",
    ":",
    "\x1b[2J",
]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_source_that_is_none_is_left_out(name, put_back):
    """Only kinds of devices that start late are queried."""
    states = {"sources": {name: bytes(16)}, "generators": {}}
    held = {"format": 1, "rank0": msgspec.msgpack.encode(states)}
    with pytest.warns(UserWarning, match="which this process does not have") as told:
        its.RandomState().load_state_dict(held)
    assert str(told[0].message).isprintable()


def test_a_state_of_another_size_does_not_wait_for_a_gpu(monkeypatch, put_back):
    """It would fail when the GPU starts, far from where it was loaded."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    states = {"sources": {"torch.cuda:0": bytes(3)}, "generators": {}}
    held = {"format": 1, "rank0": msgspec.msgpack.encode(states)}
    with pytest.raises(StateError, match=r"3 bytes are not a valid state of torch\.cuda:0"):
        its.RandomState().load_state_dict(held)


def test_a_gpu_that_has_not_started_begins_there_when_it_does(monkeypatch):
    """Loading before the first use of CUDA queues its state, and does not start it."""
    queued = []
    held = its.RandomState().state_dict()
    states = {"sources": {"torch.cuda:0": bytes(16)}, "generators": {}}
    held["rank0"] = msgspec.msgpack.encode(states)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda *args: queued.append(args))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        its.RandomState().load_state_dict(held)
    assert [(state.tolist(), index) for state, index in queued] == [([0] * 16, 0)]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.warns(UserWarning, match=r"state of torch\.cuda:0, which this process does not"):
        its.RandomState().load_state_dict(held)


def test_a_source_is_put_back_though_its_library_was_not_imported(tmp_path):
    """A new process that loads before it imports numpy continues as this one does."""
    torch.save(its.RandomState().state_dict(), tmp_path / "c.pt")
    expected = np.random.rand()
    program = """
import sys, torch, ipytorchseed as its
sys.modules.pop("numpy.random", None)
its.RandomState().load_state_dict(torch.load(sys.argv[1], weights_only=True))
import numpy as np
print(np.random.rand())
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "c.pt"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) == expected


# --------------------------------------------------------------------------------------------------
# What does not fit


def _with(**changes):
    return {**its.RandomState().state_dict(), **changes}


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ([1], "loads what its state_dict() returned, not a list"),
        (None, "loads what its state_dict() returned, not None"),
        ({"model": 1}, "loads what its state_dict() returned, not a dict"),
        (_with(format=2), "has format 2; this ipytorchseed reads format 1"),
        (_with(rank0=b"\x81"), "rank0: "),
        (_with(rank0=7), "rank0: "),
    ],
)
def test_what_is_no_random_state_is_refused_in_one_line(state, message):
    """Foreign, newer or truncated states change nothing."""
    before = its.snapshot()
    with pytest.raises(StateError) as refused:
        its.RandomState().load_state_dict(state)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert its.snapshot() == before


def test_other_generators_than_were_saved_are_refused():
    """The error names a generator that would not be restored, or would be lost.

    Nothing changes.
    """
    g, rng = generators()
    held = its.RandomState(g=g).state_dict()
    draw(g, rng)
    before = its.snapshot(), its.RandomState(g=g, rng=rng).state_dict()
    with pytest.raises(StateError, match="holds the generators g, this RandomState has g, rng"):
        its.RandomState(g=g, rng=rng).load_state_dict(held)
    with pytest.raises(StateError, match="has none"):
        its.RandomState().load_state_dict(held)
    with pytest.raises(StateError):  # numpy's state for torch's generator
        its.RandomState(rng=g, g=rng).load_state_dict(its.RandomState(g=g, rng=rng).state_dict())
    assert (its.snapshot(), its.RandomState(g=g, rng=rng).state_dict()) == before


def test_what_holds_no_generator_is_refused():
    """An argument without generators is an error."""
    with pytest.raises(SourceError, match="loader is a DataLoader and has no generator"):
        its.RandomState(loader=DataLoader(range(3)))
    with pytest.raises(SourceError, match="g is None and has no generator"):
        its.RandomState(g=None)


def test_states_of_another_rank_are_left_where_they_are(monkeypatch):
    """Rank 0's file does not give rank 1 the states of rank 0.

    A warning says so, and what to do.
    """
    held = its.RandomState().state_dict()
    draw()
    before = its.snapshot()
    monkeypatch.setenv("RANK", "1")
    with pytest.warns(UserWarning, match="holds the random states of rank0, not of rank1"):
        its.RandomState().load_state_dict(held)
    assert its.snapshot() == before


# --------------------------------------------------------------------------------------------------
# torch.distributed.checkpoint


def test_distributed_checkpoint_of_one_process(tmp_path):
    """It is Stateful: dcp saves it and loads it into a new object, with generators."""
    g, rng = generators()
    dcp.save({"random": its.RandomState(g=g, rng=rng)}, checkpoint_id=tmp_path)
    expected = draw(g, rng)
    dcp.load({"random": its.RandomState(g=g, rng=rng)}, checkpoint_id=tmp_path)
    assert draw(g, rng) == expected


_RANK = """
import sys, torch, torch.distributed as dist, torch.distributed.checkpoint as dcp
import ipytorchseed as its
rank, folder = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
its.seed(rank)
g = torch.Generator().manual_seed(10 + rank)
dcp.save({"random": its.RandomState(g=g)}, checkpoint_id=folder + "/saved")
expected = torch.rand(2), torch.rand(2, generator=g)
its.seed(5)
dcp.load({"random": its.RandomState(g=g)}, checkpoint_id=folder + "/saved")
again = torch.rand(2), torch.rand(2, generator=g)
assert all(map(torch.equal, expected, again)), (expected, again)
print(expected)
dist.destroy_process_group()
"""


def test_distributed_checkpoint_of_two_ranks(tmp_path):
    """Each rank restores its own states from one checkpoint."""
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", _RANK, str(rank), tmp_path],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    told = [each.communicate(timeout=300) for each in started]
    assert [each.returncode for each in started] == [0, 0], told
    assert told[0][0] != told[1][0]
