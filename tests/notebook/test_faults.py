"""Whatever fails, the user's cells continue, and one message reports it, once."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import sqlite3
import threading
import time

import psutil
import pytest

from ipytorchseed.ledger.place import NAME
from ipytorchseed.ledger.records import SeedEntry
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.session.variables import MOST_NAMES
from tests.kernel import PATIENCE, Kernel

DATA = ".ipytorchseed"
GUARD = "__import__('ipytorchseed').notebook.extension.running().guard.errors"
SOON = "__import__('ipytorchseed').notebook.extension.running().tracking._soon"
PENDING = f"(soon := {SOON}) is not None and soon.when() > __import__('time').monotonic()"


def wait_for_tables(kernel):
    """Wait until the runs are in the tables, which are written in an idle kernel."""
    until = time.monotonic() + PATIENCE
    while kernel.value(PENDING):
        assert time.monotonic() < until
        time.sleep(0.02)


def told(replies):
    """Return the lines that the extension wrote, in the order of the cells."""
    lines = [line for reply in replies for line in reply.stderr.splitlines()]
    return [line for line in lines if line.startswith("ipytorchseed:")]


def run_some(kernel):
    """Run a few cells with seeds, whose results must be the same as without us."""
    cells = ("import random", "x = [1]", "%seed 3 -q", "random.random()", "%seed log", "1 / 0", "x")
    replies = [kernel.run(cell) for cell in cells]
    assert [reply.status for reply in replies] == [*["ok"] * 5, "error", "ok"]
    assert replies[5].error.ename == "ZeroDivisionError"
    assert replies[3].shown == "0.23796462709189137"
    return replies


# --------------------------------------------------------------------------------------------------
# The file


def _unwritable(data):
    data.mkdir()
    data.chmod(0o500)


def _garbage(data):
    data.mkdir()
    (data / NAME).write_bytes(os.urandom(20_000))


def _truncated(data):
    with Ledger.open(data / NAME) as ledger:
        for number in range(50):
            ledger.log_seed(SeedEntry(number, "now", time.time(), "n", "k"))
    content = (data / NAME).read_bytes()
    (data / NAME).write_bytes(content[: len(content) // 2])


def _newer(data):
    Ledger.open(data / NAME).close()
    connection = sqlite3.connect(data / NAME)
    connection.execute("PRAGMA user_version = 999")
    connection.close()


def _folder(data):
    (data / NAME).mkdir(parents=True)


def _file(data):
    data.write_text("in the way")


FILES = {
    "garbage": (_garbage, "was damaged"),
    "truncated": (_truncated, "damaged"),
    "newer": (_newer, "newer"),
    "a folder in its place": (_folder, "is a folder"),
    "a file in its folder's place": (_file, "cannot be"),
    "a folder that is read-only": (_unwritable, "cannot be written"),
}

ORDINARY = """
import ctypes
head = (ctypes.c_uint32 * 2)(0x20080522, 0)
sets = (ctypes.c_uint32 * 6)()
call = ctypes.CDLL(None).syscall
if {get} and not call({get}, head, sets):
    sets[0] &= ~0b110  # administrators need permission too
    call({get} + 1, head, sets)
""".format(get={"x86_64": 125, "aarch64": 90}.get(platform.machine(), 0))


@pytest.mark.parametrize(("spoil", "words"), FILES.values(), ids=FILES)
def test_a_ledger_that_cannot_be_used_is_told_once_and_cells_go_on(tmp_path, spoil, words):
    """The file's readable content stays; the commands use the runs of this kernel."""
    spoil(tmp_path / DATA)
    before = {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}
    with Kernel(tmp_path) as kernel:
        kernel.run(ORDINARY)
        kernel.run("%load_ext ipytorchseed")
        replies = run_some(kernel)
        (line,) = told(replies)
        assert words in line
        rewound = kernel.run(f"%seed rewind {replies[3].execution_count}")
        assert rewound.status == "ok", rewound.error
        assert kernel.run("random.random()").shown == replies[3].shown
        assert kernel.value(GUARD) == {}
    sizes = {path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}
    assert {*before.values()} <= sizes  # renamed or kept, but not overwritten
    (tmp_path / DATA).chmod(0o700)


def test_a_full_disk_is_told_once_and_cells_go_on(tmp_path):
    """Files cannot grow, so nothing is recorded until they can."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("import os, resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)")
        size = (tmp_path / DATA / f"{NAME}-wal").stat().st_size
        kernel.run(f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, -1))")
        replies = run_some(kernel)
        lines = told(replies)
        assert 1 <= len(lines) <= 2
        assert all("ledger" in line and "your cells still run" in line for line in lines)
        kernel.run("resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))")
        kernel.run("again = 1")
        assert kernel.value(GUARD) == {}
        assert kernel.runs()[-1].source == "again = 1"
        with Ledger.open(kernel.ledger, read_only=True) as ledger:
            assert ledger.verify() == []


def test_a_ledger_deleted_meanwhile_is_begun_again(tmp_path):
    """The loss is reported once; runs after it are recorded."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("first = 1")
        wait_for_tables(kernel)  # rows that are still queued would not be lost
        for path in (tmp_path / DATA).iterdir():
            path.unlink()
        replies = run_some(kernel)
        (line,) = told(replies)
        assert "moved or removed" in line
        assert "first = 1" not in {run.source for run in kernel.runs()}
        assert kernel.runs()[-1].source == "x"


def test_a_folder_deleted_meanwhile_is_made_again(tmp_path):
    """The working folder may be deleted too."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("import os\nos.mkdir('gone')\nos.chdir('gone')\nos.rmdir('../gone')")
        shutil.rmtree(tmp_path / DATA)
        replies = [kernel.run("x = 1")]
        wait_for_tables(kernel)  # the next cell reports it
        replies += [kernel.run(cell) for cell in ("x", "import random\nrandom.random();")]
        assert [reply.status for reply in replies] == ["ok"] * 3
        assert len(told(replies)) == 1
        assert kernel.runs()[-1].source == "import random\nrandom.random();"
        assert kernel.value(GUARD) == {}


# --------------------------------------------------------------------------------------------------
# Objects

HOSTILE = """
import random, time
def _hostile(self, *args, **kwargs):
    {body}
class Hostile:
    def __init__(self):
        object.__setattr__(self, 'inside', [1])
    __repr__ = __str__ = __getattr__ = __getattribute__ = __len__ = __eq__ = __hash__ = _hostile
    __reduce__ = __reduce_ex__ = __getstate__ = __bool__ = __iter__ = __dir__ = __call__ = _hostile
    __sizeof__ = __format__ = __index__ = __array__ = __contains__ = __getitem__ = _hostile
    keys = values = items = state = get_state = property(_hostile)
class Meta(type):
    __getattribute__ = __eq__ = __repr__ = __instancecheck__ = __subclasscheck__ = _hostile
    __hash__ = type.__hash__
class WithMeta(metaclass=Meta):
    pass
class Text(str):
    __len__ = __eq__ = __getitem__ = __repr__ = _hostile
    __hash__ = str.__hash__
class Row(dict):
    __len__ = __iter__ = __getitem__ = keys = values = items = __repr__ = _hostile
class Error(Exception):
    __reduce__ = __eq__ = _hostile
    __hash__ = Exception.__hash__
hostile = [Hostile(), WithMeta, Text('x'), Row(a=1)]
single, text, row = Hostile(), Text('y'), Row(b=2)
def use():
    return hostile, single, text, row
"""


@pytest.mark.parametrize("body", ["raise RuntimeError('called')", "time.sleep(600)"])
@pytest.mark.timeout(100)
def test_objects_whose_methods_raise_or_block_are_looked_at_without_them(tmp_path, body):
    """Cells read, make, hold, pass and raise them; we never call their methods."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        assert kernel.run(HOSTILE.format(body=body)).status == "ok"
        for cell in (
            "kept = [single, hostile]",
            "use();",
            "held = {'a': single}\nx = 1",
            "import sys\nsys.stdout.write('x');",
            "del kept",
        ):
            reply = kernel.run(cell)
            assert (reply.status, reply.stderr) == ("ok", "")
        assert kernel.run("raise Error('mine')").error.evalue == "mine"
        assert kernel.value(GUARD) == {}
        assert [run.status for run in kernel.runs()][-2:] == ["ok", "error"]


MANY = "for n in range(10_000):\n    globals()[f'v{n}'] = [n, str(n)]"
DEEP = (
    "import sys\ndeep = []\nfor _ in range(50_000):\n    deep = [deep]\n"
    "cycle = {}\ncycle['self'] = [cycle]\n"
    "class Node: pass\nnode = Node()\nfor _ in range(5000):\n"
    "    other = Node()\n    other.next = node\n    node = other\n"
    "def recursive(n):\n    return recursive(n - 1) if n else 0"
)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A kernel for large values."""
    with Kernel(tmp_path_factory.mktemp("large")) as kernel:
        kernel.run("%load_ext ipytorchseed\n%config IPyTorchSeed.budget = 20")  # on any machine
        yield kernel


def test_ten_thousand_variables(large):
    """Their run records thousands of them, and that there are more; cells continue."""
    assert large.run(MANY).status == "ok"
    assert large.run("v17.append(3)\nlen(v18)").shown == "2"
    made, read = large.runs()[-2:]
    assert {"v0", "v17", "v18"} <= {*made.writes}
    assert len(made.writes) == MOST_NAMES
    assert "too many variables to look at them all" in made.notes
    assert {*read.reads} == {"v17", "v18"}
    assert [*read.writes] == ["v17"]


def test_structures_deeper_than_the_stack(large):
    """These are nested lists, cycles, chains of objects and a recursive function."""
    assert large.run(DEEP).status == "ok"
    reply = large.run("deep[0]; cycle['self']; node.next; recursive(10)")
    assert (reply.status, reply.shown, reply.stderr) == ("ok", "0", "")
    assert {"deep", "cycle", "node", "recursive"} <= {*large.runs()[-1].reads}
    large.run("while deep:\n    deep = deep[0]\nnode = None")
    assert large.value(GUARD) == {}


def test_a_tensor_of_two_gigabytes(large):
    """It is looked at without a copy, and freed by the cell that drops it."""
    large.run(
        "import os, torch\ndef megabytes():\n    with open('/proc/self/statm') as file:\n"
        "        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 2**20"
    )
    large.run("big = torch.zeros(2 << 30, dtype=torch.uint8)\nbig[::4096] = 1")
    before = float(large.run("megabytes()").shown)
    assert large.run("big[5].item()").shown == "0"
    peak = "next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))"
    assert int(large.run(peak).shown.split()[-2]) / 1024 < before + 500
    assert large.runs()[-2].reads["big"].kind == "tensor"
    assert float(large.run("del big\nmegabytes()").shown) < before - 1900


# --------------------------------------------------------------------------------------------------
# Processes


def test_two_kernels_on_one_notebook_at_once(tmp_path):
    """All runs are recorded under their own kernel, and each kernel sees only its own."""
    with Kernel(tmp_path) as one, Kernel(tmp_path) as two:
        for kernel in (one, two):
            kernel.run("%load_ext ipytorchseed\nimport random")
        count = 40

        def work(kernel, name):
            for number in range(count):
                assert (
                    kernel.run(f"{name} = random.random(), {number}", f"cell-{name}").stderr == ""
                )

        threads = [threading.Thread(target=work, args=pair) for pair in ((one, "a"), (two, "b"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        runs = one.runs()
        for name in "ab":
            mine = [run for run in runs if run.cell == f"cell-{name}"]
            assert len(mine) == count
            assert len({run.kernel for run in mine}) == 1
            assert all(run.between == {} for run in mine)
        assert one.run("%seed rewind 5").status == two.run("%seed rewind 5").status == "ok"
    with Ledger.open(tmp_path / DATA / NAME, read_only=True) as ledger:
        assert ledger.verify() == []


def test_a_killed_kernel_loses_no_run_that_it_answered(tmp_path):
    """Kernels are killed with -9 during cells, and restarted on the same notebook."""
    acknowledged = []
    for round_ in range(3):
        with Kernel(tmp_path) as kernel:
            kernel.run("%load_ext ipytorchseed\nimport os, random")
            for number in range(5 + 3 * round_):
                source = f"x = {round_}, {number}, random.random()"
                assert kernel.run(source).status == "ok"
                acknowledged.append(source)
            pid = kernel.value("os.getpid()")
            threading.Timer(0.02 * round_, os.kill, (pid, signal.SIGKILL)).start()
            kernel.post(f"for n in range(10**6): print(n)  # {round_}")
            while alive(pid):
                time.sleep(0.01)
    with Ledger.open(tmp_path / DATA / NAME) as ledger:
        assert ledger.verify() == []
        kept = [run.source for run in ledger.runs()][::-1]
        assert [source for source in kept if source in acknowledged] == acknowledged
        assert ledger.notices == []


def test_a_run_is_in_the_ledger_when_its_reply_is_out(tmp_path):
    """Other processes see it at once, and SQLite's two extra files go with the kernel."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        for number in range(20):
            kernel.run(f"x = {number}")
            assert kernel.runs()[-1].source == f"x = {number}"
        beside = {each.name for each in (tmp_path / DATA).iterdir()}
        assert beside == {NAME, f"{NAME}-wal", f"{NAME}-shm"}
        kernel.run("%unload_ext ipytorchseed")
        assert [each.name for each in (tmp_path / DATA).iterdir()] == [NAME]


def alive(pid):
    """Return whether a process runs; zombies do not."""
    try:
        return psutil.Process(pid).status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.NoSuchProcess:
        return False


COUNTING = """
calls = []
class Key:
    def __hash__(self):
        calls.append('hash')
        return 7
    def __eq__(self, other):
        calls.append('eq')
        return self is other
    def __repr__(self):
        calls.append('repr')
        return 'key'
class Meta(type):
    def __hash__(cls):
        calls.append('hash of a class')
        raise RuntimeError('unhashable')
    def __eq__(cls, other):
        calls.append('eq of a class')
        raise RuntimeError('incomparable')
    def __instancecheck__(cls, value):
        calls.append('isinstance')
        return False
class Odd(metaclass=Meta):
    pass
class Error(Exception):
    def __str__(self):
        calls.append('str')
        return 'mine' + chr(10) + 'more'
    def __len__(self):
        calls.append('len')
        return 0
globals()[Key()] = Odd()
odd, key = Odd(), Key()
"""

COUNTED = {
    "made": "odd = Odd(); kept = [odd, Odd]",
    "read": "odd, Odd, key;",
    "held": "table = {'a': odd}; globals()['other'] = odd",
    "an error": "odd = Odd()\nraise Error('x')",
}


@pytest.mark.parametrize("options", ["", "%%deterministic\n", "%%deterministic --check\n"])
def test_code_of_the_user_is_called_no_more_often_than_without_us(tmp_path, options):
    """This covers unusual keys, classes without hash or comparison, error messages."""
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
    with Kernel(tmp_path / "without") as bare, Kernel(tmp_path / "with") as kernel:
        kernel.run("%load_ext ipytorchseed")
        for each in (bare, kernel):
            assert each.run(COUNTING).status == "ok"
        for cell in COUNTED.values():
            counts = []
            for each, head in ((bare, ""), (kernel, options)):
                each.run("calls.clear()")
                counts.append((each.run(f"{head}{cell}"), each.value("list(calls)")))
            (without, called), (reply, with_us) = counts
            if "check" not in options:  # a check runs the cell again
                assert with_us == called, cell
            assert (reply.status, reply.stderr) == (without.status, without.stderr)
        assert kernel.value(GUARD) == {}
        runs = kernel.runs()
        assert runs[-1].status == "error"
        assert runs[-1].outputs.error == "Error: mine"
        assert {"odd", "kept"} <= {*next(run for run in runs if "kept =" in run.source).writes}


def test_a_check_is_told_of_where_recording_fails(tmp_path):
    """Its finding does not wait for the next cell."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run(
            "import ipytorchseed\n"
            "session = ipytorchseed.notebook.extension.running().tracking.session"
        )
        kernel.run("session.end_cell = lambda *_, **__: 1 / 0")
        reply = kernel.run("%%deterministic --check\nx = 1")
        assert reply.displays[-1]["text/plain"].startswith("The cell repeats")
        assert kernel.run("y = 1").displays == []
