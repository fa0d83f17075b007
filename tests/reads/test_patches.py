"""What the user replaced in packages, and which code uses it."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.following import find_dependencies
from ipytorchseed.reads.patches import find_at, is_replaced, place_of, put_at

PLACES = {
    "torch.nn.functional.relu": ("torch.nn.functional", "relu"),
    "torch.nn.Linear.forward": ("torch.nn", "Linear.forward"),
    "torch.Tensor.sum": ("torch", "Tensor.sum"),
}


def _dependencies(cell, patched=None, **names):
    found = {"torch": torch, "nn": nn, "F": functional, **names}
    return find_dependencies(effects_of_cell(cell, str), found, patched=patched, seconds=1.0)


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ("F.relu = F.gelu", "torch.nn.functional.relu"),
        ("setattr(F, 'relu', F.gelu)", "torch.nn.functional.relu"),
        ("nn.Linear.forward = print", "torch.nn.Linear.forward"),
        ("from torch.nn import Linear\nLinear.forward = print", "torch.nn.Linear.forward"),
        ("def f():\n    torch.Tensor.sum = print\nf()", "torch.Tensor.sum"),
        ("nn.Linear(1, 1).forward = print", ""),
        ("F.relu", ""),
    ],
)
def test_places(cell, place):
    """A set attribute of a package's module or class is listed by its import name."""
    assert _dependencies(cell).sets == ({place: PLACES[place]} if place else {})


@pytest.mark.parametrize(
    ("cell", "name", "uses_it"),
    [
        ("F.relu(x)", "torch.nn.functional.relu", True),
        ("relu = len(word)", "torch.nn.functional.relu", False),
        ("model(x)", "torch.nn.functional.relu", True),
        ("model(x)", "torch.nn.Linear.forward", True),
        ("layer = nn.Linear(2, 2)", "torch.nn.Linear.reset_parameters", True),
        ("layer = nn.Linear(2, 2)", "torch.nn.init.kaiming_uniform_", True),
        ("y = 1 - x", "torch.Tensor.__rsub__", True),
        ("print(x)", "torch.Tensor.__repr__", True),
    ],
)
def test_use_of_what_was_replaced(monkeypatch, cell, name, uses_it):
    """A replaced function is an input of cells that reach its package."""
    place = place_of(name)
    names = {"x": torch.ones(1), "relu": functional.relu}
    with torch.random.fork_rng():
        names["model"] = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    kept = find_at(place)
    assert not is_replaced(place)
    with monkeypatch.context() as patch:
        patch.setattr(name, lambda *_: 0)
        found = _dependencies(cell, {name: place}, **names)
        put_at(place, kept)
        assert not is_replaced(place)
    assert (name in found.replaced, name in found.names) == (uses_it, uses_it)
