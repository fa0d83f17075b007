"""Real processes: killed while they write, many at once, forked.

``python -m tests.ledger.test_processes 300`` kills 300 writers, and prints how many acknowledged runs
it counted and how many of them were lost.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import pytest

from ipytorchseed.ledger.records import SeedEntry
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples

WRITER = Path(__file__).with_name("writer.py")
ROOT = WRITER.parents[2]

KILLS = 20
"""Writers that the test kills."""

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture
def path(tmp_path):
    """Where a ledger may lie."""
    return tmp_path / "ledger.sqlite"


def start(path, kernel, *count):
    """Start a process that writes runs and prints their numbers."""
    command = [sys.executable, str(WRITER), str(path), kernel, *map(str, count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


def acknowledged(output):
    """Return the numbers that were printed whole."""
    return [int(line) for line in output.splitlines(keepends=True) if line.endswith(b"\n")]


def kill_writers(path, kills):
    """Kill writers in the middle of their writing, one after another.

    Returns:
        The runs that they acknowledged, and those of them that the ledger lost.
    """
    chance = random.Random(1)
    known, lost = [], []
    for number in range(kills):
        process = start(path, f"k{number}")
        first = process.stdout.readline()  # so that it is writing
        time.sleep(chance.random() * 0.02)
        process.kill()
        new = acknowledged(first + process.communicate()[0])
        assert process.returncode == -signal.SIGKILL
        assert new
        with Ledger.open(path, read_only=True) as ledger:
            assert ledger.verify() == []
            there = ledger.run_ids_between("shared.ipynb", new[0] - 1, new[-1])
            lost += {*new} - {*there}
            assert all(
                len(samples.states_of_run(ledger, ledger.run(each))) == 3 for each in new[-3:]
            )
        known += new
    with Ledger.open(path) as ledger:
        assert ledger.notices == []
        lost += {*known} - {run.id for run in ledger.runs()} - {*lost}
        assert [run.kernel for run in ledger.runs(kernel=f"k{kills - 1}", limit=1)]
    return known, lost


def test_what_was_acknowledged_survives_a_kill(path):
    """No run is lost whose number a writer printed before it was killed."""
    known, lost = kill_writers(path, KILLS)
    assert lost == []
    assert len(known) >= KILLS


def test_eight_writers_at_once(path):
    """They begin the ledger together, and every run of each is there, once."""
    writers = [start(path, f"k{number}", 60) for number in range(8)]
    numbers = {}
    for number, writer in enumerate(writers):
        numbers[f"k{number}"] = acknowledged(writer.communicate()[0])
        assert writer.returncode == 0
    with Ledger.open(path) as ledger:
        for kernel, there in numbers.items():
            assert [run.id for run in ledger.runs(kernel=kernel)] == there[::-1]
        assert sorted(itertools.chain(*numbers.values())) == [*range(1, 481)]
        assert ledger.notices == []
        assert ledger.verify() == []


def test_every_process_sees_a_run_as_soon_as_it_is_acknowledged(path):
    """Also one that only looks, and one that had the ledger open before."""
    writer = start(path, "k", 60)
    numbers = [int(writer.stdout.readline())]
    with Ledger.open(path) as one, Ledger.open(path, read_only=True) as other:
        for line in writer.stdout:
            numbers.append(int(line))
            for ledger in (one, other):
                run = ledger.run(numbers[-1])
                assert len(samples.states_of_run(ledger, run)) == 3
        assert writer.wait() == 0
        assert numbers == [*range(1, 61)]
        assert other.verify() == []


def test_two_kernels_on_one_notebook(path):
    """Each finds its own `In[N]` first, and both see one history."""
    with Ledger.open(path) as one, Ledger.open(path) as two:
        for number in range(20):
            one.add(*samples.moved(number, kernel="k1"))
            two.add(*samples.moved(number, kernel="k2"))
        assert one.find("a.ipynb", 7, "k1").kernel == "k1"
        assert two.find("a.ipynb", 7, "k2").kernel == "k2"
        assert [run.kernel for run in one.runs("a.ipynb", "c3", limit=4)] == [
            "k2",
            "k1",
            "k2",
            "k1",
        ]
        assert [run.id for run in one.runs()] == [run.id for run in two.runs()]


# --------------------------------------------------------------------------------------------------
# Forks


def in_child(do):
    """Fork; return what ``do`` returns in the child, as text, and that it ended well."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, from Python 3.12 on
        child = os.fork()
    if child == 0:
        try:
            os.write(writer, repr(do()).encode())
        except BaseException as error:  # noqa: BLE001 -- told to the parent
            os.write(writer, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


@forks
def test_a_forked_child_writes_nothing(path):
    """Silently, whatever it calls; the parent writes on."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 3)

        def child():
            number = ledger.add(*samples.moved())
            seed = ledger.log_seed(SeedEntry(1, "now", 0.0, "a", "k"))
            ledger.save("a", "name", {"python": b"1"})
            ledger.tidy()
            ledger.close()
            return number, seed

        assert in_child(child) == "(0, 0)"
        assert ledger.counts().runs == 3
        assert ledger.seeds() == []
        assert ledger.saves("a") == {}
        samples.add(ledger, 3)
        assert ledger.verify() == []


@forks
def test_a_forked_child_reads_again(path):
    """Also what the parent wrote after the fork."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 3)
        parent = ledger._database._connection

        def child():
            mine = [run.id for run in ledger.runs()]
            return mine, ledger._database._connection is parent

        assert in_child(child) == "([3, 2, 1], False)"
        samples.add(ledger, 1)
        assert ledger.verify() == []


@forks
def test_a_ledger_in_memory_can_be_read_in_a_child(tmp_path):
    """There is no file to open again; its copy does not change."""
    with Ledger.in_memory() as ledger:
        samples.add(ledger, 3)
        assert in_child(lambda: (ledger.add(*samples.moved()), ledger.counts().runs)) == "(0, 3)"


@forks
def test_forking_while_other_threads_write(path):
    """The child neither hangs nor holds what the parent needs."""
    with Ledger.open(path) as ledger:
        done = threading.Event()

        def work():
            while not done.is_set():
                ledger.add(*samples.moved())

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            said = [
                in_child(lambda: (ledger.add(*samples.moved()), ledger.run(1) is not None))
                for _ in range(10)
            ]
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert said[1:] == ["(0, True)"] * 9
        assert ledger.verify() == []


@forks
def test_a_child_that_ends_in_order_leaves_the_parents_log(path):
    """Python closes what it can at its end; the parent's connection it cannot."""
    script = """
import os, sys
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples
ledger = Ledger.open(sys.argv[1])
samples.add(ledger, 3)
if os.fork() == 0:
    list(ledger.runs())
    sys.exit()
os.wait()
assert os.path.exists(sys.argv[1] + "-wal")
samples.add(ledger, 3)
assert ledger.verify() == [] and ledger.counts().runs == 6
os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=ROOT, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    with Ledger.open(path) as ledger:
        assert ledger.counts().runs == 6
        assert ledger.verify() == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        known, lost = kill_writers(Path(folder, "ledger.sqlite"), int(sys.argv[1]))
        sys.stdout.write(f"{len(known):,} acknowledged, {len(lost)} lost: {lost}\n")
