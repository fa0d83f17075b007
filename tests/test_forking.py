"""A forked kernel is to a cell what one started from nothing is."""

from __future__ import annotations

import psutil
import pytest
import torch

from tests.checking.books import book, look
from tests.forking import CAN_FORK
from tests.kernel import Kernel

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="kernels are not forked on this system")

LIBRARIES = {"numpy", "torch", "torchgen", "functorch", "sympy", "mpmath"}

DATA = {"numpy", "pandas", "pyarrow", "scipy", "sklearn", "joblib", "threadpoolctl", "torch"}

EXTENSION = {
    "anywidget", "ipytorchseed", "ipywidgets", "IPython", "click", "jinja2", "markupsafe", "msgspec", "rich",
    "xxhash",
}  # fmt: skip

MODULES = "' '.join(sorted(name for name in __import__('sys').modules if name.split('.')[0] in {}))"

NAMES = (
    "' '.join(f'{name}.{each}' for name, module in sorted(__import__('sys').modules.items())"
    " if name.split('.')[0] in {'ipytorchseed', 'msgspec', 'xxhash'} for each in sorted(vars(module)))"
)

EFFECTS = "[*map(str, __import__('warnings').filters), *map(str, __import__('os').environ.items())]"

LOADERS = "[type(module.__spec__.loader).__name__ for module in (numpy, torch, torch.nn)]"

PROCESS = "[__import__('sys').argv[0], __import__('sys').path, __import__('os').getcwd()]"

SEEDS = (
    "[random.getstate()[1][:3], np.random.get_state()[1][:3].tolist(), torch.initial_seed(),"
    " torch.get_rng_state()[:64].tolist()]"
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A kernel started from nothing, and a forked one."""
    folder = tmp_path_factory.mktemp("kernels")
    with Kernel(folder, cold=True) as cold, Kernel(folder) as forked:
        yield cold, forked


def test_what_a_cell_imports_is_imported_by_that_cell(pair):
    """Before, it is nowhere.

    After it, all modules are there that a first import brings.

    So are the filters of warnings and the environment variables that it adds.
    """
    counts = []
    effects = [{*kernel.value(EFFECTS)} for kernel in pair]
    for cell in ("1", "import numpy", "import torch", "import torch._inductor.config"):
        for kernel in pair:
            assert kernel.run(cell).status == "ok"
        cold, forked = (kernel.value(MODULES.format(LIBRARIES)).split() for kernel in pair)
        assert forked == cold
        counts.append(len(forked))
    cold, forked = ({*k.value(EFFECTS)} - before for k, before in zip(pair, effects, strict=True))
    assert forked == cold
    assert any("SymPy" in each for each in forked)
    assert counts[0] == 0 < counts[1] < counts[2] < counts[3]
    cold, forked = (kernel.value(LOADERS) for kernel in pair)
    assert forked == cold


@pytest.mark.parametrize("library", ["pandas", "scipy.stats", "sklearn.linear_model"])
def test_a_library_brings_those_that_it_needs(tmp_path, library):
    """And no others."""
    with Kernel(tmp_path, cold=True) as cold, Kernel(tmp_path) as forked:
        for kernel in (cold, forked):
            assert kernel.run(f"import {library}").status == "ok"
        told = MODULES.format(DATA)
        assert forked.value(told).split() == cold.value(told).split()


def test_the_extension_is_imported_module_by_module(tmp_path):
    """Each library has the same names as in a kernel started from nothing."""
    counts = []
    with Kernel(tmp_path, cold=True) as cold, Kernel(tmp_path) as forked:
        for cell in (
            "import ipytorchseed",
            "%load_ext ipytorchseed\n%config IPyTorchSeed.tracking = False",
            "%seed 1",
            "%config IPyTorchSeed.tracking = True",
            "%rng",
        ):
            for kernel in (cold, forked):
                for text in (cell, "y = 2"):  # by which all is done that is done between cells
                    reply = kernel.run(text)
                    assert reply.status == "ok", reply.error
            for told in (modules := MODULES.format(EXTENSION), NAMES):
                assert forked.value(told).split() == cold.value(told).split()
            counts.append(forked.value(modules).count("ipytorchseed."))
    assert counts == sorted(counts)
    assert 0 == counts[0] < counts[1] < counts[2] < counts[-1]


def test_it_has_the_command_line_the_path_and_the_folder(pair):
    """And is the child of the process that it takes for its parent."""
    cold, forked = (kernel.value(PROCESS) for kernel in pair)
    assert cold == forked
    told = "__import__('os').environ['JPY_PARENT_PID'] == str(__import__('os').getppid())"
    assert pair[1].value(told) is True


def test_generators_begin_anew_in_each(tmp_path):
    """Two kernels in which no one seeded draw other numbers."""
    drawn = []
    for _ in range(2):
        with Kernel(tmp_path) as kernel:
            kernel.run("import random, torch\nimport numpy as np")
            drawn.append(kernel.value(SEEDS))
    assert all(one != other for one, other in zip(*drawn, strict=True))


def test_it_has_its_own_environment(tmp_path):
    """Also what a library reads as it is loaded."""
    with Kernel(tmp_path) as usual, Kernel(tmp_path, OMP_NUM_THREADS="1") as kernel:
        for each in (usual, kernel):
            each.run("import os, torch")
            assert each.value("os.environ['IPYTHONDIR']") == str(tmp_path / ".ipython")
        assert kernel.value("os.environ['OMP_NUM_THREADS']") == "1"
        assert kernel.value("torch.get_num_threads()") == 1
        assert usual.value("torch.get_num_threads()") == torch.get_num_threads()


def test_it_is_interrupted_restarted_and_ended(tmp_path):
    """As its front end asks."""
    with Kernel(tmp_path) as kernel:
        reply = kernel.run(
            "import time\nprint('now')\nwhile True: time.sleep(0.05)", interrupt_at="now"
        )
        assert reply.error.ename == "KeyboardInterrupt"
        first = kernel.value("__import__('os').getpid()")
        kernel.restart()
        second = kernel.value("__import__('os').getpid()")
        assert not psutil.pid_exists(first)
        assert kernel.value("'time' in globals()") is False
    assert first != second
    assert not psutil.pid_exists(second)


@pytest.mark.parametrize(("end", "code"), [("os._exit(3)", 3), ("os.kill(os.getpid(), 9)", -9)])
def test_its_end_is_told(tmp_path, end, code):
    """With its exit code, as that of any process."""
    with Kernel(tmp_path) as kernel:
        kernel.post(f"import os; {end}")
        assert kernel._manager.provisioner.process.wait() == code
        assert not kernel._manager.is_alive()


def test_it_ends_as_python_does(tmp_path):
    """Threads are waited for, and what is registered for the end is done and written."""
    path = book(
        tmp_path / "ends",
        "import atexit, threading, time\nfrom pathlib import Path\nended = Path('ended').open('w')",
        "threading.Thread(target=lambda: [time.sleep(0.3), ended.write('thread, ')]).start()",
        "atexit.register(lambda: [ended.write('end'), ended.close()]);",
    )
    look(path, jobs=1)
    assert (tmp_path / "ended").read_text() == "thread, end"
