"""The check that every test restores the process can fail and can pass."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.fixture
def run(pytester):
    """Run a test file under this suite's own ``conftest.py``, in another process."""

    def run(body):
        pytester.makeini(f"[pytest]\npythonpath = {ROOT}")
        pytester.makeconftest((ROOT / "tests/conftest.py").read_text(encoding="utf-8"))
        pytester.makepyfile(HEAD + body)
        return pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", "-p", "no:nbmake")

    return run


def _test(number, line, fixture=""):
    return f"def test_{number}({fixture}):\n    {line}\n"


def test_whatever_a_test_leaves_behind_fails_it_and_is_named(run):
    """Each leak passes its test, and then fails the check, which names what was left."""
    leaks = [*LEAKS.values(), *FLAG_LEAKS.values()]
    result = run("".join(_test(n, line) for n, line in enumerate(leaks)))
    result.assert_outcomes(passed=len(leaks), errors=len(leaks))
    for name in LEAKS:
        result.stdout.fnmatch_lines([f"E*the test left these changed: {name}"])
    for name in FLAG_LEAKS:
        result.stdout.fnmatch_lines([f"E*the test left these changed:*{name}*"])


def test_looking_is_no_leak_and_neither_is_what_put_back_restores(run):
    """Tests that only look pass.

    Those that draw, seed or register pass with ``put_back``.
    """
    look = "find_generators(globals()); its.snapshot(); [s.read() for s in table.sources()]"
    kept = ("environment", "dispatch modes", "function modes", "warnings", "handler of interrupts")
    restored = [
        *(line for name, line in LEAKS.items() if not name.startswith(kept)),
        "np.random.set_bit_generator(np.random.PCG64(1)); its.seed(1); np.random.random()",
        "torch.manual_seed(1); its.seed(1); torch.randn(1); random.gauss(0, 1)",
    ]
    moving = [_test(n, line, "put_back") for n, line in enumerate(restored)]
    result = run("".join([_test("looking", look), *moving]))
    result.assert_outcomes(passed=1 + len(restored))
