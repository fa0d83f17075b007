"""Objects are read without running their code, and no class is kept alive."""

from __future__ import annotations

import collections
import gc
import tracemalloc
import weakref

import pytest

from ipytorchseed.fingerprint import fingerprint
from ipytorchseed.introspection.anatomy import anatomy, attributes, per_object
from ipytorchseed.introspection.values import parts


class Slotted:
    """A class with slots, one of which is never filled."""

    __slots__ = ("__dict__", "__weakref__", "b", "never")


class Below(Slotted):
    """A class below it."""

    __slots__ = ("a",)


def made():
    """Make an object with slots and a dictionary."""
    value = Below()
    value.b, value.a, value.z, value.c = 1, 2, 3, 4
    return value


def test_attributes_are_those_of_slots_and_dictionary():
    """By name, or as they were made; a slot that was never filled has none."""
    value = made()
    assert anatomy(Below).attributes(value) == [("a", 2), ("b", 1), ("c", 4), ("z", 3)]
    assert [*attributes(value)] == [("a", 2), ("b", 1), ("z", 3), ("c", 4)]
    assert [*parts(value)] == [2, 1, 3, 4]


def test_thousands_of_attributes_are_read_as_a_dictionary():
    """Listing and sorting a million of them would take half a second."""
    value = made()
    vars(value).update({f"x{n}": n for n in range(2000)})
    assert anatomy(Below).attributes(value) == [("__dict__", vars(value)), ("a", 2), ("b", 1)]
    assert fingerprint(value).exact
    assert fingerprint(value).digest != fingerprint(made()).digest


@pytest.mark.parametrize("look", [fingerprint, lambda value: [*parts(value)]])
def test_a_class_dies_that_was_looked_into(look):
    """Neither its slots nor its dictionary are held on to."""
    kind = type(
        "Kind", (), {"__slots__": ("__dict__", "__weakref__", "x"), "__module__": "__main__"}
    )
    value = kind()
    value.x, value.y = 1, 2
    look(value)
    alive = weakref.ref(kind)
    del kind, value
    gc.collect()
    assert alive() is None


def test_a_class_that_was_changed_since():
    """What is known about a class may be out of date.

    Nothing is read by another's slot.
    """
    value = made()
    known = anatomy(Below)
    del Below.a
    try:
        assert [name for name, _ in known.unsorted(value)] == ["b", "z", "c"]
    finally:
        Below.a = 0


def test_what_is_worked_out_is_worked_out_once():
    """By identity, as long as the object lives."""
    calls = []
    name_of = per_object(lambda kind: calls.append(1) or kind.__name__)
    kinds = [type("A", (), {}), type("B", (), {})]
    assert [name_of(kind) for kind in kinds * 2] == ["A", "B"] * 2
    assert len(calls) == 2


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, dict.fromkeys, collections.deque])
def test_the_first_parts_of_a_large_container_are_taken_alone(kind):
    """What it costs to look into one does not grow with it."""
    value = kind(range(10**6))
    tracemalloc.start()
    try:
        assert len([*parts(value)]) < 100
        assert tracemalloc.get_traced_memory()[1] < 2**16
    finally:
        tracemalloc.stop()
