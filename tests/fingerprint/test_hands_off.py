"""A look runs none of the user's code, changes nothing and keeps nothing alive."""

from __future__ import annotations

import collections
import gc
import random
import sys
import threading
import types
import weakref

import numpy as np
import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from ipytorchseed.fingerprint import Memo, fingerprint
from tests.fingerprint.values import CHANGED, Plain, model, spent, trained

# The methods of the classes below that were called.
called: list[str] = []

METHODS = [
    "__add__", "__array__", "__array_finalize__", "__array_function__", "__array_ufunc__",
    "__bool__", "__buffer__", "__bytes__", "__call__", "__complex__", "__contains__", "__copy__",
    "__deepcopy__", "__dir__", "__enter__", "__eq__", "__float__", "__format__", "__fspath__",
    "__get__", "__getattr__", "__getattribute__", "__getitem__", "__getnewargs__",
    "__getnewargs_ex__", "__getstate__", "__hash__", "__index__", "__instancecheck__", "__int__",
    "__iter__", "__len__", "__length_hint__", "__lt__", "__missing__", "__next__", "__reduce__",
    "__reduce_ex__", "__repr__", "__reversed__", "__setattr__", "__sizeof__", "__str__",
    "__subclasscheck__", "__torch_function__", "as_integer_ratio", "copy", "detach", "encode",
    "get", "getstate", "isoformat", "item", "items", "keys", "numel", "shape", "tell", "tobytes",
    "tolist", "utcoffset", "values",
]  # fmt: skip


def _hook(name):
    def hook(*args, **kwargs):
        called.append(name)
        raise AssertionError(name)

    return hook


def touchy(*bases, but=(), metaclass=type):
    """Make a class whose every method notes its call and fails."""
    return metaclass("Touchy", bases, {name: _hook(name) for name in METHODS if name not in but})


class Meta(type):
    """A metaclass that notes and fails every look at the class."""

    def __getattribute__(cls, name):
        """Fail."""
        called.append(f"Meta.{name}")
        raise AssertionError(name)

    __instancecheck__ = __subclasscheck__ = __eq__ = __hash__ = __call__ = _hook("Meta")
    __len__ = __iter__ = __repr__ = __dir__ = _hook("Meta")


def look(value):
    """Look at ``value``, alone and inside others; assert that nothing was called."""
    called.clear()
    with_others = [value, {"key": value}, types.SimpleNamespace(it=value), Plain(it=(value,))]
    found = [fingerprint(each, memo=Memo()) for each in (value, *with_others)]
    found.append(fingerprint(with_others, budget=spent()))
    assert called == []
    assert all("not looked" not in each.summary for each in found)
    return found[0]


def test_the_check_of_these_tests_can_fail():
    """A careless look is noticed."""
    made = object.__new__(touchy())
    with pytest.raises(AssertionError):
        len(made)
    assert called == ["__len__"]
    called.clear()


@pytest.mark.parametrize("metaclass", [type, Meta])
def test_an_object_that_explodes(metaclass):
    """It is read by what is in it, and seen to change; so is its class as a value."""
    kind = touchy(metaclass=metaclass)
    made = object.__new__(kind)
    object.__setattr__(made, "x", 1)
    before = look(made)
    object.__setattr__(made, "x", 2)
    assert look(made).digest != before.digest
    assert look(kind).kind == "class"


@pytest.mark.parametrize(
    "content",
    [[1, 2], (1, 2), {"a": 1}, {1, 2}, frozenset([1]), "ab", b"ab", 3, 2.5, 1j, np.ones(3),
     torch.ones(3), random.Random(1), ValueError(1)],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
def test_subclasses_are_read_past_every_method(content):
    """Of builtin types, arrays, tensors and generators."""
    base = type(content)
    if base is np.ndarray:
        kind = touchy(base, but=("__array_finalize__", "shape"))
        made = np.ndarray.__new__(kind, 3)
        np.ndarray.fill(made, 1)
    elif base is torch.Tensor:
        kind = touchy(base)
        with torch._C.DisableTorchFunction():
            made = base._make_subclass(kind, content)
    else:
        kind = touchy(base)
        made = base.__new__(kind) if base is random.Random else base.__new__(kind, content)
        if base in (list, dict, set):
            base.__init__(made, content)
    found = look(made)
    assert not found.opaque
    assert found.digest != fingerprint(content).digest


@pytest.mark.parametrize("name", ["__dict__", "__class__", "x", "grad", "shape", "_parameters"])
def test_properties_are_not_computed(name):
    """Whatever they are called."""
    look(object.__new__(type("Computed", (), {name: property(_hook(name))})))


def test_keys_and_items_are_not_compared_or_hashed():
    """In dictionaries, ordered ones and sets."""
    key = object.__new__(touchy(but=("__hash__", "__eq__")))
    kind = type("Key", (), {"__eq__": object.__eq__, "__hash__": object.__hash__})
    one = kind()
    values = [{one: 1}, {one}, frozenset([one]), collections.OrderedDict([(one, 1), (key, 2)])]
    kind.__hash__ = kind.__eq__ = _hook("hash")
    for value in values:
        look(value)


def test_a_proxy_is_not_asked_for_its_mapping():
    """What is behind it is read directly."""
    look(types.MappingProxyType(touchy(dict)()))


def test_what_blocks_is_never_asked():
    """An object that would wait for ever for its lock."""
    lock = threading.Lock()
    lock.acquire()

    class Waits:
        """Waits."""

        def __getattr__(self, name):
            """Wait."""
            lock.acquire()

        def __len__(self):
            """Wait."""
            return lock.acquire()

        __repr__ = __iter__ = __reduce__ = __len__

    made = Waits()
    made.lock = lock
    assert fingerprint(made).parts["unseen"] == "_thread.lock"


class Loud(torch.Tensor):
    """A tensor class that notes what is done to its tensors."""

    @classmethod
    def __torch_function__(cls, function, kinds, args=(), kwargs=None):
        """Record."""
        called.append(str(function))
        return super().__torch_function__(function, kinds, args, kwargs or {})


class Function(TorchFunctionMode):
    """Notes functions."""

    def __torch_function__(self, function, kinds, args=(), kwargs=None):
        """Record."""
        called.append(str(function))
        return function(*args, **(kwargs or {}))


class Dispatch(TorchDispatchMode):
    """Notes operations."""

    def __torch_dispatch__(self, function, kinds, args=(), kwargs=None):
        """Record."""
        called.append(str(function))
        return function(*args, **(kwargs or {}))


def tensors():
    """Make tensors for whose content operations are needed."""
    big = torch.zeros(300, 300)
    return [
        torch.ones(3), big, big.t(), big.conj(), torch.ones(3, dtype=torch.cfloat).conj(),
        torch.eye(3).to_sparse(), big.expand(2, 300, 300), nn.Parameter(big), big.bfloat16(),
        (torch.ones(3, requires_grad=True) * 2), torch.ones(3).as_subclass(Loud), model(),
        trained(),
    ]  # fmt: skip


@pytest.mark.parametrize("mode", [Function, Dispatch])
def test_modes_and_tensor_classes_see_nothing(mode):
    """In full and in a sample."""
    values = tensors()
    with mode():
        called.clear()
        for value in values:
            fingerprint(value, memo=Memo())
            fingerprint(value, budget=spent())
        assert called == []
        torch.ones(1)
    assert called


def test_versions_gradients_and_graph_stay():
    """No write is counted, no graph is made, no gradient appears."""
    leaf = torch.ones(400, 400, requires_grad=True)
    made = leaf * 2
    for value in (leaf, made, leaf.t(), made.t()):
        before = (value._version, value.grad_fn, value.requires_grad)
        fingerprint(value, memo=Memo())
        fingerprint([value], budget=spent())
        assert before == (value._version, value.grad_fn, value.requires_grad)
    assert leaf.grad is None


def test_default_device_dtype_and_determinism_do_not_matter():
    """Nor do grad, inference and autocast modes: the digests are the same."""
    values = tensors()
    calm = [fingerprint(value).digest for value in values]
    sampled = [fingerprint(value, budget=spent()).digest for value in values]
    torch.use_deterministic_algorithms(True)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"), torch.inference_mode(), torch.autocast("cpu"):
            assert [fingerprint(value).digest for value in values] == calm
            again = [fingerprint(value, budget=spent()).digest for value in values]
            assert again == sampled
    finally:
        torch.use_deterministic_algorithms(False)
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", CHANGED)
def test_nothing_is_kept(name):
    """Reference counts are as before, with a memo that lives on."""
    value, memo = CHANGED[name][0](), Memo()
    fingerprint(value, memo=memo)
    before = sys.getrefcount(value)
    fingerprint(value, memo=memo)
    fingerprint([value], memo=memo, budget=spent())
    assert sys.getrefcount(value) == before


def test_a_known_tensor_dies_with_its_last_name():
    """Its memory is given back at once, and it can be swapped with another meanwhile."""
    memo, value = Memo(), torch.zeros(1000, 1000)
    holder = Plain(it=value)
    fingerprint(holder, memo=memo)
    torch.utils.swap_tensors(value, torch.ones(2))
    gone = weakref.ref(holder)
    gc.disable()
    try:
        del holder
        assert gone() is None
    finally:
        gc.enable()
    storage = weakref.ref(big := torch.zeros(1000, 1000))
    fingerprint(big, memo=memo)
    del big
    assert storage() is None
    assert all(known.handle.expired() for known in memo._tensors.values())


def test_no_garbage_is_left():
    """A look makes no cycle that the collector would have to find."""
    values = [make() for make, _ in CHANGED.values()]
    for value in values:
        fingerprint(value)
    gc.collect()
    gc.disable()
    try:
        for value in values:
            fingerprint(value)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_generators_and_iterators_are_not_advanced():
    """They go on where they stood, and their old variables die."""

    def numbers():
        held = Plain()
        yield weakref.ref(held)
        del held
        yield 2

    made = numbers()
    gone = next(made)
    fingerprint(made)
    assert next(made) == 2
    assert gone() is None
    fingerprint(made)
    assert [*made] == []
    each = [iter([1, 2]), iter({1: 2}), enumerate("ab"), zip([1], [2], strict=True), map(abs, [1])]
    for iterator in each:
        fingerprint(iterator)
        assert next(iterator)


def test_files_are_left_where_they_are(tmp_path):
    """Reading goes on where it was; nothing that waits is written."""
    path = tmp_path / "x"
    path.write_text("a\nb\nc\n")
    with path.open() as file:
        before = fingerprint(file)
        assert file.readline() == "a\n"
        after = fingerprint(file)
        assert after.digest != before.digest
        assert (after.kind, after.opaque) == ("file", True)
        assert file.readline() == "b\n"
        for _ in file:
            fingerprint(file)
    assert "closed" in fingerprint(file).summary
    with path.open("w") as file:
        file.write("waits")
        fingerprint(file)
        assert path.read_text() == ""
    with path.open("rb") as file:
        before = fingerprint(file).digest
        file.read(1)
        assert fingerprint(file).digest != before


def test_cuda_is_not_started():
    """Nor asked for."""
    for value in tensors():
        fingerprint(value)
    assert not torch.cuda.is_initialized()
