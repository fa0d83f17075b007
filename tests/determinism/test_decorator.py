"""``its.deterministic`` as a decorator: each call runs in its own block."""

from __future__ import annotations

import functools
import inspect
import random

import pytest
import torch

import ipytorchseed as its
from ipytorchseed.determinism.scope import NondeterministicWarning

pytestmark = pytest.mark.usefixtures("put_back")


def _on():
    return torch.are_deterministic_algorithms_enabled()


def _put():
    torch.zeros(3).put_(torch.tensor([0]), torch.tensor([1.0]))


class _Model:
    """Draws, deterministically."""

    @its.deterministic(42)
    def draw(self, more=0):
        """Draw a number."""
        return random.random() + more, _on()

    @classmethod
    @its.deterministic(42)
    def of_class(cls):
        return cls, random.random()

    @staticmethod
    @its.deterministic(42)
    def of_nothing():
        return random.random()


def test_each_call_is_seeded_and_set():
    """Two calls give the same numbers, with the flags on.

    Between them the flags are off.
    """

    @its.deterministic(42)
    def draw():
        return random.random(), torch.rand(2).tolist(), _on()

    first = draw()
    assert first[-1]
    assert not _on()
    random.random()
    assert draw() == first


def test_methods_of_every_kind_can_be_decorated():
    """The instance or the class arrives as the first argument, others pass through."""
    model = _Model()
    number, on = model.draw()
    assert on
    assert model.draw(more=1) == (number + 1, True)
    assert _Model.of_class() == (_Model, number)
    assert _Model.of_nothing() == model.of_nothing() == number


def test_the_function_keeps_its_name_and_signature():
    """Help, inspection and pickling see the function that was decorated."""
    assert _Model.draw.__name__ == "draw"
    assert _Model.draw.__qualname__ == "_Model.draw"
    assert _Model.draw.__doc__ == "Draw a number."
    assert str(inspect.signature(_Model.draw)) == "(self, more=0)"
    assert inspect.unwrap(_Model.draw) is not _Model.draw


def test_a_recursive_function_restores_at_each_level():
    """Each call ends its own block; the flags are off only after the outermost."""
    seen = []

    @its.deterministic()
    def count(n):
        if n:
            count(n - 1)
        seen.append(_on())
        return n

    assert count(3) == 3
    assert seen == [True] * 4
    assert not _on()


def test_a_call_that_raises_restores():
    """The error comes out of the call, and the flags are as before it."""

    @its.deterministic()
    def fail():
        raise LookupError(_on())

    with pytest.raises(LookupError, match="True"):
        fail()
    assert not _on()


def _generator():
    yield 1


async def _async_generator():
    yield 1


async def _async():
    return 1


class _Net: ...


@pytest.mark.parametrize(
    "function", [_generator, _async_generator, _async, functools.partial(_generator), _Net]
)
def test_what_runs_after_the_call_is_refused(function):
    """Its body runs outside of any block; a class would no longer be one.

    The error says what to write instead.
    """
    with pytest.raises(TypeError, match=r"runs after the call.*with its\.deterministic\(\)"):
        its.deterministic()(function)


def test_parentheses_that_were_left_out_are_told_of():
    """The function is no seed."""
    with pytest.raises(TypeError, match=r"decorate with @its\.deterministic\(\)"):
        its.deterministic(_generator)


@pytest.mark.parametrize("isolate", [True, False])
def test_the_options_hold_for_each_call(isolate):
    """``warn``, ``isolate`` and ``cudnn`` are those of the decorator."""

    @its.deterministic(1, warn=True, isolate=isolate, cudnn=False)
    def run():
        random.random()
        return torch.is_deterministic_algorithms_warn_only_enabled(), torch.backends.cudnn.enabled

    before = random.getstate()
    assert run() == (True, False)
    assert (random.getstate() == before) is isolate


def test_alerts_of_a_call_are_told_in_a_warning():
    """Each call warns for itself, with the lines of the function's own file."""

    @its.deterministic(warn=True)
    def run():
        _put()

    line = inspect.getsourcelines(_put)[1] + 1
    for _ in range(2):
        with pytest.warns(NondeterministicWarning, match=rf"put_ \(line {line}, once\)"):
            run()


def test_an_alert_in_a_call_is_noted_with_the_functions_line():
    """In strict mode the note names the line in the decorated function's file."""

    @its.deterministic()
    def run():
        _put()

    with pytest.raises(RuntimeError) as caught:
        run()
    line = inspect.getsourcelines(_put)[1] + 1
    assert any(f"put_ (line {line})" in note for note in caught.value.__notes__)


def test_a_decorator_can_serve_as_a_block_too():
    """One object decorates and opens blocks: the calls have their own blocks."""
    scope = its.deterministic(42)

    @scope
    def draw():
        return random.random()

    with scope:
        within = random.random()
        assert draw() == within
        assert _on()
    assert not _on()
