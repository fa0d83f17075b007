"""Runs the notebook's file for ``%check`` in a separate process, and displays it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec
from IPython.display import display

from ipytorchseed.checking.background import Request
from ipytorchseed.notebook.state import State
from ipytorchseed.reads.own_lines import MARK
from ipytorchseed.render.notebook_check import Fresh, NotebookCheckView

# Seconds between two updates of the display.
_EVERY = 0.3


class FreshRun:
    """Runs the notebook's file in a separate process, and shows progress and result.

    Args:
        state: The state of the extension.
        view: What is shown; it receives the results.
        request: What to run.
    """

    def __init__(self, state: State, view: NotebookCheckView, request: Request) -> None:
        self._state, self._view, self._request = state, view, request
        self._process: subprocess.Popen[bytes] | None = None
        self._button: Any = None
        self._ident = uuid.uuid4().hex
        self._shown = 0.0

    def begin(self) -> None:
        """Show what is known, and start the run once this cell has ended."""
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
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        fresh = self._view.fresh
        if fresh.progress:
            fresh.progress, fresh.note = "", why
        with suppress(OSError):
            process.stdin.close()  # the process then ends
        if self._shown:
            self._show()
        if self._button is not None:
            self._publish({"text/plain": ""}, f"{self._ident}-stop", update=True)
            self._button.close()

    def _start(self) -> IO[bytes]:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ipytorchseed.checking.background"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(self._request.path).parent,
            env=self._state.environ,
            start_new_session=True,  # an interrupt of this kernel must not reach it
        )
        assert self._process.stdin and self._process.stdout  # noqa: S101, PT018 -- pipes
        self._process.stdin.write(msgspec.json.encode(self._request) + b"\n")
        self._process.stdin.flush()
        return self._process.stdout

    def _follow(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start it, and handle its output in this thread, between cells."""
        lines, guarded = self._start(), self._state.guard.call

        def read() -> None:
            with suppress(RuntimeError):  # the loop is closed: the kernel ends
                for line in lines:
                    loop.call_soon_threadsafe(guarded, self._take, line)
                died = "The fresh run ended: its process died."
                loop.call_soon_threadsafe(guarded, self.stop, died)

        threading.Thread(target=read, daemon=True).start()

    def _take(self, line: bytes) -> None:
        if self._process is not None:
            self._view.fresh = msgspec.json.decode(line, type=Fresh)
            if time.monotonic() - self._shown > _EVERY:
                self._show()

    def _show(self) -> None:
        data = {"text/plain": self._view.text(), "text/html": self._view.html()}
        self._publish(data, self._ident, update=bool(self._shown))
        self._shown = time.monotonic()

    def _publish(self, data: dict[str, str], ident: str, *, update: bool) -> None:
        publish = self._state.shell.display_pub.publish
        publish(data, {MARK: {"what": "check"}}, transient={"display_id": ident}, update=update)
