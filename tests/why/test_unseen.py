"""The answer if nothing recorded differs: the next step, and no accusation."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ipytorchseed.why.explain import explain
from ipytorchseed.why.remedy import find_keep
from tests.render.explanations import States, number, run, value

HANDLE = value("06", "opaque", opaque=True)


def asked(source, *between, **more):
    """Explain a cell that was run twice and read an opaque ``db``."""
    first, last = (
        run(n, source, reads={"db": HANDLE}, writes={"out": number(n)}, **more) for n in (2, 9)
    )
    runs = [first, *between, last]
    return explain(last, first, runs[:-1], States(runs))


def test_one_that_another_cell_used_may_be_the_cause():
    """The cell that used it is named."""
    told = asked("out = lib.query(db)", run(3, "lib.insert(db, 1)", reads={"db": HANDLE}))
    assert [(cause.kind, cause.name) for cause in told.causes] == [("input", "db")]
    assert told.causes[0].message.startswith("In[3] called `lib.insert()` with `db`; ")


def test_the_calls_of_its_methods_are_named():
    """The run that is compared is not blamed, although it used the object too."""
    between = run(3, "for _ in range(9):\n    db.step()\n    db.close()", reads={"db": HANDLE})
    (cause,) = asked("out = db.query()", between).causes
    said = "In[3] called `db.step()` and `db.close()`; `db` cannot be inspected"
    assert cause.message == f"{said}, and no other input changed"
    assert [each.run for each in cause.blame] == [between]


def test_the_run_that_made_it_again_is_named_first():
    """It may have been used since."""
    makes = run(3, "db = connect()", writes={"db": HANDLE})
    uses = run(4, "db.commit()", reads={"db": HANDLE})
    (cause,) = asked("out = db.query()", makes, uses).causes
    assert cause.message.startswith("In[3] made `db` again; In[4] called `db.commit()`; ")


def test_one_that_the_cell_makes_from_itself_may_be_the_cause():
    """It continues from what its earlier run left, which no experiment can tell."""
    handles = {"reads": {"db": HANDLE}, "writes": {"db": HANDLE, "out": number(1)}}
    first, last = (run(n, "db, out = lib.next(db)", **handles) for n in (2, 9))
    last = replace(last, writes={"db": HANDLE, "out": number(2)})
    (cause,) = explain(last, first, [first], States([first, last])).causes
    assert (cause.kind, cause.name) == ("input", "db")
    assert cause.message.startswith("In[2] made `db` again; ")


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("db.plot(1)\nout = len(db.lines)", "called `db.plot()`"),
        ("db['x'] = db['x'] * 2\nout = db['x']", "changed `db`"),
        ("fit(db)\nout = db.score()", "called `fit()` with `db`"),
    ],
)
def test_one_that_the_cell_alters_and_reads_may_be_the_cause(cell, said):
    """The cell continues from its earlier run."""
    told = asked(cell)
    (cause,) = told.causes
    assert cause.message.startswith(f"this cell {said} and may continue from its earlier run; ")
    assert [each.run.id for each in cause.blame] == [2]
    assert find_keep(told.causes, told.roots, told.run) == ("create `db` in this cell",)


@pytest.mark.parametrize(
    ("cell", "between"),
    [
        ("db.info(1)\nout = 1", []),  # such as a logger
        ("out = db.score()", []),
        ("db.plot(1)\nout = db.n", [run(3, "db = make()", writes={"db": HANDLE})]),
    ],
)
def test_one_that_the_cell_only_reads_or_only_alters_is_not(cell, between):
    """Nor one that another cell made again."""
    assert not any("continue" in cause.message for cause in asked(cell, *between).causes)


def test_native_code_is_named():
    """Its threads and streams are not recorded."""
    message = asked("out = bst.predict(m)", packages=("torch", "xgboost")).message
    said = "threads and random numbers in the native code of XGBoost are not recorded"
    assert said in message
