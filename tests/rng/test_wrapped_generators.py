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
