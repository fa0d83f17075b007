"""Digests equal those in existing ledgers, however they are computed."""

from __future__ import annotations

import numpy as np
import pytest

from ipytorchseed.fingerprint import fingerprint
from ipytorchseed.fingerprint.arrays import name_of


class Point:
    """An object, in a module of that name for anyone who asks."""

    __module__ = "somewhere"

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


# Values by their digests.
KEPT = {
    "a4afbb8b9f6e0627": lambda: [(1, "a"), [2.5, None], (), [], (b"x", True)],
    "b32b801168952773": lambda: [[(1, [2, (3,)])], {"a": (1, 2), "b": [(3,)]}],
    "33f93a8405507ed8": lambda: tuple(range(7)),
    "2f6c32ca6fe14650": lambda: [*range(8)],
    "aaa85c951e7b87d5": lambda: [(n, n / 2) for n in range(300)],
    "990c92d98a5885b5": lambda: {"x": 1, "y": [1, 2], "z": {"w": (1,)}},
    "045b210a57d1a356": lambda: Point(x=1, y=[1, 2]),
    "ff3782eb1ee8ba2e": lambda: [Point(x=1), Point(y=(2,))],
    "c56bff4da285797c": lambda: np.arange(3.0),
    "47acb1cf34327193": lambda: np.asfortranarray(np.arange(6).reshape(2, 3)),
    "7479f12abee70c29": lambda: np.array([1, 2], ">i4"),
    "a11116206a336c1c": lambda: np.array(["ab", "c"]),
    "3c877d2c7625f87e": lambda: np.array(["2020-01-01"], "M8[s]"),
    "96057a640aedaa09": lambda: np.zeros(2, [("a", "i4"), ("b", "f8")]),
    "e93cd382ef3e6221": lambda: np.array([(1,), None], object),
    "edd9517d2f0e4ae4": lambda: np.float32(1.5),
    "bc6d143af82eb70e": lambda: np.True_,
    "fc14f19a3da13491": lambda: np.datetime64("2020-01-01"),
}


@pytest.mark.parametrize("digest", KEPT)
def test_is_the_one_in_ledgers(digest):
    """A digest that changes makes every record of the past another value's."""
    assert fingerprint(KEPT[digest]()).digest == digest


@pytest.mark.parametrize("length", range(12))
@pytest.mark.parametrize("base", [list, tuple])
@pytest.mark.parametrize("item", [1, "x", None, "y" * 5000, 2**40_000, (2,), Point(x=1)], ids=type)
def test_is_the_same_inside_another(item, base, length):
    """Short sequences of short values are read faster than others."""
    value = base([item] * length)
    alone = fingerprint(value)
    for outer in ([value, value], {"[0]": value}, [[*range(9), value], value][::-1]):
        assert fingerprint(outer).parts["k:[0]"] == alone.digest


DTYPES = [
    *"?bBhHiIlLqQefdgFDGO", "S3", "U3", "V4", "M8", "M8[25us]", "m8[D]", ">f8", ">i4", ">U2",
    [("a", "i4"), ("b", ">f8", (2,))], ("i4", (2,)), (np.void, 4), (np.record, [("a", "i4")]),
    ("i4", [("a", "i2"), ("b", "i2")]), ("U3", (2,)), "S0", "U0", ">S2",
]  # fmt: skip


@pytest.mark.parametrize(
    "dtype", [*map(np.dtype, DTYPES), np.dtype("f8", metadata={"a": 1})], ids=str
)
def test_of_a_dtype_is_the_name(dtype):
    """As numpy spells it."""
    assert name_of(dtype) == str(dtype)
