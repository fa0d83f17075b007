"""Generators are found in a namespace, by the user's access paths."""

from __future__ import annotations

import random
import secrets
from argparse import Namespace
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier
from torch.utils.data import DataLoader, RandomSampler, Subset, TensorDataset, WeightedRandomSampler

from ipytorchseed.rng.generators import find_generators


def names(namespace):
    """Return the name of each generator that is found."""
    return [found.name for found in find_generators(namespace)]


def rng():
    """Make a generator to hide somewhere."""
    return np.random.default_rng(0)


@dataclass
class Plain:
    """Keeps it in its dictionary."""

    rng: Any = field(default_factory=rng)


@dataclass(slots=True)
class Slots:
    """Keeps it in a slot; another is never filled."""

    rng: Any = field(default_factory=rng)
    empty: Any = field(init=False)


class Both(Slots):
    """Has slots from above and its own dictionary."""

    def __init__(self):
        """Fill both."""
        super().__init__()
        self.own = rng()


class Held(torch.nn.Module):
    """A module with a generator for its noise."""

    def __init__(self):
        """Hold it as a plain attribute."""
        super().__init__()
        self.generator = torch.Generator()
        self.layer = torch.nn.Linear(1, 1)


class Items(list):
    """A subclass of list."""


class Pair(NamedTuple):
    """A tuple with names."""

    rng: Any
    size: int


DATA = TensorDataset(torch.arange(4))


@pytest.mark.parametrize(
    ("make", "type_"),
    [
        (lambda: random.Random(1), "random.Random"),
        (lambda: np.random.RandomState(1), "numpy.random.RandomState"),
        (lambda: np.random.default_rng(1), "numpy.random.Generator"),
        (torch.Generator, "torch.Generator"),
    ],
)
def test_a_generator_is_found_with_its_type_as_users_write_it(make, type_):
    """It has the variable's name. Nothing else is found in a plain namespace."""
    made = make()
    (found,) = find_generators({"x": 1, "g": made, "y": [torch.ones(3)], "z": "text"})
    assert (found.name, found.kind.type, found.others) == ("g", type_, ())
    assert found.object is made


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (rng(), "it"),
        (Plain(), "it.rng"),
        (Slots(), "it.rng"),
        (Held(), "it.generator"),
        (SimpleNamespace(rng=rng()), "it.rng"),
        (Namespace(rng=rng()), "it.rng"),
        (Pair(rng(), 2), "it[0]"),
        ([1, rng()], "it[1]"),
        ((1, 2, rng()), "it[2]"),
        (Items([rng()]), "it[0]"),
        ({"train": rng()}, "it['train']"),
        ({3: rng()}, "it[3]"),
        (OrderedDict(train=rng()), "it['train']"),
        (defaultdict(list, train=rng()), "it['train']"),
        (RandomForestClassifier(random_state=np.random.RandomState(1)), "it.random_state"),
        (DataLoader(DATA, generator=torch.Generator()), "it.generator"),
        (
            DataLoader(DATA, sampler=RandomSampler(DATA, generator=torch.Generator())),
            "it.sampler.generator",
        ),
        (WeightedRandomSampler([1, 1], 2, generator=torch.Generator()), "it.generator"),
        (SimpleNamespace(inner=Plain()), "it.inner.rng"),
        ({"train": {"noise": rng()}}, "it['train']['noise']"),
        ([Plain()], "it[0].rng"),
        ([[[rng()]]], "it[0][0][0]"),
        (SimpleNamespace(a=SimpleNamespace(b=Plain())), "it.a.b.rng"),
        (SimpleNamespace(rngs=[rng()]), "it.rngs[0]"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_generator_is_found_up_to_three_attributes_or_items_deep(value, name):
    """In objects, slots, modules, loaders, samplers, estimators and small containers."""
    assert names({"it": value}) == [name]


@pytest.mark.parametrize(
    ("value", "library"),
    [
        (RandomForestClassifier(random_state=np.random.RandomState(1)), "sklearn"),
        ([RandomForestClassifier(random_state=np.random.RandomState(1))], "sklearn"),
        (DataLoader(DATA, generator=torch.Generator()), ""),
        (Plain(), ""),
        ([rng()], ""),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_library_that_holds_a_generator_is_known(value, library):
    """It is empty for the user's objects, and for the package of the generator."""
    assert [found.library for found in find_generators({"it": value})] == [library]


@pytest.mark.parametrize(
    "value",
    [
        [[[[[rng()]]]]],
        SimpleNamespace(a=SimpleNamespace(b=SimpleNamespace(c=[Plain()]))),
        [rng()] * 33,
        {i: rng() for i in range(33)},
        {(1, 2): rng()},
        {rng()},
        partial(print, rng()),
        Plain,
        random,
        np.random,
    ],
    ids=[
        "five deep",
        "five attributes",
        "list",
        "dict",
        "key",
        "set",
        "partial",
        "class",
        "m",
        "m.m",
    ],
)
def test_no_search_goes_deeper_or_through_data(value):
    """Not five levels deep, in large containers, sets, arguments or classes."""
    assert names({"it": value}) == []


def test_names_of_the_shell_are_passed_over():
    """``_``, ``_5`` and ``__`` are other names of results.

    The user's names may start with an underscore.
    """
    held = {
        "_": rng(),
        "_5": Plain(),
        "_i3": rng(),
        "_mine": rng(),
        "ds": SimpleNamespace(_rng=rng()),
    }
    assert names(held) == ["_mine", "ds._rng"]


def test_a_key_that_is_no_name_is_passed_over():
    """``globals()[5] = ...`` is possible, also in an object, and must not raise."""
    assert names({5: rng(), "g": rng()}) == ["g"]
    odd = Plain()
    vars(odd)[5] = rng()
    assert names({"odd": odd}) == ["odd.rng"]


def test_one_object_under_several_names_is_one_entry_under_the_shortest_path():
    """The sampler of a shuffled loader holds the loader's generator.

    A variable comes first. An object with two names is searched once.
    """
    loader = DataLoader(DATA, shuffle=True, generator=torch.Generator())
    (found,) = find_generators({"loader": loader})
    assert (found.name, found.others) == ("loader.generator", ("loader.sampler.generator",))
    (found,) = find_generators({"loader": loader, "g": loader.generator, "same": loader})
    assert found.name == "g"
    assert found.others == (
        "loader.generator",
        "same.generator",
        "loader.sampler.generator",
    )


def test_entries_come_in_the_order_of_the_namespace():
    """Variables come first, in their order, then deeper objects."""
    assert names({"b": Plain(), "c": rng(), "a": rng()}) == ["c", "a", "b.rng"]


def test_a_dataset_in_a_loader_is_looked_into():
    """``loader.dataset.rng``, and ``subset.dataset.rng``."""
    noisy = SimpleNamespace(rng=rng())
    subset = Subset(noisy, [0])
    assert names({"loader": DataLoader(noisy, sampler=[0])}) == ["loader.dataset.rng"]
    assert names({"subset": subset}) == ["subset.dataset.rng"]


def test_an_object_with_slots_and_a_dictionary_shows_both():
    """Inherited slots and own attributes."""
    assert sorted(names({"it": Both()})) == ["it.own", "it.rng"]


def test_generators_that_share_a_bit_generator_are_one():
    """They draw from one stream, so reseeding one reseeds the other."""
    shared = np.random.PCG64(1)
    twins = {"a": np.random.Generator(shared), "b": np.random.Generator(shared)}
    twins["c"] = np.random.RandomState(shared)
    (found,) = find_generators(twins)
    assert (found.name, found.others) == ("a", ("b", "c"))


@pytest.mark.parametrize(
    "hidden",
    [
        random._inst,
        np.random.mtrand._rand,
        np.random.Generator(np.random.mtrand._rand._bit_generator),
        torch.default_generator,
        random.SystemRandom(),
        secrets.SystemRandom(),
        type("OfTheSystem", (random.SystemRandom,), {})(),
    ],
    ids=["python", "numpy", "its engine", "torch", "system", "secrets", "system, subclass"],
)
def test_hidden_generators_and_those_without_a_state_are_none(hidden):
    """Hidden generators are sources already.

    ``SystemRandom`` takes every number from the system.
    """
    assert names({"it": hidden, "owner": SimpleNamespace(rng=hidden)}) == []


def test_structures_that_hold_themselves_are_finished():
    """Cycles through lists, dictionaries and attributes."""
    loop: list[object] = [rng()]
    loop.append(loop)
    table: dict[str, object] = {"rng": rng()}
    table["table"] = table
    me = SimpleNamespace(rng=rng())
    me.me = me
    assert names({"loop": loop, "table": table, "me": me}) == [
        "loop[0]",
        "table['rng']",
        "me.rng",
    ]


def test_large_namespaces_are_searched_whole():
    """The last of 10,000 names is found like the first."""
    many = {f"x{i}": SimpleNamespace(value=i, items=[i] * 10) for i in range(10_000)}
    assert names({"first": rng(), **many, "last": Plain()}) == ["first", "last.rng"]


def test_wide_objects_are_searched_whole():
    """An object's attributes are not items of a container."""
    wide = SimpleNamespace(**{f"x{i}": i for i in range(1000)}, rng=rng())
    assert names({"wide": wide}) == ["wide.rng"]


@pytest.mark.usefixtures("put_back")  # making a layer draws
def test_a_namespace_without_generators_gives_an_empty_list():
    """So does an empty one."""
    assert find_generators({}) == []
    assert find_generators({"x": 1, "model": torch.nn.Linear(1, 1)}) == []


@pytest.mark.parametrize("kind", [np.random.Generator, np.random.RandomState])
def test_a_generator_that_was_never_initialised_is_none(kind):
    """A class that does not call numpy's ``__init__`` has no state to read."""
    half = kind.__new__(type("Half", (kind,), {}))
    assert [
        each.name for each in find_generators({"half": half, "r": np.random.default_rng(1)})
    ] == ["r"]
