"""The check that every test restores the process can fail and can pass."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]

# One line of code for each state that a test could leave changed.
LEAKS = {
    "python": "random.random()",
    "numpy": "np.random.random()",
    "torch.cpu": "torch.rand(1)",
    "seeds waiting for cuda": "torch.cuda.manual_seed_all(1)",
    "seeds waiting for xpu": "torch.xpu.manual_seed_all(1)",
    "environment": "os.environ['LEAK'] = '1'",
    "dispatch modes": "Dispatch().__enter__()",
    "function modes": "Function().__enter__()",
    "registered sources": "its.register_source('leak', seed=int, read=bytes, write=bytes)",
    "recent seeds": "table.remember(1)",
    "derived seeds": "find_generators({'g': random.Random()})[0].reseed(1)",
    "warnings filters": "warnings.simplefilter('ignore')",
    "warnings.showwarning": "warnings.showwarning = print",
    "handler of interrupts": "signal.signal(signal.SIGINT, print)",
}

# One line for flags of several kinds; the last makes its flag unreadable.
FLAG_LEAKS = {
    "torch.use_deterministic_algorithms": "torch.use_deterministic_algorithms(True)",
    "torch.default_dtype": "torch.set_default_dtype(torch.float64)",
    "torch.num_threads": "torch.set_num_threads(torch.get_num_threads() + 1)",
    "torch.backends.cuda.matmul.allow_tf32": "torch.backends.cuda.matmul.fp32_precision = 'tf32'",
}

HEAD = """
import os, random, signal, warnings
import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
import ipytorchseed as its
from ipytorchseed.rng import table
from ipytorchseed.rng.generators import find_generators

class Dispatch(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))

class Function(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))

"""


def _test(name, line, fixture=""):
    return f"def test_{name}({fixture}):\n    {line}\n"


def test_whatever_a_test_leaves_behind_fails_it_and_is_named(pytester):
    """Each leak passes its test, and then fails the check, which names what was left.

    Tests that only look pass. Those that draw, seed or register pass with ``put_back``.
    """
    look = "find_generators(globals()); its.snapshot(); [s.read() for s in table.sources()]"
    kept = ("environment", "dispatch modes", "function modes", "warnings", "handler of interrupts")
    restored = [
        *(line for name, line in LEAKS.items() if not name.startswith(kept)),
        "np.random.set_bit_generator(np.random.PCG64(1)); its.seed(1); np.random.random()",
        "torch.manual_seed(1); its.seed(1); torch.randn(1); random.gauss(0, 1)",
    ]
    leaks = [*LEAKS.values(), *FLAG_LEAKS.values()]
    tests = [
        _test("looking", look),
        *(_test(f"restored_{n}", line, "put_back") for n, line in enumerate(restored)),
        *(_test(f"leak_{n}", line) for n, line in enumerate(leaks)),
    ]
    pytester.makeini(f"[pytest]\npythonpath = {ROOT}")
    pytester.makeconftest((ROOT / "tests/conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(HEAD + "".join(tests))
    result = pytester.runpytest_subprocess(
        "-q", "-rA", "-p", "no:cacheprovider", "-p", "no:nbmake"
    )  # under this suite's own conftest, in another process
    result.assert_outcomes(passed=len(tests), errors=len(leaks))
    assert "ERROR" in result.stdout.str()
    assert not [
        line for line in result.outlines if line.startswith("ERROR") and "leak_" not in line
    ]
    for name in LEAKS:
        result.stdout.fnmatch_lines([f"E*the test left these changed: {name}"])
    for name in FLAG_LEAKS:
        result.stdout.fnmatch_lines([f"E*the test left these changed:*{name}*"])
