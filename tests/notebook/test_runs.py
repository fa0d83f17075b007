"""The end of each run is matched with its beginning, in any order of events."""

from __future__ import annotations

import threading
import weakref
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipytorchseed.notebook.errors import Guard
from ipytorchseed.notebook.runs import Runs


def _info(text="a = 1"):
    return SimpleNamespace(raw_cell=text, store_history=True)


def _result(info):
    return SimpleNamespace(info=info)


@pytest.fixture
def runs():
    """A tracker without current runs."""
    return Runs()


@pytest.fixture
def ended(runs):
    """The names of the runs that have ended, in order."""
    return []


def _begin(runs, ended, name, info=None):
    """Report a beginning as IPython does; without ``info``, that of a silent run."""
    runs.pre_execute()
    if info is not None:
        runs.pre_run_cell(info)
    runs.current.callback(lambda: ended.append(name))


def _end(runs, result):
    runs.post_execute()
    runs.post_run_cell(result)


def test_a_run_ends_with_its_result(runs, ended):
    """IPython fires the usual four events."""
    info = _info()
    _begin(runs, ended, "a", info)
    assert (runs.current.info, runs.nested) == (info, False)
    runs.post_execute()
    assert ended == []
    runs.post_run_cell(_result(info))
    assert (ended, runs.current) == (["a"], None)


def test_a_silent_run_ends_without_a_result(runs, ended):
    """It has no ``pre_run_cell`` and no ``post_run_cell``."""
    _begin(runs, ended, "silent")
    assert runs.current.info is None
    runs.post_execute()
    assert (ended, runs.current) == (["silent"], None)


def test_an_end_without_a_beginning_is_passed_over(runs):
    """This happens for empty cells, and for the cell that loads the extension."""
    _end(runs, _result(_info("")))
    _end(runs, None)
    assert runs.current is None


def test_the_events_of_an_empty_cell_inside_a_run_leave_it_open(runs, ended):
    """``run_cell('')`` reports only an end."""
    outer = _info()
    _begin(runs, ended, "outer", outer)
    _end(runs, _result(_info("")))
    assert (ended, runs.current.info) == ([], outer)
    _end(runs, _result(outer))
    assert ended == ["outer"]


def test_nested_runs_end_from_the_inside(runs, ended):
    """Each ends with its own result, though their texts are equal."""
    infos = [_info(), _info(), _info()]
    for name, info in zip("abc", infos, strict=True):
        _begin(runs, ended, name, info)
        assert runs.nested is (name != "a")
    for info in reversed(infos):
        _end(runs, _result(info))
    assert ended == ["c", "b", "a"]


def test_a_callback_inside_a_run_ends_alone(runs, ended):
    """A widget's callback fires only the first and third event."""
    outer = _info()
    _begin(runs, ended, "outer", outer)
    _begin(runs, ended, "callback")
    assert runs.nested is False
    runs.post_execute()
    assert ended == ["callback"]
    _end(runs, _result(outer))
    assert ended == ["callback", "outer"]


def test_an_interrupted_run_ends_with_another_info_of_the_same_text(runs, ended):
    """IPython then makes a new info."""
    _begin(runs, ended, "a", _info("text"))
    _end(runs, _result(_info("text")))
    assert ended == ["a"]


def test_an_interrupted_await_ends_without_any_result(runs, ended):
    """In ipykernel the result is then None; the innermost run ends."""
    _begin(runs, ended, "a", _info())
    _begin(runs, ended, "b", _info())
    _end(runs, None)
    assert ended == ["b"]
    _end(runs, None)
    assert ended == ["b", "a"]


def test_an_end_closes_what_was_left_open_inside(runs, ended):
    """An interrupt may prevent the inner run's own end."""
    outer = _info("outer")
    _begin(runs, ended, "outer", outer)
    _begin(runs, ended, "inner", _info("inner"))
    _begin(runs, ended, "silent")
    runs.post_run_cell(_result(outer))
    assert ended == ["silent", "inner", "outer"]
    assert runs.current is None


def test_the_end_of_an_unknown_run_closes_nothing(runs, ended):
    """The result of an unknown cell is ignored."""
    _begin(runs, ended, "a", _info("mine"))
    runs.post_run_cell(_result(_info("another")))
    assert ended == []


def test_what_a_run_has_to_do_is_done_once_last_added_first(runs, ended):
    """Scopes must be undone in this order."""
    info = _info()
    _begin(runs, ended, "first", info)
    runs.current.callback(lambda: ended.append("second"))
    _end(runs, _result(info))
    _end(runs, _result(info))
    assert ended == ["second", "first"]


def test_all_can_be_ended(runs, ended):
    """This happens when the extension is unloaded."""
    runs.end_all()
    for name in "abc":
        _begin(runs, ended, name, _info(name))
    runs.end_all()
    assert (ended, runs.current) == (["c", "b", "a"], None)


def test_a_cell_without_pre_execute_is_a_run_too(runs, ended):
    """A front end may report only cells."""
    info = _info()
    runs.pre_run_cell(info)
    runs.current.callback(lambda: ended.append("a"))
    runs.post_run_cell(_result(info))
    assert ended == ["a"]


def test_each_thread_has_its_own_runs(runs, ended):
    """The end of one thread's run does not close another's."""
    _begin(runs, ended, "main", _info())
    seen = []

    def work():
        seen.append(runs.current)
        _begin(runs, ended, "thread", _info())
        _end(runs, None)
        runs.end_all()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert (seen, ended) == ([None], ["thread"])
    assert runs.current is not None


EVENTS = st.lists(st.sampled_from(["pre_execute", "pre_run_cell", "post_execute", "post_run_cell"]))


@given(EVENTS, st.data())
def test_any_order_of_events_ends_each_run_at_most_once(events, data):
    """Nothing is raised, since the user's cells come first."""
    runs, begun, ended = Runs(), [], []
    infos = [_info(""), _info("a"), _info("a"), _info("b")]
    for event in events:
        if event == "pre_execute":
            runs.pre_execute()
        elif event == "post_execute":
            runs.post_execute()
        else:
            info = data.draw(st.sampled_from(infos))
            given = (
                info
                if event == "pre_run_cell"
                else data.draw(st.sampled_from([None, _result(info)]))
            )
            getattr(runs, event)(given)
        if runs.current is not None and runs.current not in begun:
            run = runs.current
            begun.append(run)
            run.callback(lambda run=run: ended.append(run))
    runs.end_all()
    assert len(ended) == len({id(run) for run in ended}) == len(begun)


def test_an_error_of_a_callback_is_kept_and_told_once(capsys):
    """It is not raised; a different error is reported, and an interrupt is passed on."""
    interrupts = []
    guard, failures = (
        Guard(lambda: interrupts.append(1)),
        [KeyError("a"), KeyError("a"), OSError("b")],
    )

    def callback(info):
        raise info

    guarded = guard(callback)
    for failure in failures:
        guarded(failure)
    told = capsys.readouterr().err
    assert told.count("internal error") == 2
    assert told.count("callback: KeyError: 'a'") == told.count("callback: OSError: b") == 1
    assert len(guard.errors) == 2
    assert not interrupts
    guarded(KeyboardInterrupt())
    assert interrupts == [1]


def test_an_error_that_is_kept_keeps_no_object_alive():
    """The frames in its traceback would."""
    guard, alive = Guard(lambda: None), []

    def callback(info):
        held = threading.Event()
        alive.append(weakref.ref(held))
        raise OSError("c")

    guard(callback)(None)
    assert len(guard.errors) == 1
    assert alive[0]() is None


def test_an_error_at_an_end_keeps_nothing_else_from_ending(runs, ended):
    """Settings of a cell are restored even if other calls fail."""
    info = _info()
    _begin(runs, ended, "outer", info)
    _begin(runs, ended, "inner", _info("b = 1"))
    runs.current.callback(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        runs.post_run_cell(_result(info))
    assert (ended, runs.current) == (["inner", "outer"], None)
