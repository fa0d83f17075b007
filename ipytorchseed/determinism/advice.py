"""Operations that torch documents as nondeterministic, and their replacements.

The docstring of ``torch.use_deterministic_algorithms`` has two lists, which change with each
release: operations that use another algorithm under it, and operations that raise because they
have none. The tables here have what the releases up to 2.15 list.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ipytorchseed.patterns import lazy_pattern


class Advice(Struct, frozen=True):
    """A row: what to use instead of an operation.

    Attributes:
        kernel: A pattern that matches the operation's name in torch's error.
        calls: Names under which code calls it, to find the line of a forward pass.
        instead: What to use, to be read after "instead: ".
    """

    kernel: str
    calls: tuple[str, ...]
    instead: str


_ON_CPU = "do this step on the CPU, x.cpu(), where it repeats"

ADVICE: tuple[Advice, ...] = (
    Advice(r"^avg_pool3d", ("AvgPool3d", "avg_pool3d"),
           "conv3d with a constant kernel and groups=channels; convolutions repeat"),
    Advice(r"^adaptive_avg_pool2d", ("AdaptiveAvgPool2d", "adaptive_avg_pool2d"),
           "x.mean((-2, -1)) for output size 1, else AvgPool2d with a fixed kernel"),
    Advice(r"^adaptive_avg_pool3d", ("AdaptiveAvgPool3d", "adaptive_avg_pool3d"),
           "x.mean((-3, -2, -1)) for output size 1, else conv3d with a constant kernel"),
    Advice(r"^adaptive_max_pool2d", ("AdaptiveMaxPool2d", "adaptive_max_pool2d"),
           "x.amax((-2, -1)) for output size 1, else MaxPool2d with a fixed kernel"),
    Advice(r"^fractional_max_pool2d", ("FractionalMaxPool2d", "fractional_max_pool2d"),
           "MaxPool2d"),
    Advice(r"^fractional_max_pool3d", ("FractionalMaxPool3d", "fractional_max_pool3d"),
           "MaxPool3d"),
    Advice(r"^max_unpool", ("MaxUnpool", "max_unpool"),
           "zeros(N, C, size).scatter(2, indices.flatten(2), x.flatten(2)); scatter repeats"),
    Advice(r"^upsample_", ("interpolate", "Upsample"),
           'interpolate(mode="nearest"), or ConvTranspose2d with fixed weights'),
    Advice(r"^reflection_pad", ("ReflectionPad", "reflect"),
           'pad(mode="replicate"), or index the mirrored positions: x[..., index]'),
    Advice(r"^nll_loss", ("NLLLoss", "nll_loss", "CrossEntropyLoss", "cross_entropy"),
           "the loss of flattened pixels:"
           " cross_entropy(x.movedim(1, -1).flatten(0, -2), y.flatten())"),
    Advice(r"^(cudnn_)?ctc_loss", ("CTCLoss", "ctc_loss"), _ON_CPU),
    Advice(r"^embedding_bag", ("EmbeddingBag", "embedding_bag"),
           'mode="sum" or "mean", or Embedding followed by amax(1)'),
    Advice(r"^put_", (".put_", ".put("),
           "x.view(-1)[index] = values for a contiguous x; index assignment repeats"),
    Advice(r"^histc", ("histc",), _ON_CPU),
    Advice(r"^bincount", ("bincount",), "zeros(n).index_add(0, x, weights); index_add repeats"),
    Advice(r"^median", ("median",), "x.sort(stable=True) and take the middle one"),
    Advice(r"^(cudnn_)?grid_sampler", ("grid_sample",), _ON_CPU),
    Advice(r"^cumsum", ("cumsum",), _ON_CPU),
    Advice(r"^scatter_reduce", ("scatter_reduce",),
           'exp of reduce="sum" of the logarithms for a product of positive numbers, else do this'
           " step on the CPU"),
    Advice(r"^quantized_resize", ("resize_",), "make a new quantized tensor of that size"),
    Advice(r"^kthvalue", ("kthvalue",), "x.sort(stable=True) and take the k-th"),
    Advice(r" [Aa]ttention$", ("scaled_dot_product_attention", "MultiheadAttention"),
           "leave out --warn: without it torch takes an algorithm that repeats"),
    Advice(r"^cuBLAS$", (), "start Jupyter with CUBLAS_WORKSPACE_CONFIG=:4096:8"),
)  # fmt: skip

UNLISTED = "do this step on the CPU if it repeats there"


def find_advice(operation: str) -> Advice | None:
    """Return the row for an operation, named as in torch's error or in aten."""
    name = operation.lstrip("_")
    for row in ADVICE:
        if re.search(row.kernel, name):
            return row
    return None


# Names in aten of operations with a deterministic and another algorithm.
_SWITCHES = lazy_pattern(
    r"^((cudnn_|_slow_|slow_)?conv|replication_pad\dd_backward|bmm|_?(unsafe_)?index_put|put"
    r"|scatter_add|index_add|index_select_backward|repeat_interleave|index_copy|scatter_?$"
    r"|scatter_reduce|max_pool3d_with_indices_backward)"
)

# Names in aten, with the release of torch that added a deterministic algorithm.
SWITCHES_SINCE = {"cumsum": "2.14", "embedding_dense_backward": "2.14"}


def has_other_algorithm(operation: str) -> bool:
    """Return whether an operation has another, deterministic algorithm.

    Args:
        operation: As aten names it, such as ``index_put_``.
    """
    import torch

    since = SWITCHES_SINCE.get(operation.strip("_"))
    if since is not None:
        return bool(torch.__version__ >= since)
    return _SWITCHES.match(operation) is not None
