"""Reads of a cell are observed while it runs, whatever runs its code."""

from __future__ import annotations

import bdb
import cProfile
import gc
import linecache
import os
import re
import sys
import threading
import weakref

import pytest

from ipytorchseed.observe.watch import watch
from tests.session.conftest import Notebook

pytestmark = pytest.mark.skipif(watch is None, reason="sys.monitoring is newer")

BEFORE = """
a, b, z, flag = 1, 2, 3, False
cfg = {"rate": 1, "seed": 2, 5: 6}
class Net:
    def __init__(self):
        self.rate, self.seed = 1, 2
    @property
    def half(self):
        return z / 2
    def go(self):
        return b
    def rest(self):
        return a
    @property
    def twice(self):
        return self.rate * 2
    def scaled(self, by):
        return self.rate * by
    def itself(self):
        return self
net = Net()
own_go = Net()
own_go.go = lambda other: other.seed
def by_key(c, d=0):
    return c["rate"] * 2
def seed_of(c):
    return c.seed
def passed(a, c):
    return seed_of(c) + (a.rate)
def closed(c):
    return (lambda: c.rate)()
def items(c):
    yield c.rate
def texts(c):
    return eval("c.rate + c.seed")
class Table:
    def __init__(self):
        self.kept, self.seed = {"rate": 1}, 2
    def __getitem__(self, key):
        return self.kept[key]
table = Table()
def f(x):
    return x * b
def g():
    return z if flag else a
kept = [lambda: z]
def steps():
    for i in range(3):
        yield i * z
under_way = steps()
next(under_way)
"""

ALL = ()
PASSED = {"passed": ALL, "seed_of": ALL}

PROBES = {
    "a name": ("a", {"a": ALL}),
    "a branch not taken": ("a if flag else b", {"flag": ALL, "b": ALL}),
    "a branch not taken in a function": ("g()", {"g": ALL, "flag": ALL, "a": ALL}),
    "after an error": ("try:\n    1 / 0\n    a\nexcept ZeroDivisionError:\n    b", {"b": ALL}),
    "an item": ("cfg['rate']", {"cfg": ("['rate']",)}),
    "an item by number": ("cfg[5]", {"cfg": ("[5]",)}),
    "an item by a variable": ("cfg[a + 4]", {"cfg": ALL, "a": ALL}),
    "items, and all": ("cfg['rate'], len(cfg)", {"cfg": ALL}),
    "two items": ("cfg['rate'] + cfg['seed']", {"cfg": ("['rate']", "['seed']")}),
    "an attribute": ("net.rate", {"net": (".rate",)}),
    "a property": ("net.half", {"z": ALL, "Net": ALL}),
    "an attribute by a property": ("net.twice", {"net": (".rate",), "Net": ALL}),
    "an attribute by a method": ("net.scaled(a)", {"net": (".rate",), "a": ALL, "Net": ALL}),
    "a method": ("net.go()", {"b": ALL, "Net": ALL}),
    "a method that hands on all": ("net.itself()", {"net": ALL, "Net": ALL}),
    "an item by a parameter": ("by_key(cfg)", {"cfg": ("['rate']",), "by_key": ALL}),
    "an item by a keyword": ("by_key(d=a and 1, c=cfg)", {"a": ALL, "by_key": ALL, "cfg": ALL}),
    "an attribute by a keyword": ("seed_of(c=net)", {"net": (".seed",), "seed_of": ALL}),
    "a parameter handed on": ("passed(net, net)", {"net": (".rate", ".seed")} | PASSED),
    "by a parameter and all": ("by_key(cfg), len(cfg)", {"cfg": ALL, "by_key": ALL}),
    "a parameter of a closure": ("closed(net)", {"net": ALL, "closed": ALL}),
    "a parameter of a generator": ("list(items(net))", {"net": ALL, "items": ALL}),
    "a parameter that is read by a text": ("texts(net)", {"net": ALL, "texts": ALL}),
    "a parameter by the library": ("list(map(by_key, [cfg]))", {"cfg": ALL, "by_key": ALL}),
    "a parameter of another at times": (
        "for h in (by_key, len):\n    h(cfg)", {"cfg": ALL, "by_key": ALL},
    ),
    "a function defined twice": (
        "def own(c):\n    return c.rate\nown(net)\ndef own(c):\n    return c.seed\nown(net)",
        {"net": ALL},
    ),
    "a function defined there": ("def own(c):\n    return c.rate\nown(net)", {"net": (".rate",)}),
    "a parameter in a conditional": ("by_key(cfg if a else 0)", {"cfg": ALL, "a": ALL, "by_key": ALL}),
    "by one of two functions": (
        "seed_of(net), (str if a else seed_of)(net)", {"net": ALL, "a": ALL, "seed_of": ALL},
    ),
    "a method that the object has": ("own_go.go(net)", {"own_go": ALL, "net": ALL}),
    "an item by a class": ("table['rate']", {"table": (".kept",), "Table": ALL}),
    "a function": ("f(2)", {"f": ALL, "b": ALL}),
    "a function that only is named": ("h = f", {"f": ALL, "b": ALL}),
    "a function by the library": ("list(map(f, [1]))", {"f": ALL, "b": ALL}),
    "a function in a list": ("kept[0]()", {"kept": ("[0]",), "z": ALL}),
    "a comprehension": ("[a * i for i in range(2)]", {"a": ALL}),
    "a generator": ("sum(a * i for i in range(2))", {"a": ALL}),
    "a generator from before": ("next(under_way)", {"under_way": ALL, "z": ALL}),
    "a lambda": ("(lambda: z)()", {"z": ALL}),
    "a class body": ("class Own:\n    a = a\n    z = 4", {"a": ALL}),
    "global": ("def set_b():\n    global b\n    b = 7\n    return b\nset_b()", {}),
    "an f-string": ("f'{a} {z!r}'", {"a": ALL, "z": ALL}),
    "match": ("match z:\n    case 3:\n        q = a\n    case _:\n        q = b", {"z": ALL, "a": ALL}),
    "exec": ("exec('q = z')", {"z": ALL}),
    "exec of a text that is made": ("exec('q = ' + chr(122))", {"z": ALL}),
    "eval": ("eval('a + z')", {"a": ALL, "z": ALL}),
    "a thread": (
        "import threading\nt = threading.Thread(target=lambda: f(1))\nt.start()\nt.join()",
        {"f": ALL, "b": ALL},
    ),
    "a text that names it": ("flag and (a, b, z)\n'a > @z'", {"flag": ALL, "a": ALL, "z": ALL}),
    "added to": ("a += 1", {"a": ALL}),
    "a loop": ("for i in range(1000):\n    q = z if i > 990 else b", {"z": ALL, "b": ALL}),
    "await": ("import asyncio\nasync def m():\n    return z\nasyncio.run(m())", {"z": ALL}),
}  # fmt: skip


@pytest.fixture(scope="module")
def notebook():
    """Run the code that the probes begin with."""
    yield Notebook()
    watch.close()


@pytest.mark.parametrize("probe", PROBES)
def test_what_is_read_is_seen(notebook, probe):
    """Other names in the text are not reported.

    The content of all variables read is known.
    """
    cell, read = PROBES[probe]
    notebook.run(BEFORE)
    run = notebook.run(cell)
    before = {*re.findall(r"\w+", BEFORE)}
    seen = {name: parts for name, parts in run.observed.read.items() if name in before}
    assert {name: {*parts} for name, parts in seen.items()} == {
        name: {*parts} for name, parts in read.items()
    }
    assert run.observed.read.keys() <= run.reads.keys()
    assert not run.observed.unseen


@pytest.mark.parametrize(
    ("cell", "first"),
    [
        ("a = 5\nq = a", ("a",)),
        ("q = a\na = 5", ()),
        ("for a in [1, 2]:\n    q = a + flag", ("a",)),
        ("def show():\n    return a\na = 2\nq = show()", ("a",)),
        ("def show():\n    return a\nq = show()\na = 2", ()),
        ("if flag:\n    a = 1\nq = a", ()),
        ("del a\na = 1\nq = a", ("a",)),
        ("with open(__import__('os').devnull) as a:\n    q = str(a)", ("a",)),
    ],
)
def test_what_is_set_before_it_is_read_is_seen(notebook, cell, first):
    """The order of execution counts, not the order of the text."""
    notebook.run(BEFORE)
    # If the text shows it too, it is not an input of the cell.
    run = notebook.run(f"{cell}\nexec('q = a')")
    assert "a" not in first or "a" not in run.observed.read
    assert first or "a" in run.observed.read


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("q = globals()['z']", "it took all variables at once"),
        ("import __main__", "it took all variables at once"),
        ("import sys\nq = sys.modules['__main__']", "it took all variables at once"),
        ("import os\nif os.fork() == 0:\n    os._exit(0)\nq = os.wait()[1]", "other processes"),
        (
            "import subprocess, sys\n"
            "p = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)",
            "other processes",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:This process")
def test_what_cannot_be_seen_is_said(notebook, cell, why):
    """In these cases, anything may have been read."""
    notebook.run(BEFORE)
    run = notebook.run(cell)
    assert why in run.observed.unseen
    if "p" in notebook.names:
        notebook.names.pop("p").communicate(b"\n")


CLOCKS = """
import time, uuid
from time import time as now
from dataclasses import dataclass, field
flag = False
class Timer:
    def __init__(self):
        self.clock = time.time
timer = Timer()
@dataclass
class Item:
    ident: str = field(default_factory=uuid.uuid4)
    def renew(self):
        self.ident = uuid.uuid4()
def ask():
    return time.time()
def default(clock=time.time):
    return clock()
def seeded(seed=None):
    return time.time_ns() if seed is None else seed
"""


@pytest.mark.parametrize(
    ("cell", "asked"),
    [
        ("q = time.time() if flag else 1", set()),
        ("q = 1 if flag else time.time()", {"time.time"}),
        ("q = ask() if flag else 1", set()),
        ("q = ask()", {"time.time"}),
        ("q = seeded()", {"time.time_ns"}),
        ("q = seeded(3)", set()),
        ("q = now()\nif flag:\n    time.time()", {"time.time"}),
        ("q = timer.clock()\nif flag:\n    Timer(), time.time()", {"time.time"}),
        ("q = default()\nif flag:\n    time.time()", {"time.time"}),
        ("q = Item()\nif flag:\n    q.renew()", {"uuid.uuid4"}),
        (
            "q = [*map(lambda f: f(), map(getattr, [time], ['time']))]\nif flag:\n    time.time()",
            {"time.time"},
        ),
        ("exec('q = time.time()', {'time': time})\nif flag:\n    time.time()", {"time.time"}),
        ("q = getattr(time, 'time')()\nif flag:\n    time.time()", {"time.time"}),
    ],
)
def test_a_clock_that_is_not_asked_is_no_cause(notebook, monkeypatch, cell, asked):
    """A cell that names one in a branch that does not run does not depend on it."""
    source = len(CLOCKS), None, CLOCKS.splitlines(keepends=True), "<cell>"
    monkeypatch.setitem(linecache.cache, "<cell>", source)
    notebook.run(CLOCKS)
    assert {*notebook.run(cell).nondeterministic_calls} == asked


def test_a_compiled_function_is_not_taken_for_unread(notebook):
    """Numba and TorchScript run code that Python does not.

    What it names counts as read.
    """
    notebook.run(f"{BEFORE}\nimport functools\n@functools.wraps(f)\ndef fast(x):\n    return x * 2")
    run = notebook.run("fast.__wrapped__ and fast(2)\nflag and b")
    assert {"b", "flag"} <= run.observed.read.keys()


@pytest.mark.filterwarnings("ignore:`torch.jit.script`")
def test_what_torchscript_compiles_is_not_taken_for_unread(notebook):
    """A scripted object runs methods and functions that cannot be watched."""
    cell = (
        "import torch\ndef double(x):\n    return x * 2\n"
        "class Scripted(torch.nn.Module):\n    def forward(self, x):\n        return double(x)\n"
        "bare = Scripted()"
    )
    linecache.cache["<cell>"] = len(cell), None, cell.splitlines(keepends=True), "<cell>"
    notebook.run(cell)
    run = notebook.run("fast = torch.jit.script(bare)")
    assert notebook.error is None
    assert {"Scripted", "bare", "double"} <= run.observed.read.keys()


def test_each_run_is_told_again(notebook):
    """A function that ran in an earlier cell or outside is seen again."""
    notebook.run(BEFORE)
    notebook.names["f"](2)
    for _ in range(3):
        assert "b" in notebook.run("f(2)").observed.read
        assert "b" not in notebook.run("f and a").observed.set_first
    again = compile("q = z", "text", "exec")
    notebook.names["again"] = again
    for _ in range(2):
        assert "z" in notebook.run("exec(again)").observed.read


def test_code_that_runs_first_on_copies_is_seen_after(notebook):
    """An experiment runs a function on copies of the variables."""
    notebook.run(BEFORE)
    copies = {**notebook.names}
    exec("f(1)", copies)  # noqa: S102 -- as an experiment does
    own = type(notebook.names["f"])(notebook.names["f"].__code__, copies)
    own(1)
    assert "b" in notebook.run("f(2)").observed.read


def test_nothing_of_the_users_is_kept_alive(notebook):
    """Code without other references is freed with its cell."""
    notebook.run("def short():\n    return 1\nshort()")
    code = weakref.ref(notebook.names["short"].__code__)
    notebook.run("del short")
    notebook.run("1 + 1")
    gc.collect()
    assert code() is None


def _profiled(run, seen):
    profile = cProfile.Profile()
    found = profile.runcall(run)
    seen += [getattr(entry.code, "co_name", "") for entry in profile.getstats()]
    return found


def _debugged(run, seen):
    class Debugger(bdb.Bdb):
        def user_line(self, frame):
            seen.append(frame.f_code.co_name)

    return Debugger().runcall(run)


def _monitored(tool):
    def monitored(run, seen):
        monitoring, events = sys.monitoring, sys.monitoring.events

        def note(code, _):
            seen.append(code.co_name)
            return monitoring.DISABLE

        monitoring.use_tool_id(tool, "another")
        for event in (events.LINE, events.INSTRUCTION):
            monitoring.register_callback(tool, event, note)
        monitoring.set_events(tool, events.LINE | events.INSTRUCTION)
        monitoring.restart_events()
        try:
            return run()
        finally:
            monitoring.set_events(tool, 0)
            monitoring.free_tool_id(tool)

    return monitored


@pytest.mark.parametrize(
    "under",
    [
        pytest.param(_profiled, id="cProfile"),
        pytest.param(_debugged, id="pdb"),
        pytest.param(_monitored(0), id="debugpy"),
        pytest.param(_monitored(1), id="coverage"),
        pytest.param(_monitored(2), id="line_profiler"),
    ],
)
def test_other_tools_go_on_beside_it(notebook, under):
    """A profiler, a debugger and coverage work as without us, and so do we."""
    notebook.run(BEFORE)
    for _ in range(2):
        seen = []
        run = under(lambda: notebook.run("q = f(2)"), seen)
        assert "f" in seen
        assert "b" in run.observed.read
    assert "b" in notebook.run("f(2)").observed.read


def test_who_has_our_number_keeps_it():
    """Another number is used, or nothing is watched."""
    watch.close()
    for number in (4, 3):
        sys.monitoring.use_tool_id(number, "another")
    try:
        run = Notebook().run("a = 1")
        assert run.observed is None
        sys.monitoring.free_tool_id(3)
        assert Notebook().run("a = len([])").observed is not None
        assert sys.monitoring.get_tool(3) == "ipytorchseed"
    finally:
        watch.close()
        for number in (4, 3):
            if sys.monitoring.get_tool(number) == "another":
                sys.monitoring.free_tool_id(number)


def test_closing_leaves_nothing_behind(notebook):
    """No tool and no events remain."""
    notebook.run(BEFORE)
    code = notebook.names["f"].__code__
    notebook.run("f(2)")
    watch.close()
    assert [sys.monitoring.get_tool(number) for number in (3, 4)] == [None, None]
    sys.monitoring.use_tool_id(4, "test")
    assert sys.monitoring.get_events(4) == sys.monitoring.get_local_events(4, code) == 0
    sys.monitoring.free_tool_id(4)
    assert "b" in notebook.run("f(2)").observed.read


def test_an_error_in_the_watch_is_none_of_the_cells(notebook, monkeypatch):
    """The cell continues, and the record does not claim to be complete."""
    notebook.run(BEFORE)
    monkeypatch.setattr("ipytorchseed.observe.watch.find_uses", lambda *_, **__: 1 / 0)
    run = notebook.run("def fresh():\n    return a\nq = fresh()")
    assert run.observed.unseen == "some of its code could not be watched"
    assert notebook.error is None
    assert notebook.names["q"] == 1


def test_threads_of_earlier_cells_are_no_danger(notebook):
    """A thread may run during several later cells."""
    notebook.run(f"{BEFORE}\nstop = []\ndef work():\n    while not stop:\n        f(2)")
    thread = threading.Thread(target=notebook.names["work"])
    thread.start()
    try:
        for _ in range(20):
            assert notebook.run("q = z").observed is not None
    finally:
        notebook.names["stop"].append(1)
        thread.join()
    assert os.getpid()


def test_torch_compile_runs_beside_it(notebook):
    """Python does not run compiled code.

    From then on, anything may have been read.
    """
    notebook.run(f"{BEFORE}\nimport torch\nfast = torch.compile(lambda x: x * z, backend='eager')")
    assert not notebook.run("flag and b").observed.unseen
    run = notebook.run("q = fast(torch.ones(2))\nflag and b")
    assert notebook.names["q"].tolist() == [3, 3]
    assert "torch.compile" in run.observed.unseen
    assert not [name for name in run.reads if name.startswith("__")]
