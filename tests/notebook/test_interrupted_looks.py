"""Ctrl-C during a look, before or after a cell, reaches the user's cell."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from ipytorchseed.notebook.interrupts import Interrupts
from tests.kernel import ROOT, Kernel, files_of_ours

SETUP = """
import asyncio, os, signal, time, ipytorchseed as its
armed = None
def read():
    global armed
    if armed is not None:
        armed -= 1
        if armed < 0:
            armed = None
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
    return b'state'
its.register_source('stops', seed=lambda value: None, read=read, write=lambda state: None)
"""

BEFORE, AFTER = (
    1,
    2,
)  # looks to interrupt; 0 is the one at the end of the arming cell


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """A kernel with the extension and a source that interrupts the look at it."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        assert kernel.run("%load_ext ipytorchseed").status == "ok"
        assert kernel.run(SETUP).status == "ok"
        yield kernel


@pytest.fixture
def kernel(loaded):
    """The same kernel; the next cell must run as usual, without errors of ours."""
    yield loaded
    reply = loaded.run("print('next')\n6 * 7")
    assert (reply.status, reply.stdout, reply.stderr, reply.shown) == ("ok", "next\n", "", "42")
    guard = "__import__('ipytorchseed').notebook.extension.running().guard.errors"
    assert loaded.value(guard) == {}
    assert loaded.value("get_ipython().ast_transformers") == []
    assert loaded.value("__import__('signal').getsignal(2) is read") is False


BODIES = {
    "python": "print('ran')\nx = 1",
    "await": "print('ran')\nawait asyncio.sleep(0)",
    "await without a pause": "async def f():\n    print('ran')\nawait f()",
    "a magic": "%time print('ran')",
    "a cell magic": "%%time\nprint('ran')",
    "deterministic": "%%deterministic\nprint('ran')",
    "a future import": "from __future__ import annotations\nprint('ran')",
    "shadowed": "KeyboardInterrupt\nprint('ran')",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_an_interrupt_before_the_cell_stops_it_at_its_first_line(kernel, body):
    """It fails like an interrupted cell, shows no line of ours, and runs nothing."""
    kernel.run(f"armed = int({BEFORE})")
    reply, runs = kernel.record(body)
    assert (reply.status, reply.stdout, reply.stderr) == ("error", "", "")
    assert reply.error.ename == "KeyboardInterrupt"
    assert not files_of_ours(reply.error.traceback)
    assert "line 1" in reply.error.traceback
    (run,) = [run for run in runs if run.source == body]
    assert run.status == "interrupted"
    assert "the inspection was interrupted" in " ".join(run.notes)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_an_interrupt_after_the_cell_is_its_error(kernel, body):
    """The cell has run; queued cells stop here, as with any interrupt."""
    kernel.run(f"armed = int({AFTER})")
    reply, runs = kernel.record(body)
    assert reply.stdout.startswith("ran\n")
    assert (reply.status, reply.stderr) == ("error", "")
    assert (reply.error.ename, reply.error.evalue) == (
        "KeyboardInterrupt",
        "the cell had run to its end",
    )
    assert not files_of_ours(reply.error.traceback)
    (run,) = [run for run in runs if run.source == body]
    assert run.status == "ok"
    assert "the inspection was interrupted" in " ".join(run.notes)


@pytest.mark.parametrize("body", ["if", "1 / 0", "%no_such_magic"])
def test_an_error_of_the_cell_stays_its_error(kernel, body):
    """If the cell fails by itself, there is nothing left to stop."""
    for when in (BEFORE, AFTER):
        kernel.run(f"armed = int({when})")
        reply = kernel.run(body)
        assert reply.status == "error"
        assert not files_of_ours(reply.error.traceback)
        assert "callback" not in reply.stdout + reply.stderr


def test_a_second_interrupt_ends_a_look_that_does_not_end(kernel, monkeypatch):
    """A source's ``read`` may never return."""
    kernel.run(
        "hangs = False\n"
        "def read_slowly():\n"
        "    global hangs\n"
        "    if hangs:\n"
        "        hangs = False\n        print('hangs', flush=True)\n"
        "        while True: time.sleep(0.05)\n"
        "    return b'state'\n"
        "its.register_source('slow', seed=print, read=read_slowly, write=print)"
    )
    once = kernel.interrupt
    again = threading.Timer(1, once)
    monkeypatch.setattr(kernel, "interrupt", lambda: (once(), again.start()))
    reply = kernel.run("hangs = bool(1)", interrupt_at="hangs")
    assert (reply.status, reply.error.ename) == ("error", "KeyboardInterrupt")
    kernel.run("from tests.rng.known import forget_source; forget_source('slow')")


@pytest.mark.parametrize("when", [1, 2, 3, 4])
def test_an_interrupted_check_says_nothing_under_the_next_cell(kernel, when):
    """The interrupt may come in the look before, at the final state, or in a rerun."""
    kernel.run(f"armed = int({when})")
    reply = kernel.run("%%deterministic --check\nx = 1")
    assert reply.status == "error"
    assert reply.error.ename == "KeyboardInterrupt"
    assert reply.displays == []
    reply = kernel.run("y = 2")
    assert (reply.status, reply.stdout, reply.displays) == ("ok", "", [])


def test_a_queue_of_cells_stops(kernel):
    """As with "Run all", the cells behind it do not run."""
    kernel.run("seen = []")
    kernel.run(f"armed = int({AFTER})")
    first = kernel._client.execute("seen.append(1)", stop_on_error=True)
    second = kernel._client.execute("seen.append(2)", stop_on_error=True)
    assert kernel._answer(first)["content"]["status"] == "error"
    assert kernel._answer(second)["content"]["status"] in ("aborted", "error")
    time.sleep(0.2)  # the kernel keeps aborting for a moment
    assert kernel.value("seen") == [1]


# Our code that the cell's own code may call, as when it prints or opens files. Also our first frame
# in an event of IPython, which drops interrupts that are raised before our first line holds them.
ALLOWED = {
    "notebook/streams.py", "session/file_calls.py", "session/files.py", "session/hearing.py",
    "notebook/interrupts.py", "notebook/errors.py",
}  # fmt: skip


def test_no_interrupt_is_lost(tmp_path):
    """Each interrupt is the cell's error, or comes between two cells.

    One in hundreds meets IPython between two callbacks, or while it shows the previous one. IPython
    drops that one, with or without the extension.
    """
    sent = 400
    done = subprocess.run(
        [sys.executable, "-m", "tests.notebook.interrupting", str(sent)],
        cwd=tmp_path,
        env={
            **os.environ,
            "IPYTORCHSEED_DATA_DIR": str(tmp_path),
            "IPYTHONDIR": str(tmp_path),
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    seen = re.search(r"^seen (\d+)$", done.stderr, re.MULTILINE)
    assert int(seen[1]) >= sent - sent // 100
    assert files_of_ours(done.stdout) <= ALLOWED


def test_a_callback_that_fails_leaves_no_handler_behind():
    """A user's tracer may raise in one of our frames; the next Ctrl-C is not lost."""
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError):
        Interrupts(None, list).held(lambda: 1 / 0, list)()
    assert signal.getsignal(signal.SIGINT) is before
