"""Operations that torch documents as nondeterministic, and their replacements.

The docstring of ``torch.use_deterministic_algorithms`` has two lists, which change with each
release: operations that then use a deterministic algorithm, and operations that raise because they
have none. The tables here contain the lists of the releases up to 2.15.
"""

from __future__ import annotations

import re

from ipytorchseed.patterns import lazy_pattern

_ON_CPU = "do this step on the CPU, x.cpu(), where it repeats"

# Patterns that match the name of an operation in torch's error, and what to use instead.
ADVICE: dict[str, str] = {
    r"^avg_pool3d": "conv3d with a constant kernel and groups=channels; convolutions repeat",
    r"^adaptive_avg_pool2d": (
        "x.mean((-2, -1)) for output size 1, else AvgPool2d with a fixed kernel"
    ),
    r"^adaptive_avg_pool3d": (
        "x.mean((-3, -2, -1)) for output size 1, else conv3d with a constant kernel"
    ),
    r"^adaptive_max_pool2d": (
        "x.amax((-2, -1)) for output size 1, else MaxPool2d with a fixed kernel"
    ),
    r"^fractional_max_pool2d": "MaxPool2d",
    r"^fractional_max_pool3d": "MaxPool3d",
    r"^max_unpool": (
        "zeros(N, C, size).scatter(2, indices.flatten(2), x.flatten(2)); scatter repeats"
    ),
    r"^upsample_": 'interpolate(mode="nearest"), or ConvTranspose2d with fixed weights',
    r"^reflection_pad": 'pad(mode="replicate"), or index the mirrored positions: x[..., index]',
    r"^nll_loss": (
        "the loss of flattened pixels: cross_entropy(x.movedim(1, -1).flatten(0, -2), y.flatten())"
    ),
    r"^(cudnn_)?ctc_loss": _ON_CPU,
    r"^embedding_bag": 'mode="sum" or "mean", or Embedding followed by amax(1)',
    r"^put_": "x.view(-1)[index] = values, if x is contiguous",
    r"^histc": _ON_CPU,
    r"^bincount": "zeros(n).index_add(0, x, weights); index_add repeats",
    r"^median": "x.sort(stable=True) and take the middle one",
    r"^(cudnn_)?grid_sampler": _ON_CPU,
    r"^cumsum": _ON_CPU,
    r"^scatter_reduce": (
        'exp of reduce="sum" of the logarithms for a product of positive numbers, else do this'
        " step on the CPU"
    ),
    r"^quantized_resize": "make a new quantized tensor of that size",
    r"^kthvalue": "x.sort(stable=True) and take the k-th",
    r" [Aa]ttention$": "leave out --warn: without it torch uses an algorithm that repeats",
    r"^cuBLAS$": "start Jupyter with CUBLAS_WORKSPACE_CONFIG=:4096:8",
}

UNLISTED = "do this step on the CPU if it repeats there"


def find_advice(operation: str) -> str | None:
    """Return what to use instead of an operation, named as in torch's error or aten."""
    name = operation.lstrip("_")
    return next((instead for kernel, instead in ADVICE.items() if re.search(kernel, name)), None)


# Names in aten of operations that have a deterministic and a nondeterministic algorithm.
_SWITCHES = lazy_pattern(
    r"^((cudnn_|_slow_|slow_)?conv|replication_pad\dd_backward|bmm|_?(unsafe_)?index_put|put"
    r"|scatter_add|index_add|index_select_backward|repeat_interleave|index_copy|scatter_?$"
    r"|scatter_reduce|max_pool3d_with_indices_backward)"
)

# Names in aten, with the release of torch that added a deterministic algorithm.
SWITCHES_SINCE = {"cumsum": "2.14", "embedding_dense_backward": "2.14"}


def has_other_algorithm(operation: str) -> bool:
    """Return whether an operation also has a deterministic algorithm.

    Args:
        operation: The operation's name in aten, such as ``index_put_``.
    """
    import torch

    since = SWITCHES_SINCE.get(operation.strip("_"))
    if since is not None:
        return bool(torch.__version__ >= since)
    return _SWITCHES.match(operation) is not None
