"""Fingerprints of tensors on a CUDA device: computed there, the same each time."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from ipytorchseed.fingerprint import Budget, Memo, fingerprint
from ipytorchseed.fingerprint.device import WORDS, digest_on_device
from ipytorchseed.fingerprint.value import PENDING
from tests.fingerprint.values import spent


def _plenty():
    return Budget(60)


def _device_digest(tensor):
    return digest_on_device(tensor.view(torch.uint8).reshape(-1), lambda _: None)


@pytest.mark.parametrize("size", [1, 7, 1001, 8 * WORDS + 13])
def test_the_device_and_the_host_compute_the_same(size):
    """Integers wrap alike everywhere."""
    host = torch.arange(size, dtype=torch.int64).mul(2654435761).to(torch.uint8)
    assert _device_digest(host.cuda()) == _device_digest(host)
    shifted = torch.cat([torch.zeros(1, dtype=torch.uint8), host])[1:]
    assert _device_digest(shifted.cuda()[0:]) == _device_digest(host)


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int64,
     torch.bool, torch.complex64, torch.complex128, torch.float8_e4m3fn],
)  # fmt: skip
def test_every_dtype_is_read_and_seen_to_change(dtype):
    """One element is enough; a rebuilt tensor is equal."""
    value = torch.ones(50, 7, device="cuda").to(dtype)
    first = fingerprint(value)
    assert first.exact
    assert not first.opaque
    assert first.digest == fingerprint(value.clone()).digest
    value.view(torch.uint8).reshape(-1)[-1] ^= 1
    assert fingerprint(value).digest != first.digest


def test_layout_is_no_content():
    """A transposed, an expanded and a sliced tensor equal their contiguous copies."""
    base = torch.arange(12_000.0, device="cuda").reshape(100, 120)
    flat, one = base.flatten(), base[3, 4]
    layouts = (base.t(), base[::3, 5:], base[:1].expand(50, 120), base.flip(0))
    for value in (*layouts, flat[::2], flat.half()[1::3], one.expand(99), one):
        found = fingerprint(value)
        assert found.exact
        assert (
            found.digest == fingerprint(value.clone(memory_format=torch.contiguous_format)).digest
        )


def test_the_device_is_content():
    """A result computed elsewhere is another result."""
    value = torch.ones(5)
    assert fingerprint(value).digest != fingerprint(value.cuda()).digest


def test_repeated_looks_agree():
    """Sums of integers do not depend on the order in which threads add them."""
    value = torch.randn(3_000_001, device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    assert len({fingerprint(value, budget=_plenty()).digest for _ in range(20)}) == 1


def test_sparse_and_modules():
    """Parts of them are on the device."""
    value = torch.eye(5, device="cuda").to_sparse()
    first = fingerprint(value).digest
    value._values()[2] = 3
    assert fingerprint(value).digest != first
    net = nn.Linear(3, 2, device="cuda")
    before = fingerprint(net)
    net.weight.data[1, 1] += 1
    after = fingerprint(net)
    assert before.parts["p:bias"] == after.parts["p:bias"]
    assert before.parts["p:weight"] != after.parts["p:weight"]


def test_a_sample_is_taken_on_the_device():
    """The same way each time, and not claimed to be exact."""
    value = torch.zeros(2**22, device="cuda")
    found = fingerprint(value, budget=spent())
    assert not found.exact
    assert found == fingerprint(value.clone(), budget=spent())
    value[-1] = 1
    assert found != fingerprint(value, budget=spent())


def test_an_unchanged_tensor_is_not_read_again():
    """The cheap proof holds on the device too, and fails where the sample changed."""
    value, memo = torch.zeros(2**24, device="cuda"), Memo()
    first = fingerprint(value, memo=memo, budget=Budget(60, reread=0))
    assert fingerprint(value, memo=memo, budget=Budget(60, reread=0)) == first
    value.data.add_(1)
    assert fingerprint(value, memo=memo, budget=Budget(60, reread=0)).digest != first.digest


def test_little_memory_is_taken():
    """Some pieces of 8 MiB, not a copy; and it is given back."""
    value = torch.zeros(2**28, device="cuda")
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    fingerprint(value, budget=_plenty())
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.max_memory_allocated() - before < 64 * 2**20


def test_a_gpu_that_computes_is_not_waited_for_longer_than_the_budget():
    """What it has not computed yet is not looked at, and is read once it is there."""
    large = torch.randn(8192, 8192, device="cuda")
    for _ in range(300):
        made = large @ large
    found = fingerprint(made[:4], budget=Budget(0.01))
    assert not torch.cuda.current_stream().query()
    assert found.kind == PENDING
    torch.cuda.synchronize()
    assert fingerprint(made[:4], budget=Budget(0.01)).exact


def test_work_of_other_streams_is_waited_for():
    """They do not wait for each other; what one still writes is not looked at."""
    large = torch.randn(8192, 8192, device="cuda")
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(300):
            made = large @ large
        made.fill_(7)
    assert torch.cuda.current_stream().query()
    assert fingerprint(made[:4], budget=Budget(0.01)).kind == PENDING
    assert not side.query()
    found = fingerprint(made[:4], budget=Budget(30))
    assert side.query()
    assert found == fingerprint(torch.full_like(made[:4], 7))


def test_random_numbers_and_modes_stay():
    """Nothing is drawn; deterministic algorithms change nothing."""
    value = torch.ones(1000, 1000, device="cuda")
    state = torch.cuda.get_rng_state()
    first = fingerprint(value)
    torch.use_deterministic_algorithms(True)
    try:
        assert fingerprint(value).digest == first.digest
    finally:
        torch.use_deterministic_algorithms(False)
    assert torch.equal(state, torch.cuda.get_rng_state())


def test_a_graph_being_recorded_is_left_alone():
    """The tensor is not looked at, and says so."""
    value = torch.ones(1000, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        value.add_(1)
        found = fingerprint(value)
    assert found.opaque
    assert not found.exact
    graph.replay()
