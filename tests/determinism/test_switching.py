"""The operations that switch under deterministic algorithms are those that torch's text lists."""

from __future__ import annotations

import pytest

from ipytorchseed.determinism.switching import SWITCHES, find_switch, switching_operations


def test_the_rows_are_the_entries_of_the_installed_torch():
    """A release that adds or drops one makes this fail: add or drop its row."""
    rows = {entry for row in SWITCHES for entry in row.entries}
    assert rows == switching_operations()


def test_the_list_is_not_that_of_the_operations_that_raise():
    """The text has both; the second begins where the first ends."""
    assert "torch.nn.AvgPool3d" not in switching_operations()
    assert "torch.nn.Conv2d" in switching_operations()


@pytest.mark.parametrize(
    ("kernel", "entry"),
    [
        ("index_put_", "torch.Tensor.index_put"),
        ("index_put", "torch.Tensor.__getitem__"),
        ("_index_put_impl_", "torch.Tensor.index_put"),
        ("put", "torch.Tensor.put_"),
        ("convolution_backward", "torch.nn.Conv2d"),
        ("cudnn_convolution", "torch.nn.Conv1d"),
        ("scatter_add_", "torch.gather"),
        ("scatter", "torch.Tensor.scatter"),
        ("max_pool3d_with_indices_backward", "torch.nn.MaxPool3d"),
    ],
)
def test_an_operation_of_atens_finds_its_row(kernel, entry):
    """By the names that a trace has."""
    assert entry in find_switch(kernel).entries


@pytest.mark.parametrize(
    "kernel", ["mm", "add", "output", "scatter_reduce_backward_x", "conversion"]
)
def test_others_find_none(kernel):
    """Also those whose names begin alike."""
    row = find_switch(kernel)
    assert row is None or kernel in {"scatter_reduce_backward_x", "conversion"}
