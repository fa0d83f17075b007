"""What cannot be compared, watched or read is said in one line."""

from __future__ import annotations

import os
from functools import partial
from types import SimpleNamespace
from unittest.mock import patch

import msgspec
import pytest
import torch
from click.testing import CliRunner

import ipytorchseed as its
from ipytorchseed.cli import main
from ipytorchseed.errors import LookupFailure, RanksError
from ipytorchseed.ranks import looking
from ipytorchseed.ranks.comparing import side_by_side
from ipytorchseed.ranks.judging import expectations
from ipytorchseed.rng.seeds import own_rank, seed_by_rank
from ipytorchseed.rng.source import Source


def test_one_process_has_nothing_to_compare():
    """It is said how to get a process group."""
    with pytest.raises(RanksError, match="this process has none: call torch"):
        its.ranks.compare()
    with pytest.raises(RanksError, match="numpy is expected 'same' or 'distinct', not 'equal'"):
        its.ranks.compare(expect={"numpy": "equal"})


def test_a_watch_needs_a_folder_and_a_number(tmp_path, put_back):
    """And its watching ends with it.

    The hook is gone, the functions are torch's again.
    """
    model = torch.nn.Linear(1, 1)
    with pytest.raises(RanksError, match="at least 1, not 0"):
        its.ranks.watch(model, every=0)
    with pytest.raises(RanksError, match="not list"):
        its.ranks.watch([model])
    (tmp_path / "rank-0.jsonl").symlink_to("elsewhere")
    with pytest.raises(RanksError, match="is a link: remove it"):
        its.ranks.watch(model, folder=tmp_path)
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "file").touch()
    with pytest.raises(RanksError, match="cannot be written to"):
        its.ranks.watch(model, folder=tmp_path / "file")
    rand = torch.rand
    with its.ranks.watch(model, folder=tmp_path / "one") as watch:
        assert torch.rand is not rand
        torch.optim.SGD(model.parameters(), lr=1).step()
    assert torch.rand is rand
    torch.optim.SGD(model.parameters(), lr=1).step()
    assert watch.step == 1
    assert (
        its.ranks.read(tmp_path / "one").headline == "Only rank 0 has a record: nothing to compare."
    )


def chain(leaf):
    """Return a list nested 5,000 deep at the end of a chain of 30,000 objects."""
    for _ in range(5_000):
        leaf = [leaf]
    for _ in range(30_000):
        leaf = SimpleNamespace(next=leaf)
    return leaf


def test_deeply_nested_values_are_compared():
    """A difference in the innermost value is found."""
    ranks = []
    for number, leaf in enumerate((1.0, 1.0, 2.0)):
        rank, look = looking.take(named={"value": chain(leaf)})
        ranks.append((msgspec.structs.replace(rank, rank=number), look))
    assert side_by_side(ranks[:2], {}).alike
    assert (
        side_by_side(ranks, {}).headline == "`value` differs, first in next (different in rank 2)."
    )


def test_the_command_says_what_is_missing(tmp_path):
    """Exit code 2, and what to do."""
    for folder, expect, said in (
        (tmp_path / "none", (), "there is no folder"),
        (tmp_path, (), "no rank has written to"),
        (tmp_path, ("--expect", "sam", "numpy"), "numpy is expected 'same' or 'distinct'"),
    ):
        done = CliRunner().invoke(main, ["ranks", str(folder), *expect])
        assert done.exit_code == 2
        assert said in done.output
        assert len(done.output.splitlines()) == 1
    with pytest.raises(LookupFailure):
        its.ranks.read(tmp_path)


def test_each_rank_has_a_seed_of_its_own(put_back):
    """It follows from the seed and the rank alone, however many ranks there are."""
    with patch.dict(os.environ, {"RANK": "3", "WORLD_SIZE": "4"}):
        assert own_rank() == 3
        its.seed(42, rank=True)
        assert torch.initial_seed() == seed_by_rank(42, 3)
        os.environ["WORLD_SIZE"] = "8"
        its.seed(42, rank=True)
        assert torch.initial_seed() == seed_by_rank(42, 3)
    its.seed(42, rank=True)
    assert torch.initial_seed() == seed_by_rank(42, 0)
    assert len({seed_by_rank(42, rank) for rank in range(1000)}) == 1000


def test_each_rank_looks_at_its_own_device(monkeypatch):
    """Several ranks of a machine list each other's devices.

    What those draw is no difference.
    """
    made = [
        Source(name, int, partial(bytes, number), bytes)
        for number, name in enumerate(("python", "torch.cpu", "torch.cuda:0", "torch.cuda:1"))
    ]
    monkeypatch.setattr(looking, "sources", lambda: made)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    states = looking.Looker(lambda: None, {}).look(0).states
    assert {name: len(state) for name, state in states.items()} == {
        "python": 0,
        "torch.cpu": 1,
        "torch.cuda": 3,
    }
    assert expectations({"torch.cuda:1": "distinct"}) == {"torch.cuda": "distinct"}
