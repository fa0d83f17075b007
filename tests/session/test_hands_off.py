"""A recorded kernel keeps no user object alive, and starts and imports nothing."""

from __future__ import annotations

import pytest

from tests.kernel import Kernel

START = """
import collections, ctypes, gc, os, random, sys, threading, weakref
import numpy as np
import torch
from torch import nn

def megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
"""

MODULES = "sorted({'torch', 'numpy', 'pandas', 'matplotlib', 'jinja2', 'rich'} & {*__import__('sys').modules})"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Yield a recorded kernel with numpy and torch."""
    with Kernel(tmp_path_factory.mktemp("kernel"), OMP_NUM_THREADS="2") as kernel:
        assert kernel.run("%load_ext ipytorchseed").status == "ok"
        assert kernel.run(START).status == "ok"
        yield kernel


MAKERS = {
    "object": "class Plain: pass\nit = Plain()",
    "function": "def it(): return 1",
    "lambda with a default": "it = lambda x=[1]: x",
    "closure": "def make():\n    inside = [1]\n    return lambda: inside\nit = make()",
    "class": "class it: pass",
    "tensor": "it = torch.ones(3)",
    "parameter": "it = nn.Parameter(torch.ones(3))",
    "array": "it = np.ones(3)",
    "module": "it = nn.Sequential(nn.Linear(2, 2), nn.Dropout())",
    "optimizer": "it = torch.optim.Adam([nn.Parameter(torch.ones(2))])",
    "numpy generator": "it = np.random.default_rng(1)",
    "torch generator": "it = torch.Generator()",
    "python generator": "it = random.Random(4)",
    "deque": "it = collections.deque([1, 2])",
    "iterator": "def count():\n    yield from range(4)\nit = count()\nnext(it)",
    "dataset": "it = torch.utils.data.TensorDataset(torch.ones(2))",
    "slots": "class Slots:\n    __slots__ = ('a', '__weakref__')\nit = Slots()\nit.a = [1]",
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_an_object_dies_with_its_last_reference_inside_the_cell_that_drops_it(kernel, make):
    """Although it was inspected when created, in a cell, and before the last cell."""
    kernel.run(make)
    kernel.run("alive = weakref.ref(it)\nit.__class__;")
    reply = kernel.run("dropped = it\ndel it, dropped\ngc.collect()\nprint(alive() is None)")
    assert reply.stdout == "True\n"


@pytest.mark.parametrize("make", ["torch.ones(50 << 20, dtype=torch.float32)", "np.ones(25 << 20)"])
def test_memory_freed_inside_a_cell_is_free_there_and_then(kernel, make):
    """The next line can allocate the 200 MB that the cell freed."""
    kernel.run(f"big = {make}\nbig.sum();")
    kernel.run("big.mean();")
    reply = kernel.run("held = megabytes()\ndel big\nprint(held - megabytes() > 150)")
    assert reply.stdout == "True\n"


def test_an_error_keeps_nothing_alive_beyond_what_ipython_keeps(kernel):
    """The next error replaces IPython's traceback, and that drops the frame."""
    kernel.run("def fails(held):\n    raise ValueError(3)\nclass Held: pass\nheld = Held()")
    kernel.run("alive = weakref.ref(held)\nfails(held)")
    kernel.run("del held")
    kernel.run("1 / 0")
    assert kernel.run("gc.collect()\nprint(alive() is None)").stdout == "True\n"


def test_a_displayed_object_is_not_kept(kernel):
    """Its display data are not kept either, only a digest."""
    kernel.run("class Shown(str): pass\nshown = Shown('x' * 100)\nalive = weakref.ref(shown)")
    reply = kernel.run(
        "from IPython.display import display\n"
        "display({'text/plain': shown}, raw=True)\ndel shown\nprint(alive() is None)"
    )
    assert (reply.stdout, len(reply.displays)) == ("True\n", 1)


def test_a_forked_child_leaves_the_ledger_alone(kernel):
    """Even if it continues like a kernel: runs cells, seeds, asks, and exits."""
    before = len(kernel.runs())
    reply = kernel.run("""
pid = os.fork()
if pid == 0:
    shell = get_ipython()
    shell.run_cell("random.random()", store_history=True)
    shell.run_line_magic("seed", "42 -q")
    shell.events.trigger("post_run_cell", None)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""")
    assert (reply.status, reply.stdout) == ("ok", "7\n")
    assert kernel.run("x = 5").status == "ok"
    runs = kernel.runs()[before:]
    assert [run.source.strip()[:5] for run in runs] == ["pid =", "x = 5"]
    assert runs[0].seeds == ()


def test_forked_workers_of_a_loader_give_the_same_batches_as_none(kernel):
    """They fork, the default on Linux, after many cells of the parent."""
    kernel.run("ds = torch.utils.data.TensorDataset(torch.arange(12.0))")
    batches = [
        kernel.run(
            "torch.manual_seed(0)\n[b[0].tolist() for b in torch.utils.data.DataLoader(ds, 4,"
            f" shuffle=True, num_workers={workers}{how})]"
        ).shown
        for workers, how in ((0, ""), (2, ", multiprocessing_context='fork'"))
    ]
    assert batches[0] == batches[1]


def test_threads_that_print_and_draw_meanwhile_disturb_nobody(kernel):
    """Every line arrives, and the cells are recorded."""
    reply = kernel.run(
        "def work():\n    for n in range(200):\n        print(f'{n}\\n', end='')\n        random.random()\n"
        "threads = [threading.Thread(target=work) for _ in range(4)]\n"
        "[t.start() for t in threads]\n[t.join() for t in threads];"
    )
    assert sorted(map(int, reply.stdout.split())) == sorted([*range(200)] * 4)
    assert kernel.runs()[-1].outputs.stdout.summary == "800 lines"


def test_a_wrong_write_is_the_users_error_and_shows_no_frame_of_ours(kernel):
    """The wrapper removes its own frame."""
    error = kernel.run("sys.stdout.write(5)").error
    assert (error.ename, "write() argument" in error.evalue or "str" in error.evalue) == (
        "TypeError",
        True,
    )
    assert "streams.py" not in error.traceback


def test_nothing_went_wrong_meanwhile(kernel):
    """No callback failed, CUDA was not started, and no forked state remains."""
    loaded = "__import__('ipytorchseed').notebook.extension.running()"
    assert kernel.value(f"{loaded}.guard.errors") == {}
    assert kernel.value("torch.cuda.is_initialized()") is False


def test_watching_imports_no_library_that_the_user_did_not(tmp_path):
    """Neither do the log of seeds, the inspector and its JSON. Seeding imports torch."""
    with Kernel(tmp_path) as kernel:
        for cell in ("%load_ext ipytorchseed", "import random\nx = [random.random()]", "x", "x"):
            assert kernel.run(cell, "one").status == "ok"
        assert kernel.value(MODULES) == []
        for cell in ("%rng", "%rng --text", "%rng --json", "%why", "%seed log", "%rng diff 2 3"):
            assert kernel.run(cell).status == "ok"
        assert not {"torch", "pandas"} & {*kernel.value(MODULES)}
        kernel.run("%seed 3 -q")
        assert "torch" not in kernel.value(MODULES)


def test_a_value_of_a_module_dies_when_a_cell_replaces_it(kernel):
    """Only what packages define themselves is kept, for experiments."""
    kernel.run("import sys, types\nclass Box: pass\nheld = types.ModuleType('held_of_a_test')")
    kernel.run("sys.modules['held_of_a_test'] = held\nheld.data = Box()")
    kernel.run("alive = weakref.ref(held.data)")
    kernel.run("held.data = None")
    reply = kernel.run("gc.collect()\nprint(alive() is None)")
    assert reply.stdout == "True\n"
