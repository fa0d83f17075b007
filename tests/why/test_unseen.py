"""The answer if nothing recorded differs: the next step, and no accusation."""

from __future__ import annotations

from msgspec.structs import replace

from ipytorchseed.why.explain import explain
from tests.render.explanations import States, number, run, value

HANDLE = value("06", "opaque", opaque=True)


def asked(source, *between, **more):
    """Explain a cell that was run twice and read an opaque ``db``."""
    first, last = (
        run(n, source, reads={"db": HANDLE}, writes={"out": number(n)}, **more) for n in (2, 9)
    )
    runs = [first, *between, last]
    return explain(last, first, runs[:-1], States(runs))


def test_an_opaque_object_that_only_the_cell_used_is_not_accused():
    """It is named as what cannot be inspected, with the call that was given it."""
    told = asked("out = lib.query(db)")
    assert (told.verdict, told.causes) == ("unexplained", ())
    assert "`lib.query()` was given `db`, and `db` cannot be inspected" in told.message


def test_a_builtin_is_not_named_as_what_was_given_it():
    """``len`` looks at nothing else."""
    assert "was given" not in asked("out = len(db)").message


def test_one_that_another_cell_used_may_be_the_cause():
    """The cell that used it is named."""
    told = asked("out = lib.query(db)", run(3, "lib.insert(db, 1)", reads={"db": HANDLE}))
    assert [(cause.kind, cause.name) for cause in told.causes] == [("input", "db")]
    assert told.causes[0].message.endswith("In[3] used it")


def test_one_that_the_cell_makes_from_itself_may_be_the_cause():
    """It continues from what its earlier run left, which no experiment can tell."""
    handles = {"reads": {"db": HANDLE}, "writes": {"db": HANDLE, "out": number(1)}}
    first, last = (run(n, "db, out = lib.next(db)", **handles) for n in (2, 9))
    last = replace(last, writes={"db": HANDLE, "out": number(2)})
    (cause,) = explain(last, first, [first], States([first, last])).causes
    assert (cause.kind, cause.name) == ("input", "db")
    assert cause.message.endswith("`db` cannot be inspected; In[2] made it again")


def test_native_code_is_named():
    """Its threads and streams are not recorded."""
    message = asked("out = bst.predict(m)", packages=("torch", "xgboost")).message
    said = "threads and random numbers in the native code of XGBoost are not recorded"
    assert said in message
