"""What an object's properties worked out and keep in it is no content.

It follows from the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pytest

from ipytorchseed.fingerprint import fingerprint, same
from ipytorchseed.fingerprint.value import results


class Data:
    """With a property that caches its result, by the standard library and by hand."""

    factor = 2

    def __init__(self, n):
        self.n = n
        self._cache = {}

    @cached_property
    def total(self):
        """Work it out at the first look."""
        return sum(range(self.n))

    @property
    def double(self):
        """Work it out at the first look, likewise."""
        return self._cache.setdefault("double", self.factor * self.n)

    def method(self):
        """Work it out each time."""
        return self.n


def _worked(data):
    assert (data.total, data.double) == (sum(range(data.n)), 2 * data.n)
    return data


@pytest.mark.parametrize(
    "inside", [lambda data: data, lambda data: [data], lambda data: {"d": data}]
)
def test_results_of_properties_are_no_content(inside):
    """Reading an object does not change it, also not inside of another.

    An attribute does.
    """
    made = Data(3)
    before = fingerprint(inside(made))
    assert same(before, fingerprint(inside(_worked(made)))) is True
    made.n = 4
    assert same(before, fingerprint(inside(made))) is False


def test_which_results_are_kept_is_told():
    """Another one may be older than what it was made of."""
    first, again = (fingerprint(_worked(Data(3))) for _ in range(2))
    stale = _worked(Data(3))
    vars(stale)["total"] = 7
    kept = [*map(results, (first, again, fingerprint(stale)))]
    assert kept[0] == kept[1]
    assert kept[0]["Data.double"] == kept[2]["Data.double"]
    assert kept[0]["Data.total"] != kept[2]["Data.total"]
    assert results(fingerprint(Data(3))) == {}


@pytest.mark.parametrize("name", ["Data of mine", "a=b", "a; b", ""])
def test_a_class_may_be_called_anything(name):
    """Its results are distinguished, or not told."""
    made = _worked(type(name, (Data,), {})(3))
    assert all(len(digest) == 8 for digest in results(fingerprint(made)).values())
    assert same(fingerprint(made), fingerprint(type(name, (Data,), {})(3))) is True


@pytest.mark.parametrize("key", ["else", "method", 3, "factor"])
def test_a_cache_of_something_else_is_content(key):
    """A dictionary whose keys are not properties is content."""
    made = _worked(Data(3))
    before = fingerprint(made)
    made._cache[key] = 1
    assert same(before, fingerprint(made)) is False


def test_a_property_that_a_subclass_replaced_is_an_attribute():
    """What is in its place is content."""

    class Plain(Data):
        total = 0

    one, two = Plain(3), Plain(3)
    one.total, two.total = 1, 2
    assert same(fingerprint(one), fingerprint(two)) is False


class Qubit:
    """Named; its hash is worked out once, from a text, and so is that of its name."""

    def __init__(self, name, salt=0):
        self._name = name
        self._hash = None
        self._named = hash(name) ^ salt

    def __hash__(self):
        if self._hash is None:
            self._hash = hash((Qubit, self._name)) ^ _Salt.value
        return self._hash


class _Salt:
    value = 0


def test_hashes_are_no_content(monkeypatch):
    """The class's own, and that of an attribute, before and after computing it."""
    made = Qubit("q")
    before = fingerprint(made)
    hash(made)
    assert same(before, fingerprint(made)) is True
    monkeypatch.setattr(_Salt, "value", 1)
    other = Qubit("q")
    assert hash(other) != hash(made)
    assert same(before, fingerprint(other)) is True
    assert same(before, fingerprint(Qubit("r"))) is False
    assert same(before, fingerprint(Qubit("q", salt=1))) is False  # no hash of anything


class Plain:
    """Hashed as every object is."""


@dataclass(frozen=True)
class File:
    """Hashed by its fields."""

    file_hash: int = 0


@pytest.mark.parametrize(("kind", "name"), [(Plain, "_hash"), (File, "file_hash")])
def test_a_number_that_is_called_a_hash_may_be_content(kind, name):
    """As a checksum of data is: of a class without ``__hash__``, or a public name."""
    first, second = kind(), kind()
    vars(first)[name], vars(second)[name] = 1, 2
    assert same(fingerprint(first), fingerprint(second)) is False
