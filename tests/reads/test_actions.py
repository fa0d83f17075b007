"""The recorded actions of a cell, and what they say about sources."""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np
import pytest
import torch
from IPython.core.inputtransformer2 import TransformerManager

from ipytorchseed.reads.actions import imports_of, may_draw_first, may_set_state
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.following import find_dependencies

transform = TransformerManager().transform_cell


def actions_of(source: str, **namespace: object) -> list[str]:
    """Return the actions of a cell in a namespace with numpy, torch and ``random``."""
    names = {"np": np, "torch": torch, "nn": torch.nn, "random": random, **namespace}
    return find_dependencies(effects_of_cell(source, transform), names).actions


@pytest.mark.parametrize(
    ("source", "actions"),
    [
        ("np.random.seed(0)\nx = np.zeros(3)", ["numpy.random.seed", "numpy.zeros"]),
        (
            "from numpy.random import seed as s\ns(0)",
            ["import numpy.random.seed", "numpy.random.seed"],
        ),
        ("import os.path\nfrom math import *", ["import os.path", "import math"]),
        ("model.train()\nmodel.lr = 1", ["model.train", "model.lr="]),
        ("import os\nos.environ['A'] = '1'", ["import os", "os.environ['A']="]),
        ("del model, other", ["del model", "del other"]),
        ("globals().pop('model')", ["del model", "globals", "globals().pop"]),
        ("try:\n    f()\nexcept ValueError as e:\n    g()", ["f", "g", "del e"]),
        ("%seed rewind 3\n!ls -l\nfiles = !ls", ["%seed rewind 3", "!ls -l", "= !ls"]),
        ("%%time\nmodel.eval()", ["%%time", "model.eval"]),
        ("def f():\n    torch.manual_seed(0)", []),
        ("x = 3", []),
        ("x = (", []),
    ],
)
def test_actions_are_listed_in_order(source, actions):
    """They are calls by import name, set attributes and items, deletions and magics."""
    assert actions_of(source, model=object()) == actions


def test_actions_of_functions_follow_their_call():
    """This includes functions that the cell defines, and those of earlier cells."""
    define, use = "def start():\n    torch.manual_seed(0)\n", "start()\nnp.zeros(3)"
    names: dict[str, Any] = {"__name__": "__main__", "torch": torch, "np": np}
    linecache.cache["<cell>"] = len(define), None, define.splitlines(keepends=True), "<cell>"
    exec(compile(define, "<cell>", "exec"), names)  # noqa: S102
    expected = ["start", "torch.manual_seed", "numpy.zeros"]
    assert find_dependencies(effects_of_cell(use, transform), names).actions == expected
    assert {*actions_of(define + use)} == {*expected}


@pytest.mark.parametrize(
    ("source", "sources"),
    [
        ("net = nn.Linear(3, 1)\ntorch.manual_seed(0)", {"torch.cpu"}),
        ("x = np.random.rand(3)\nrandom.random()\nnp.random.seed(0)", {"numpy"}),
        ("with warm():\n    x = torch.rand(3)\ntorch.manual_seed(0)", {"torch.cpu"}),
        ("torch.manual_seed(0)\nnet = nn.Linear(3, 1)", set()),
        ("def make():\n    return nn.Linear(3, 1)\ntorch.manual_seed(0)", set()),
        ("net = nn.Linear(3, 1)", set()),
        ("x = torch.zeros(3)\nprint(x)\ntorch.manual_seed(0)", set()),
        ("seed_all()\nnet = Net()", set()),
        ("x = np.random.rand(3)\nnp.random.set_state(kept)", {"numpy"}),
    ],
)
def test_draws_before_the_first_seed_are_found(source, sources):
    """Later draws, functions that are only defined and other libraries do not count."""
    actions = actions_of(source)
    assert {name for name in EVERY if may_draw_first(actions, name)} == sources


EVERY = ("python", "numpy", "torch.cpu")


@pytest.mark.parametrize(
    ("source", "sources"),
    [
        ("torch.manual_seed(0)", {"torch.cpu"}),
        ("np.random.seed(SEED)", {"numpy"}),
        ("random.setstate(kept)", {"python"}),
        ("from numpy.random import seed as begin\nbegin(0)", {"numpy"}),
        ("set_seed(42)", {*EVERY}),
        ("rng.bit_generator.state = kept", {*EVERY}),
        ("%seed 42", {*EVERY}),
        ("%%time\ntorch.manual_seed(0)", {"torch.cpu"}),
        ("!pip install seedbank\nimport numpy", set()),
        ("%load_ext ipytorchseed\nimport numpy", set()),
        ("kept = torch.get_rng_state()", set()),
        ("seed = 42\nrng = np.random.default_rng(seed)", set()),
        ("print('no seed yet')  # seeded later", set()),
        ("from transformers import Trainer, set_seed", set()),
        ("from transformers import set_seed\nset_seed(0)", {*EVERY}),
        ("def begin(s):\n    torch.manual_seed(s)", set()),
        ("def begin(s):\n    torch.manual_seed(s)\nbegin(0)", {"torch.cpu"}),
    ],
)
def test_a_cell_seeds_a_source_by_what_it_calls(source, sources):
    """Strings, comments, imports and functions that it does not call do not count."""
    actions = actions_of(source)
    assert {name for name in EVERY if may_set_state(actions, name)} == sources


@pytest.mark.parametrize(
    ("source", "before"),
    [
        ("x = g.normal(size=3)\ng.bit_generator.state = kept", True),
        ("x = torch.rand(3, generator=g)\ng.set_state(kept)", True),
        ("x = sample(g)\ng.manual_seed(0)", True),
        ("g.bit_generator.state = kept\nx = g.normal(size=3)", False),
        ("g.manual_seed(0)\nx = torch.rand(3, generator=g)", False),
        ("print(g)\ng.manual_seed(0)", False),
        ("def f():\n    return g.random()\ng.manual_seed(0)", False),
        ("x = g.normal(size=3)", False),
    ],
)
def test_a_generator_may_be_drawn_from_before_it_is_set(source, before):
    """A method, or a call with the generator as an argument, may draw from it."""
    assert may_draw_first(actions_of(source, g=np.random.default_rng(0)), "g") is before


def test_imports_are_listed_by_their_packages():
    """``import a.b`` imports ``a``."""
    assert imports_of(["import os.path", "import math", "os.getcwd"]) == {"os", "math"}
