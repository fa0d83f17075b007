"""Runs are recorded however the front end starts them.

The records hold the cell, its notebook, and what happened between cells.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from ipytorchseed.ledger.store import Ledger
from tests.kernel import ROOT, Kernel


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel without torch, which these tests do not need."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        kernel.run("import random, asyncio, threading, sys")
        assert kernel.run("%load_ext ipytorchseed").status == "ok"
        yield kernel


# --------------------------------------------------------------------------------------------------
# Which cell

IDS = {
    "JupyterLab": ({"cellId": "8ae0c7d1-9b2c"}, "8ae0c7d1-9b2c"),
    "VS Code": (
        {"cellId": "vscode-notebook-cell:/home/me/a%20b.ipynb#W0sZmlsZQ%3D%3D"},
        "vscode-notebook-cell:/home/me/a%20b.ipynb#W0sZmlsZQ%3D%3D",
    ),
    "VS Code, remote": (
        {"cellId": "vscode-notebook-cell://ssh-remote%2Bbox/home/me/a.ipynb#W0sdnNjb2Rl"},
        "vscode-notebook-cell://ssh-remote%2Bbox/home/me/a.ipynb#W0sdnNjb2Rl",
    ),
    "Interactive Window": (
        {"cellId": "vscode-notebook-cell:Interactive-1.interactive#W3sdW50aXRsZWQ%3D"},
        "x = 1",
    ),
    "Colab": ({"colab": {"cell_id": "dXq3"}}, "dXq3"),
    "none": ({}, "x = 1"),
    "nothing": ({"cellId": None, "colab": {}}, "x = 1"),
    "odd": ({"colab": "no dictionary", "cellId": ""}, "x = 1"),
    "number": ({"cellId": 17}, "17"),
}


@pytest.mark.parametrize(("metadata", "cell"), IDS.values(), ids=IDS)
def test_a_cell_is_known_by_the_front_ends_id_or_else_by_its_text(kernel, metadata, cell):
    """Blank lines around the text do not count."""
    _, (run,) = kernel.record("\nx = 1\n", metadata=metadata)
    assert run.cell == cell
    assert run.source == "\nx = 1\n"


def test_the_number_is_that_in_the_prompt(kernel):
    """This holds after errors, and for runs that the front end does not count."""
    for cell in ("1", "1 / 0", "if", "%no_such_magic", "await asyncio.sleep(0)", "2"):
        reply, (run,) = kernel.record(cell)
        assert run.execution_count == reply.execution_count
        assert run.status == reply.status
        _, (uncounted,) = kernel.record(cell, store_history=False)
        assert uncounted.execution_count is None


# --------------------------------------------------------------------------------------------------
# Which notebook


@pytest.mark.parametrize(
    ("env", "cell", "named"),
    [
        ({"JPY_SESSION_NAME": "/home/me/a.ipynb"}, "__vsc_ipynb_file__ = 'no'", "/home/me/a.ipynb"),
        ({}, "__vsc_ipynb_file__ = '/home/me/b.ipynb'", "/home/me/b.ipynb"),
        ({"JPY_SESSION_NAME": ""}, "x = 1", None),
    ],
    ids=["Jupyter", "VS Code", "folder"],
)
def test_a_notebook_is_known_by_what_the_front_end_tells(tmp_path, env, cell, named):
    """This is the session's name, VS Code's variable or else the folder."""
    with Kernel(tmp_path, **env) as kernel:
        for line in (cell, "%load_ext ipytorchseed", "x = 2"):
            assert kernel.run(line).status == "ok"
        assert [run.notebook for run in kernel.runs()] == [named or str(tmp_path)]


# --------------------------------------------------------------------------------------------------
# Events


def test_a_run_inside_a_run_belongs_to_it(kernel):
    """One record includes what the inner run drew, printed and made."""
    cell = "get_ipython().run_cell('inner = random.random()\\nprint(1)', store_history=True)\nouter = 2"
    _, (run,) = kernel.record(cell)
    assert {"inner", "outer"} <= {*run.writes}
    assert run.before != run.after
    assert run.outputs.stdout.series == (1.0,)
    _, (failed,) = kernel.record("get_ipython().run_cell('1 / 0')\nx = 3")
    assert (failed.status, failed.execution_count is None) == ("ok", False)


def test_a_silent_run_leaves_no_record_and_what_it_draws_lies_between(kernel):
    """Front ends run their own code silently."""
    kernel.run("1")
    _, runs = kernel.record("random.random()", silent=True)
    assert runs == []
    _, (run,) = kernel.record("2")
    assert [*run.between] == ["python"]


@pytest.mark.parametrize("cell", ["", "   ", "\n\n"])
def test_an_empty_cell_leaves_no_record(kernel, cell):
    """It runs nothing, and the next cell is recorded as usual."""
    kernel.run("1")
    assert kernel.record(cell)[1] == []
    assert len(kernel.record("1")[1]) == 1


BETWEEN = {
    "a timer of the loop": "asyncio.get_running_loop().call_later(0.05, random.random);",
    "a task": "async def later():\n    await asyncio.sleep(0.05)\n    random.random()\n"
    "task = asyncio.ensure_future(later())",
    "a thread": "timer = threading.Timer(0.05, random.random)\ntimer.start()",
    "a reseeding thread": "timer = threading.Timer(0.05, random.seed, (3,))\ntimer.start()",
}


@pytest.mark.parametrize("cell", BETWEEN.values(), ids=BETWEEN)
def test_draws_after_a_cell_lie_between_it_and_the_next(kernel, cell):
    """The draws are attributed to neither run."""
    _, (first,) = kernel.record(f"import asyncio, random, threading\n{cell}")
    patience = time.monotonic() + 20
    here = kernel.value("hash(random.getstate())")
    while kernel.value("hash(random.getstate())") == here and time.monotonic() < patience:
        time.sleep(0.02)
    _, (run,) = kernel.record("x = 1")
    assert first.before == first.after
    assert run.between == {"python": (first.after["python"], run.before["python"])}
    assert kernel.record("x = 1")[1][0].between == {}


def test_draws_of_a_widgets_callback_lie_between(kernel):
    """A front end's widget sends a message, which is handled between the cells."""
    reply = kernel.run(
        "from comm import get_comm_manager\n"
        "def opened(comm, message):\n    comm.on_msg(lambda message: random.random())\n"
        "get_comm_manager().register_target('dice', opened)"
    )
    assert reply.status == "ok"
    kernel.run("1")
    kernel.send("comm_open", {"comm_id": "c1", "target_name": "dice", "data": {}})
    kernel.send("comm_msg", {"comm_id": "c1", "data": {}})
    kernel.value("0")  # waits for the previous message
    _, (run,) = kernel.record("2")
    assert [*run.between] == ["python"]


def test_seeding_each_cell_is_nothing_between(kernel):
    """The seeding is part of the run and is in its log."""
    kernel.run("%seed each 3 -q")
    runs = [kernel.record("random.random()", "a cell")[1][0] for _ in range(2)]
    kernel.run("%seed off -q")
    assert [run.between for run in runs] == [{}, {}]
    assert runs[0].before == runs[1].before
    assert [how for _, how in runs[0].seeds] == ["each"]
    assert runs[0].outputs.result.digest == runs[1].outputs.result.digest


def test_a_cell_that_awaits_is_recorded_to_its_end(kernel):
    """What it draws and prints after the pause is recorded."""
    cell = "await asyncio.sleep(0.01)\nprint('done', random.random())\nlate = 1"
    _, (run,) = kernel.record(cell)
    assert run.before != run.after
    assert run.outputs.stdout is not None
    assert "late" in run.writes
    assert run.seconds >= 0.01


def test_an_interrupted_cell_says_so(kernel):
    """The record holds what the cell did until then, also if it awaits."""
    for pause in ("while True: time.sleep(0.05)", "await asyncio.sleep(3)"):
        cell = f"import time\nbegun = random.random()\nprint('now', flush=True)\n{pause}"
        reply, (run,) = kernel.record(cell, interrupt_at="now")
        assert run.status == "interrupted"
        assert run.execution_count == reply.execution_count or reply.execution_count is None
        assert "begun" in run.writes
        assert run.before != run.after
    assert kernel.record("1")[1][0].status == "ok"


def test_cell_magics_are_followed_into_their_bodies(kernel):
    """Their reads are recorded, whether the magic or the extension runs the body."""
    kernel.run("known = [1]")
    for magic in ("%%time", "%%capture", "%%deterministic 3"):
        _, (run,) = kernel.record(f"{magic}\nknown.append(2)")
        assert "known" in run.reads
        assert "known" in run.writes


# --------------------------------------------------------------------------------------------------
# Loading and unloading


def test_unloading_finds_its_hooks_in_lists_that_others_made_again(tmp_path):
    """A tool that adds a hook may bind a new list, which includes our hooks."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run(
            "manager = get_ipython().input_transformer_manager\n"
            "manager.cleanup_transforms = [*manager.cleanup_transforms]\n"
            "manager.token_transformers = [*manager.token_transformers]"
        )
        kernel.run("%unload_ext ipytorchseed")
        assert (
            kernel.value(
                "[each for each in (*manager.cleanup_transforms, *manager.token_transformers)"
                " if each.__module__.startswith('ipytorchseed')]"
            )
            == []
        )


def test_unloading_takes_every_hook_away_and_closes_the_ledger(tmp_path):
    """Events, streams, watcher and configuration; it can be loaded again at once."""
    state = (
        "sorted(get_ipython().events.callbacks['pre_run_cell'] and ['hooked'] or []),"
        " 'publish' in vars(get_ipython().display_pub), len(get_ipython().configurables),"
        " all(type(f).__name__ == 'builtin_function_or_method'"
        " for f in (__import__('io').open, __import__('os').open,"
        " __import__('IPython').core.interactiveshell.io_open))"
    )
    with Kernel(tmp_path) as kernel:
        kernel.run("import random\n%load_ext ipytorchseed\n%unload_ext ipytorchseed")
        before = kernel.value(f"({state})")
        for _ in range(2):
            kernel.run("%load_ext ipytorchseed")
            kernel.run("print(open('/dev/null').read(), 1)")
            count = len(kernel.runs())
            assert kernel.run("%unload_ext ipytorchseed").status == "ok"
            assert kernel.value(f"({state})") == before
            assert not (kernel.ledger.parent / "ledger.sqlite-wal").exists()
            kernel.run("random.random()")
            assert len(kernel.runs()) == count
        assert kernel.value("len(get_ipython().configurables)") == before[2]


def test_loaded_late_it_knows_what_was_there(tmp_path):
    """Earlier generators and variables are read, though no recorded run made them."""
    with Kernel(tmp_path) as kernel:
        kernel.run("import random\ng = random.Random(3)\nxs = [1]")
        kernel.run("%load_ext ipytorchseed\n%seed 3 -q\nxs.append(2)")
        kernel.run("print(1)")
        kernel.run("xs")
        assert [run.source for run in kernel.runs()] == ["print(1)", "xs"]
        first, second = kernel.runs()
        assert [*first.generators] == ["g"]
        assert first.writes == {}
        assert second.reads["xs"].series == (1.0, 2.0)


def test_switched_on_from_the_command_line_it_sees_the_first_cell(tmp_path):
    """With ``--ext=ipytorchseed``, prints, displays and alerts are recorded."""
    with Kernel(tmp_path, "--ext=ipytorchseed") as kernel:
        kernel.run("import random\nprint(random.random())", "one")
        kernel.run("1", "two")
        kernel.run("2", "three", silent=True)
        first, second = kernel.runs()
        assert (first.cell, first.execution_count, second.cell) == ("one", 1, "two")
        assert first.outputs.stdout is not None
        assert second.between == {}
        kernel.run("import torch\n%deterministic on --warn -q")
        cell = "torch.zeros(2).put_(torch.tensor([1]), torch.ones(1));"
        (shown,) = kernel.run(cell).displays
        assert "put_" in shown["text/plain"]


TYPED = """
%load_ext ipytorchseed
import random
print("typed", random.random())
%rng --text
%seed rewind 3
print("typed", random.random())
exit
"""


def test_in_a_terminal_a_cell_is_known_by_its_text(tmp_path):
    """The notebook is the folder; the session is typed line by line."""
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=nocolor"],
        input=TYPED,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "IPYTHONDIR": str(tmp_path),
            "IPYTORCHSEED_DATA_DIR": str(tmp_path / "data"),
            "TERM": "dumb",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    drawn = [line for line in done.stdout.splitlines() if "typed" in line and "0." in line]
    assert len(drawn) == 2
    assert drawn[0].split()[-1] == drawn[1].split()[-1]
    with Ledger.open(tmp_path / "data/ledger.sqlite", read_only=True) as ledger:
        runs = [*ledger.runs()][::-1]
    assert [run.cell for run in runs[:2]] == ["import random", 'print("typed", random.random())']
    assert [run.execution_count for run in runs[:2]] == [2, 3]
    assert {run.notebook for run in runs} == {str(tmp_path)}
    assert runs[1].outputs.stdout.digest == runs[4].outputs.stdout.digest


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is newer")
@pytest.mark.parametrize(
    "magic",
    ["%%deterministic 3", "%%deterministic 3 --isolate", "%%time", "%%capture", "%seed 3 -q"],
)
def test_what_a_cell_reads_under_a_magic_is_observed(kernel, magic):
    """Its body is watched like any other cell."""
    kernel.run("rates = {'first': 1, 'second': 2}")
    _, (run,) = kernel.record(f"{magic}\nvalue = rates['first'] * random.random()")
    assert not run.observed.unseen
    assert run.observed.read == {"rates": ("['first']",)}
    assert run.observed.drew == {"python": ("random.random",)}
