"""Replacements compute the same, and are deterministic in strict mode."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn
from torch.nn import functional

import ipytorchseed as its
from ipytorchseed.determinism.alerts import ADVICE, find_advice

PUT = "x.view(-1)[index] = values"
UNPOOL = "zeros(N, C, size).scatter(2, indices.flatten(2), x.flatten(2))"
FLATTENED = "cross_entropy(x.movedim(1, -1).flatten(0, -2), y.flatten())"
COUNT = "zeros(n).index_add(0, x, weights)"


def _drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _put(x, index, values):
    x = x.clone()
    x.view(-1)[index] = values
    return x


def _unpool(dimensions):
    """Return the unpooled values of the module, and those of the advice."""
    pool = getattr(functional, f"max_pool{dimensions}d")
    unpool = getattr(nn, f"MaxUnpool{dimensions}d")(2)
    _, indices = pool(_drawn(2, 3, *[4] * dimensions), 2, return_indices=True)

    def advised(x):
        flat = torch.zeros(2, 3, 4**dimensions)
        flat = flat.scatter(2, indices.flatten(2), x.flatten(2))
        return flat.view(2, 3, *[4] * dimensions)

    return lambda x: unpool(x, indices), advised, _drawn(2, 3, *[2] * dimensions, seed=1)


def _averaging(dimensions, size):
    """Return a convolution whose weights are all one over the size of its kernel."""
    convolution = getattr(functional, f"conv{dimensions}d")

    def average(x):
        kernel = torch.full((x.shape[1], 1, *[size] * dimensions), size**-dimensions)
        return convolution(x, kernel, stride=size, groups=x.shape[1])

    return average


def _mirrored(sizes, last):
    """Return the positions that reflection reads.

    ``sizes`` beyond the ends of 0 to ``last``.
    """
    before, after = sizes
    return [abs(at) if at <= last else 2 * last - at for at in range(-before, last + after + 1)]


def _pad2d(x):
    return x[..., _mirrored((2, 1), 4)][..., _mirrored((1, 2), 4), :]


_INDEX = torch.tensor([[0, 1, 1], [2, 0, 2]])
_BAGS = torch.tensor([[0, 1, 2], [3, 3, 1]])
_LABELS = torch.tensor([[[0, 1], [2, 0]], [[1, 1], [2, 2]]])
_WHERE = torch.tensor([4, 0, 2])
_COUNTED = torch.tensor([0, 2, 2, 1, 0])

# The pieces of advice: a kernel's name, the words, code before and after, and an input.
SAME = {
    "put_": (
        "put_",
        PUT,
        lambda x: x.put(_WHERE, torch.ones(3)),
        lambda x: _put(x, _WHERE, torch.ones(3)),
        _drawn(2, 3),
    ),
    "max_unpool1d": ("max_unpooling2d_forward_out", UNPOOL, *_unpool(1)),
    "max_unpool2d": ("max_unpooling2d_forward_out", UNPOOL, *_unpool(2)),
    "max_unpool3d": ("max_unpooling3d_forward_out", UNPOOL, *_unpool(3)),
    "avg_pool3d": (
        "avg_pool3d_backward_cuda",
        "conv3d with a constant kernel and groups=channels",
        lambda x: functional.avg_pool3d(x, 2),
        _averaging(3, 2),
        _drawn(2, 3, 4, 4, 4),
    ),
    "adaptive_avg_pool2d to 1": (
        "adaptive_avg_pool2d_backward_cuda",
        "x.mean((-2, -1)) for output size 1",
        lambda x: functional.adaptive_avg_pool2d(x, 1).flatten(1),
        lambda x: x.mean((-2, -1)),
        _drawn(2, 3, 5, 4),
    ),
    "adaptive_avg_pool2d to 2": (
        "adaptive_avg_pool2d_backward_cuda",
        "else AvgPool2d with a fixed kernel",
        lambda x: functional.adaptive_avg_pool2d(x, 2),
        nn.AvgPool2d(3),
        _drawn(2, 3, 6, 6),
    ),
    "adaptive_avg_pool3d to 1": (
        "adaptive_avg_pool3d_backward_cuda",
        "x.mean((-3, -2, -1)) for output size 1",
        lambda x: functional.adaptive_avg_pool3d(x, 1).flatten(1),
        lambda x: x.mean((-3, -2, -1)),
        _drawn(2, 3, 5, 4, 3),
    ),
    "adaptive_avg_pool3d to 2": (
        "adaptive_avg_pool3d_backward_cuda",
        "else conv3d with a constant kernel",
        lambda x: functional.adaptive_avg_pool3d(x, 2),
        _averaging(3, 3),
        _drawn(2, 3, 6, 6, 6),
    ),
    "adaptive_max_pool2d to 1": (
        "adaptive_max_pool2d_backward_cuda",
        "x.amax((-2, -1)) for output size 1",
        lambda x: functional.adaptive_max_pool2d(x, 1).flatten(1),
        lambda x: x.amax((-2, -1)),
        _drawn(2, 3, 5, 4),
    ),
    "adaptive_max_pool2d to 2": (
        "adaptive_max_pool2d_backward_cuda",
        "else MaxPool2d with a fixed kernel",
        lambda x: functional.adaptive_max_pool2d(x, 2),
        nn.MaxPool2d(3),
        _drawn(2, 3, 6, 6),
    ),
    "reflection_pad1d": (
        "reflection_pad1d_backward_out_cuda",
        "index the mirrored positions: x[..., index]",
        lambda x: functional.pad(x, (3, 2), mode="reflect"),
        lambda x: x[..., _mirrored((3, 2), 4)],
        _drawn(2, 3, 5),
    ),
    "reflection_pad2d": (
        "reflection_pad2d_backward_cuda",
        "index the mirrored positions",
        lambda x: functional.pad(x, (2, 1, 1, 2), mode="reflect"),
        _pad2d,
        _drawn(2, 3, 5, 5),
    ),
    "cross_entropy of pixels": (
        "nll_loss2d_forward_out_cuda_template",
        FLATTENED,
        lambda x: functional.cross_entropy(x, _LABELS),
        lambda x: functional.cross_entropy(x.movedim(1, -1).flatten(0, -2), _LABELS.flatten()),
        _drawn(2, 3, 2, 2),
    ),
    "embedding_bag": (
        "embedding_bag_backward_cuda_max",
        "Embedding followed by amax(1)",
        lambda x: functional.embedding_bag(_BAGS, x, mode="max"),
        lambda x: functional.embedding(_BAGS, x).amax(1),
        _drawn(4, 3),
    ),
    "bincount": (
        "_bincount_cuda",
        COUNT,
        lambda x: torch.bincount(_COUNTED, x.detach(), minlength=4),
        lambda x: torch.zeros(4).index_add(0, _COUNTED, x),
        _drawn(5),
    ),
    "median": (
        "median CUDA with indices output",
        "x.sort(stable=True) and take the middle one",
        lambda x: x.median(1).values,
        lambda x: x.sort(dim=1, stable=True).values[:, (x.shape[1] - 1) // 2],
        _drawn(3, 6),
    ),
    "kthvalue": (
        "kthvalue CUDA",
        "x.sort(stable=True) and take the k-th",
        lambda x: x.kthvalue(2, dim=1).values,
        lambda x: x.sort(dim=1, stable=True).values[:, 1],
        _drawn(3, 6),
    ),
    "scatter_reduce": (
        "scatter_reduce_cuda_kernel",
        'exp of reduce="sum" of the logarithms for a product of positive numbers',
        lambda x: torch.ones(2, 3).scatter_reduce(1, _INDEX, x, "prod"),
        lambda x: torch.zeros(2, 3).scatter_reduce(1, _INDEX, x.log(), "sum").exp(),
        _drawn(2, 3).abs(),
    ),
}

# Advice that computes something else: kernel, words, the call, input shape.
OTHERWISE = {
    "FractionalMaxPool2d": ("fractional_max_pool2d", "MaxPool2d", nn.MaxPool2d(2), (2, 3, 6, 6)),
    "FractionalMaxPool3d": ("fractional_max_pool3d", "MaxPool3d", nn.MaxPool3d(2), (2, 3, 4, 4, 4)),
    "nearest": (
        "upsample_bilinear2d",
        'interpolate(mode="nearest")',
        lambda x: functional.interpolate(x, scale_factor=2, mode="nearest"),
        (2, 3, 4, 4),
    ),
    "transposed": (
        "upsample_bilinear2d",
        "ConvTranspose2d with fixed weights",
        lambda x: functional.conv_transpose2d(x, torch.full((3, 1, 2, 2), 1.0), stride=2, groups=3),
        (2, 3, 4, 4),
    ),
    "replicate": (
        "reflection_pad2d",
        'pad(mode="replicate")',
        lambda x: functional.pad(x, (1, 1, 1, 1), mode="replicate"),
        (2, 3, 4, 4),
    ),
    "sum": (
        "embedding_bag",
        'mode="sum" or "mean"',
        lambda x: (
            functional.embedding_bag(_BAGS, x, mode="sum")
            + functional.embedding_bag(_BAGS, x, mode="mean")
        ),
        (4, 3),
    ),
}

# Operations that are deterministic on the CPU: kernel, call, an input for two threads.
ON_CPU = {
    "grid_sample": (
        "grid_sampler_2d_backward_cuda",
        lambda x: functional.grid_sample(x, _drawn(4, 64, 64, 2).tanh(), align_corners=False),
        _drawn(4, 8, 64, 64),
    ),
    "cumsum": ("cumsum_cuda_kernel", lambda x: x.cumsum(0), _drawn(200_000)),
    "ctc_loss": (
        "ctc_loss_backward_gpu",
        lambda x: functional.ctc_loss(
            x.log_softmax(2), torch.arange(80).view(8, 10) % 9 + 1, [50] * 8, [10] * 8
        ),
        _drawn(50, 8, 10),
    ),
    "histc": ("_histc_cuda", lambda x: x.detach().histc(50, -3, 3), _drawn(200_000)),
    "scatter_reduce": (
        "scatter_reduce_cuda_kernel",
        lambda x: torch.ones(10).scatter_reduce(0, torch.arange(200_000) % 10, x, "prod"),
        _drawn(200_000).div(10).exp(),
    ),
}


def _with_gradient(call, x):
    x = x.clone().requires_grad_()
    result = call(x)
    if not result.requires_grad:
        return result, None
    weights = torch.linspace(0.5, 1.5, result.numel()).view(result.shape)
    (result * weights).sum().backward()
    return result.detach(), x.grad


@pytest.mark.parametrize("name", SAME)
def test_the_replacement_computes_the_same(name):
    """Forward and backward, on the CPU; and it runs where only what repeats may run."""
    kernel, words, before, after, x = SAME[name]
    assert words in find_advice(kernel)
    expected, gradient = _with_gradient(before, x)
    with its.deterministic():
        result, new_gradient = _with_gradient(after, x)
    torch.testing.assert_close(result, expected)
    if gradient is not None:
        torch.testing.assert_close(new_gradient, gradient)


@pytest.mark.parametrize("name", OTHERWISE)
def test_another_operation_that_is_offered_repeats(name):
    """It runs forward and backward in strict mode, and gives the same bits."""
    kernel, words, call, shape = OTHERWISE[name]
    assert words in find_advice(kernel)
    with its.deterministic():
        results = [_with_gradient(call, _drawn(*shape)) for _ in range(2)]
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])


@pytest.mark.parametrize("name", ON_CPU)
def test_on_the_cpu_the_operation_repeats(name):
    """It is accepted there, and gives the same bits, with several threads too."""
    kernel, call, x = ON_CPU[name]
    assert "on the CPU" in find_advice(kernel)
    with its.deterministic():
        torch.set_num_threads(2)
        first, gradient = _with_gradient(call, x)
        for _ in range(3):
            again, new_gradient = _with_gradient(call, x)
            assert torch.equal(first, again)
            assert gradient is None or torch.equal(gradient, new_gradient)


@pytest.mark.filterwarnings("ignore:.*quantized tensor creation.*deprecated")
def test_a_new_quantized_tensor_has_the_size():
    """A tensor that cannot be resized is created again."""
    assert find_advice("quantized_resize_cpu_") == "make a new quantized tensor of that size"
    with its.deterministic():
        made = torch.quantize_per_tensor(torch.zeros(5), 0.1, 0, torch.quint8)
    assert made.shape == (5,)


def test_all_advice_is_tried():
    """Each row is used above, except two that cannot be tried without a GPU."""
    kernels = [case[0] for cases in (SAME, OTHERWISE, ON_CPU) for case in cases.values()]
    untried = {
        row
        for row in ADVICE
        if not any(re.search(row, each.lstrip("_")) for each in [*kernels, "quantized_resize_cpu_"])
    }
    assert untried == {" [Aa]ttention$", "^cuBLAS$"}
