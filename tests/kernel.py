"""Drives a real kernel like a front end does."""

from __future__ import annotations

import ast
import contextlib
import os
import queue
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

from ipytorchseed.ledger.place import NAME
from ipytorchseed.ledger.store import Ledger
from tests.forking import CAN_FORK, TELL_STACKS, ForkProvisioner

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    from ipytorchseed.ledger.records import Run

ROOT = Path(__file__).parents[1]

# Seconds to wait for the next message. A kernel that sends nothing for longer hangs.
PATIENCE = 120

# The MIME type of a widget.
LIVE = "application/vnd.jupyter.widget-view+json"

_ANSI = re.compile(r"\x1b\[[0-9;]*m")

# Matches a path in the package. The clone, with its environment and tests, may be in a folder of the
# same name.
_OURS = re.compile(r"ipytorchseed/(?!ipytorchseed/|tests/)((?:\w+/)*\w+\.py)")


def files_of_ours(text: str) -> set[str]:
    """Return the files of the package in a traceback, such as ``session/files.py``."""
    return {*_OURS.findall(text)}


@dataclass(frozen=True)
class Failure:
    """An error that the front end receives.

    Attributes:
        ename: The name of the error's class.
        evalue: The message of the error.
        traceback: The traceback, without colours.
    """

    ename: str
    evalue: str
    traceback: str


@dataclass
class Reply:
    """The messages from one execution.

    Attributes:
        status: The status in the reply: ``ok`` or ``error``.
        execution_count: The number in ``In[...]``.
        stdout: The printed text.
        stderr: The text written to standard error.
        results: The MIME bundles shown as ``Out[...]``.
        displays: The MIME bundles shown by ``display``.
        views: The messages that display only a widget's view.
        receipts: The lines that deterministic cells display.
        pages: The texts shown in the pager, such as help.
        next_input: The text for the next cell, from ``%recall`` for example; or None.
        error: The error, if there was one.
    """

    status: str = ""
    execution_count: int | None = None
    stdout: str = ""
    stderr: str = ""
    results: list[dict[str, Any]] = field(default_factory=list)
    displays: list[dict[str, Any]] = field(default_factory=list)
    views: list[dict[str, Any]] = field(default_factory=list)
    receipts: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    next_input: str | None = None
    error: Failure | None = None

    @property
    def shown(self) -> str | None:
        """The text of ``Out[...]``, or None if nothing was shown."""
        return self.results[-1]["text/plain"] if self.results else None

    def take(self, message: Mapping[str, Any]) -> None:
        """Add the content of one message from the kernel."""
        content, kind = message["content"], message["msg_type"]
        if kind == "stream":
            text = _ANSI.sub("", content["text"])
            setattr(self, content["name"], getattr(self, content["name"]) + text)
        elif kind == "execute_result":
            self.results.append(content["data"])
        elif kind == "display_data":
            text = content["data"].get("text/plain", "")
            if content["data"].keys() == {LIVE}:
                self.views.append(content)
            elif text.startswith("%%deterministic: "):
                self.receipts.append(text)
            else:
                self.displays.append(content["data"])
        elif kind == "update_display_data" and self.displays:
            self.displays[-1] = content["data"]
        elif kind in ("error", "execute_reply") and "ename" in content:
            text = _ANSI.sub("", "\n".join(content["traceback"]))
            self.error = self.error or Failure(content["ename"], content["evalue"], text)
        if kind == "execute_reply":
            self.status = content["status"]
            self.execution_count = content.get("execution_count")
            shown = [each["data"] for each in content["payload"] if each["source"] == "page"]
            texts = [
                each["text"] for each in content["payload"] if each["source"] == "set_next_input"
            ]
            self.next_input = texts[-1] if texts else None
            self.pages = [_ANSI.sub("", data["text/plain"]) for data in shown]


class Kernel:
    """A Python kernel that works in a folder of the test.

    Args:
        folder: The working folder, also for the ledger and IPython's files.
        *arguments: Further words on the kernel's command line.
        cold: Whether to start a new process. Otherwise, the kernel is a fork of a process that has
            done the imports, if the system supports this, which is some seconds faster.
        python: The interpreter. Interpreters other than the tests' own always start cold.
        **env: Further environment variables.

    Attributes:
        ledger: The file in which the kernel records its runs.
        attended: Whether the front end tells the kernel that a user can answer questions.
    """

    attended = True

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        cold: bool = False,
        python: str = sys.executable,
        **env: str,
    ) -> None:
        start = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = KernelSpec(
            argv=[*start, *arguments],
            display_name="a Python of the tests",
            language="python",
        )
        self._folder = folder
        self._env = {
            **os.environ,
            "IPYTHONDIR": str(folder / ".ipython"),
            "IPYTORCHSEED_DATA_DIR": str(folder / ".ipytorchseed"),
            "PYTHONPATH": str(ROOT),
            **env,
        }
        self.ledger = Path(self._env["IPYTORCHSEED_DATA_DIR"]) / NAME
        self._manager = KernelManager()
        self._manager._kernel_spec = spec
        if CAN_FORK and not cold and python == sys.executable:
            provisioner = ForkProvisioner(parent=self._manager, kernel_spec=spec)
            self._manager.provisioner = provisioner
        self._sockets: tempfile.TemporaryDirectory[str] | None = None
        if (
            os.name == "posix"
        ):  # kernels that start at the same time may be given the same TCP ports
            self._sockets = tempfile.TemporaryDirectory(prefix="k")
            self._manager.transport, self._manager.ip = "ipc", str(Path(self._sockets.name, "k"))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the kernel, and wait until it listens."""
        self._manager.start_kernel(cwd=str(self._folder), env=self._env)
        self._connect()

    def stop(self) -> None:
        """Stop the kernel."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)
        if self._sockets is not None:
            self._sockets.cleanup()

    def restart(self) -> None:
        """Stop the kernel and start a new one in the same folder."""
        self._client.stop_channels()
        self._manager.restart_kernel(now=True)
        self._connect()

    def _connect(self) -> None:
        """Wait until the kernel answers and its published messages arrive.

        This is faster than the client's own ``wait_for_ready``.
        """
        self._client = self._manager.client()
        self._client.start_channels(stdin=False, hb=False)
        until = time.monotonic() + PATIENCE
        while True:
            self._client.kernel_info()
            with contextlib.suppress(queue.Empty):
                self._client.get_shell_msg(timeout=1)
                self._client.get_iopub_msg(timeout=0.2)
                return
            if not self._manager.is_alive() or time.monotonic() > until:
                raise RuntimeError("the kernel does not answer")

    def interrupt(self) -> None:
        """Interrupt the running cell, like the front end's stop button."""
        self._manager.interrupt_kernel()

    def run(  # noqa: PLR0913 -- the options of an execution
        self,
        code: str,
        cell_id: str | None = None,
        *,
        silent: bool = False,
        store_history: bool = True,
        metadata: Mapping[str, Any] | None = None,
        interrupt_at: str | None = None,
    ) -> Reply:
        """Run a cell to its end.

        Args:
            code: The text of the cell.
            cell_id: The id of the cell, if the front end sends one.
            silent: Whether to run without output and history.
            store_history: Whether to store the cell in the history, and count it.
            metadata: Metadata from the front end.
            interrupt_at: Interrupt the cell when it has printed this text. The cell must run many
                short calls after that: a signal just before a long sleep is handled only after it.
        """
        sent = {"cellId": cell_id} if cell_id else {}
        ident = self._send(code, {**sent, **(metadata or {})}, silent, store_history)
        reply = Reply()
        while True:
            message = self.published()
            if message["parent_header"].get("msg_id") != ident:
                continue
            reply.take(message)
            if interrupt_at and interrupt_at in reply.stdout:
                interrupt_at = None
                self.interrupt()
            if message["content"].get("execution_state") == "idle":
                break
        reply.take(self._answer(ident))
        return reply

    def run_beside(self, code: str, meanwhile: str) -> tuple[Reply, Reply]:
        """Run a cell, and a second one in a subshell when the first has printed ``now``."""
        request = self._client.session.msg("create_subshell_request", {})
        self._client.control_channel.send(request)
        subshell = self._client.get_control_msg()["content"]["subshell_id"]
        idents, replies = [self._send(code, {}, silent=False, store_history=True)], []
        running = 1
        while running:
            message = self.published()
            if message["parent_header"].get("msg_id") not in idents:
                continue
            replies += [Reply() for _ in idents[len(replies) :]]
            replies[idents.index(message["parent_header"]["msg_id"])].take(message)
            running -= message["content"].get("execution_state") == "idle"
            if len(idents) == 1 and "now" in replies[0].stdout:
                idents.append(self._send(meanwhile, {}, False, True, subshell))
                running += 1
        for _ in idents:
            answer = self._client.get_shell_msg(timeout=PATIENCE)
            replies[idents.index(answer["parent_header"]["msg_id"])].take(answer)
        return replies[0], replies[1]

    def record(self, code: str, *args: Any, **kwargs: Any) -> tuple[Reply, list[Run]]:
        """Run a cell like ``run``; return the reply and the new records of runs."""
        before = {run.id for run in self.runs()} if self.ledger.exists() else set()
        reply = self.run(code, *args, **kwargs)
        return reply, [run for run in self.runs() if run.id not in before]

    def value(self, expression: str) -> Any:
        """Return the value of an expression, without running a cell.

        The value must be a literal, such as a number or a list of strings.
        """
        ident = self._send("", {}, True, False, it=expression)
        told = self._answer(ident)["content"]["user_expressions"]["it"]
        assert told["status"] == "ok", told
        return ast.literal_eval(told["data"]["text/plain"])

    def runs(self) -> list[Run]:
        """Return the runs recorded so far, the oldest first."""
        with Ledger.open(self.ledger, read_only=True) as ledger:
            return [*ledger.runs()][::-1]

    def post(self, code: str) -> None:
        """Run a cell without waiting for an answer."""
        self._send(code, {}, silent=False, store_history=True)

    def send(self, kind: str, content: Mapping[str, Any]) -> None:
        """Send a message that runs no cell, such as a message from a widget's view."""
        self._client.shell_channel.send(self._client.session.msg(kind, dict(content)))

    def complete(self, code: str) -> list[str]:
        """Return the completions at the end of ``code``."""
        return self._answer(self._client.complete(code))["content"]["matches"]

    def inspect(self, code: str) -> str:
        """Return the help that Shift+Tab shows at the end of ``code``."""
        content = self._answer(self._client.inspect(code))["content"]
        return _ANSI.sub("", content["data"].get("text/plain", ""))

    def _send(self, code, metadata, silent, store_history, subshell=None, **expressions) -> str:
        content = {
            "code": code,
            "silent": silent,
            "store_history": store_history,
            "user_expressions": expressions,
            "allow_stdin": self.attended,
            "stop_on_error": False,
        }
        message = self._client.session.msg("execute_request", content, metadata=metadata)
        message["header"]["subshell_id"] = subshell
        self._client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def published(self) -> dict[str, Any]:
        """Return the next published message.

        If none arrives in time, make the kernel's processes print their stacks.

        Raises:
            queue.Empty: No message arrived in time.
        """
        try:
            return self._client.get_iopub_msg(timeout=PATIENCE)
        except queue.Empty:
            if isinstance(self._manager.provisioner, ForkProvisioner):
                os.killpg(self._manager.provisioner.pgid, TELL_STACKS)
                time.sleep(1)
            raise

    def _answer(self, ident: str) -> dict[str, Any]:
        while True:
            reply = self._client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == ident:
                return reply


@pytest.fixture
def new_kernel(tmp_path: Path) -> Iterator[Kernel]:
    """Return a kernel with the extension loaded, in the test's folder."""
    with Kernel(tmp_path) as kernel:
        assert kernel.run("%load_ext ipytorchseed").status == "ok"
        yield kernel
