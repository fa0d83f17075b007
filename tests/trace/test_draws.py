"""Each draw has an operation, a line, a module, a source and a count."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
import torch
from torch import nn

from ipytorchseed.trace.draws import LineDraws
from tests.trace.recorded import record

pytestmark = pytest.mark.usefixtures("put_back")


def _drawn(source, **names):
    recording = record(source, {"torch": torch, "nn": nn, **names}, count=True)
    return [
        (each.source, each.operation.removeprefix("aten::"), each.place.line, each.place.module or each.by,
         each.calls, each.numbers)
        for each in recording.draws.drawn
    ]  # fmt: skip


def test_a_draw_has_line_source_and_numbers():
    """The numbers are counted by the generator's state."""
    assert _drawn("torch.rand(10)\nfor _ in range(3):\n    torch.randperm(5)") == [
        ("torch.cpu", "rand", 1, "", 1, 10),
        ("torch.cpu", "randperm", 3, "", 3, 12),
    ]


def test_very_many_numbers_are_counted_too():
    """The count may exceed the limit for quick counts."""
    assert _drawn("torch.rand(6_000_000)")[0][-1] == 6_000_000


def test_a_generator_goes_by_its_name():
    """This includes torch's default one. A generator without a variable has no name."""
    source = (
        "torch.rand(2, generator=g)\ntorch.rand(2, generator=torch.default_generator)\n"
        "torch.rand(2, generator=torch.Generator())"
    )
    sources = [each[0] for each in _drawn(source, g=torch.Generator())]
    assert sources == ["g", "torch.cpu", "(torch.Generator)"]


def test_a_module_that_draws_is_named():
    """A module that does not draw, in evaluation, is not named."""
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    assert [each[3] for each in _drawn("model(torch.ones(1, 4))", model=model)] == ["model.1"]
    assert _drawn("model.eval()(torch.ones(1, 4))", model=model) == []


def test_the_loader_and_its_sampler_are_named():
    """The base seed that every loader draws is listed."""
    loader = torch.utils.data.DataLoader([*range(4)], shuffle=True)
    drawn = _drawn("for _ in loader: pass", loader=loader)
    assert {each[3] for each in drawn} == {"DataLoader", "DataLoader's sampler"}
    assert {each[2] for each in drawn} == {1}


def test_the_first_values_of_layers_are_put_down_to_init():
    """The creation of a layer draws."""
    assert _drawn("layer = nn.Linear(2, 2)") == [
        ("torch.cpu", "uniform_", 1, "torch.nn.init", 2, 6),
    ]


FILE = "<a cell followed line by line>"


def _by_line(source, **names):
    watch = LineDraws(FILE)
    code = compile(f"begin()\n{source}", FILE, "exec")
    try:
        begin = lambda: watch.attach(sys._getframe(1))  # noqa: E731 -- called in the cell
        exec(code, {"begin": begin, "random": random, "np": np, **names})  # noqa: S102 -- a cell
    finally:
        watch.detach()
    return [(each.source, each.place.line, each.calls, each.numbers) for each in watch.drawn]


def test_lines_that_draw_from_python_and_numpy_are_found():
    """They may be in loops, in functions of the cell, or call other code."""
    far = {"np": np}
    exec(compile("def far():\n    np.random.rand(5)", "<elsewhere>", "exec"), far)  # noqa: S102 -- code in place of a cell
    source = """\
random.random()
for _ in range(3):
    np.random.rand(2)
def near():
    random.getrandbits(8)
near()
far()
"""
    assert _by_line(source, far=far["far"]) == [
        ("python", 2, 1, 2),
        ("numpy", 4, 3, 12),
        ("python", 6, 1, 1),
        ("numpy", 8, 1, 10),
    ]


def test_the_last_line_counts_and_nothing_stays():
    """No trace function remains, and later code is not observed."""
    assert _by_line("random.random()") == [("python", 2, 1, 2)]
    assert sys.gettrace() is None


def test_a_debugger_is_left_alone():
    """Then draws of python and numpy are not known by line, and that is reported."""
    mine = lambda *_: None  # noqa: E731 -- any trace function
    sys.settrace(mine)
    try:
        watch = LineDraws(FILE)
        watch.attach(sys._getframe())
        watch.detach()
        assert sys.gettrace() is mine
    finally:
        sys.settrace(None)
    assert watch.refused
