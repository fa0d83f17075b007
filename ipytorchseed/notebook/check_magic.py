"""``%check``: compares what the notebook shows with a run in a fresh kernel."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import click
import msgspec
from IPython.display import display

from ipytorchseed.checking.background import Request
from ipytorchseed.commands import flag, in_json
from ipytorchseed.errors import UncheckableError
from ipytorchseed.notebook.state import State
from ipytorchseed.reads.own_lines import MARK
from ipytorchseed.render.notebook_check import Fresh, NotebookCheckView
from ipytorchseed.session.identity import FileCell, saved_cells
from ipytorchseed.session.restart import Restart
from ipytorchseed.why.words import first_of

# Seconds between two updates of the display.
_EVERY = 0.3


# Metadata that marks a display as ours.
_OURS = {MARK: {"what": "check"}}

_NO_FILE = "The notebook's file could not be found, so only this kernel was checked."


class FreshRun:
    """A run of the notebook's file in a separate process.

    Args:
        state: The state of the extension.
        view: The view to show; the results are stored in it.
        request: What to run.
    """

    def __init__(self, state: State, view: NotebookCheckView, request: Request) -> None:
        self._state, self._view, self._request = state, view, request
        self._process: subprocess.Popen[bytes] | None = None
        self._button: Any = None
        self._ident = uuid.uuid4().hex
        self._shown = 0.0

    def begin(self) -> None:
        """Show the view, and start the run once this cell has ended."""
        self._view.fresh.progress = "A fresh kernel starts …"
        self._show()
        if self._state.make_button is not None:
            self._button = self._state.make_button("Stop", self.stop)
            display(self._button, display_id=f"{self._ident}-stop")
        loop = asyncio.get_running_loop()
        loop.call_soon(self._state.guard.call, self._follow, loop)

    def wait(self) -> None:
        """Run to the end, or until an interrupt."""
        try:
            for line in self._start():
                self._view.fresh = msgspec.json.decode(line, type=Fresh)
        finally:
            self.stop()

    def stop(self, why: str = "The fresh run was stopped. Run %check to start again.") -> None:
        """Stop the run and its kernels, if it is in progress.

        Args:
            why: What to show if it has not finished.
        """
        process, self._process, fresh = self._process, None, self._view.fresh
        if process is None or process.stdin is None:
            return
        if fresh.progress:
            fresh.progress, fresh.note = "", why
        with suppress(OSError):
            process.stdin.close()  # the process then ends
        if self._shown:
            self._show()
        if self._button is not None:
            again = {"display_id": f"{self._ident}-stop", "update": True, "metadata": _OURS}
            display({"text/plain": ""}, raw=True, **again)
            self._button.close()

    def _start(self) -> IO[bytes]:
        self._process = process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ipytorchseed.checking.background"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(self._request.path).parent,
            env=self._state.environ,
            start_new_session=True,  # an interrupt of this kernel must not reach it
        )
        assert process.stdin and process.stdout  # noqa: S101, PT018 -- pipes
        process.stdin.write(msgspec.json.encode(self._request) + b"\n")
        process.stdin.flush()
        return process.stdout

    def _follow(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the run, and handle its output in the kernel's thread, between cells."""
        lines, soon, guarded = self._start(), loop.call_soon_threadsafe, self._state.guard.call

        def read() -> None:
            with suppress(RuntimeError):  # the loop is closed: the kernel ends
                for line in lines:
                    soon(guarded, self._take, line)
                soon(guarded, self.stop, "The fresh run ended: its process died.")

        threading.Thread(target=read, daemon=True).start()

    def _take(self, line: bytes) -> None:
        if self._process is not None:
            self._view.fresh = msgspec.json.decode(line, type=Fresh)
            if time.monotonic() - self._shown > _EVERY:
                self._show()

    def _show(self) -> None:
        display(self._view, display_id=self._ident, update=bool(self._shown), metadata=_OURS)
        self._shown = time.monotonic()


@click.command()
@click.argument("word", required=False, metavar="[stop]", type=click.Choice(["stop"]))
@flag("--now", "Only check this kernel; do not run the file in a fresh one.")
@flag("--yes", "Run the file in the notebook's own folder, even if its cells write files.")
@in_json()
@click.pass_obj
def line(state: State, word: str | None, *, now: bool, yes: bool, as_json: bool) -> object:
    """Report whether Restart & Run All gives what this notebook shows.

    Says at once what exists only in this kernel, what ran out of order and what was never seeded.
    Then the saved file runs once in a fresh kernel, in the background: each cell is compared
    with what it last showed here, and the first that differs is explained.

    \b
    Examples:
      %check        before you share the notebook
      %check --now  at once, without a fresh kernel
      %check stop   end the fresh run
    """  # noqa: D301 -- click's mark for text that keeps its lines
    if state.allows_input is False:
        return "%check does nothing here: a program runs this notebook."
    state.stop_check()
    if word:
        return None
    session = state.session
    path = Path(session.notebook)
    file: list[FileCell] | None = None
    saved, note = 0.0, _NO_FILE
    try:
        if hasattr(state.shell, "kernel") and path.suffix == ".ipynb" and path.is_file():
            file, saved, note = saved_cells(path), path.stat().st_mtime, ""
    except (OSError, UncheckableError) as error:
        note = f"{path.name}: {error}"
    restart = Restart(session, state.shell.user_ns, file, saved)
    last = restart.last_runs
    wrote = {name for run in last.values() for name in run.outside.wrote}
    ours = str(path.parent.resolve()), tempfile.gettempdir()
    outside = sorted(name for name in wrote if not any(map(Path(name).is_relative_to, ours)))
    if outside and not (note or yes):
        named = first_of(outside, 3)
        note = f"The file was not run: its cells write {named}, outside its folder; --yes runs it."
    note = note or ("" if last else "The file was not run: none of its cells has run here.")
    numbers = {ident: run.execution_count for ident, run in last.items()}
    fresh, name = Fresh(note=note), "" if file is None else str(path)
    view = NotebookCheckView(name, restart.remarks(), fresh, numbers)
    runs = [run.id for run in last.values() if run.id is not None]
    copy = bool(wrote) and not yes
    run = FreshRun(state, view, Request(str(path), str(session.ledger.path), runs, copy))
    state.stop_check = run.stop
    if not (note or now or as_json):
        run.begin()
        return None
    if not (note or now):
        run.wait()
    return view.to_json() if as_json else view
