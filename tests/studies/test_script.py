"""A study of a function.

The same numbers for the same seeds, and nothing has moved.
"""

from __future__ import annotations

import json
import math
import os
import random
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

import ipytorchseed as its
from ipytorchseed.errors import LookupFailure, ReplayError, SeedError
from ipytorchseed.rng import table

net = torch.nn.Linear(3, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
own = np.random.default_rng(3)
calls = []
total = 0


def train():
    """Change all that a function can change."""
    global total  # noqa: PLW0603
    calls.append(1)
    total += 1
    loss = (net(torch.randn(8, 3)) ** 2).mean()
    loss.backward()
    sgd.step()
    torch.set_default_dtype(torch.float64)
    torch.use_deterministic_algorithms(mode=True)
    os.environ["ADDED_BY_A_RUN"] = "1"
    os.chdir("/")
    warnings.simplefilter("ignore")
    return {"loss": loss, "drawn": own.random(), "mixed": random.random() + np.random.rand()}


def everything():
    """Return what the function could change, beside what every test is held to."""
    parameters = [p.detach().clone() for p in net.parameters()]
    grads = [p.grad for p in net.parameters()]
    return [*map(torch.Tensor.tolist, parameters)], grads, own.bit_generator.state, [*calls], total


def test_nothing_has_moved():
    """Sources, flags, folder, filters, globals, generators.

    The autouse fixture asks too.
    """
    before, folder, hints = everything(), Path.cwd(), table.recent_seeds()
    study = its.seeds(train, 4, start=7)
    assert everything() == before
    assert Path.cwd() == folder
    assert table.recent_seeds() == hints
    assert "ADDED_BY_A_RUN" not in os.environ
    assert not [name for name in globals() if name.startswith("_function")]
    values = study.record.numbers
    assert study.record.seeds == (7, 8, 9, 10)
    assert len({*values["loss"]}) == 4
    assert len({*values["drawn"]}) == 1  # no seed is for a generator of the user's
    assert values["total"] == (1.0,) * 4
    assert "own" in study.record.notes[0]


def test_a_seed_gives_what_it_gives_by_itself(put_back):
    """Bit for bit, whichever others are in the study."""

    def draw():
        return random.random() + torch.rand(()).item() + np.random.rand()

    values = its.seeds(draw, 3, start=5).record.numbers["result"]
    for seed, value in zip((5, 6, 7), values, strict=True):
        its.seed(seed)
        assert draw() == value
    assert its.seeds(draw, 2, start=6).record.numbers["result"] == values[1:]


def test_a_closure_keeps_what_it_held():
    """Each run finds a copy of it."""
    seen = []

    def count():
        seen.append(random.random())
        return len(seen)

    assert its.seeds(count, 3).record.numbers == {"result": (1.0, 1.0, 1.0)}
    assert seen == []


def test_a_seed_that_fails_is_shown_and_not_dropped():
    """With its error; statistics are of the others."""

    def unlucky():
        value = random.random()
        if value < 0.5:
            msg = f"low: {value:.2f}"
            raise ValueError(msg)
        return value

    study = its.seeds(unlucky, 8)
    failed = [seed for seed in range(8) if random.Random(seed).random() < 0.5]
    assert [*study.record.errors] == failed
    assert f"8 seeds (0 to 7), {len(failed)} failed" in study.table()
    assert f"Seed {failed[0]} failed: ValueError: low: 0.13" in study.table()
    assert study.summaries["result"].least >= 0.5


def test_json_takes_whatever_a_run_says_and_gives():
    """Half a character of an error, and a spread beyond the largest float."""

    def fail():
        raise ValueError("\udc80")

    assert len(json.loads(its.seeds(fail, 2).to_json())["failed"]) == 2
    wide = json.loads(its.seeds(lambda: 1.7e308 * random.choice((1, -1)), 8).to_json())
    assert wide["numbers"][0]["std"] is None


def test_what_cannot_be_copied_is_refused():
    """Each run would change it for good."""
    with Path(os.devnull).open("w", encoding="utf-8") as file:

        def write():
            return file.write("x")

        with pytest.raises(ReplayError, match="cannot be copied, and each run would change it"):
            its.seeds(write, 2)


@pytest.mark.parametrize("given", [(0,), (1,), (-1,), (10**9,), ("8",), (True,)])
def test_a_wrong_number_of_seeds_is_refused(given):
    """Nothing was run."""
    with pytest.raises(SeedError, match=r"a study takes 2 to 10000 seeds, not"):
        its.seeds(train, *given)


@pytest.mark.parametrize("start", [-1, 2**32 - 4, "7", 1.5])
def test_a_wrong_seed_is_refused(start):
    """With the reason."""
    with pytest.raises(SeedError):
        its.seeds(train, 8, start=start)


def test_what_is_no_function_or_no_study_is_refused():
    """By what it is, before anything ran."""
    with pytest.raises(TypeError, match="seeds takes a function without arguments, not 3"):
        its.seeds(3, 8)
    with pytest.raises(TypeError, match=r"versus takes a study, as its\.seeds returns, not dict"):
        its.seeds(random.random, 2).versus({})


def test_studies_without_a_seed_in_common_are_not_compared():
    """There is nothing to pair."""
    one, other = its.seeds(random.random, 2), its.seeds(random.random, 2, start=5)
    with pytest.raises(LookupFailure, match="ran with the seeds 5 to 6, this study with 0 to 1"):
        one.versus(other)
    assert one.versus(its.seeds(random.random, 4)).pairs["result"].pairs == 2


def test_what_some_seeds_alone_give_hangs_on_the_seed():
    """A number that is nan or missing under some seeds is not the same with each."""

    def diverge():
        return {"z": (1.5, math.nan, 1.5, math.inf)[np.random.get_state()[1][0]]}

    lines = its.seeds(diverge, 4).text().splitlines()
    assert lines[3].split()[:6] == ["z", "1.5", "±", "0", "0", "1.5"]
    assert lines[4:] == [
        "z is nan under 1, left out of its mean.",
        "z is inf under 3, left out of its mean.",
    ]

    def stop_early():
        return {"a": 1.0, "b": 2.0} if np.random.get_state()[1][0] else {"a": 1.0}

    study = its.seeds(stop_early, 3)
    assert [row[0] for row in study.rows] == ["b"]
    assert study.said == ["The same with every seed: a = 1."]
