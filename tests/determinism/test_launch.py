"""The environment variables of a repeatable process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ipytorchseed.determinism import environment
from ipytorchseed.determinism.flag import ANY
from ipytorchseed.determinism.machine import Machine

PLACES = """
import numpy as np, torch
def put(values, offset):
    room = np.zeros(values.size + 32, dtype=np.float32)
    begin = (-room.ctypes.data % 64) // 4 + offset
    room[begin : begin + values.size] = values.ravel()
    return torch.from_numpy(room[begin : begin + values.size].reshape(values.shape))
rng = np.random.default_rng(0)
matrix, vector = rng.standard_normal((257, 257), np.float32), rng.standard_normal(257, np.float32)
print(len({(put(matrix, n) @ put(vector, 3 * n % 16)).numpy().tobytes() for n in range(16)}))
"""


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize(("torch", "wanted"), [((2, 9), ":4096:8"), ((2, 10), None)])
def test_cublas_is_told_where_this_torch_needs_it(monkeypatch, torch, wanted, started):
    """Up to torch 2.9, with a GPU; from 2.10 on torch needs nothing."""
    machine = Machine(torch=torch, cuda=True, xpu=False, started=started)
    monkeypatch.setattr(Machine, "here", lambda: machine)
    assert environment.launch_environment().get("CUBLAS_WORKSPACE_CONFIG") == wanted


def test_it_says_what_the_table_wants():
    """The values come from the table only."""
    machine = Machine.here()
    found = environment.launch_environment(threads=3)
    for flag in environment.FLAGS:
        wanted = flag.wanted(machine)
        if wanted is not ANY:
            assert found[flag.name] == wanted
    assert found["OMP_NUM_THREADS"] == found["MKL_NUM_THREADS"] == "3"


def test_a_product_does_not_hang_on_where_an_array_lies(monkeypatch):
    """With these variables, results do not depend on the address of an array."""
    for name, value in environment.launch_environment(threads=1).items():
        monkeypatch.setenv(name, value)
    done = subprocess.run(
        [sys.executable, "-c", PLACES], capture_output=True, text=True, check=True
    )
    assert done.stdout == "1\n"
