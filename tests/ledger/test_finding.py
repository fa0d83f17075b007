"""Finding runs: by number, by In[N], by cell, in turn, between two others."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger.queries import Query
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples


@pytest.fixture
def ledger():
    """An empty ledger in memory."""
    with Ledger.in_memory() as ledger:
        yield ledger


def ids(runs):
    """Return the numbers of runs."""
    return [run.id for run in runs]


def test_numbers_grow_with_each_run(ledger):
    """From one."""
    assert samples.add(ledger, 3) == [1, 2, 3]


def test_an_unknown_number_is_none(ledger):
    """Also in an empty ledger."""
    assert ledger.run(1) is None
    samples.add(ledger, 1)
    assert ledger.run(2) is None
    assert ledger.run(-1) is None


def test_runs_come_newest_first(ledger):
    """All of them, over any number of pages."""
    samples.add(ledger, 200)
    assert ids(ledger.runs()) == [*range(200, 0, -1)]
    assert ids(ledger.runs(limit=3)) == [200, 199, 198]
    assert ids(ledger.runs(limit=130)) == [*range(200, 70, -1)]
    assert ids(ledger.runs(limit=0)) == []
    assert ids(ledger.runs(before_id=3)) == [2, 1]


def test_runs_of_one_notebook_cell_or_kernel(ledger):
    """Each restricts, and what is unknown has no runs."""
    samples.add(ledger, 10)
    samples.add(ledger, 10, notebook="b.ipynb", kernel="k2")
    assert ids(ledger.runs("b.ipynb")) == [*range(20, 10, -1)]
    assert ids(ledger.runs("a.ipynb", "c1")) == [7, 2]
    assert ids(ledger.runs(cell="c1")) == [17, 12, 7, 2]
    assert ids(ledger.runs(kernel="k2", limit=1)) == [20]
    assert ids(ledger.runs("a.ipynb", kernel="k2")) == []
    assert ids(ledger.runs("c.ipynb")) == []


def test_runs_added_while_iterating_do_not_disturb(ledger):
    """The iteration goes on downwards."""
    samples.add(ledger, 100)
    runs = ledger.runs()
    first = next(runs)
    samples.add(ledger, 5)
    assert [first.id, *ids(runs)] == [*range(100, 0, -1)]


def test_find_prefers_this_kernel_and_then_the_latest(ledger):
    """`In[2]` of the kernel that asks, else of the last kernel that had it."""
    samples.add(ledger, 3, kernel="k1")
    samples.add(ledger, 3, kernel="k2")
    samples.add(ledger, 1, kernel="k3")
    samples.add(ledger, 9, kernel="k4", notebook="b.ipynb")
    assert ledger.find("a.ipynb", 2, "k1").id == 2
    assert ledger.find("a.ipynb", 2, "k3").id == 5
    assert ledger.find("a.ipynb", 2).id == 5
    assert ledger.find("a.ipynb", 2, "never seen").id == 5
    assert ledger.find("a.ipynb", 9) is None
    assert ledger.find("c.ipynb", 2) is None


def test_find_gives_the_last_of_two_runs_with_one_number(ledger):
    """As after `%reset`, which counts again."""
    samples.add(ledger, 2)
    samples.add(ledger, 2)
    assert ledger.find("a.ipynb", 1, "k1").id == 3


def test_the_last_runs_of_a_cell(ledger):
    """Newest first, only of this notebook, or those before a run."""
    samples.add(ledger, 20)
    samples.add(ledger, 5, notebook="copy.ipynb")
    assert ids(ledger.runs("a.ipynb", "c3", limit=2)) == [19, 14]
    assert ledger.last_run("a.ipynb", "c3").id == 19
    assert ledger.last_run("a.ipynb", "c3", before_id=19).id == 14
    assert ids(ledger.runs("a.ipynb", "c3", limit=99)) == [19, 14, 9, 4]
    assert ledger.last_run("a.ipynb", "none") is None


def test_the_runs_between_two_others(ledger):
    """Oldest first, without the first, with the last, of this notebook in all kernels."""
    for number in range(200):
        notebook = "b.ipynb" if number % 2 else "a.ipynb"
        ledger.add(*samples.moved(number, notebook=notebook, kernel=f"k{number // 50}"))
    between = [*range(13, 180, 2)]
    assert ids(ledger.runs_between("a.ipynb", 11, 180)) == between
    assert ledger.run_ids_between("a.ipynb", 11, 180) == between
    assert ledger.run_ids_between("a.ipynb", 11, 11) == []
    assert ledger.run_ids_between("c.ipynb", 0, 999) == []


def test_notebooks_are_listed_once(ledger):
    """By name."""
    assert ledger.notebooks() == []
    for name in ("b", "a", "c", "a"):
        samples.add(ledger, 3, notebook=name)
    assert ledger.notebooks() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (Query(notebook="n", cell="c"), "runs_cell"),
        (Query(notebook="n", execution_count=2), "runs_count"),
        (Query(notebook="n", code="c"), "runs_code"),
        (Query(notebook="n"), "INTEGER PRIMARY KEY"),
        (Query(notebook="n", after=5, up_to=9, newest_first=False), "INTEGER PRIMARY KEY"),
    ],
)
def test_no_question_sorts_or_scans(ledger, query, index):
    """What keeps a full ledger as quick as an empty one."""
    sql, values = query.sql("*")
    plan = ledger._database.read(
        lambda c: [row[3] for row in c.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    )
    assert len(plan) == 1
    assert plan[0].startswith("SEARCH")
    assert index in plan[0]


def test_any_thread_may_write_and_read(ledger):
    """Each gets its own numbers, and finds what it wrote."""
    lost = []

    def work(name):
        for number in range(40):
            added = ledger.add(*samples.moved(number, kernel=name))
            if ledger.run(added).kernel != name:
                lost.append(added)

    threads = [threading.Thread(target=work, args=(f"k{each}",)) for each in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []
    assert ledger.counts().runs == 160
    assert ledger.verify() == []


def test_a_closed_ledger_says_so():
    """And may be closed again."""
    ledger = Ledger.in_memory()
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerError, match="is closed"):
        ledger.add(*samples.moved())
    with pytest.raises(LedgerError, match="is closed"):
        ledger.run(1)


def test_the_ledger_brings_nothing_heavy():
    """Neither torch nor numpy nor what draws tables.

    It is opened while a notebook waits.
    """
    heavy = ("IPython", "click", "numpy", "platformdirs", "rich", "torch")
    script = f"""
from ipytorchseed.ledger.store import Ledger
Ledger.in_memory().close()
import sys
print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"[]\n"
