"""Small values as bytes.

The same again after unpacking, and no code of their classes runs.
"""

from __future__ import annotations

import collections
import datetime as dt
import types

import numpy as np
import pandas as pd
import pytest
import torch

from ipytorchseed.fingerprint import fingerprint, same
from ipytorchseed.fingerprint.packing import pack

MOST = 64 << 10


class Plain:
    """An object with attributes."""


class Named(dict):
    """A dictionary of the user's own class."""


class Hostile:
    """An object whose methods must not run."""

    def _fail(self, *_):
        raise AssertionError("a method of the user's ran")

    __reduce__ = __reduce_ex__ = __getstate__ = __deepcopy__ = __copy__ = _fail
    __getattr__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = _fail

    def __getattribute__(self, name):
        raise AssertionError("a method of the user's ran")


def holding(kind, **attributes):
    """Return an object with attributes."""
    made = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made


def itself():
    """Return a list that holds itself."""
    made = [1]
    made.append(made)
    return made


def with_gradient():
    """Return a layer after a backward pass."""
    layer = torch.nn.LayerNorm(3)
    layer(torch.arange(3.0)).sum().backward()
    return layer


def double(value, times=2):
    """Return a multiple."""
    return value * times


VALUES = {
    "number": lambda: 3.5,
    "nested": lambda: {"a": [1, (2.0, "x")], "b": {1, 2}, "c": None},
    "itself": itself,
    "array": lambda: np.arange(12.0).reshape(3, 4),
    "columns first": lambda: np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "record": lambda: np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]),
    "tensor": lambda: torch.arange(6.0).reshape(2, 3),
    "half": lambda: torch.ones(3, dtype=torch.bfloat16),
    "scalar tensor": lambda: torch.tensor(2, dtype=torch.int16),
    "empty tensor": lambda: torch.empty(0, 3),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2)),
    "layer": with_gradient,
    "frame": lambda: pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
    "counter": lambda: collections.Counter("aab"),
    "defaults": lambda: collections.defaultdict(list, a=[1]),
    "date": lambda: dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
    "object": lambda: holding(Plain, rate=0.1, names=["a"]),
    "hostile": lambda: holding(Hostile, rate=0.1),
    "function": lambda: double,
}


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES)
def test_what_is_unpacked_is_the_same(make):
    """Its digest is, and it shares nothing with the original.

    No method of the user's runs.
    """
    value = make()
    packed = pack(value, MOST)
    assert packed is not None
    made = packed.unpack()
    assert same(fingerprint(value), fingerprint(made)) is True
    if type(value) in (list, dict, np.ndarray, torch.Tensor, Plain, Hostile):
        assert made is not value
    if type(value) is torch.Tensor:
        assert value.numel() == 0 or made.data_ptr() != value.data_ptr()


def test_gradients_come_along():
    """A layer's parameters have theirs."""
    layer = with_gradient()
    made = pack(layer, MOST).unpack()
    assert torch.equal(made.weight.grad, layer.weight.grad)


def test_an_object_in_it_twice_is_there_twice():
    """And not as two objects."""
    part = [1]
    made = pack([part, part], MOST).unpack()
    assert made[0] is made[1]


def closure():
    """Return a function that keeps a value."""
    kept = [1]
    return lambda: kept


@pytest.mark.parametrize(
    "make",
    [
        lambda: bytes(MOST + 1),
        lambda: np.zeros(MOST),
        lambda: torch.zeros(MOST),
        lambda: list(range(100_000)),
        lambda: [torch.ones(1, requires_grad=True) * 2],
        lambda: torch.ones(1, device="meta"),
        lambda: (str(each) for each in "a"),
        closure,
        Named,
        lambda: types.SimpleNamespace(lock=__import__("threading").Lock()),
    ],
)
def test_what_is_large_or_takes_code_is_not_packed(make):
    """There is no copy of it, and no error."""
    assert pack(make(), MOST) is None


def test_a_class_that_is_gone_is_not_kept_alive():
    """The value cannot be unpacked any more."""
    kind = type("Gone", (), {})
    packed = pack(kind(), MOST)
    del kind
    __import__("gc").collect()
    with pytest.raises(Exception, match=r"^$"):
        packed.unpack()
