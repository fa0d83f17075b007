"""What to use instead of an operation that has no deterministic algorithm.

One row for each entry in the second list of ``torch.use_deterministic_algorithms``' docstring. That
list changes with each release, so it is read from the installed torch, and a test fails where
these rows and the list part.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct


class Advice(Struct, frozen=True):
    """A row: how to do without an operation.

    Attributes:
        entries: How torch's docstring names it; none where it does not.
        kernel: A pattern that matches the operation's name in torch's error.
        calls: Names by which code calls it, to find the line of a forward pass.
        instead: What repeats, to be read after "instead: ".
    """

    entries: tuple[str, ...]
    kernel: str
    calls: tuple[str, ...]
    instead: str


_ON_CPU = "do this step on the CPU, x.cpu(), where it repeats"

ADVICE: tuple[Advice, ...] = (
    Advice(
        ("torch.nn.AvgPool3d",),
        r"^avg_pool3d",
        ("AvgPool3d", "avg_pool3d"),
        "conv3d with a constant kernel and groups=channels; convolutions repeat",
    ),
    Advice(
        ("torch.nn.AdaptiveAvgPool2d",),
        r"^adaptive_avg_pool2d",
        ("AdaptiveAvgPool2d", "adaptive_avg_pool2d"),
        "x.mean((-2, -1)) for output size 1, else AvgPool2d with a fixed kernel",
    ),
    Advice(
        ("torch.nn.AdaptiveAvgPool3d",),
        r"^adaptive_avg_pool3d",
        ("AdaptiveAvgPool3d", "adaptive_avg_pool3d"),
        "x.mean((-3, -2, -1)) for output size 1, else conv3d with a constant kernel",
    ),
    Advice(
        ("torch.nn.AdaptiveMaxPool2d",),
        r"^adaptive_max_pool2d",
        ("AdaptiveMaxPool2d", "adaptive_max_pool2d"),
        "x.amax((-2, -1)) for output size 1, else MaxPool2d with a fixed kernel",
    ),
    Advice(
        ("torch.nn.FractionalMaxPool2d",),
        r"^fractional_max_pool2d",
        ("FractionalMaxPool2d", "fractional_max_pool2d"),
        "MaxPool2d",
    ),
    Advice(
        ("torch.nn.FractionalMaxPool3d",),
        r"^fractional_max_pool3d",
        ("FractionalMaxPool3d", "fractional_max_pool3d"),
        "MaxPool3d",
    ),
    Advice(
        ("torch.nn.MaxUnpool1d", "torch.nn.MaxUnpool2d", "torch.nn.MaxUnpool3d"),
        r"^max_unpool",
        ("MaxUnpool", "max_unpool"),
        "zeros(N, C, size).scatter(2, indices.flatten(2), x.flatten(2)); scatter repeats",
    ),
    Advice(
        ("torch.nn.functional.interpolate",),
        r"^upsample_",
        ("interpolate", "Upsample"),
        'interpolate(mode="nearest"), or ConvTranspose2d with fixed weights',
    ),
    Advice(
        ("torch.nn.ReflectionPad1d", "torch.nn.ReflectionPad2d", "torch.nn.ReflectionPad3d"),
        r"^reflection_pad",
        ("ReflectionPad", "reflect"),
        'pad(mode="replicate"), or index the mirrored positions: x[..., index]',
    ),
    Advice(
        ("torch.nn.NLLLoss",),
        r"^nll_loss",
        ("NLLLoss", "nll_loss", "CrossEntropyLoss", "cross_entropy"),
        "the loss of flattened pixels: cross_entropy(x.movedim(1, -1).flatten(0, -2), y.flatten())",
    ),
    Advice(("torch.nn.CTCLoss",), r"^ctc_loss", ("CTCLoss", "ctc_loss"), _ON_CPU),
    Advice(
        ("torch.nn.EmbeddingBag",),
        r"^_?embedding_bag",
        ("EmbeddingBag", "embedding_bag"),
        'mode="sum" or "mean", or Embedding followed by amax(1)',
    ),
    Advice(
        ("torch.Tensor.put_",),
        r"^put_",
        (".put_", ".put("),
        "x.view(-1)[index] = values for a contiguous x; index assignment repeats",
    ),
    Advice(("torch.histc",), r"^_?histc", ("histc",), _ON_CPU),
    Advice(
        ("torch.bincount",),
        r"^_?bincount",
        ("bincount",),
        "zeros(n).index_add(0, x, weights); index_add repeats",
    ),
    Advice(
        ("torch.median",), r"^median", ("median",), "x.sort(stable=True) and take the middle one"
    ),
    Advice(
        ("torch.nn.functional.grid_sample",),
        r"^(cudnn_)?grid_sampler",
        ("grid_sample",),
        _ON_CPU,
    ),
    Advice(("torch.cumsum",), r"^cumsum", ("cumsum",), _ON_CPU),
    Advice(
        ("torch.Tensor.scatter_reduce",),
        r"^scatter_reduce",
        ("scatter_reduce",),
        'exp of reduce="sum" of the logarithms for a product of positive numbers, else do this step'
        " on the CPU",
    ),
    Advice(
        ("torch.Tensor.resize_",),
        r"^quantized_resize",
        ("resize_",),
        "make a new quantized tensor of that size",
    ),
    Advice((), r"^kthvalue", ("kthvalue",), "x.sort(stable=True) and take the k-th"),
    Advice(
        (),
        r" [Aa]ttention$",
        ("scaled_dot_product_attention", "MultiheadAttention"),
        "leave out --warn: without it torch takes an algorithm that repeats",
    ),
    Advice((), r"^cuBLAS$", (), "start Jupyter with CUBLAS_WORKSPACE_CONFIG=:4096:8"),
)

UNLISTED = "do this step on the CPU if it repeats there"


def find_advice(operation: str) -> Advice | None:
    """Return the row for an operation as torch's error names it, such as ``put_``."""
    for row in ADVICE:
        if re.search(row.kernel, operation):
            return row
    return None


@lru_cache(maxsize=1)
def raising_operations() -> frozenset[str]:
    """Read from the installed torch which operations raise under deterministic algorithms."""
    import torch

    text = torch.use_deterministic_algorithms.__doc__ or ""
    raising = text.partition("operations will throw a")[2].partition("In addition")[0]
    return frozenset(re.findall(r"^\s*\* :(?:class|func|meth):`~?([\w.]+)`", raising, re.MULTILINE))
