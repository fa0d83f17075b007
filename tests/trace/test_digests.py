"""A digest covers exactly the content that an operation reads of a tensor."""

from __future__ import annotations

import pytest
import torch

from ipytorchseed.trace.aligning import Keys
from ipytorchseed.trace.digests import UNSEEN, digest_of_tensor, plain_digest
from tests.trace.recorded import record

BASE = torch.arange(12.0).reshape(3, 4)


def _gaps():
    padded = torch.full((3, 8), 7.0)
    padded[:, ::2] = BASE
    return padded[:, ::2]


SAME = {
    "a copy": BASE.clone,
    "a part of more": lambda: torch.cat([BASE, BASE])[:3],
    "with gaps between": _gaps,
}

OTHER = {
    "one bit": lambda: BASE + torch.eye(3, 4) * 1e-6,
    "the order": lambda: BASE.flip(0),
    "the shape": lambda: BASE.reshape(4, 3),
    "the type": lambda: BASE.view(torch.int32),
    "the sign of zero": lambda: BASE * torch.tensor(1.0).copysign(torch.tensor(-1.0)),
    "conjugated": (BASE + 0j).conj,
    "sparse": BASE.to_sparse,
    "without memory": lambda: BASE.to("meta"),
    "transposed": BASE.t,
    "one row for all": lambda: BASE[:1].expand(3, 4),
    "quantized": lambda: torch.quantize_per_tensor(BASE, 0.1, 0, torch.quint8),
    "empty": lambda: BASE[:0],
    "nested": lambda: torch.nested.nested_tensor([BASE, BASE[:1]]),
}


@pytest.mark.parametrize("make", SAME.values(), ids=SAME)
def test_equal_content_has_an_equal_digest(make):
    """The address does not matter."""
    digest = digest_of_tensor()
    assert digest(make()) == digest(BASE)


@pytest.mark.parametrize("make", OTHER.values(), ids=OTHER)
def test_other_content_has_another_digest(make):
    """The same content has the same digest each time."""
    digest = digest_of_tensor()
    assert digest(make()) not in (digest(BASE), UNSEEN)
    assert digest(make()) == digest(make())


def test_a_gap_is_no_content():
    """Memory between the elements belongs to others."""
    digest = digest_of_tensor()
    one, other = torch.zeros(3, 8), torch.ones(3, 8)
    one[:, ::4], other[:, ::4] = 5, 5
    assert digest(one[:, ::4]) == digest(other[:, ::4])


def test_a_tensor_whose_memory_is_gone_cannot_be_seen():
    """FSDP leaves such tensors."""
    freed = torch.ones(4)
    freed.untyped_storage().resize_(0)
    assert digest_of_tensor()(freed) == UNSEEN


@pytest.mark.parametrize(
    ("one", "other"),
    [([-1], [-2]), ([1], [1.0]), ([1], [True]), ([0.0], [-0.0]), ([None], [0]), (["a"], ["b"]),
     ([torch.float32], [torch.float64]), ([2, 3], [23])],
)  # fmt: skip
def test_numbers_and_words_are_told_apart(one, other):
    """This includes values that are equal or have equal hashes in Python."""
    assert plain_digest(one) != plain_digest(other)
    assert plain_digest(one) == plain_digest([*one])


def _inputs(source, names=None):
    found = Keys(record(source, names).trace.load())
    return found.given[-1], found.made[-1]


def test_what_is_written_without_being_read_is_no_input():
    """The memory of ``fill_`` and ``out=`` may have any content before."""
    names = [{"torch": torch, "x": torch.full((3,), value)} for value in (1.0, 2.0)]
    for source in ("x.fill_(5.0)", "x.copy_(torch.ones(3))", "torch.add(torch.ones(3), 1, out=x)"):
        one, other = (_inputs(source, dict(each)) for each in names)
        assert one == other


def test_what_is_changed_in_place_is_input_and_output():
    """``add_`` reads what it writes."""
    (first, made), (second, other) = (
        _inputs("x.add_(1)", {"torch": torch, "x": torch.full((3,), value)}) for value in (1.0, 2.0)
    )
    assert first != second
    assert made != other


def test_lists_of_tensors_are_read_and_written():
    """The optimizers' ``_foreach`` operations take lists."""
    source = "torch._foreach_add_([x, torch.ones(2)], 1)"
    one, other = (_inputs(source, {"torch": torch, "x": torch.full((3,), v)}) for v in (1.0, 2.0))
    assert one[0] != other[0]
    assert one[1] != other[1]


def test_a_draw_reads_its_source(put_back):
    """Of two draws, the second starts from another state."""
    given = Keys(record("torch.rand(2)\ntorch.rand(2)").trace.load()).given
    assert given[0] != given[1]


LENT = {
    "usual": lambda base: base,
    "part": lambda base: base[1:, 2:],
    "turned": lambda base: base.t(),
    "expanded": lambda base: base[:1].expand(4, -1),
    "single": lambda base: base[1, 1],
    "complex": lambda base: base.view(torch.complex64).t(),
    "conjugated": lambda base: base.view(torch.complex64).conj(),
    "negated": lambda base: base.view(torch.complex64).conj().imag,
}


@pytest.mark.parametrize("name", LENT)
def test_whose_memory_it_is_does_not_count(name):
    """Runs on copies, in torch's memory, equal one on numpy's or other memory."""
    base = torch.arange(48, dtype=torch.float32).reshape(6, 8)
    lent = torch.from_numpy(base.clone().numpy().copy())
    assert lent.untyped_storage().resizable() < base.untyped_storage().resizable()
    digest = digest_of_tensor()
    assert digest(LENT[name](base)) == digest(LENT[name](lent))
    lent += 1
    assert digest(LENT[name](base)) != digest(LENT[name](lent))
