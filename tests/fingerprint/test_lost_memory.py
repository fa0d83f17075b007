"""Reading released memory does no harm, and unreadable values are named."""

from __future__ import annotations

import mmap
import os
import random

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from numpy.lib.stride_tricks import as_strided

from ipytorchseed.fingerprint import Budget, Memo, fingerprint, memory
from ipytorchseed.fingerprint.elements import is_borrowed
from ipytorchseed.fingerprint.memory import UnreadableError, owns_array, require
from ipytorchseed.fingerprint.packing import pack
from tests.fingerprint import lost
from tests.fingerprint.child import in_child, removes_files
from tests.fingerprint.values import spent

pytestmark = pytest.mark.skipif(os.name != "posix", reason="children are forked")
cleans = pytest.fixture(autouse=True, scope="module")(removes_files)

# Objects that are never read, lost or not.
OPAQUE_ANYWAY = {
    *("arrow_buffer", "image_over_array", "multiprocessing_raw", "multiprocessing_array"),
    "polars_file",
}

PAGE = mmap.PAGESIZE

# Memory that is lost from the start.
BEYOND = {"beyond_its_base", "beyond_its_base_sparsely"}


def _looks(name):
    """Look at a value before and after its memory is released, and try to pack it."""
    value, lose = lost.MAKERS[name]()
    memo = Memo()
    before = fingerprint(value, memo=memo, budget=Budget(60))
    lose()
    pack(value, 2**30)
    found = [
        fingerprint(value, memo=memo, budget=Budget(60)),
        fingerprint([value], memo=memo, budget=Budget(60)),
        fingerprint(value, budget=spent()),
    ]
    shown = [(each.digest, each.exact, each.opaque, each.summary, {**each.parts}) for each in found]
    return before.digest, shown


@pytest.mark.parametrize("name", lost.MAKERS)
def test_a_look_at_lost_memory_kills_nothing(name):
    """The process lives.

    The value differs from before, and the record says what is unseen.
    """
    before, shown = in_child(_looks, name)
    for digest, _, opaque, summary, parts in shown:
        assert "not looked at" not in summary
        assert opaque or parts.get("unseen")
        if name not in OPAQUE_ANYWAY | BEYOND:
            assert digest != before


def _touches(name):
    value, lose = lost.MAKERS[name]()
    lose()
    return float(value.sum())


@pytest.mark.parametrize(
    "name",
    ["memmap", "over_closed_shared_memory", "over_pointer", "from_file", "view_of_shortened",
     "loaded_tensor", "from_closed_shared_memory", "beyond_its_base"],
)  # fmt: skip
def test_the_gallery_is_deadly(name):
    """A plain read of these ends the process; so these tests can fail."""
    with pytest.raises(AssertionError, match="signal"):
        in_child(_touches, name)


def _equals(name):
    value, _ = lost.MAKERS[name]()
    own = value.clone() if isinstance(value, torch.Tensor) else np.array(value)
    value = np.asarray(value) if isinstance(value, np.ndarray) else value
    pairs = [
        (fingerprint(value, budget=budget()), fingerprint(own, budget=budget()))
        for budget in (lambda: Budget(60), spent)
    ]
    alike = [_without_strides(one) == _without_strides(other) for one, other in pairs]
    return alike, lost.may_be_gone(value), lost.may_be_gone(own)


def _without_strides(found):
    parts = {name: part for name, part in found.parts.items() if name != "strides"}
    return replace(found, parts=parts)


LIKE_OWN = [
    "memmap", "memmap_strided", "memmap_backwards", "memmap_transposed", "memmap_scalar",
    "memmap_windows", "memmap_broadcast", "memmap_imaginary", "memmap_fortran", "memmap_large",
    "structured", "over_shrunk_shared_memory", "over_interface_strided", "from_file_to_numpy",
    "from_file", "from_file_strided", "from_file_transposed", "from_file_scalar",
    "from_file_short", "from_file_expanded", "from_file_complex", "from_file_conjugated",
    "from_file_negated", "from_memmap_large", "loaded_tensor", "shared_between_processes",
]  # fmt: skip


@pytest.mark.parametrize("name", LIKE_OWN)
def test_content_counts_and_not_where_it_lies(name):
    """In another's memory or in numpy's and torch's own.

    Equal fingerprints, in full and sampled.
    """
    assert in_child(_equals, name) == [[True, True], True, False]


@pytest.mark.parametrize("shape", [(4096, 3), (3, 4096), (64, 5, 64), (1, 1, 7000), (7000, 1)])
@pytest.mark.parametrize("item", ["u1", "f4", "c16"])
def test_elements_are_found_wherever_they_lie(shape, item):
    """Also far apart, backwards, in any order of axes, and in a sample of any size."""
    chance = random.Random(repr((shape, item)))
    order = chance.sample(range(len(shape)), len(shape))
    steps = [chance.choice([-2, -1, 1, 3]) for _ in shape]
    room = [abs(step) * length for length, step in zip(shape, steps, strict=True)]
    filled = np.arange(np.prod(room)).astype(item).reshape([room[axis] for axis in order])
    value = filled.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
    own = np.array(value, order="C")
    samples = [(16, 4096), (32, 64), (1, 10**6)]
    for borrowed in (True, False):
        pieces = memory.pieces(value, borrowed=borrowed)
        assert b"".join(map(bytes, pieces)) == own.tobytes()
        for blocks, block in samples:
            expected = memory.sample(own, blocks, block, borrowed=False)
            assert memory.sample(value, blocks, block, borrowed=borrowed) == expected
    assert fingerprint(own).digest == fingerprint(value).digest


@pytest.mark.parametrize(
    "look",
    [
        np.s_[:],
        np.s_[:, 3],
        np.s_[::-1, 3],
        np.s_[::7, ::9],
        np.s_[:10, 0],
        np.s_[5],
        np.s_[5, 5:6],
    ],
)
@pytest.mark.parametrize("dtype", ["u1", "f8", "S5000"])
def test_every_page_that_is_read_is_asked_about(look, dtype, monkeypatch):
    """And none between elements that are far apart."""
    asked = []
    monkeypatch.setattr(memory, "_are_there", lambda pages: not asked.extend(pages))
    table = np.zeros((40, 20_000), dtype)
    value, item = np.asarray(table[look]), table.itemsize
    require(value)
    first = memory.address_of_array(value)
    steps = np.zeros((), int)
    for length, step in zip(value.shape, value.strides, strict=True):
        steps = np.add.outer(steps, np.arange(length) * step)
    begins = first + steps.reshape(-1)
    read = {*np.add.outer(begins, [*range(0, item, PAGE), item - 1]).reshape(-1) // PAGE}
    assert {*asked} >= read
    assert len(asked) <= 2 + 64 * value.nbytes // PAGE or {*asked} == read


def _changes(name):
    value, _ = lost.MAKERS[name]()
    memo = Memo()
    before, again = (fingerprint(value, memo=memo, budget=Budget(60)).digest for _ in range(2))
    value[7] = 1 - value[7]
    return before == again, before != fingerprint(value, memo=memo, budget=Budget(60)).digest


@pytest.mark.parametrize(
    "name",
    ["memmap", "memmap_written", "over_closed_shared_memory", "over_pointer", "from_file",
     "from_file_shared", "from_memmap", "from_memmap_large", "loaded_tensor", "mapped_file",
     "mapped_file_viewed", "ctypes_array", "multiprocessing_to_numpy", "from_file_by_dlpack",
     "shared_between_processes", "over_interface_in_series", "from_file_storage"],
)  # fmt: skip
def test_a_change_is_seen(name):
    """Unchanged, the digest is the same; changed in one place, it differs."""
    same, moved = in_child(_changes, name)
    assert same
    assert moved


def test_where_a_memory_map_comes_from_is_no_content():
    """Equal content of two files, mapped to be read or written, or copied from there."""
    one, other = (lost.MAKERS[name]()[0] for name in ("memmap_read_only", "memmap_written"))
    assert one.filename != other.filename
    assert fingerprint(one) == fingerprint(other) == fingerprint(one.copy())
    other[0] += 1
    assert fingerprint(one).digest != fingerprint(other).digest


@pytest.mark.parametrize(
    ("make", "owns"),
    [
        (lambda: np.ones(9), True),
        (lambda: np.ones((3, 3)).T[1:], True),
        (lambda: np.ones(9)[::-2], True),
        (lambda: np.broadcast_to(np.ones(3), (4, 3)), True),
        (lambda: np.lib.stride_tricks.sliding_window_view(np.ones(9), 3), False),
        (lambda: as_strided(np.ones(9)[2:], (3, 3), (8, 16)), False),
        (lambda: as_strided(np.ones(9)[2:], (3, 3), (8, 24)), False),
        (lambda: as_strided(np.ones(9), (3,), (-8,)), False),
        (lambda: np.frombuffer(b"12345678"), False),
        (lambda: np.frombuffer(bytearray(8)), False),
        (lambda: np.ndarray(1, "f8", bytearray(8)), False),
        (lambda: np.array([(1, 2.0)], "i4,f8")[0], False),
        (lambda: np.array([(1, 2.0)], "i4,f8")["f1"], True),
        (lambda: torch.ones(3).numpy(), False),
        (lambda: torch.ones(3).share_memory_().numpy(), False),
        (lambda: np.from_dlpack(torch.ones(3)), False),
    ],
)
def test_whose_memory_it_is(make, owns):
    """An array's base says whether numpy or Python owns its memory."""
    assert owns_array(np.asarray(make())) is owns


@pytest.mark.parametrize(
    ("make", "borrowed"),
    [
        (lambda: torch.ones(9)[1:], False),
        (lambda: torch.ones(3, 3).t() @ torch.ones(3, 3), False),
        (lambda: torch.tensor(np.ones(9)), False),
        (lambda: torch.from_numpy(np.ones(9)).clone(), False),
        (lambda: torch.nn.Parameter(torch.ones(2)), False),
        (lambda: torch.from_numpy(np.ones(9)), True),
        (lambda: torch.frombuffer(bytearray(8), dtype=torch.float64), True),
        (lambda: torch.ones(3).share_memory_(), True),
    ],
)
def test_whose_memory_a_tensor_is_in(make, borrowed):
    """Torch's own is what it would resize, and shares with no other process."""
    assert is_borrowed(make()) is borrowed


def test_lost_memory_is_noticed_before_it_is_read():
    """Wherever it begins, of any size, and for many pages."""
    mapped, lose = lost.MAKERS["memmap_large"]()
    require(mapped)
    lose()
    require(mapped[: 2**21])
    require(mapped, np.array([5, 2**21 - 1]))
    for gone in (mapped, mapped[2**21 :], mapped[::-1], mapped[2**20 :: 2**18]):
        with pytest.raises(UnreadableError):
            require(gone)
    with pytest.raises(UnreadableError):
        require(mapped, np.array([5, 2**21]))


def test_a_system_without_a_safe_way(monkeypatch):
    """The memory of others is not looked at there, which is said."""
    monkeypatch.delattr(os, "writev")
    value, _ = lost.MAKERS["memmap"]()
    found = fingerprint(value)
    assert found.opaque
    assert "no safe way to read it" in found.summary
    assert fingerprint(np.array(value)).exact


def test_objects_in_the_memory_of_others_are_not_followed():
    """They are addresses, which lead anywhere."""
    held = np.array([object(), "text"], dtype=object)
    value = as_strided(held, (4,), (8,))
    assert not owns_array(value)
    found = fingerprint(value)
    assert found.opaque
    assert "objects" in found.summary
