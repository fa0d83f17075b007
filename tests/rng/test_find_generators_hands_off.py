"""Searching a namespace runs no user code and keeps no user objects."""

from __future__ import annotations

import gc
import random
import sys
import weakref

import numpy as np
import pytest
import torch

from ipytorchseed.rng.generators import find_generators

# Names of methods that were called, of the classes below.
called: list[str] = []

HOOKS = [
    "__getattribute__",
    "__getattr__",
    "__setattr__",
    "__dir__",
    "__len__",
    "__iter__",
    "__contains__",
    "__getitem__",
    "__eq__",
    "__hash__",
    "__bool__",
    "__repr__",
    "__str__",
    "__index__",
    "__call__",
    "__get__",
    "__instancecheck__",
    "__subclasscheck__",
    "keys",
    "values",
    "items",
    "get",
    "get_state",
    "getstate",
    "state",
]


def _hook(name):
    def hook(*args, **kwargs):
        called.append(name)
        raise AssertionError(name)

    return hook


def _hooks(*but):
    """Return methods that record their call and fail, under all likely names."""
    return {name: _hook(name) for name in HOOKS if name not in but}


def search(**namespace):
    """Return the names found, after a check that no method was called."""
    called.clear()
    found = find_generators(namespace)
    described = [(each.name, each.digest, str(each.position)) for each in found]
    assert called == []
    return [name for name, _, _ in described]


def _instance(kind, **attributes):
    made = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made


def rng():
    """Make a generator to hide somewhere."""
    return np.random.default_rng(0)


def test_the_check_of_these_tests_can_fail():
    """A search with ``getattr`` is detected."""
    touchy = _instance(type("Touchy", (), _hooks()))
    with pytest.raises(AssertionError, match="__getattribute__"):
        touchy.rng  # noqa: B018 -- the look itself
    assert called == ["__getattribute__"]


def test_attributes_are_read_past_every_method():
    """The generator in the object's dictionary is found.

    None of its methods is called.
    """
    assert search(it=_instance(type("Touchy", (), _hooks()), rng=rng())) == ["it.rng"]


def test_slots_are_read_past_every_method():
    """The same for slots."""
    kind = type("Touchy", (), {**_hooks(), "__slots__": ("rng",)})
    made = object.__new__(kind)
    kind.__dict__["rng"].__set__(made, rng())
    assert search(it=made) == ["it.rng"]


@pytest.mark.parametrize("name", ["rng", "__dict__", "__class__", "generator"])
def test_properties_are_not_computed(name):
    """Their names do not matter, and a dictionary that is a property is not read."""
    search(it=object.__new__(type("Computed", (), {name: property(_hook(name))})))


@pytest.mark.parametrize("base", [dict, list, tuple])
def test_containers_are_read_past_every_method(base):
    """A subclass's own ``__len__``, ``__iter__`` or ``items`` is not used."""
    kind = type("Touchy", (base,), _hooks())
    value = {"rng": rng()} if base is dict else [rng()]
    made = base.__new__(kind, value)
    if base is not tuple:
        base.__init__(made, value)
    assert search(it=made) == ["it['rng']" if base is dict else "it[0]"]


@pytest.mark.parametrize(
    ("base", "arguments"),
    [
        (random.Random, ()),
        (np.random.RandomState, ()),
        (np.random.Generator, (np.random.PCG64(1),)),
        (torch.Generator, ()),
    ],
)
def test_a_subclassed_generator_is_read_past_every_method(base, arguments):
    """It is found, digested and located without calls of overridden methods."""
    made = base.__new__(type("Touchy", (base,), _hooks()), *arguments)
    if base is not random.Random:  # whose __init__ calls methods
        base.__init__(made, *arguments)
    assert search(it=made) == ["it"]


class Meta(type):
    """A metaclass that records every access to the class, and fails."""

    def __getattribute__(cls, name):
        """Fail."""
        called.append(f"Meta.{name}")
        raise AssertionError(name)

    __instancecheck__ = __subclasscheck__ = __eq__ = __hash__ = _hook("Meta")


def test_classes_are_read_past_their_metaclass():
    """No method is called, of a value's class or of a class as a value."""
    kind = Meta("Touchy", (), {})
    assert search(it=_instance(kind, rng=rng()), kind=kind) == ["it.rng"]


class Slotted:
    """Lends its slot to another class."""

    __slots__ = ("rng",)


class Lender:
    """Lends its dictionary to another class."""


@pytest.mark.parametrize(
    "attributes",
    [
        {"__module__": []},
        {"__module__": property(_hook("__module__"))},
        {"borrowed": Slotted.__dict__["rng"]},
        {"__dict__": Lender.__dict__["__dict__"]},
        {"__slots__": ()},
    ],
    ids=["module", "module property", "foreign slot", "foreign dictionary", "nothing"],
)
def test_odd_classes_are_survived(attributes):
    """They contain nothing readable, but other names are still found."""
    odd = object.__new__(type("Odd", (), attributes))
    assert search(odd=odd, g=rng()) == ["g"]


def test_a_class_without_a_module_is_looked_into():
    """Code that runs outside any module makes such classes."""
    made: dict[str, type] = {}
    exec("Nameless = type('Nameless', (), {})", made)  # noqa: S102 -- that is such code
    assert "__module__" not in vars(made["Nameless"])
    assert search(it=_instance(made["Nameless"], rng=rng())) == ["it.rng"]


def test_keys_are_not_compared_or_hashed():
    """Keys other than text and numbers are skipped without using them."""
    touchy = _instance(type("Key", (), _hooks("__hash__", "__eq__")))
    kind = type("Text", (str,), _hooks("__hash__", "__eq__"))
    value = {touchy: rng(), kind("x"): rng(), "plain": rng()}
    assert search(it=value) == ["it['plain']"]


def test_lazy_modules_are_not_loaded():
    """Modules of a subclass, which large libraries have, are skipped."""
    kind = type("LazyModule", (type(sys),), {"__getattr__": _hook("__getattr__")})
    lazy = kind("lazy")
    lazy.rng = rng()
    assert search(lazy=lazy) == []


def test_nothing_found_is_kept_alive():
    """Once the result is dropped, an object dies with its last name.

    No cache, no cycle.
    """
    owner = Lender()
    owner.items, owner.rng = [Lender()], rng()
    gone = weakref.ref(owner), weakref.ref(owner.items[0])
    gc.disable()
    try:
        assert len(find_generators({"owner": owner})) == 1
        del owner
        assert [reference() for reference in gone] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("make", [torch.Generator, random.Random, np.random.RandomState, rng])
def test_no_kind_of_generator_is_kept_alive(make):
    """Reading digest and position keeps none alive. Most have no weak references."""
    generator = make()
    before = sys.getrefcount(generator)
    (found,) = find_generators({"g": generator, "again": generator})
    assert found.digest
    assert found.position
    del found
    assert sys.getrefcount(generator) == before
