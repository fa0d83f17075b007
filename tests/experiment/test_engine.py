"""What ``leave`` returns.

Each thing that is not as before, although it was restored.
"""

from __future__ import annotations

import random
import sys
from types import ModuleType

import pytest

from ipytorchseed.experiment.engine import Engine


class Refusing(dict):
    """A namespace that can be set to refuse assignments."""

    refuses = False

    def __setitem__(self, name, value):
        if not self.refuses:
            super().__setitem__(name, value)


def left_by(names, change, places=()):
    """Return what ``leave`` names after a cell that made a change."""
    engine = Engine(names, ["x"], places)
    engine.begin()
    change()
    return engine.leave()


def test_what_is_back_is_not_named():
    """A variable, a source, and a generator of the namespace."""
    names = {"x": [1], "g": random.Random(1)}
    kept = names["x"]

    def change():
        names["x"].append(2)
        names["x"] = names.pop("x")
        names["y"] = random.random()
        names["g"].random()

    before = random.getstate(), names["g"].getstate()
    assert left_by(names, change) == []
    assert names["x"] is kept
    assert kept == [1]
    assert (random.getstate(), names["g"].getstate()) == before
    assert [*names] == ["x", "g"]


def test_a_variable_that_cannot_be_set_is_named():
    """The namespace is of a class of the user's."""
    names = Refusing(x=[1])
    assert left_by(names, lambda: setattr(names, "refuses", True)) == ["x"]


def test_a_value_of_a_module_that_is_gone_is_named(monkeypatch):
    """There is no module to put it into."""
    module = ModuleType("settings_of_a_test")
    module.rate = [1]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    place = (module.__name__, "rate")
    assert left_by({"x": 1}, lambda: sys.modules.pop(module.__name__), [place]) == [".".join(place)]


@pytest.mark.parametrize(
    ("part", "name"), [("_set_environment", "NEW"), ("_enter_folder", "folder")]
)
def test_a_part_of_the_process_that_stays_is_named(monkeypatch, tmp_path, part, name):
    """An environment variable that was not there, and the working folder."""
    monkeypatch.setattr(f"ipytorchseed.experiment.process.Process.{part}", lambda _: None)
    change = {
        "NEW": lambda: monkeypatch.setenv("NEW", "1"),
        "folder": lambda: monkeypatch.chdir(tmp_path),
    }
    assert left_by({"x": 1}, change[name])[-1].endswith(name)


def test_a_source_and_a_generator_that_stay_are_named(monkeypatch):
    """Their states are not those of before."""
    names = {"x": 1, "g": random.Random(1)}
    before = random.getstate()

    def change():
        random.random()
        names["g"].random()
        monkeypatch.setattr("ipytorchseed.experiment.process.restore", lambda _: None)
        monkeypatch.setattr("ipytorchseed.rng.generators.FoundGenerator.write", lambda *_: None)

    assert left_by(names, change) == ["python", "g"]
    random.setstate(before)
