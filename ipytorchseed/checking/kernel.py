"""A fresh kernel for one notebook, with the extension and a separate ledger."""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import signal
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.outputs import States, states_of
from ipytorchseed.errors import UncheckableError, in_brief
from ipytorchseed.ledger.place import ENVIRONMENT, NAME
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.questions import Prepare, Question, answer_in, expression
from ipytorchseed.receipts.receipt import Receipt


class Options(Struct, frozen=True):
    """How to run notebooks.

    Attributes:
        runs: How many fresh kernels run each notebook, two or more; ignored with ``rerun``.
        seed: The seed of every source before the first cell; None to set no seed.
        rerun: Whether to use one kernel for each notebook, and run every cell a second time.
        strict: Whether a cell with equal outputs but different variables counts as different; with
            ``rerun`` it always does.
        saved: Whether to compare one run in a fresh kernel with the outputs in the file.
        rtol: With ``saved``, the largest relative difference of two numbers that is ignored; None
            to report a small difference as rounding.
        against: A receipt to compare one run in a fresh kernel with; None for no receipt.
        receipt: Whether to write a receipt of one run in a fresh kernel.
        timeout: Seconds for one cell; None for no limit.
        kernel: The kernelspec to use; None for the one that the notebook names.
        jobs: The number of kernels at the same time.
        quick: Whether to stop as soon as two runs differ.
        prove: Whether to test, if a notebook differs, which causes bring the first result back.
    """

    runs: int = 2
    seed: int | None = None
    rerun: bool = False
    strict: bool = False
    saved: bool = False
    rtol: float | None = None
    against: Receipt | None = None
    receipt: bool = False
    timeout: float | None = None
    kernel: str | None = None
    jobs: int = 1
    quick: bool = False
    prove: bool = False

    @property
    def once(self) -> bool:
        """Whether one pass through a notebook is enough."""
        return self.saved or self.receipt or self.against is not None


# Seconds for a kernel to answer; the first one reads its libraries from a cold disk.
_START = 120

# Seconds to read a cell's values; more than usual, because sampled values cannot be compared.
_BUDGET = 2.0

# Seconds between two polls for a reply.
_POLL = 0.25

# Seconds to wait for killed processes to end; on some machines zombies stay longer.
_GONE = 0.5

# The maximum number of characters that a cell may show: all are kept and compared.
_MOST = 1 << 28

_LEAVE_OUT = "the tag skip-execution leaves it out"


class FreshKernel:
    """A kernel for a notebook, from its start to the end of all its processes.

    Args:
        notebook: The notebook whose cells it will run.
        options: How to run them.
        folder: An empty folder for the kernel's records and sockets.

    Attributes:
        node: A copy of the notebook's content, with the new outputs of its cells.
    """

    # Arguments on the kernel's command line that override the user's configuration.
    arguments: tuple[str, ...] = (
        "--ext=ipytorchseed",
        f"--IPyTorchSeed.budget={_BUDGET}",
        "--IPyTorchSeed.tracking=True",
        "--IPyTorchSeed.explain_on_change=False",
        "--IPyTorchSeed.ledger=",
    )

    def __init__(self, notebook: Notebook, options: Options, folder: Path) -> None:
        import nbclient
        from jupyter_client.manager import AsyncKernelManager

        self._options, self._folder = options, folder
        self._path, self._errors = notebook.path.absolute(), folder / "stderr"
        self._name = options.kernel or notebook.kernel
        self._manager = AsyncKernelManager(kernel_name=self._name)
        self.node = copy.deepcopy(notebook.node)
        self._client: Any = nbclient.NotebookClient(  # ``Any``, because its types are incomplete
            self.node,
            km=self._manager,
            timeout=options.timeout,
            startup_timeout=_START,
            extra_arguments=[*self.arguments],
            resources={"metadata": {"path": str(self._path.parent)}},
        )
        self._client.log.setLevel(logging.CRITICAL)  # errors are reported in our words
        self._receiving: asyncio.Task[Any] | None = None
        self._shown = 0

    async def start(self) -> None:
        """Start the kernel, load the extension, and seed if a seed was given.

        Raises:
            UncheckableError: The kernel does not start, or lacks the extension.
        """
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

        manager, client = self._manager, self._client
        if os.name == "posix":  # two kernels that start at once may get the same TCP port
            manager.transport, manager.ip = "ipc", str(self._folder / "k")
        manager.connection_file = str(self._folder / "connection.json")
        its = f"its kernel {self._name!r}"
        try:
            spec = manager.kernel_spec
        except NoSuchKernel:
            known = ", ".join(sorted(KernelSpecManager().find_kernel_specs())) or "none"
            fault = f"{its} is not installed; choose another with --kernel: {known}"
            raise UncheckableError(fault) from None
        if spec and spec.language.lower() != "python":
            raise UncheckableError(f"{its} runs {spec.language}, not Python")
        try:
            place = {ENVIRONMENT: str(self._folder), "JPY_SESSION_NAME": str(self._path)}
            with self._errors.open("wb") as errors:
                await client.async_start_new_kernel(env={**os.environ, **place}, stderr=errors)
            Ledger.open(self._folder / NAME).close()  # created while the kernel starts
            await client.async_start_new_kernel_client()
            await self.prepare()
        except UncheckableError:
            raise
        except Exception as error:
            said = self._last_words() or f": {in_brief(error)}"
            raise UncheckableError(f"{its} does not start{said}") from error
        execute, channel = client.kc.execute, client.kc.iopub_channel
        # After an allowed error, the next cell is sent at once and must not be dropped.
        client.kc.execute = lambda code, **_: execute(code, stop_on_error=False)
        receive = channel.get_msg

        async def get_msg(**how: Any) -> Any:  # noqa: ANN401 -- a message
            self._receiving = asyncio.current_task()
            # Receiving a message that has already arrived does not suspend the task. A cell that
            # prints without end would block the event loop, and with it the timeouts.
            await asyncio.sleep(0)
            message = await receive(**how)
            content = message["content"]
            self._shown += len(content["text"]) if "text" in content else len(str(content))
            if self._shown > _MOST and client.task_poll_for_reply is not None:
                client.task_poll_for_reply.cancel()  # as nbclient does when the kernel dies
            return message

        channel.get_msg = get_msg

    async def run(self, cell: Cell) -> str | None:
        """Run a cell; its outputs are then in ``node``.

        Returns:
            The error in one line if the cell raised an error that it may not raise; else None.

        Raises:
            UncheckableError: The cell did not run to its end.
        """
        from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

        kc = self._client.kc
        kc.session.metadata["cellId"] = cell.id  # as front ends send it; nbclient sends none
        polling = asyncio.create_task(_keep_polling(kc.shell_channel.socket))
        self._shown, node = 0, self.node.cells[cell.index]
        try:
            await self._client.async_execute_cell(node, cell.index)
        except CellTimeoutError:
            limit = f"{self._options.timeout:g} s (--timeout)"
            raise UncheckableError(f"{cell.name} took longer than {limit}") from None
        except DeadKernelError:
            fault = f"the kernel died in {cell.name}{self._last_words()}"
            if self._shown > _MOST:
                size = f"{_MOST >> 20} MB"
                fault = f"{cell.name} shows more than {size}, too much to compare; {_LEAVE_OUT}"
            raise UncheckableError(fault) from None
        except CellExecutionError as error:
            if error.ename == "StdinNotImplementedError":
                fault = f"{cell.name} asks for input, which a check cannot give; {_LEAVE_OUT}"
                raise UncheckableError(fault) from None
            shown = [each for each in node.outputs if each.output_type == "error"]
            told = [error, *shown][-1]  # a reply lacks errors in showing the result
            line = f"{told.ename}: {told.evalue.strip()}".splitlines()[0]
            return line.strip().removesuffix(":").removesuffix(".")
        finally:
            polling.cancel()
            if self._receiving is not None:  # nbclient leaves it running after a timeout
                self._receiving.cancel()
        return None

    @property
    def widgets(self) -> States:
        """The widgets that its cells have created so far."""
        self.node.metadata.pop("widgets", None)
        self._client.set_widgets_metadata()
        return states_of(self.node.metadata)

    async def stop(self, *, now: bool) -> None:
        """End the kernel and every process that it started.

        Args:
            now: Kill it without a request to shut down, as after an error.
        """
        manager = self._manager
        if not manager.has_kernel:
            return
        group = getattr(manager.provisioner, "pgid", None)
        if self._client.kc is not None:
            self._client.kc.stop_channels()
        try:
            await manager.shutdown_kernel(now=now)
        finally:
            until = time.monotonic() + _GONE
            with suppress(ProcessLookupError, PermissionError):  # macOS: the latter for zombies
                while group is not None and time.monotonic() < until:
                    os.killpg(group, signal.SIGKILL)
                    await asyncio.sleep(0.01)

    async def prepare(self) -> None:
        """Check that the extension is loaded, and seed all sources, without cell events."""
        told = await self.ask(Prepare(self._options.seed))
        if not told.get("ready"):
            way_out = "install it there, or choose another with --kernel"
            raise UncheckableError(f"its kernel {self._name!r} cannot load ipytorchseed; {way_out}")

    async def ask(self, question: Question) -> Mapping[str, Any]:
        """Send a question to the extension in the kernel; return its answer, or {}."""
        asked, kc = {"answer": expression(question)}, self._client.kc
        execute = type(kc).execute  # not the replacement that `start` installed
        ident = execute(kc, "", silent=True, user_expressions=asked, allow_stdin=False)
        return answer_in(await self._client.async_wait_for_reply(ident)) or {}

    def _last_words(self) -> str:
        """Return the last line that the process wrote to standard error, after a colon."""
        written = self._errors.read_text(errors="replace").strip() if self._errors.exists() else ""
        return f": {written.splitlines()[-1].strip()}" if written else ""


@asynccontextmanager
async def fresh_kernel(
    notebook: Notebook, options: Options, folder: Path
) -> AsyncIterator[FreshKernel]:
    """Start a kernel for the block, and end it with all its processes.

    After an error, the kernel is killed.

    Args:
        notebook: As for ``FreshKernel``.
        options: As for ``FreshKernel``.
        folder: As for ``FreshKernel``.

    Raises:
        UncheckableError: The kernel does not start, or lacks the extension.
    """
    kernel, now = FreshKernel(notebook, options, folder), True
    try:
        await kernel.start()
        yield kernel
        now = False
    finally:
        await kernel.stop(now=now)


async def _keep_polling(socket: Any) -> None:  # noqa: ANN401 -- jupyter_client's
    """Poll regularly for a reply, because nbclient may miss it.

    A ZeroMQ socket announces a message once, possibly to code that is sending on it. nbclient sends
    back what ``ipywidgets.Output`` shows, and then waits forever for the cell's reply
    (https://github.com/jupyter/nbclient/issues/312; ``ZMQ_FD`` in
    http://api.zeromq.org/4-3:zmq-getsockopt). A second poller makes the socket announce it again.
    """
    while True:
        await asyncio.sleep(_POLL)
        await socket.poll(1)
