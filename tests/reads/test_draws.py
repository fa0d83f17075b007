"""Whether a cell draws from torch by passes over a loader alone, whose draws nobody uses."""

from __future__ import annotations

import sys
import types

import pytest

pytestmark = pytest.mark.usefixtures("put_back")

HELD = """
import torch, numpy as np, torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler, TensorDataset, random_split
data = TensorDataset(torch.arange(8.0))
plain = DataLoader(data, batch_size=4)
shuffled = DataLoader(data, shuffle=True)
workers = DataLoader(data, num_workers=2)
seeded = DataLoader(data, generator=torch.Generator())
net = nn.Linear(1, 1)
dropping = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5))
still = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5)).eval()
attention = nn.MultiheadAttention(2, 1, dropout=0.1)
class Noisy(Dataset):
    def __len__(self): return 4
    def __getitem__(self, at): return torch.randn(1) + at
class Silent(Dataset):
    def __len__(self): return 4
    def __getitem__(self, at): return at
noisy, silent = DataLoader(Noisy()), DataLoader(Silent())
class Order:
    def __len__(self): return 4
    def __iter__(self): return iter(torch.randperm(4).tolist())
class Drawn(RandomSampler): pass
ordered, batched = DataLoader(data, sampler=Order()), DataLoader(data, batch_sampler=[[0]])
drawn = DataLoader(data, sampler=Drawn(data))
def evaluate(model, loader):
    return sum(F.mse_loss(model(x), x).item() for x, in loader)
def jitter(x): return x + torch.rand(1)
from torch import randn as noise
Layer, blur = nn.Linear, F.dropout
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.dropout = Layer(1, 1), nn.Dropout(0.5)
    def forward(self, x): return self.layer(self.dropout(x))
class Wide(nn.Linear): pass
custom, trained = Net().eval(), Net()
"""

ONLY_PASSES = [
    "for batch in plain: pass",
    "score = evaluate(net, plain)",
    "score = evaluate(still, plain)",
    "dropping.eval()\nscore = evaluate(dropping, plain)",
    "total = np.mean([x.sum().item() for x, in plain])",
    "for batch in silent: pass",
    "for batch in seeded: pass",
    "first = next(iter(plain))",
    "loss = nn.MSELoss()\nfor x, in plain: loss(net(x), x).backward()",
]

MORE = [
    "x = 1",
    "score = net(torch.ones(1, 1))",
    "for batch in shuffled: pass",
    "for batch in workers: pass",
    "for batch in noisy: pass",
    "for batch in ordered: pass",
    "for batch in drawn: pass",
    "score = evaluate(dropping, plain)",
    "still.train()\nscore = evaluate(still, plain)",
    "for x, in plain: jitter(x)",
    "for x, in plain: torch.rand(1)",
    "draw = torch.randn\nfor x, in plain: draw(1)",
    "for x, in plain: list(map(torch.rand_like, [x]))",
    "for x, in plain: x.normal_()",
    "for x, in plain: F.dropout(x)",
    "new = nn.Linear(1, 1)\nfor x, in plain: new(x)",
    "for x, in plain: attention(x, x, x)",
    "for x, in plain: x + noise(1)",
    "for x, in plain: blur(x)",
    "for x, in plain: Layer(1, 1)(x)",
    "a, b = random_split(data, [4, 4])\nfor x in plain: pass",
    "for x in plain: exec(code)",
    "for a, b in zip(plain, shuffled): pass",
    "score = evaluate(custom, plain)",  # its constructor may draw
    "score = evaluate(trained, plain)",
    "score = evaluate(Net().eval(), plain)",
    "score = evaluate(Wide(1, 1), plain)",
]


@pytest.mark.parametrize("cell", ONLY_PASSES)
def test_passes_alone(notebook, cell):
    """Nothing else that it reaches draws from torch."""
    notebook.run(HELD)
    assert notebook.dependencies(cell).only_loader_seed_draws


@pytest.mark.parametrize(("cell", "count"), [
    ("for batch in plain: pass", 1), ("score = evaluate(custom, plain)", 1),
    ("for a, b in zip(plain, silent): pass", 2), ("for a, b in zip(plain, shuffled): pass", 0),
    ("for batch in ordered: pass", 1), ("for batch in drawn: pass", 1), ("x = 1", 0),
    ("for a, b in zip(plain, ordered): pass", 0), ("x = [*ordered.sampler]", 0),
    ("x = [*getattr(ordered, 'batch_sampler')]", 0), ("for batch in batched: pass", 0),
])  # fmt: skip
def test_passive_loaders(notebook, cell, count):
    """They are counted where a pass over any of them draws its seed and no more.

    One whose order the user's own class draws is counted where it is the only one.
    """
    notebook.run(HELD)
    assert notebook.dependencies(cell).passive_loaders == count


@pytest.mark.parametrize("cell", MORE)
def test_more_than_passes(notebook, cell):
    """There is no loader, or its order is drawn, or something else draws, or may."""
    notebook.run(HELD)
    assert not notebook.dependencies(cell).only_loader_seed_draws


def test_a_package_that_may_draw_is_not_trusted(notebook, monkeypatch):
    """Whatever it does, it may ask torch for random numbers."""
    package = types.ModuleType("augment")
    package.__file__ = "/usr/lib/python3/dist-packages/augment.py"
    exec("def flip(x): return x", vars(package))  # noqa: S102 -- our own line
    monkeypatch.setitem(sys.modules, "augment", package)
    notebook.run(HELD, "from augment import flip")
    assert not notebook.dependencies("for x, in plain: flip(x)").only_loader_seed_draws


@pytest.mark.parametrize(
    ("cell", "heeds"),
    [
        ("opt.zero_grad()\nloss.backward()\nopt.step()", False),
        ("loss.backward()\nopt.step()\nopt.zero_grad()", True),
        ("for x in data:\n    opt.zero_grad(); loss.backward(); opt.step()", False),
        (
            "for i, x in enumerate(data):\n    loss.backward()\n    if i % 4 == 3: opt.zero_grad()",
            True,
        ),
        (
            "opt.zero_grad()\nfor x in data:\n    loss.backward(); opt.step(); opt.zero_grad()",
            False,
        ),
        ("def fit():\n    loss.backward()\n    opt.step()\n    opt.zero_grad()\nfit()", True),
        ("loss.backward()\nopt.step()", True),
        ("print(loss)", False),
    ],
)
def test_gradients_that_were_there_count_until_they_are_cleared(notebook, cell, heeds):
    """Those that a cell clears at the end only went into its first step."""
    notebook.run(HELD, "opt, loss = torch.optim.SGD(net.parameters(), lr=0.1), net(torch.ones(1))")
    assert ("grad" in notebook.dependencies(cell).heeded) is heeds
