"""``its.stamp``: what a result depends on, in one line."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import ipytorchseed as its


@pytest.mark.usefixtures("put_back")
def test_it_tells_the_seed_states_settings_versions_and_hardware():
    """It is one line with everything by name, and no source moves."""
    its.seed(42)
    before = its.snapshot()
    line = its.stamp()
    assert its.snapshot() == before
    parts = line.split("; ")
    assert parts[0] == "seed 42"
    assert parts[1] == ", ".join(f"{name} {digest}" for name, digest in before.digests.items())
    assert f"num_threads {torch.get_num_threads()}" in parts[2].split(", ")
    assert "default_dtype float32" in parts[2].split(", ")
    assert f"torch {torch.__version__}" in parts[3].split(", ")
    assert "logical core" in parts[4]
    assert "\n" not in line


@pytest.mark.usefixtures("put_back")
def test_it_tells_the_seed_that_the_sources_stand_at():
    """It is not the last seed if states from before it were restored.

    There is none if the sources have different seeds.
    """
    its.seed(7)
    torch.rand(3)
    before = its.snapshot()
    its.seed(42)
    its.restore(before)
    assert its.stamp().startswith("seed 7; ")
    torch.manual_seed(42)
    assert its.stamp().startswith("no common seed; ")


def test_it_imports_neither_torch_nor_numpy():
    """A script without them gets a stamp of what it has."""
    program = "import sys, ipytorchseed as its; print(its.stamp(), 'torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("no common seed; python ")
    assert done.stdout.endswith(" False\n")
