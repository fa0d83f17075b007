"""Generators inside wrappers have names that users can write."""

from __future__ import annotations

import random
import sys
from types import ModuleType, SimpleNamespace

import pytest

from ipytorchseed.rng.generators import find_generators

pytestmark = pytest.mark.usefixtures("put_back")


@pytest.fixture
def wrapper(monkeypatch):
    """Return the wrapper class of an imported gymnasium."""

    class Wrapper:
        def __init__(self, env):
            self.env = env

    core = ModuleType("gymnasium.core")
    core.Wrapper = Wrapper
    monkeypatch.setitem(sys.modules, "gymnasium.core", core)
    return Wrapper


def test_what_is_wrapped_is_named_without_the_wrappers(wrapper):
    """The number of wrappers does not matter. ``--generators`` reseeds it."""
    space = SimpleNamespace(_np_random=random.Random(1))
    env = wrapper(wrapper(wrapper(SimpleNamespace(action_space=space))))
    (found,) = find_generators({"env": env})
    assert found.name == "env.action_space._np_random"
    derived = found.reseed(42)
    assert space._np_random.random() == random.Random(derived).random()


def test_wrappers_of_each_other_end(wrapper):
    """They contain nothing else."""
    env = wrapper(None)
    env.env = wrapper(env)
    assert find_generators({"env": env}) == []


class Noise:
    """A class of a library, whose objects share a generator."""

    R = random.Random(1)

    def __init__(self):
        self._rng = random.Random(2)

    @property
    def rng(self):
        """The generator, as users reach it."""
        return self._rng


def test_what_users_reach_by_a_property_or_the_class_is_named_so(monkeypatch):
    """In libraries. An object may have another generator than its class."""
    monkeypatch.setattr(Noise, "__module__", "json")
    noise, other = Noise(), Noise()
    other.R = random.Random(3)
    found = find_generators({"noise": noise, "other": other})
    assert [each.name for each in found] == ["noise.rng", "noise.R", "other.rng", "other.R"]
    assert found[1].object is Noise.R


def test_private_attributes_of_the_users_objects_keep_their_names():
    """Their properties may return anything. What the class has is not the object's."""
    own = type("Own", (Noise,), {"__module__": __name__})()
    assert [each.name for each in find_generators({"own": own})] == ["own._rng"]
