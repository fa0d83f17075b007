"""Which values count as numbers, and how they are named."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ipytorchseed.studies.record import read_numbers


class Odd(float):
    """A number of the user's, whose code must not run."""

    def __float__(self):
        raise AssertionError


NUMBERS = {
    "int": (3, {"it": 3}),
    "float": (0.5, {"it": 0.5}),
    "numpy": (np.float32(0.5), {"it": 0.5}),
    "array": (np.array(2), {"it": 2}),
    "tensor": (torch.tensor(2.5, requires_grad=True), {"it": 2.5}),
    "bfloat16": (torch.tensor(2.5, dtype=torch.bfloat16), {"it": 2.5}),
    "parameter": (torch.nn.Parameter(torch.tensor(1.0)), {"it": 1}),
    "entries": ({"a": 1, "b": {"c": 2.0, 3: 4}, "d": "5"}, {"it['a']": 1, "it['b']['c']": 2, "it['b'][3]": 4}),
    "truth": (True, {}),
    "text": ("3", {}),
    "vector": (torch.ones(2), {}),
    "one in a vector": (np.ones(1), {}),
    "complex": (torch.tensor(1j), {}),
    "on no device": (torch.tensor(1.0, device="meta"), {}),
    "true tensor": (torch.tensor(True), {}),
    "list": ([1, 2], {}),
    "too large": (10**400, {}),
    "the user's own": (Odd(1), {}),
    "a date": (np.datetime64("2026-01-01"), {}),
    "large dictionary": (dict.fromkeys(range(1000), 1), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name):
    """Found without running user code, or a warning."""
    value, expected = NUMBERS[name]
    assert read_numbers({"it": value}) == expected


def test_a_dictionary_that_holds_itself_ends():
    """At some depth."""
    ring = {"a": 1}
    ring["again"] = ring
    assert read_numbers({"ring": ring})["ring['a']"] == 1


def test_classes_are_not_compared():
    """A metaclass whose comparison raises ends no study."""

    class Meta(type):
        __hash__ = type.__hash__

        def __eq__(cls, other):
            raise RuntimeError

    class Odd(metaclass=Meta):
        pass

    assert read_numbers({"odd": Odd(), "table": {Odd(): 1, "a": 2}}) == {"table['a']": 2}
