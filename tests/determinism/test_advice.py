"""The table of advice: complete for the installed torch, and found by the names in its errors."""

from __future__ import annotations

import re

import pytest
import torch

from ipytorchseed.determinism.advice import ADVICE, find_advice, raising_operations

LISTED = {entry: row for row in ADVICE for entry in row.entries}

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


@pytest.mark.parametrize("entry", sorted(raising_operations()))
def test_what_torch_lists_as_raising_has_a_row(entry):
    """The docstring of ``use_deterministic_algorithms`` names it, and there is advice for it."""
    assert entry in LISTED


@pytest.mark.parametrize("entry", sorted(LISTED))
def test_what_has_a_row_is_listed_by_torch(entry):
    """No advice is kept for what this torch no longer lists."""
    assert entry in raising_operations()


def test_the_docstring_is_read_where_it_lists_what_raises():
    """Only the second of its lists: the first is of what acts deterministically."""
    assert len(raising_operations()) > 15
    assert "torch.Tensor.put_" in raising_operations()
    assert "torch.nn.Conv2d" not in raising_operations()
    assert "torch.Tensor.index_put" not in raising_operations()


def test_an_entry_has_one_row():
    """No operation is advised on twice."""
    assert len(LISTED) == sum(len(row.entries) for row in ADVICE)


@pytest.mark.parametrize("entry", sorted(LISTED))
def test_an_entry_is_a_name_in_torch(entry):
    """Each can be imported as it is written."""
    found = torch
    for step in entry.split(".")[1:]:
        found = getattr(found, step)
    assert callable(found)


def test_rows_that_torch_does_not_list_are_known():
    """What is advised on beyond the docstring stands in this file."""
    beyond = [row for row in ADVICE if not row.entries]
    assert {find_advice(name).kernel for name in UNLISTED_BY_TORCH} == {r.kernel for r in beyond}


@pytest.mark.parametrize("row", ADVICE, ids=lambda row: row.kernel)
def test_advice_reads_after_instead(row):
    """It is no sentence of its own, of one line, and short."""
    assert not row.instead.endswith(".")
    assert "\n" not in row.instead
    assert row.instead.isascii()
    assert len(row.instead) <= 110


# --------------------------------------------------------------------------------------------------
# Found


@pytest.mark.parametrize(("kernel", "entry"), KERNELS.items())
def test_a_kernel_finds_its_row(kernel, entry):
    """The name in torch's error leads to the advice for what the user called."""
    assert find_advice(kernel) is LISTED[entry]


def test_every_row_is_found_by_a_kernel():
    """The sample above leaves no row out."""
    assert {LISTED[entry].kernel for entry in KERNELS.values()} == {
        row.kernel for row in ADVICE if row.entries
    }


@pytest.mark.parametrize("kernel", [*KERNELS, *sorted(UNLISTED_BY_TORCH)])
def test_a_kernel_fits_one_row_only(kernel):
    """The order of rows decides nothing."""
    assert len([row for row in ADVICE if re.search(row.kernel, kernel)]) == 1


@pytest.mark.parametrize("kernel", OTHERS)
def test_other_kernels_find_none(kernel):
    """A name that only resembles gets no advice that was meant for another."""
    assert find_advice(kernel) is None


@pytest.mark.parametrize(
    ("line", "kernel"),
    [
        ("y = F.interpolate(x, scale_factor=2, mode='bilinear')", "upsample_bilinear2d_backward"),
        ("self.up = nn.Upsample(scale_factor=2)", "upsample_bilinear2d_backward"),
        ("x = F.adaptive_avg_pool2d(x, 1)", "adaptive_avg_pool2d_backward_cuda"),
        ("nn.AdaptiveAvgPool2d(1),", "adaptive_avg_pool2d_backward_cuda"),
        ("x = F.pad(x, (1, 1), mode='reflect')", "reflection_pad1d_backward_out_cuda"),
        ("loss = F.cross_entropy(x, y)", "nll_loss2d_forward_out_cuda_template"),
        ("x.put_(index, ones)", "put_"),
        ("w, i = x.median(0)", "median CUDA with indices output"),
        ("y = F.grid_sample(x, grid)", "grid_sampler_2d_backward_cuda"),
        ("y = F.scaled_dot_product_attention(q, k, v)", "Memory Efficient attention"),
    ],
)
def test_a_line_of_the_forward_pass_is_known_by_its_call(line, kernel):
    """However the operation is called, as a function or as a module."""
    assert any(call in line for call in find_advice(kernel).calls)
