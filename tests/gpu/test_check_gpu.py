"""What adds in any order on a GPU is caught, with the line of its forward."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 -- as the field writes it

from tests.experiment.checking import check

pytestmark = pytest.mark.usefixtures("put_back")

HELD = "for _ in range(8):\n    {}\n    x.grad is not None"
"""Several times, as one may by chance give the same."""

BACKWARDS = {
    "interpolate": (
        lambda: {"x": torch.randn(8, 16, 64, 64, device="cuda", requires_grad=True)},
        "F.interpolate(x, scale_factor=3, mode='bicubic').square().sum().backward()",
        "aten::upsample_bicubic2d_backward",
        "error",
    ),
    "scatter": (
        lambda: {
            "x": torch.randn(1_000_000, device="cuda", requires_grad=True),
            "index": torch.randint(0, 100, (1_000_000,), device="cuda"),
        },
        "out = torch.zeros(100, device='cuda').scatter_add(0, index, x.exp()); out.square().sum().backward()",
        "aten::scatter_add",
        "repeats",
    ),
    "gather backward": (
        lambda: {
            "x": torch.randn(100, device="cuda", requires_grad=True),
            "index": torch.randint(0, 100, (1_000_000,), device="cuda"),
            "weight": torch.randn(1_000_000, device="cuda"),
        },
        "(x.gather(0, index) * weight).sum().backward()",
        "aten::scatter_add",
        "repeats",
    ),
    "embedding bag": (
        lambda: {
            "x": torch.randn(50, 64, device="cuda", requires_grad=True),
            "bags": torch.randint(0, 50, (4096, 32), device="cuda"),
            "weight": torch.randn(4096, 64, device="cuda"),
        },
        "(F.embedding_bag(bags, x, mode='max') * weight).sum().backward()",
        "aten::_embedding_bag",
        "error",
    ),
    "CTC": (
        lambda: {
            "x": torch.randn(200, 64, 30, device="cuda", requires_grad=True),
            "targets": torch.randint(1, 30, (64, 40), device="cuda"),
            "sizes": (torch.full((64,), 200), torch.full((64,), 40)),
        },
        "F.ctc_loss(x.log_softmax(2), targets, *sizes).backward()",
        "aten::_ctc_loss_backward",
        "error",
    ),
    "attention": (
        lambda: {"x": torch.randn(8, 8, 1024, 64, device="cuda", dtype=torch.half, requires_grad=True)},
        "F.scaled_dot_product_attention(x, x, x).float().square().sum().backward()",
        "attention",
        "repeats",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("make", "line", "operation", "with_flags"), BACKWARDS.values(), ids=BACKWARDS
)
def test_an_operation_that_adds_atomically_is_caught(make, line, operation, with_flags):
    """In its backward pass, by the line of its forward.

    What flags do about it is tried.
    """
    names = {"torch": torch, "nn": nn, "F": F, **make()}
    found, _ = check(HELD.format(line), names, runs=4)
    assert not found.reproducible
    assert found.culprit is not None, found
    assert operation in found.culprit.operation
    assert found.culprit.line == 2
    assert found.with_flags == with_flags


def test_a_convolution_under_benchmark_is_never_put_down_to_another_operation():
    """CuDNN may choose another algorithm in each run.

    If it does, the convolution is named.
    """
    names = {
        "torch": torch,
        "net": nn.Sequential(nn.Conv2d(16, 32, 5), nn.ReLU(), nn.Conv2d(32, 16, 3)).cuda(),
        "x": torch.randn(16, 16, 61, 61, device="cuda"),
    }
    source = "torch.backends.cudnn.benchmark = True\nnet(x).square().sum().backward()"
    kept = torch.backends.cudnn.benchmark
    try:
        found, _ = check(source, names, runs=4)
    finally:
        torch.backends.cudnn.benchmark = kept
    assert found.reproducible or "conv" in found.culprit.operation


def test_training_on_a_gpu_repeats_and_counts_once():
    """Views of one memory are views of one memory in the copies too."""
    model = nn.Sequential(nn.Linear(32, 64), nn.Dropout(0.5), nn.Linear(64, 1)).cuda()
    flat = model[0].weight.data.view(-1)
    names = {
        "torch": torch, "F": F, "model": model, "flat": flat, "x": torch.randn(64, 32).cuda(),
        "optimizer": torch.optim.AdamW(model.parameters()),
    }  # fmt: skip
    source = (
        "for _ in range(5):\n    optimizer.zero_grad()\n    loss = model(x).square().mean()\n"
        "    loss.backward()\n    optimizer.step()\nfirst = flat[0].item()"
    )
    found, _ = check(source, names)
    assert found.reproducible, found.differences
    assert names["first"] == model[0].weight[0, 0].item()
