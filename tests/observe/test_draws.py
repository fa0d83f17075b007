"""Which calls of a cell drew from which source is observed."""

from __future__ import annotations

import pytest

from ipytorchseed.observe.watch import watch
from tests.session.conftest import Notebook

pytestmark = [
    pytest.mark.skipif(watch is None, reason="sys.monitoring is newer"),
    pytest.mark.usefixtures("put_back"),
]

BEFORE = """
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
loader = DataLoader(torch.arange(8.0), batch_size=2, shuffle=True)
rand = np.random.rand
kept = type("Kept", (), {"loader": loader})
def draw():
    return torch.randn(3)
def batches(of):
    for batch in of:
        yield batch
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.drop = nn.Linear(2, 2), nn.Dropout()
    def forward(self, x):
        return self.drop(self.linear(x))
net = Net()
"""

FOREST = ("train_test_split", "RandomForestClassifier.fit")

DRAWN = {
    "random.random()": {"python": ("random.random",)},
    "random.shuffle([1, 2, 3])": {"python": ("random.shuffle",)},
    "random.choices(population=[1, 2], k=2)": {"python": ("random.choices",)},
    "np.random.rand(3)": {"numpy": ("numpy.random.rand",)},
    "rand(3)": {"numpy": ("numpy.random.rand",)},
    "np.random.shuffle(*[y])": {"numpy": ("numpy.random.shuffle",)},
    "torch.randn(3); random.random()": {
        "torch.cpu": ("torch.randn",),
        "python": ("random.random",),
    },
    "x = torch.ones(3).normal_()": {"torch.cpu": ("Tensor.normal_",)},
    "a, b, c, d = train_test_split(X, y)\nRandomForestClassifier(3).fit(a, y=c)": {"numpy": FOREST},
    "nn.Linear(2, 2)": {"torch.cpu": ("Linear",)},
    # Calls inside functions and methods of the notebook.
    "draw()": {"torch.cpu": ("torch.randn",)},
    "list(map(lambda n: draw(), range(2)))": {"torch.cpu": ("torch.randn",)},
    "Net()": {"torch.cpu": ("Linear",)},
    "net(torch.ones(1, 2))": {"torch.cpu": ("Dropout",)},
    "exec('np.random.rand()')": {"numpy": ("numpy.random.rand",)},
    # Loops take items without a call.
    "for x in loader:\n    pass": {"torch.cpu": ("for … in loader",)},
    "for n, x in enumerate(loader):\n    pass": {"torch.cpu": ("DataLoader", "for … in loader")},
    "_ = list(batches(loader))": {"torch.cpu": ("for … in of",)},
    "for x in kept.loader:\n    pass": {"torch.cpu": ("for … in kept.loader",)},
    "_ = list(loader)": {"torch.cpu": ("DataLoader",)},
    "for n in range(5):\n    if n == 3:\n        np.random.shuffle(y)": {
        "numpy": ("numpy.random.shuffle",)
    },
    # What does not draw.
    "print('a', len(X))": {},
    "torch.manual_seed(3); np.random.seed(3); random.seed(3)": {},
    "np.random.default_rng().random()": {},
    "if len(X) < 3:\n    draw()": {},
    "try:\n    1 / 0\n    draw()\nexcept ZeroDivisionError:\n    pass": {},
}


@pytest.fixture(scope="module")
def notebook():
    """Run the code that the cells begin with."""
    made = Notebook()
    made.run(BEFORE)
    yield made
    watch.close()


@pytest.mark.parametrize("cell", DRAWN)
def test_calls_that_draw_are_named_as_one_writes_them(notebook, cell):
    """The innermost call counts, and only if it ran."""
    for _ in range(2):
        run = notebook.run(cell)
        assert notebook.error is None
        assert run.observed.drew == DRAWN[cell]


def test_a_thread_may_draw_while_it_is_started(notebook):
    """Either its own call or the one that started it is named."""
    run = notebook.run("import threading\nt = threading.Thread(target=draw)\nt.start()\nt.join()")
    (call,) = run.observed.drew["torch.cpu"]
    assert call in ("torch.randn", "Thread.start", "Thread.join")


def test_only_the_first_calls_are_kept(notebook):
    """A record stays small."""
    run = notebook.run(
        "\n".join(f"draw{n} = torch.randn(1)" for n in range(9)) + "\nnn.Linear(2, 2)"
    )
    assert run.observed.drew == {"torch.cpu": ("torch.randn", "Linear")}
    calls = ("randn", "rand", "randperm", "bernoulli", "normal", "poisson", "multinomial")
    cell = "\n".join(f"torch.{call}(*given[{call!r}])" for call in calls)
    notebook.run("given = {'randn': (1,), 'rand': (1,), 'randperm': (3,), 'normal': (0.0, 1.0, (2,)),"
                 " **dict.fromkeys(('bernoulli', 'poisson'), (torch.full((9,), 0.5),)),"
                 " 'multinomial': (torch.ones(3), 2)}")  # fmt: skip
    assert notebook.run(cell).observed.drew["torch.cpu"] == tuple(
        f"torch.{each}" for each in calls[:5]
    )


def test_a_long_cell_is_examined_up_to_a_limit(notebook):
    """The cell goes on, and what comes after the limit is not named."""
    run = notebook.run("\n".join(["np.abs(1)"] * 300) + "\nx = np.random.rand()")
    assert notebook.error is None
    assert run.observed.drew == {}
    assert run.before["numpy"] != run.after["numpy"]


def test_a_source_that_cannot_be_read_is_left_out(notebook, monkeypatch):
    """A device that records a graph refuses to tell its state."""

    class Recording:
        def get_state(self):
            raise RuntimeError("capturing")

    monkeypatch.setattr("torch.default_generator", Recording())
    run = notebook.run("x = np.random.rand()")
    assert run.observed.drew == {"numpy": ("numpy.random.rand",)}
    assert "some of its code" not in run.observed.unseen
