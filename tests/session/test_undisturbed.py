"""A recorded kernel does, bit for bit, what a bare one does, for any kind of cell."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.kernel import Kernel
from tests.notebook.conftest import INDUCTOR

PROBE = str(Path(__file__).with_name("probe.py"))  # old IPythons have a package `tests` on the path
NOW = f"__import__('runpy').run_path({PROBE!r})['kernel_now'](get_ipython())"

EXTENSION = "__import__('ipytorchseed').notebook.extension.running()"

START = """
import asyncio, collections, contextlib, copy, functools, gc, io, itertools, json, os, random, sys
import threading, time, warnings, weakref
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
random.seed(1); np.random.seed(2); torch.manual_seed(3)
gc.collect(); gc.freeze()  # what is imported is not searched again: looking stays quick
"""

CELLS = {
    "a number": "x = 1",
    "its value": "x + 1",
    "draws": "random.random(), np.random.rand(2).tolist(), torch.rand(2).tolist()",
    "no semicolon": "torch.randn(3).tolist();",
    "generators": "rng = np.random.default_rng(0)\ng = torch.Generator().manual_seed(1)\n"
    "r = random.Random(2)\nold = np.random.RandomState(3)",
    "their draws": "rng.random(), torch.rand(1, generator=g).item(), r.random(), old.rand()",
    "an alias": "rngs = {'a': rng, 'b': [g]}\nrngs['a'].random()",
    "a tensor": "t = torch.arange(6.0).reshape(2, 3)\nt.sum().item()",
    "in place": "t[0] = 7\nt.mul_(2).tolist()",
    "views": "v = t.T\nv += 1\nt.tolist()",
    "its data": "t.data.add_(1)\nt.numpy()[0, 0] = -1.0\nt.tolist()",
    "a gradient": "w = torch.ones(2, requires_grad=True)\n(w * 3).sum().backward()\nw.grad.tolist()",
    "inference": "with torch.inference_mode():\n    i = torch.ones(2) * 2\ni.tolist()",
    "kinds of tensors": "s = torch.eye(3).to_sparse()\nc = torch.ones(2, dtype=torch.complex64)\n"
    "b = torch.ones(2, dtype=torch.bfloat16)\nm = torch.empty(2, device='meta')\n"
    "e = torch.ones(1).expand(5)\n(s.to_dense().sum().item(), c.tolist(), b.tolist(), m.shape)",
    "a module": "net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5),"
    " nn.Linear(4, 1))\nopt = torch.optim.Adam(net.parameters())\n"
    "sched = torch.optim.lr_scheduler.StepLR(opt, 1)",
    "training": "for _ in range(3):\n    opt.zero_grad()\n    loss = net(t).pow(2).mean()\n"
    "    loss.backward()\n    opt.step()\n    sched.step()\nprint(loss.item())",
    "hooks": "seen = []\nh = net.register_forward_hook(lambda *a: seen.append(len(a)))\n"
    "net.eval()(t).sum().item(), seen",
    "a loader": "ds = TensorDataset(torch.arange(8.0))\n"
    "[b[0].tolist() for b in DataLoader(ds, batch_size=4, shuffle=True)]",
    "forked workers": "dl = DataLoader(ds, batch_size=2, num_workers=2, shuffle=True)\n"
    "sorted(sum((b[0].tolist() for b in dl), []))",
    "a fork": "pid = os.fork()\nif pid == 0:\n    os._exit(3)\n"
    "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])",
    "an array": "a = np.arange(5)\na[1] = 9\na.flags.writeable = False\na.tolist()",
    "a frame": "df = pd.DataFrame({'x': [3, 1], 'y': ['a', None]})\ndf['z'] = df.x * 2\ndf",
    "a figure's kin": "from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>'))\n"
    "display({'text/plain': 'raw'}, raw=True)",
    "an update": "d = display(1, display_id='one')\nd.update(2)",
    "containers": "l = [1, [2]]; l.append(l)\nst = {3, 1, 2}\nq = collections.deque([1], 2)\n"
    "dd = collections.defaultdict(list)\nlen(l), sorted(st), len(q), dict(dd)",
    "a default is not filled": "len(dd), dd['new'], len(dd)",
    "an iterator": "it = iter([1, 2, 3])\nnext(it)",
    "the next": "next(it), 2 in it",
    "a generator": "def count():\n    yield from range(3)\nco = count()\nnext(co)",
    "a class": "class Point:\n    made = 0\n    def __init__(self, x):\n        Point.made += 1\n"
    "        self.x = x\n    @property\n    def double(self):\n        calls.append('property')\n"
    "        return 2 * self.x\ncalls = []\np = Point(4)\np.double, calls",
    "again": "p.x += 1\np.x, Point.made, calls",
    "a function": "def f(n, acc=[]):\n    acc.append(n)\n    return len(acc) + x\nf(1), f(2)",
    "a cached one": "@functools.lru_cache\ndef slow(n):\n    return n * x\n"
    "slow(2), slow(2), slow.cache_info()",
    "a closure": "def outer():\n    total = 0\n    def inner():\n        nonlocal total\n"
    "        total += 1\n        return total\n    return inner\ntick = outer()\ntick(), tick()",
    "exec": "exec('made = x + 41')\nglobals()['other'] = 5\nmade, other",
    "deleted": "del made, other\n'made' in globals()",
    "printed": "print('a', end='')\nprint('b', file=sys.stderr)\nsys.stdout.write('c\\n')",
    "redirected": "with contextlib.redirect_stdout(io.StringIO()) as out:\n    print('hidden')\n"
    "out.getvalue()",
    "captured": "%%capture cap\nprint('kept')\ndisplay(3)",
    "what was": "cap.stdout, len(cap.outputs)",
    "replaced": "class Tee:\n    def __init__(self, out): self.out = out\n"
    "    def write(self, text): return self.out.write(text.upper())\n"
    "    def flush(self): self.out.flush()\n"
    "sys.stdout, _plain = Tee(sys.stdout), sys.stdout\nprint('loud')",
    "put back": "sys.stdout = _plain\nprint('calm')",
    "a thread": "_th = threading.Thread(target=print, args=('from a thread',))\n_th.start(); _th.join()",
    "awaited": "await asyncio.sleep(0)\nawait asyncio.gather(*(asyncio.sleep(0, n) for n in (1, 2)))",
    "a warning": "warnings.warn('mine')",
    "the same": "for _ in range(2):\n    warnings.warn('again and again')",
    "an old way": "len(t.storage())",
    "an error": "1 / 0",
    "its traceback": "def deep(n):\n    return deep(n - 1) if n else {}['no key']\ndeep(3)",
    "bad syntax": "if",
    "no such name": "nothing_of_this_name",
    "an exit": "raise SystemExit(3)",
    "an assertion": "assert False, p.x",
    "a magic": "%who_ls int",
    "no such magic": "%no_such_magic",
    "a shell": "!echo from the shell",
    "nested": "get_ipython().run_cell('nested = random.random()')\nnested",
    "a file": "with open('some.txt', 'w') as file:\n    file.write('x' * 10)\n"
    "open('some.txt').read()",
    "what happened": "_, __, len(In), sorted(Out)[-1], In[-2]",
    "a result that dies": "class Dies:\n    pass\ndies = Dies()\ndead = weakref.ref(dies)\n"
    "del dies\ndead() is None",
    "a copy": "copy.deepcopy(net)(t).shape",
    "swapped": "torch.utils.swap_tensors(t, torch.ones(2, 3))\nt.tolist()",
    "moved": "net.double()\nnext(net.parameters()).dtype",
    "states": "random.seed(5); np.random.seed(6); torch.manual_seed(7)\n"
    "np.random.rand(), torch.rand(1).item(), random.random()",
    "seeded for cuda": "torch.cuda.manual_seed_all(3)\ntorch.cuda.is_initialized()",
    "flags": "torch.set_num_threads(1)\ntorch.backends.cudnn.benchmark = True\n"
    "torch.set_default_dtype(torch.float64)\ntorch.rand(1).item()",
    "flags back": "torch.set_num_threads(2)\ntorch.backends.cudnn.benchmark = False\n"
    "torch.set_default_dtype(torch.float32)",
    "traced": "import cProfile\nprofile = cProfile.Profile()\nprofile.runcall(f, 1)",
    "empty": "",
    "a comment": "# nothing",
    "much": "many = {f'k{n}': [n] * 3 for n in range(2000)}\nlen(many)",
    "at the end": "gc.collect();",
}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Yield two kernels that have run equally many cells; the second is recorded."""
    env = {"OMP_NUM_THREADS": "2", "PYTHONHASHSEED": "0"}
    bare = Kernel(tmp_path_factory.mktemp("bare"), **env)
    budget = "--IPyTorchSeed.budget=30"  # enough on a busy machine
    watched = Kernel(tmp_path_factory.mktemp("watched"), budget, **env)
    with bare, watched:
        for cell in (START, INDUCTOR):
            assert bare.run(cell).status == watched.run(cell).status == "ok"
        bare.run("pass")
        assert watched.run("%load_ext ipytorchseed").status == "ok"
        yield bare, watched


def _without_process(text):
    """Remove the process numbers."""
    return re.sub(r"(ipykernel_|pid=)\d+", r"\1", text)


@pytest.mark.parametrize("name", CELLS)
def test_a_watched_cell_does_what_a_bare_one_does(both, name):
    """Twice, output and errors are the same, and so is the kernel afterwards.

    This compares states, flags, tensor versions, references to each object, names, history,
    warnings and threads. CUDA is not started.
    """
    for _ in range(2):
        replies = [asdict(kernel.run(CELLS[name], f"cell {name}")) for kernel in both]
        for reply in replies:
            reply["stderr"] = _without_process(reply["stderr"])
            if reply["error"]:
                reply["error"]["traceback"] = _without_process(reply["error"]["traceback"])
        assert replies[1] == replies[0]
        bare, seen = (kernel.value(NOW) for kernel in both)
        assert {each for each in bare if bare[each] != seen[each]} == set()
        assert seen.get("cuda") is False
    watched = both[1]
    if name != "empty":  # the test would prove nothing if no cell was recorded
        run = watched.runs()[-1]
        assert (run.cell, run.notes) == (f"cell {name}", ())
    assert watched.value(f"{EXTENSION}.guard.errors") == {}
