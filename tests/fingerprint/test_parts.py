"""What a comparison can name: parts, series, summaries."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
import torch
from torch import nn

from ipytorchseed.fingerprint import fingerprint
from tests.fingerprint.values import Config, Entry, Plain, frame, function, model, trained


def changed(value, change):
    """Return the parts that a change moves."""
    before = fingerprint(value).parts
    change()
    after = fingerprint(value).parts
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def test_of_a_module():
    """Its mode, each parameter and buffer, gradients, hooks."""
    net = model()
    assert fingerprint(net).parts["mode"] == "train"
    assert changed(net, lambda: net[0].bias.data.add_(1)) == {"p:0.bias"}
    assert changed(net, lambda: net[1].running_var.add_(1)) == {"b:1.running_var"}
    assert changed(net, net[1].eval) == {"mode"}
    assert fingerprint(net).parts["mode"] == "mixed"
    assert changed(net, net.eval) == {"mode"}
    assert changed(net, lambda: net(torch.ones(2, 4)).sum().backward()) == {"grad"}
    assert changed(net, lambda: net.register_forward_hook(function())) == {"hooks"}
    assert changed(net, lambda: setattr(net, "scale", 2)) == {"a:scale"}
    assert fingerprint(net).summary == "Sequential, 6 parameters (29 numbers)"


def test_mode_of_an_activation_inside_a_module_is_no_content():
    """Models often share one, as the default of an argument.

    Eval of one model switches all.
    """
    shared = torch.nn.Softplus()
    net, other = (torch.nn.Sequential(torch.nn.BatchNorm1d(2), shared) for _ in range(2))
    before = fingerprint(net)
    other.eval()
    assert fingerprint(net).digest == before.digest
    assert fingerprint(net).parts["mode"] == "train"
    assert fingerprint(shared).parts["mode"] == "eval"
    net.append(torch.nn.Dropout())
    before = fingerprint(net)
    net[-1].eval()
    assert fingerprint(net).parts["mode"] == "mixed"
    assert fingerprint(net).digest != before.digest


def test_of_a_module_with_many_parameters():
    """They are reported as one."""
    net = nn.Sequential(*(nn.Linear(1, 1) for _ in range(0)))
    net.many = nn.ParameterList([torch.zeros(1) for _ in range(65)])
    assert changed(net, lambda: net.many[3].data.add_(1)) == {"parameters"}


def test_of_an_optimizer():
    """Its rate, steps and state; the parameters that it moves are its own part."""
    made = trained()
    parts = fingerprint(made).parts
    assert parts["lr"] == "0.1"
    assert changed(made, lambda: made.param_groups[0].update(lr=0.5)) == {"lr", "settings"}
    assert changed(made, made.step) == {"parameters", "state"}
    first = made.param_groups[0]["params"][0]
    assert changed(made, lambda: first.data.add_(1)) == {"parameters"}


def test_of_containers_and_objects():
    """Lengths, and items by name where they are few."""
    items = {"a": 1, "b": [2]}
    assert changed(items, lambda: items["b"].append(3)) == {"k:b"}
    assert changed(items, lambda: items.update(c=1)) == {"length", "keys", "k:c"}
    assert changed(items, lambda: items.update(d=items.pop("a"))) == {"keys", "k:a", "k:d"}
    assert fingerprint([1, 2]).parts["length"] == "2"
    assert fingerprint([1, "a"]).parts["items"] == fingerprint(["a", 1]).parts["items"]
    assert fingerprint("abc").parts == {"length": "3"}
    config = Config()
    assert changed(config, lambda: config.layers.append(1)) == {"a:layers"}
    large = {f"k{n}": n for n in range(33)}
    assert fingerprint(large).parts == {"length": "33"}


def test_of_items_by_number():
    """Items at both ends of a sequence, and of a dictionary with integer keys."""
    few = [1, [2], 3]
    assert changed(few, lambda: few[1].append(3)) == {"items", "k:[1]", "k:[-2]"}
    many = [*range(1000)]
    assert changed(many, lambda: many.__setitem__(7, 0)) == {"k:[7]"}
    assert changed(many, lambda: many.__setitem__(-8, 0)) == {"k:[-8]"}
    assert changed(many, lambda: many.__setitem__(8, 0)) == set()
    held = tuple(few)
    assert changed(held, lambda: few[1].append(3)) == {"items", "k:[1]", "k:[-2]"}
    by_number = {0: 1, -1: 2, True + 1: 3}
    assert changed(by_number, lambda: by_number.update({-1: 5})) == {"k:[-1]"}
    assert not any(part[:2] == "k:" for part in fingerprint(type("Ring", (list,), {})(few)).parts)
    knot = [1]
    knot.append(knot)
    assert "k:[1]" in fingerprint(knot).parts


def test_of_dictionaries_in_a_dictionary():
    """The items of small ones, where their names cannot be taken for others."""
    config = {"train": {"rate": 0.1, "layers": [1]}, "data": {"n": 2}}
    assert changed(config, lambda: config["train"].update(rate=0.5)) == {"k:train", "k:train.rate"}
    assert changed(config, lambda: config["train"]["layers"].append(2)) == {
        "k:train", "k:train.layers",
    }  # fmt: skip
    alike = {"a": {"b": 1}, "a.b": 2}
    assert changed(alike, lambda: alike["a"].update(b=3)) == {"k:a"}
    many = {"a": dict.fromkeys(map(str, range(33)), 0)}
    assert {*fingerprint(many).parts} == {"length", "keys", "k:a"}
    knot = {"a": {}}
    knot["a"]["a"] = knot["a"]
    assert "k:a.a" in fingerprint(knot).parts


def test_of_objects_in_an_object():
    """The attributes of plain ones, to any depth, where they are few."""
    cfg = Plain(model=Plain(rate=0.1, head=Plain(size=3)), data=Plain(path="a.csv"))
    assert changed(cfg, lambda: setattr(cfg.data, "path", "b.csv")) == {"a:data", "a:data.path"}
    assert changed(cfg, lambda: setattr(cfg.model.head, "size", 4)) == {
        "a:model", "a:model.head", "a:model.head.size",
    }  # fmt: skip
    cfg.rates = {"low": 1, 2: 3}
    assert changed(cfg, lambda: cfg.rates.update(low=0)) == {"a:rates", "a:rates.low"}
    cfg.model.above = cfg
    assert "a:model.above" in fingerprint(cfg).parts
    many = Plain(inner=Plain(**{f"x{n}": n for n in range(33)}))
    assert {*fingerprint(many).parts} == {"a:inner"}


def test_a_part_is_named_as_the_value_alone():
    """So that it can be found elsewhere."""
    inner = [1, [2]]
    for value, part in (({"a": inner}, "k:a"), (Plain(a=inner), "a:a"), ({"a": 5}, "k:a")):
        content = value["a"] if isinstance(value, dict) else value.a
        assert fingerprint(value).parts[part] == fingerprint(content).digest


def test_of_functions():
    """Code, defaults, closure."""
    made = function()
    assert changed(made, lambda: setattr(made, "__defaults__", (2,))) == {"d:shift"}
    assert changed(made, lambda: setattr(made.__closure__[0], "cell_contents", 1)) == {"closure"}


def test_of_tensors_arrays_and_frames():
    """Shape, dtype, gradient; columns and index."""
    value = torch.ones(64, 8)
    found = fingerprint(value)
    assert found.summary == "float32 tensor 64 x 8"
    assert (found.parts["shape"], found.parts["dtype"]) == ("64 x 8", "float32")
    value.requires_grad_()
    assert changed(value, lambda: setattr(value, "grad", torch.ones(64, 8))) == {"grad"}
    assert fingerprint(np.ones((2, 3), "i4")).summary == "int32 array 2 x 3"
    table = frame()
    assert changed(table, lambda: table.__setitem__("f", 1.0)) == {"k:f"}


@pytest.mark.parametrize(
    ("value", "series"),
    [
        (1.5, (1.5,)), (3, (3.0,)), ([1, 2.5], (1.0, 2.5)), ([1.5] * 9, (1.5,) * 9),
        ((1, 2), (1, 2)),
        (np.arange(3), (0, 1, 2)), (np.float32(0.5), (0.5,)), (torch.tensor(2.5), (2.5,)),
        (torch.tensor([1.5], dtype=torch.bfloat16), (1.5,)), (torch.ones(3), (1, 1, 1)),
        (torch.ones(2, 2), None), (torch.ones(1, 1), (1.0,)), (np.ones((1, 1)), (1.0,)),
        (torch.ones(8193), None), ([0.5] * 8193, None), ([], None),
        ([True], None), (["a"], None), ([1, "a"], None), (2**5000, None), ([2**5000] * 9, None),
        (torch.ones(2, dtype=torch.cfloat), None), (np.array(["a"]), None), ("abc", None),
        (torch.ones(2, device="meta"), None), (torch.ones(8192), (1.0,) * 8192),
    ],
    ids=lambda each: str(each)[:20],
)  # fmt: skip
def test_series(value, series):
    """Numbers and short series of them are kept, all else is not."""
    assert fingerprint(value).series == series


def test_no_contents_in_a_summary():
    """Texts, keys and paths of the user's stay out of it."""
    for value in (
        "secret",
        ["secret"],
        {"secret": 1},
        b"secret",
        np.array(["secret"]),
        Plain(secret=1),
    ):
        assert "secret" not in fingerprint(value).summary


def test_what_is_inside_but_unseen_is_named():
    """The value itself is not opaque for it."""
    found = fingerprint({"a": iter([1]), "b": 1})
    assert not found.opaque
    assert found.parts["unseen"] == "builtins.list_iterator"
    assert fingerprint(iter([1])).opaque


def test_a_record_of_msgspec_is_seen_whole():
    """Its base class is written in C, but reserves no memory."""
    found = fingerprint(Entry())
    assert not found.opaque
    assert found.parts.keys() == {"a:layers", "a:rate"}
    assert "unseen" not in fingerprint([Entry()]).parts


def test_a_database_tells_how_many_rows_were_written():
    """A query changes nothing, the content is unknown, and so is a closed one."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (a int)")
    connection.execute("insert into t values (1)")
    wrote = fingerprint(connection)
    connection.execute("select * from t").fetchall()
    asked = fingerprint(connection)
    connection.execute("update t set a = 2")
    parts = [each.parts for each in (wrote, asked, fingerprint(connection))]
    assert [each["rows written"] for each in parts] == ["1", "1", "2"]
    assert asked.opaque
    assert asked.digest == wrote.digest != fingerprint(connection).digest
    connection.close()
    assert fingerprint(connection).parts["rows written"] == "unknown"
