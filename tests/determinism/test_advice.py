"""The table of advice: complete, and found by the names in torch's errors.

The tests marked ``torch_release`` compare it with the docstring of the installed torch. They run
with ``--torch-release`` only, as a newer torch may list other operations.
"""

from __future__ import annotations

import re

import pytest
import torch
from torch.torch_version import TorchVersion

from ipytorchseed.determinism.alerts import (
    ADVICE,
    SWITCHES_SINCE,
    find_advice,
    has_other_algorithm,
)


def documented(begin: str, end: str) -> frozenset[str]:
    """Return the entries of a list in the docstring of the installed torch."""
    text = torch.use_deterministic_algorithms.__doc__ or ""
    part = text.partition(begin)[2].partition(end)[0]
    return frozenset(re.findall(r"^\s*\* :(?:class|func|meth):`~?([\w.]+)`", part, re.MULTILINE))


SWITCHING = documented("deterministically when", "operations will throw a")
RAISING = documented("operations will throw a", "In addition")

RELEASE = tuple(int(each) for each in re.findall(r"\d+", torch.__version__)[:2])

ON_CPU = {  # what only this release lists as raising: to be done on the CPU
    (2, 6): {
        "torch.nn.MaxPool3d",
        "torch.nn.ReplicationPad1d",
        "torch.nn.ReplicationPad3d",
        "torch.kthvalue",
    },
    (2, 15): {  # on Apple's GPUs
        "torch.kthvalue",
        "torch.nn.Embedding",
        "torch.nn.MaxPool2d",
        "torch.Tensor.index_put",
        "torch.Tensor.index_reduce",
    },
}.get(RELEASE, set())

# torch's text for operations that have another algorithm only since some release.
LISTED = {"cumsum": "torch.cumsum", "embedding_dense_backward": "torch.nn.Embedding"}

SWITCHES_NOW = {
    LISTED[name] for name, since in SWITCHES_SINCE.items() if torch.__version__ >= since
}

UNLISTED_BY_TORCH = {  # operations that alert and are missing in torch's docstring
    "kthvalue CUDA",
    "Memory Efficient attention",
    "Flash Attention",
    "cuBLAS",
}

KERNELS = {  # from torch's sources, aten/src/ATen/native: what the alerts are called
    "avg_pool3d_backward_cuda": "torch.nn.AvgPool3d",
    "avg_pool3d_backward_out_cuda": "torch.nn.AvgPool3d",
    "adaptive_avg_pool2d_backward_cuda": "torch.nn.AdaptiveAvgPool2d",
    "adaptive_avg_pool2d_backward_out_cuda": "torch.nn.AdaptiveAvgPool2d",
    "adaptive_avg_pool3d_backward_cuda": "torch.nn.AdaptiveAvgPool3d",
    "adaptive_avg_pool3d_backward_out_cuda": "torch.nn.AdaptiveAvgPool3d",
    "adaptive_max_pool2d_backward_cuda": "torch.nn.AdaptiveMaxPool2d",
    "fractional_max_pool2d_backward_cuda": "torch.nn.FractionalMaxPool2d",
    "fractional_max_pool3d_backward_cuda": "torch.nn.FractionalMaxPool3d",
    "fractional_max_pool3d_backward_out_cuda": "torch.nn.FractionalMaxPool3d",
    "max_unpooling2d_forward_out": "torch.nn.MaxUnpool2d",
    "max_unpooling2d_forward_out_cuda": "torch.nn.MaxUnpool1d",
    "max_unpooling3d_forward_out_cuda": "torch.nn.MaxUnpool3d",
    "max_unpooling3d_forward_out": "torch.nn.MaxUnpool3d",
    "upsample_linear1d_backward_out_cuda": "torch.nn.functional.interpolate",
    "upsample_bilinear2d_backward_out_cuda": "torch.nn.functional.interpolate",
    "upsample_bicubic2d_backward_out_cuda": "torch.nn.functional.interpolate",
    "upsample_trilinear3d_backward_out_cuda": "torch.nn.functional.interpolate",
    "reflection_pad1d_backward_out_cuda": "torch.nn.ReflectionPad1d",
    "reflection_pad2d_backward_cuda": "torch.nn.ReflectionPad2d",
    "reflection_pad3d_backward_out_cuda": "torch.nn.ReflectionPad3d",
    "nll_loss2d_forward_out_cuda_template": "torch.nn.NLLLoss",
    "nll_loss2d_forward_xpu": "torch.nn.NLLLoss",
    "ctc_loss_backward_gpu": "torch.nn.CTCLoss",
    "ctc_loss_backward_mps": "torch.nn.CTCLoss",
    "embedding_bag_backward_cuda_max": "torch.nn.EmbeddingBag",
    "put_": "torch.Tensor.put_",
    "_histc_cuda": "torch.histc",
    "_histc_cuda with floating point input": "torch.histc",
    "_histc_xpu": "torch.histc",
    "_bincount_cuda": "torch.bincount",
    "median CUDA with indices output": "torch.median",
    "median XPU with indices output": "torch.median",
    "grid_sampler_2d_backward_cuda": "torch.nn.functional.grid_sample",
    "grid_sampler_3d_backward_cuda": "torch.nn.functional.grid_sample",
    "cumsum_cuda_kernel": "torch.cumsum",
    "scatter_reduce_cuda_kernel": "torch.Tensor.scatter_reduce",
    "scatter_reduce_cuda": "torch.Tensor.scatter_reduce",
    "quantized_resize_cpu_": "torch.Tensor.resize_",
}

SWITCHES = {  # names of aten's, and what they run for
    "convolution_backward": {f"torch.nn.Conv{n}d" for n in (1, 2, 3)},
    "cudnn_convolution_transpose": {f"torch.nn.ConvTranspose{n}d" for n in (1, 2, 3)},
    "replication_pad1d_backward": {f"torch.nn.ReplicationPad{n}d" for n in (1, 2, 3)},
    "bmm": {"torch.bmm"},
    "index_put_": {"torch.Tensor.index_put"},
    "_index_put_impl_": {"torch.Tensor.__getitem__"},
    "put": {"torch.Tensor.put_"},
    "scatter_add_": {"torch.Tensor.scatter_add_", "torch.gather"},
    "index_add_": {"torch.index_add"},
    "index_select_backward": {"torch.index_select"},
    "repeat_interleave": {"torch.repeat_interleave"},
    "index_copy": {"torch.Tensor.index_copy"},
    "scatter": {"torch.Tensor.scatter"},
    "scatter_reduce": {"torch.Tensor.scatter_reduce"},
    "max_pool3d_with_indices_backward": {"torch.nn.MaxPool3d"},
}

OTHERS = [  # alerts for which nothing better is known than the CPU
    "index_reduce_cuda",
    "scatter_add_cuda_kernel",
    "embedding_backward_cuda",
    "max_pool3d_with_indices_backward_cuda",
    "replication_pad2d_backward_cuda",
    "output",
    "input",
]


# --------------------------------------------------------------------------------------------------
# Complete


@pytest.mark.torch_release
def test_what_torch_lists_as_raising_has_advice():
    """A release that adds or drops one makes this fail: add or drop its row."""
    assert set(KERNELS.values()) - SWITCHES_NOW == RAISING - ON_CPU


@pytest.mark.torch_release
def test_what_torch_lists_as_switching_is_known():
    """A release that adds or drops one makes this fail: change the pattern."""
    known = {entry for entries in SWITCHES.values() for entry in entries} | SWITCHES_NOW
    assert known - ON_CPU == SWITCHING - ON_CPU


@pytest.mark.torch_release
def test_the_docstring_is_read_where_the_lists_stand():
    """The second starts at the end of the first."""
    assert len(RAISING) > 15
    assert "torch.Tensor.put_" in RAISING
    assert "torch.nn.Conv2d" in SWITCHING - RAISING
    assert "torch.nn.AvgPool3d" in RAISING - SWITCHING


@pytest.mark.torch_release
@pytest.mark.parametrize("entry", sorted(RAISING | SWITCHING))
def test_an_entry_is_a_name_in_torch(entry):
    """Each can be imported as it is written."""
    found = torch
    for step in entry.split(".")[1:]:
        found = getattr(found, step)
    assert callable(found)


def rows_of(kernel):
    """Return the patterns of the rows that match a kernel."""
    return [row for row in ADVICE if re.search(row, kernel.lstrip("_"))]


@pytest.mark.parametrize("row", ADVICE)
def test_advice_reads_after_instead(row):
    """It is a short clause on one line."""
    instead = ADVICE[row]
    assert not instead.endswith(".")
    assert "\n" not in instead
    assert instead.isascii()
    assert len(instead) <= 110


# --------------------------------------------------------------------------------------------------
# Found


def test_every_row_is_found_by_a_kernel():
    """The sample above leaves no row out."""
    found = {row for kernel in [*KERNELS, *UNLISTED_BY_TORCH] for row in rows_of(kernel)}
    assert found == {*ADVICE}


def test_kernels_of_one_entry_find_one_row():
    """The name in torch's error leads to the advice for what the user called."""
    found = {(entry, *rows_of(kernel)) for kernel, entry in KERNELS.items()}
    assert len(found) == len(set(KERNELS.values()))


@pytest.mark.parametrize("kernel", SWITCHES)
def test_an_operation_that_switches_is_known_by_its_name(kernel):
    """It is found by the name in a trace."""
    assert has_other_algorithm(kernel)


@pytest.mark.parametrize("kernel", [*SWITCHES_SINCE, *(f"_{each}_" for each in SWITCHES_SINCE)])
def test_an_operation_switches_from_some_release_on(kernel, monkeypatch):
    """It has no other algorithm in an earlier torch, and one in all later ones."""
    known = {}
    for release in ("2.6.0", "2.13.0+cpu", "2.14.0", "2.14.1+cu130", "2.15.0"):
        monkeypatch.setattr(torch, "__version__", TorchVersion(release))
        known[release[:4].rstrip(".")] = has_other_algorithm(kernel)
    assert known == {"2.6": False, "2.13": False, "2.14": True, "2.15": True}


@pytest.mark.parametrize("kernel", ["mm", "add", "output", "avg_pool3d_backward", "input_put"])
def test_others_have_no_other_algorithm(kernel):
    """This includes operations with similar names."""
    assert not has_other_algorithm(kernel)


@pytest.mark.parametrize("kernel", [*KERNELS, *sorted(UNLISTED_BY_TORCH)])
def test_a_kernel_fits_one_row_only(kernel):
    """So the order of rows does not matter."""
    assert len(rows_of(kernel)) == 1


@pytest.mark.parametrize(
    ("operation", "row"),
    [
        ("_ctc_loss_backward", "ctc_loss"),
        ("_cudnn_ctc_loss", "ctc_loss"),
        ("_adaptive_avg_pool2d_backward", "adaptive_avg_pool2d"),
        ("_adaptive_avg_pool3d_backward", "adaptive_avg_pool3d"),
        ("_embedding_bag_dense_backward", "embedding_bag"),
        ("grid_sampler_2d_backward", "grid_sampler"),
        ("max_unpool2d", "max_unpool"),
        ("histc", "histc"),
    ],
)
def test_an_operation_is_found_by_its_name_in_aten(operation, row):
    """It is found by the name in a trace, with any number of leading underscores."""
    assert hasattr(torch.ops.aten, operation)
    (found,) = rows_of(operation)
    assert row in found
    assert find_advice(operation) == ADVICE[found]


@pytest.mark.parametrize("kernel", OTHERS)
def test_other_kernels_find_none(kernel):
    """A similar name does not get the advice for another operation."""
    assert find_advice(kernel) is None
