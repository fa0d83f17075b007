"""Values of every kind, by functions that build equal ones, with one change each."""

from __future__ import annotations

import collections
import contextvars
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import functools
import gc
import io
import itertools
import operator
import pathlib
import random
import re
import sqlite3
import types
import uuid
from array import array
from typing import NamedTuple

import msgspec
import numpy as np
import pandas as pd
import torch
from torch import nn

from ipytorchseed.fingerprint import Budget


def spent():
    """Return a budget with time left only for samples."""
    return Budget(60, used=48)


class Plain:
    """An object with a dictionary."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Slotted:
    """An object with slots."""

    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclasses.dataclass
class Config:
    """A dataclass."""

    rate: float = 0.1
    layers: list = dataclasses.field(default_factory=lambda: [1, 2])


class Entry(msgspec.Struct):
    """A record of msgspec's."""

    rate: float = 0.1
    layers: list = []


class Colour(enum.Enum):
    """An enumeration."""

    RED = 1
    BLUE = 2


class Words(list):
    """A list with attributes."""


class Loud(str):
    """A text of another class."""

    __slots__ = ()


class Point(NamedTuple):
    """A tuple with names."""

    x: int
    y: int


def function(factor=2.0):
    """Make a function with a closure and a default."""

    def scale(x, shift=1):
        return x * factor + shift

    return scale


def cyclic(content=1):
    """Make a list that holds itself, twice, and a dictionary that holds the list."""
    made = [content]
    made += [made, {"back": made}]
    return made


def model():
    """Make a small network, without drawing a number."""
    with torch.device("meta"):
        net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 2))
    net.to_empty(device="cpu")
    net[1].reset_running_stats()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.arange(float(parameter.numel())).sin().view_as(parameter))
    return net


def trained(steps=1):
    """Make an optimizer that has moved a network."""
    net = model()
    made = torch.optim.Adam(net.parameters(), lr=0.1)
    for _ in range(steps):
        made.zero_grad()
        net(torch.arange(8.0).reshape(2, 4)).square().sum().backward()
        made.step()
    return made


def scheduler(steps=1):
    """Make a schedule of learning rates."""
    moved = trained()
    made = torch.optim.lr_scheduler.StepLR(moved, 1)
    for _ in range(steps):
        moved.step()
        made.step()
    return made


def loader(**options):
    """Make a loader."""
    data = torch.utils.data.TensorDataset(torch.arange(10.0))
    return torch.utils.data.DataLoader(data, **{"batch_size": 2, **options})


def frame():
    """Make a table with columns of several types."""
    return pd.DataFrame({
        "n": [1, 2, 3], "f": [0.5, 1.5, np.nan], "s": ["x", "y", "z"],
        "c": pd.Categorical(["u", "v", "u"]), "t": pd.date_range("2020-01-01", periods=3),
        "i": pd.array([1, None, 3]),
    })  # fmt: skip


def structured():
    """Make an array with named fields, padded as C would."""
    made = np.zeros(3, np.dtype([("a", "u1"), ("b", "f8")], align=True))
    made["b"] = 1.5
    return made


def _set(name, value):
    def change(it):
        setattr(it, name, value)

    return change


def _put(key, value):
    def change(it):
        it[key] = value

    return change


# A dtype with two numbers per byte, since torch 2.8; torch cannot compute with it.
_FLOAT4 = getattr(torch, "float4_e2m1fn_x2", torch.uint8)


def _flip(it):
    """Change one bit of a tensor, in the way that torch counts."""
    bits = it.detach().view(torch.uint8).reshape(-1)
    bits[-1] ^= 1


def _mutate(statement):
    """Return a change written as a statement about ``it``."""

    def change(it):
        with torch.no_grad():
            exec(statement, {"it": it, "torch": torch, "np": np, "nn": nn, "pd": pd})  # noqa: S102

    return change


# For each kind: a builder, and a change of one thing.
CHANGED = {
    # Containers
    "list item": (lambda: [1, 2.0, "x"], _put(1, 2.5)),
    "list order": (lambda: [1, 2], list.reverse),
    "list length": (lambda: [1, 2], lambda it: it.append(3)),
    "list nested": (lambda: [[1], [[2, [3]]]], _mutate("it[1][0][1][0] = 4")),
    "list of numbers": (lambda: [float(n) for n in range(100)], _put(50, -50.0)),
    "list of integers": (lambda: [*range(100)], _put(50, 2**70)),
    "list of booleans": (lambda: [True] * 20, _put(7, False)),
    "list of texts": (lambda: ["ab", "c"] * 10, _mutate("it[0], it[1] = 'a', 'bc'")),
    "list 1 to True": (lambda: [1, "a"], _put(0, True)),
    "list 0.0 to -0.0": (lambda: [0.0], _put(0, -0.0)),
    "list subclass": (lambda: Words([1]), _set("tag", 3)),
    "dict value": (lambda: {"a": 1, "b": 2}, _put("b", 3)),
    "dict key": (lambda: {"a": 1}, lambda it: it.update({"c": it.pop("a")})),
    "dict order": (lambda: {"a": 1, "b": 2}, lambda it: it.update(a=it.pop("a"))),
    "ordered dict": (lambda: collections.OrderedDict(a=1, b=2), lambda it: it.move_to_end("a")),
    "default dict": (lambda: collections.defaultdict(list), _set("default_factory", set)),
    "counter": (lambda: collections.Counter("aab"), lambda it: it.update("b")),
    "set": (lambda: {"a", "b", "c"}, lambda it: it.add("d")),
    "deque": (lambda: collections.deque([1, 2]), lambda it: it.rotate(1)),
    "namespace": (lambda: types.SimpleNamespace(a=1), _set("a", 2)),
    "cycle": (cyclic, _put(0, 2)),
    "cycle's shape": (cyclic, lambda it: it[2].update(back=it[2])),
    "bytearray": (lambda: bytearray(b"abc"), _put(0, 0)),
    "array.array": (lambda: array("i", [1, 2]), _put(0, 3)),
    # Objects
    "object": (lambda: Plain(a=1), _set("a", 2)),
    "object's new attribute": (lambda: Plain(a=1), _set("b", 2)),
    "object's nested": (lambda: Plain(a=Plain(b=[1])), _mutate("it.a.b.append(2)")),
    "slots": (lambda: Slotted(1, 2), _set("b", 3)),
    "slot emptied": (lambda: Slotted(1, 2), lambda it: delattr(it, "b")),
    "dataclass": (Config, _set("rate", 0.2)),
    "dataclass's list": (Config, _mutate("it.layers[0] = 9")),
    "struct": (Entry, _set("rate", 0.2)),
    "struct's list": (Entry, _mutate("it.layers.append(9)")),
    "exception": (lambda: ValueError("a"), _set("args", ("b",))),
    # numpy
    "array": (lambda: np.arange(6.0).reshape(2, 3), _put((1, 2), -1)),
    "array's last bit": (lambda: np.ones(9), _mutate("it.view(np.uint8)[0] ^= 1")),
    "array's NaN": (lambda: np.array([np.nan]), _mutate("it.view(np.uint8)[0] ^= 1")),
    "array's shape": (lambda: np.ones((2, 3)), _mutate("it.resize((3, 2), refcheck=False)")),
    "array's dtype": (lambda: np.zeros(2, "i4"), _mutate("it.dtype = 'f4'")),
    "array of objects": (lambda: np.array([1, [2]], object), _mutate("it[1].append(3)")),
    "array of records": (structured, _mutate("it['a'][1] = 1")),
    "array of times": (lambda: np.array(["2020"], "M8[s]"), _mutate("it += 1")),
    "array of texts": (lambda: np.array(["ab", "c"]), _put(1, "d")),
    "array strided": (lambda: np.arange(20.0)[::3], _put(-1, 0)),
    "array of columns": (lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)), _put((0, 2), 9)),
    "array without dimension": (lambda: np.array(1.0), _put((), 2.0)),
    "masked array": (lambda: np.ma.array([1, 2], mask=[0, 1]), _mutate("it.mask[0] = True")),
    # torch
    "tensor": (lambda: torch.arange(6.0).reshape(2, 3), _flip),
    "tensor's shape": (lambda: torch.ones(6), lambda it: it.resize_(2, 3)),
    "tensor's gradient": (lambda: torch.ones(2, requires_grad=True), _set("grad", torch.ones(2))),
    "tensor's flag": (lambda: torch.ones(2), lambda it: it.requires_grad_()),
    "tensor's hook": (lambda: torch.ones(2, requires_grad=True),
                      lambda it: it.register_hook(function())),
    "tensor's attribute": (lambda: torch.ones(2), _set("tag", 1)),
    "tensor transposed": (lambda: torch.arange(6.0).reshape(2, 3).t(), _mutate("it[2, 1] = 9")),
    "tensor expanded": (lambda: torch.ones(1).expand(5), _mutate("it[:1].fill_(2)")),
    "tensor without dimension": (lambda: torch.tensor(1.5), lambda it: it.add_(1)),
    "bfloat16": (lambda: torch.ones(3, dtype=torch.bfloat16), _flip),
    "float8": (lambda: torch.ones(3).to(torch.float8_e4m3fn), _flip),
    "float4": (lambda: torch.full((3,), 0x24, dtype=torch.uint8).view(_FLOAT4), _flip),
    "booleans": (lambda: torch.ones(3, dtype=torch.bool), _put(1, False)),
    "complex": (lambda: torch.ones(3, dtype=torch.complex64), _put(1, 1j)),
    "conjugate": (lambda: torch.full((3,), 1 + 2j).conj(), _put(1, 1j)),
    "sparse": (lambda: torch.eye(3).to_sparse().coalesce(), _mutate("it.values()[1] = 2")),
    "sparse rows": (lambda: torch.eye(3).to_sparse_csr(), _mutate("it.values()[1] = 2")),
    "parameter": (lambda: nn.Parameter(torch.ones(3)), lambda it: it.data.add_(1)),
    "inference tensor": (lambda: torch.inference_mode()(torch.ones)(3),
                         torch.inference_mode()(lambda it: it.add_(1))),
    "storage": (lambda: torch.ones(3).untyped_storage(), _put(0, 7)),
    # torch's objects
    "parameter of a module": (model, lambda it: _flip(it[0].weight)),
    "buffer of a module": (model, lambda it: it[1].running_mean.add_(1)),
    "mode": (model, lambda it: it.eval()),
    "mode of one": (model, lambda it: it[1].eval()),
    "hook of a module": (model, lambda it: it[2].register_forward_hook(function())),
    "attribute of a module": (model, lambda it: setattr(it[1], "eps", 0.1)),
    "frozen": (model, lambda it: it[0].weight.requires_grad_(requires_grad=False)),
    "module added": (model, lambda it: it.append(nn.ReLU())),
    "module swapped": (model, _put(2, nn.GELU())),
    "gradients left": (model, lambda it: it(torch.ones(2, 4)).sum().backward()),
    "learning rate": (trained, _mutate("it.param_groups[0]['lr'] = 0.2")),
    "moments": (trained, _mutate("[*it.state.values()][1]['exp_avg'].add_(1)")),
    "steps": (trained, lambda it: it.step()),
    "scheduler": (scheduler, lambda it: setattr(it, "last_epoch", 7)),
    "loader": (loader, lambda it: vars(it).update(drop_last=True)),
    "loader's data": (loader, _mutate("it.dataset.tensors[0][3] = -1")),
    "subset": (lambda: torch.utils.data.Subset(loader().dataset, [1, 2]),
               _mutate("it.indices.append(0)")),
    # Generators of random numbers
    "random.Random": (lambda: random.Random(1), random.Random.random),
    "numpy generator": (lambda: np.random.default_rng(1), lambda it: it.random()),
    "numpy legacy": (lambda: np.random.RandomState(1), lambda it: it.rand()),
    "numpy bits": (lambda: np.random.PCG64(1), lambda it: it.random_raw()),
    "torch generator": (lambda: torch.Generator().manual_seed(1),
                        lambda it: torch.rand(1, generator=it)),
    # pandas
    "frame": (frame, _mutate("it.loc[1, 'n'] = 7")),
    "frame's texts": (frame, _mutate("it.loc[1, 's'] = 'q'")),
    "frame's categories": (frame, _mutate("it.loc[1, 'c'] = 'u'")),
    "frame's times": (frame, _mutate("it.loc[1, 't'] = pd.Timestamp(0)")),
    "frame's nullable": (frame, _mutate("it.loc[0, 'i'] = pd.NA")),
    "frame's columns": (frame, _mutate("it.columns = list('nfscta')")),
    "frame's index": (frame, _mutate("it.index = [0, 1, 3]")),
    "series": (lambda: pd.Series([1.0, 2.0]), _put(0, 3.0)),
    "series' name": (lambda: pd.Series([1.0, 2.0]), _set("name", "x")),
    # Code
    "defaults": (function, _set("__defaults__", (5,))),
    "closure": (function, _mutate("it.__closure__[0].cell_contents = 5.0")),
    "code": (function, lambda it: setattr(it, "__code__", function.__code__.replace(
        co_freevars=it.__code__.co_freevars))),
    "partial": (lambda: functools.partial(function(), [1]), _mutate("it.args[0].append(2)")),
    "method": (lambda: Plain(f=[1].append).f, lambda it: it(2)),
    # Opaque, with a position
    "generator": (lambda: (n for n in [1, 2]), next),
    "list iterator": (lambda: iter([1, 2]), next),
    "dict iterator": (lambda: iter({1: 2, 3: 4}), next),
    "set iterator": (lambda: iter({1, 2}), next),
    "range iterator": (lambda: iter(range(5)), next),
    "enumerate": (lambda: enumerate("ab"), next),
    "zip": (lambda: zip([1, 2], [3, 4], strict=True), next),
    "map": (lambda: map(operator.neg, [1, 2]), next),
    "count": (itertools.count, next),
    "repeat": (lambda: itertools.repeat(1, 3), next),
    "chain": (lambda: itertools.chain([1, 2], [3]), next),
    "memory file": (lambda: io.BytesIO(b"abc"), lambda it: it.read(1)),
    "view of keys": (lambda: dict.keys({"a": 1}), lambda it: gc.get_referents(it)[0].update(b=2)),
    "view of values": (lambda: dict.values({"a": 1}), lambda it: gc.get_referents(it)[0].update(a=2)),
    "view of items": (lambda: dict.items({"a": 1}), lambda it: gc.get_referents(it)[0].update(a=2)),
    "context variable": (lambda: contextvars.ContextVar("level"), lambda it: it.set(1)),
}  # fmt: skip


def row(query):
    """Make a row as SQLite gives it, which tells its columns."""
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    return connection.execute(query).fetchone()


def different():
    """Make values whose digests all differ."""
    return [
        0, 1, -1, 2**63, 2**64, -(2**64), True, False, None, ..., NotImplemented, 0.0, -0.0,
        1.0, 1e-300, float("inf"), float("nan"), 0j, 1j, complex(0, -0.0), "", "a", "\ud800",
        "a" * 5000, "a" * 4999 + "b", b"", b"a", b"a" * 5000, bytearray(b"a"), [], (), {},
        set(), frozenset(), [0], (0,), {0}, {0: 0}, [[]], [()], [[], []], [[[]]], ["ab"],
        ["a", "b"], [1, 2], [12], ["a"] * 9, [1] * 9, [1.0] * 9, [True] * 9, ("a",) * 9,
        range(3), range(4), slice(1), slice(2), Point(1, 2), Point(1, 3), Colour.RED,
        Colour.BLUE, Loud("a"), decimal.Decimal("1.0"), decimal.Decimal("1.00"),
        decimal.Decimal("-0"), fractions.Fraction(1, 3), dt.datetime(2020, 1, 1),  # noqa: DTZ001
        dt.datetime(2020, 1, 1, fold=1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC),  # noqa: DTZ001
        dt.date(2020, 1, 1), dt.timedelta(1), dt.time(1), dt.UTC, pathlib.Path("a"),
        pathlib.Path("b"), pathlib.PurePosixPath("a"), uuid.UUID(int=1), re.compile("a"),
        re.compile("a", re.IGNORECASE), np.float32(1), np.float64(1), np.int8(1), np.bool_(1),
        np.str_("a"), np.datetime64("2020"), np.datetime64("2021"), np.zeros(0),
        np.zeros((0, 1)), np.zeros(1), np.array(0.0), np.zeros(1, ">f8"), np.array("a"),
        np.array([None]), np.dtype("f4"), torch.zeros(0), torch.zeros(0, 1), torch.zeros(1),
        torch.tensor(0.0), -torch.zeros(1), torch.zeros(1, dtype=torch.int32),
        torch.zeros(1, dtype=torch.float16), torch.zeros(1, dtype=torch.bfloat16),
        torch.zeros(1, device="meta"), torch.zeros(2, device="meta"),
        torch.zeros(1).to_sparse(), torch.zeros(1, 1).to_sparse_csr(),
        torch.zeros(1, 1).to_sparse_csc(), torch.zeros(1, requires_grad=True), torch.float32,
        torch.float64, torch.device("cpu"), torch.Size([1]), len, abs, [].append, {}.get,
        row("select 1 as a"), row("select 2 as a"), row("select 1 as b"), row("select 1 as a, 1 as b"),
        np.add, np.multiply, torch.relu, torch.sigmoid, Plain, Slotted, Config, nn.Linear,
        nn.ReLU, np, torch, pd.NaT, pd.NA, pd.Timestamp(0), pd.Timestamp(1), pd.Timedelta(1),
        pd.Index([1]), pd.Index([2]), pd.RangeIndex(2), pd.RangeIndex(3), pd.Categorical(["a"]),
        pd.Categorical(["a"], ["b", "a"]), pd.MultiIndex.from_tuples([(1, 2)]),
        pd.MultiIndex.from_tuples([(1, 3)]), object(), Plain(), types.SimpleNamespace(),
        types.MappingProxyType({}), types.MappingProxyType({1: 1}), collections.OrderedDict(),
        collections.Counter(), collections.deque(), collections.deque(maxlen=3), Plain.__init__,
        property(len), staticmethod(len), functools.lru_cache(function()),
    ]  # fmt: skip
