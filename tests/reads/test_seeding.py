"""Which sources a cell draws from before it seeds, told from its text."""

from __future__ import annotations

import pytest
import torch.nn  # noqa: F401 -- whose layers are known by name where it is loaded

from ipytorchseed.reads.seeding import drawn_before_seeding


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
    ],
)
def test_what_is_drawn_before_the_first_seed_is_found(source, sources):
    """Later draws, and those of functions that are only defined, do not count."""
    assert drawn_before_seeding(source, {"Net"}) == sources
