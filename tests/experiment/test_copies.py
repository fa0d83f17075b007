"""A copy of many values looks the same to a cell, and is separate."""

from __future__ import annotations

import collections
import copy
import ctypes
import gc
import random
import subprocess
import sys
import threading
import weakref

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from ipytorchseed.experiment.copier import Copier
from ipytorchseed.fingerprint import Budget, fingerprint

pytestmark = pytest.mark.usefixtures("put_back")


def _copied(**values):
    copier = Copier()
    return copier.copy_all(values), copier


def _counter():
    count = 0

    def more():
        nonlocal count
        count += 1
        return count

    return more


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("a", "b")

    def __init__(self):
        self.a, self.b = [1], {"x": torch.ones(2)}


def _trained():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 3)).sum().backward()
    optimizer.step()
    return model, optimizer


def _scaled():
    model, optimizer = _trained()
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(model(torch.randn(4, 3)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return scaler


VALUES = {
    "numbers": lambda: [1, 2.5, "x", None, (1, [2])],
    "containers": lambda: {"a": {1, 2}, "b": collections.OrderedDict(x=[1]), 3: frozenset("ab")},
    "further containers": lambda: [
        collections.deque([1, 2], 5),
        collections.defaultdict(list, a=[1]),
    ],
    "an object with slots": Slotted,
    "a tensor": lambda: torch.randn(3, 4).t(),
    "a sparse tensor": lambda: torch.eye(3).to_sparse(),
    "a half": lambda: torch.randn(3).bfloat16(),
    "a model in training": lambda: _trained()[0],
    "an optimizer": lambda: _trained()[1],
    "a scaler of gradients": _scaled,
    "arrays": lambda: [np.arange(6).reshape(2, 3).T, np.array(["a", None], dtype=object)],
    "a frame": lambda: pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}),
    "generators": lambda: [np.random.default_rng(1), np.random.RandomState(2), random.Random(3)],
    "a generator of torch's": lambda: torch.Generator().manual_seed(4),
    "a loader": lambda: torch.utils.data.DataLoader([1, 2, 3], generator=torch.Generator()),
    "a date": lambda: pd.Timestamp("2026-01-31"),
}


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES)
def test_the_copy_has_the_same_fingerprint(make):
    """Bit by bit, as far as it can be seen; and nothing was shared for want of a copy."""
    value = make()
    copies, copier = _copied(value=value)
    one, other = (fingerprint(each, budget=Budget(60)) for each in (value, copies["value"]))
    assert one == other
    assert copier.shared == {}


def test_what_was_one_object_is_one_in_the_copy():
    """An optimizer still owns its model's parameters, a scheduler its optimizer."""
    model, optimizer = _trained()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    names = [model, model[0]]
    made, _ = _copied(m=model, o=optimizer, s=scheduler, names=names)
    assert made["o"].param_groups[0]["params"][0] is made["m"][0].weight
    assert made["s"].optimizer is made["o"]
    assert made["names"][1] is made["m"][0]
    assert made["m"][0].weight is not model[0].weight


def test_training_the_copy_leaves_the_original_alone(recwarn):
    """Parameters, moments, schedule.

    And the wrapper that a scheduler puts around ``step``.
    """
    model, optimizer = _trained()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    before = copy.deepcopy([model.state_dict(), optimizer.state_dict(), scheduler.state_dict()])
    made, _ = _copied(m=model, o=optimizer, s=scheduler)
    made["m"](torch.randn(4, 3)).sum().backward()
    made["o"].step()
    made["s"].step()
    after = [model.state_dict(), optimizer.state_dict(), scheduler.state_dict()]
    assert fingerprint(before).digest == fingerprint(after).digest
    assert made["o"].param_groups[0]["lr"] < optimizer.param_groups[0]["lr"]
    assert [str(each.message) for each in recwarn] == []


def test_a_gradient_is_copied_with_its_parameter():
    """It may be accumulated upon."""
    model, _ = _trained()
    made, _ = _copied(m=model)
    made["m"][0].weight.grad.zero_()
    assert model[0].weight.grad.abs().sum() > 0


def test_memory_that_was_shared_is_shared():
    """Views, arrays over tensors, tensors over arrays, a parameter's data."""
    array = np.arange(10.0)
    tensor = torch.from_numpy(array)
    base = torch.zeros(4, 4)
    model = nn.Linear(2, 2)
    made, _ = _copied(
        array=array, part=array[2:5], tensor=tensor, tail=tensor[3:], base=base, turned=base.t(),
        seen=base.numpy(), model=model, flat=model.weight.data.view(-1),
    )  # fmt: skip
    made["array"][3] = 99
    made["base"][0, 1] = 7
    with torch.no_grad():
        made["model"].weight.fill_(5)
    assert (made["part"][1], made["tensor"][3], made["tail"][0]) == (99, 99, 99)
    assert (made["turned"][1, 0], made["seen"][0, 1]) == (7, 7)
    assert made["flat"].tolist() == [5] * 4
    assert (array[3], base[0, 1].item()) == (3, 0)


def test_a_tensor_that_could_be_resized_still_can():
    """Its memory is torch's own."""
    made, _ = _copied(x=torch.ones(2))
    assert made["x"].resize_(8).shape == (8,)


def test_functions_that_keep_something_keep_their_own():
    """Closures, defaults that change, attributes; other functions are the same object."""

    def plain():
        return 1

    def gathers(x, seen=[]):  # noqa: B006 -- the habit under test
        seen.append(x)
        return len(seen)

    counter = _counter()
    counter()
    made, _ = _copied(counter=counter, gathers=gathers, plain=plain)
    assert (made["counter"](), counter(), counter()) == (2, 2, 3)
    assert (made["gathers"](1), gathers(1)) == (1, 1)
    assert made["plain"] is plain


def test_an_iterator_goes_on_from_where_it_was():
    """Each by itself."""
    numbers = iter([1, 2, 3])
    next(numbers)
    made, _ = _copied(numbers=numbers)
    assert [next(made["numbers"]), next(numbers)] == [2, 2]


def test_circles_and_weak_references_end():
    """What refers to itself refers to its copy."""
    circle = [1]
    circle.append(circle)
    model = nn.Linear(1, 1)
    made, _ = _copied(circle=circle, model=model, weak=weakref.ref(model), pair=(circle, circle))
    assert made["circle"][1] is made["circle"]
    assert made["weak"]() is made["model"]
    assert made["pair"][0] is made["circle"]


def test_what_cannot_be_copied_is_shared_and_named():
    """By how one reaches it, and why; the rest is copied all the same."""
    lock = threading.Lock()
    made, copier = _copied(box={"lock": lock, "x": [1]}, lines=(i for i in range(3)))
    assert made["box"]["lock"] is lock
    assert made["box"]["x"] == [1]
    assert copier.shared == {
        "box['lock']": "_thread.lock: TypeError: cannot pickle '_thread.lock' object",
        "lines": "generator: TypeError: cannot pickle 'generator' object",
    }


def test_a_tensor_of_a_graph_lies_in_memory_as_it_did():
    """Expanded, sliced or transposed.

    Other operations, and so other roundings, follow from it.
    """
    leaf = torch.arange(12.0, requires_grad=True)
    tensors = {
        "expanded": leaf[3].expand(4),
        "sliced": (leaf * 2)[1::3],
        "turned": (leaf * 2).view(3, 4)[:, 1:3].T,
        "empty": (leaf * 2)[:0:2],
    }
    copies, _ = _copied(**tensors)
    for name, value in tensors.items():
        assert torch.equal(copies[name], value)
        assert copies[name].stride() == value.stride()
        assert copies[name].grad_fn is not None
    copies["sliced"].add_(1)  # as one may change it in place
    assert tensors["sliced"].tolist() == [2, 8, 14, 20]
    assert copies["sliced"].tolist() == [3, 9, 15, 21]


def test_an_array_of_objects_lies_in_memory_as_it_did():
    """Its columns one after the other, as those of a data frame do."""
    value = np.asfortranarray(np.array([[1, "a"], [2, "b"], [3, None]], dtype=object))
    made, _ = _copied(value=value)
    assert made["value"].tolist() == value.tolist()
    assert made["value"].strides == value.strides


def test_a_tensor_of_a_graph_is_cut_from_it_and_named():
    """Its numbers are copied, it still asks for gradients.

    What was behind it is not there.
    """
    x = torch.ones(2, requires_grad=True)
    made, copier = _copied(state={"h": x * 2})
    h = made["state"]["h"]
    assert copier.cut == ["state['h']"]
    assert h.requires_grad
    h.mul_(2).sum().backward()
    assert x.grad is None


def test_the_default_generator_is_a_source_and_no_value():
    """Copies draw from the same stream, which is restored by itself."""
    made, _ = _copied(g=torch.default_generator)
    assert made["g"] is torch.default_generator


FREED = {
    "tensor": lambda: torch.ones(2**20),
    "subclass": lambda: torch.ones(2**20).as_subclass(type("Named", (torch.Tensor,), {})),
    "parameter": lambda: nn.Parameter(torch.ones(2**20)),
    "sparse": lambda: torch.eye(2**10).to_sparse(),
    "compressed": lambda: torch.eye(2**10).to_sparse_csr(),
    "conjugate": lambda: torch.ones(2**20, dtype=torch.complex64).conj(),
    "jagged": lambda: torch.nested.nested_tensor(
        [torch.ones(2**19), torch.ones(2**18)], layout=torch.jagged
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", FREED)
def test_a_tensor_whose_memory_was_freed_is_not_copied(kind):
    """Torch's own copy of it would read an address that is not the process's."""
    value = FREED[kind]()
    memory = value if value.layout is torch.strided else value.values().detach()
    memory.untyped_storage().resize_(0)
    made, copier = _copied(value=value)
    assert made["value"] is value
    assert "its memory was released" in copier.shared["value"]


CHAINS = """
import collections, sys
from ipytorchseed.experiment.copier import Copier

class Node:
    def __init__(self, next):
        self.next = next

def closure(value):
    def inner():
        return value
    return inner

links = [
    lambda v: [v], lambda v: {"next": v}, lambda v: (v, []), lambda v: collections.deque([v]),
    Node, closure,
]
sys.setrecursionlimit(100_000)
for link in links:
    value = None
    for _ in range(30_000):
        value = link(value)
    copier = Copier()
    made = copier.named("value", value)
    assert type(made) is type(value) and made is not value
    print(*{text.partition(": ")[2] for text in copier.shared.values()}, sep=", ")
    del copier, made
    sys.stdout.flush()
"""


def test_a_long_chain_is_copied_whatever_the_recursion_limit(tmp_path):
    """C's stack does not grow with it."""
    (tmp_path / "chains.py").write_text(CHAINS, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, tmp_path / "chains.py"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [""] * 6


class Freeing:
    """An object that frees what it holds, as wrappers of C libraries do."""

    def __init__(self, freed):
        self.freed, self.owners, self.handle = freed, [self], [threading.Lock()]

    def __del__(self):
        """Free it."""
        if hasattr(self, "handle"):
            self.freed.append("freed")


def test_a_copy_does_not_free_what_it_shares_with_the_original():
    """An object that frees what it holds is shared with a part that cannot be copied."""
    freed = []
    data, foreign = Freeing(freed), Freeing(freed)
    foreign.handle = ctypes.c_char.from_buffer(bytearray(8))
    value = {"data": data, "foreign": foreign, "owners": data.owners, "n": [1]}
    made, copier = _copied(value=value)
    assert (made["value"]["data"], made["value"]["foreign"]) == (data, foreign)
    assert made["value"]["owners"][0] is data
    assert made["value"]["n"] is not value["n"]
    assert [*copier.shared] == ["value['data'].handle[0]", "value['foreign'].handle"]
    del made, copier
    gc.collect()
    assert not freed


def test_a_long_way_to_what_is_shared_is_named_in_brief():
    """By its first steps and its last."""
    value = {"lock": threading.Lock()}
    for _ in range(1000):
        value = [value]
    _, copier = _copied(value=value)
    assert [*copier.shared] == ["value" + "[0]" * 19 + " … ['lock']"]


def test_no_more_is_copied_than_the_limit():
    """Views of one memory count once; what is too much is shared and named."""
    array, tensor = np.ones(1000, np.uint8), torch.ones(1000, dtype=torch.uint8)
    copier = Copier(limit=2000)
    made = copier.copy_all({"a": array, "view": array[10:], "t": tensor})
    assert made["a"] is not array
    assert not copier.shared
    copier.named("more", np.ones(1, np.uint8))
    assert copier.shared == {
        "more": "numpy.ndarray: UnreadableError: more than 0 MB would be copied"
    }
