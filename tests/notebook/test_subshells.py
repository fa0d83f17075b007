"""Cells that run at the same time, in threads of one kernel.

Each is credited only with its own effects.
"""

import pytest

WAIT = "import time; print('now', flush=True); time.sleep({})"
LOOK = """
import time, ipytorchseed
from ipytorchseed.session.session import Session
look = Session.begin_cell
def slow(*args, **kwargs):
    print("now", flush=True)
    time.sleep(1)
    look(*args, **kwargs)
    Session.begin_cell = look
Session.begin_cell = slow
"""


@pytest.mark.parametrize("cell", ["z = 1", "%seed 5 -q", "print('there')", "%rng --text", "%why"])
def test_a_cell_of_a_subshell_changes_nothing_that_is_told_of_the_one_beside_it(new_kernel, cell):
    """It is not recorded itself, which is reported once."""
    main, sub = new_kernel.run_beside(WAIT.format(1), cell)
    assert (main.status, main.stdout, sub.stderr.count("not recorded")) == ("ok", "now\n", 1)
    main, sub = new_kernel.run_beside(WAIT.format(1), cell)
    assert (main.stderr, sub.stderr) == ("", "")
    runs = [run for run in new_kernel.runs() if "sleep" in run.source]
    assert len(runs) == 2
    assert [run.outputs.shown for run in runs] == [runs[0].outputs.shown] * 2
    assert all("at the same time" in run.notes[-1] for run in runs)
    assert not [run for run in new_kernel.runs() if run.source == cell]


def test_cells_are_recorded_again_once_they_run_alone(new_kernel):
    """This holds in a subshell too, without another report."""
    new_kernel.run_beside("x = 1; " + WAIT.format(0.1), "import time; time.sleep(1); y = 1")
    _, runs = new_kernel.record("x + 1")
    assert [run.notes for run in runs] == [()]


def test_a_cell_that_outlives_the_one_it_ran_beside_leaves_the_next_unrecorded(new_kernel):
    """Until it ends, effects cannot be attributed."""
    new_kernel.run_beside(WAIT.format(0.2), "time.sleep(0.5); random = 4")
    runs = new_kernel.runs()
    assert [("random" in run.writes) for run in runs[-1:]] == [False]


@pytest.mark.parametrize("cell", ["z = 1", "%rng --text"])
def test_a_cell_may_begin_in_a_subshell_while_another_is_looked_at(new_kernel, cell):
    """Neither fails, and Ctrl-C still stops the main one."""
    assert new_kernel.run(LOOK).status == "ok"
    main, sub = new_kernel.run_beside("y = 2", cell)
    assert (main.status, sub.status) == ("ok", "ok")
    assert "Error" not in main.stdout + main.stderr + sub.stdout + sub.stderr
    stopped = new_kernel.run("print('go', flush=True)\nwhile True: pass", interrupt_at="go")
    assert stopped.error.ename == "KeyboardInterrupt"


LEFT = """
import gc
from ipytorchseed.notebook.state import State
(state,) = (each for each in gc.get_objects() if type(each) is State)
state.threads.add(1)
"""


def test_a_thread_that_is_gone_runs_no_cell(new_kernel):
    """The end of its cell was not reported; the others are recorded."""
    assert new_kernel.run(LEFT).status == "ok"
    _, runs = new_kernel.record("x = 5")
    assert [run.source for run in runs] == ["x = 5"]
