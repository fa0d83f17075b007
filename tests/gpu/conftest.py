"""Tests that need a GPU: collected everywhere, run where there is one."""

import pytest
import torch


def pytest_collection_modifyitems(items):
    """Skip what is in this folder if there is no GPU, and say how to run it."""
    if torch.cuda.is_available():
        return
    reason = "no CUDA GPU here: run `pytest tests/gpu` on a machine that has one"
    for item in items:
        if "tests/gpu/" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason=reason))
