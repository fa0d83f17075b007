"""Which sources a cell seeds, and draws from before it does, told from its text."""

from __future__ import annotations

import pytest
import torch.nn  # noqa: F401 -- whose layers are known by name where it is loaded

from ipytorchseed.reads.seeding import (
    drawn_before_seeding,
    draws_before_it_sets,
    may_set_state,
)


@pytest.mark.parametrize(
    ("source", "sources"),
    [
        ("net = nn.Linear(3, 1)\ntorch.manual_seed(0)", {"torch.cpu"}),
        ("net = Net()\nset_seed(0)", {"torch.cpu"}),
        ("x = np.random.rand(3)\nrandom.random()\nnp.random.seed(0)", {"numpy", "python"}),
        ("with warm():\n    x = torch.rand(3)\ntorch.manual_seed(0)", {"torch.cpu"}),
        ("torch.manual_seed(0)\nnet = nn.Linear(3, 1)", set()),
        ("def make():\n    return nn.Linear(3, 1)\ntorch.manual_seed(0)", set()),
        ("net = nn.Linear(3, 1)", set()),
        ("path = Path('x')\nprint(path)\ntorch.manual_seed(0)", set()),
        ("net = (", set()),
        ("def begin():\n    set_seed(random.random())\nbegin()", {"python"}),
        ("_ = seed_everything()", {"python"}),
        ("seed_all()\nnet = Net()", set()),
        ("x = np.random.rand(3)\nnp.random.set_state(kept)", {"numpy"}),
    ],
)
def test_what_is_drawn_before_the_first_seed_is_found(source, sources):
    """Later draws, and those of functions that are only defined, do not count.

    Those of a function do that the cell calls, whatever its name, and that another cell defined.
    """
    helper = (
        "def seed_everything(seed=None):\n    if seed is None:\n"
        "        seed = random.getrandbits(32)\n    torch.manual_seed(seed)"
    )
    assert drawn_before_seeding(source, {"Net"}, [helper]) == sources


@pytest.mark.parametrize(
    ("source", "sources"),
    [
        ("torch.manual_seed(0)", {"torch.cpu"}),
        ("np.random.seed(SEED)", {"numpy"}),
        ("random.setstate(kept)", {"python"}),
        ("from numpy.random import seed as begin\nbegin(0)", {"numpy"}),
        ("for each in (random.seed, torch.manual_seed):\n    each(0)", {"python", "torch.cpu"}),
        ("set_seed(42)", {"python", "numpy", "torch.cpu"}),
        ("rng.bit_generator.state = kept", {"python", "numpy", "torch.cpu"}),
        ("%seed 42", {"python", "numpy", "torch.cpu"}),
        ("%%time\ntorch.manual_seed(0)", {"torch.cpu"}),
        ("!pip install seedbank\nimport numpy", set()),
        ("%load_ext ipytorchseed\nimport numpy", set()),
        ("kept = torch.get_rng_state()", set()),
        ("seed = 42\nrng = np.random.default_rng(seed)", set()),
        ("print('no seed yet')  # seeded later", set()),
        ("from transformers import Trainer, set_seed", set()),
        ("from transformers import set_seed\nset_seed(0)", {"python", "numpy", "torch.cpu"}),
        ("def begin(s):\n    torch.manual_seed(s)", set()),
        ("def begin(s):\n    torch.manual_seed(s)\nbegin(0)", {"torch.cpu"}),
    ],
)
def test_a_cell_seeds_a_source_by_what_it_calls(source, sources):
    """Not by a text, a comment or a number that has the word in it, nor another library's source.

    Nor by the import or the definition of a function that it does not call.
    """
    every = ("python", "numpy", "torch.cpu")
    assert {name for name in every if may_set_state(source, name)} == sources


@pytest.mark.parametrize(
    ("source", "before"),
    [
        ("x = g.normal(size=3)\ng.bit_generator.state = kept", True),
        ("x = torch.rand(3, generator=g)\ng.set_state(kept)", True),
        ("for _ in range(3):\n    x = g.random()\ng = np.random.default_rng(0)", True),
        ("x = sample(g)\ng.manual_seed(0)", True),
        ("g.bit_generator.state = kept\nx = g.normal(size=3)", False),
        ("g.manual_seed(0)\nx = torch.rand(3, generator=g)", False),
        ("print(g)\ng.manual_seed(0)", False),
        ("def f():\n    return g.random()\ng.manual_seed(0)", False),
        ("x = g.normal(size=3)", False),
        ("x = other.normal()\ng.manual_seed(0)", False),
        ("x = (", False),
    ],
)
def test_a_generator_is_drawn_from_before_it_is_set(source, before):
    """By a method, or where it is given to a call that does more than look at it."""
    assert draws_before_it_sets(source, "g") is before
