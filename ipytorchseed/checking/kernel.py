"""A fresh kernel for one notebook, with the extension and a separate ledger."""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.widgets import States, states_of
from ipytorchseed.errors import UncheckableError
from ipytorchseed.ledger.place import ENVIRONMENT, NAME
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.questions import Prepare, Question, expression
from ipytorchseed.receipts.record import Receipt

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient
    from jupyter_client.manager import AsyncKernelManager


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
        prove: Whether to test, if a notebook differs, what restores the first result.
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

# The most characters that a cell may show: all of them are kept and compared.
_MOST = 1 << 28


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
        self._path = notebook.path.absolute()
        self._name = options.kernel or notebook.kernel
        self._errors = folder / "stderr"
        self._manager: AsyncKernelManager = AsyncKernelManager(kernel_name=self._name)
        self.node = copy.deepcopy(notebook.node)
        self._client = nbclient.NotebookClient(
            self.node,
            km=self._manager,
            timeout=options.timeout,
            startup_timeout=_START,
            extra_arguments=[*self.arguments],
            resources={"metadata": {"path": str(self._path.parent)}},
            allow_errors=False,
        )
        self._client.log.setLevel(logging.CRITICAL)  # errors are reported in our words
        self._shown = 0
        self._receiving: asyncio.Task[Any] | None = None

    @property
    def _kc(self) -> AsyncKernelClient:
        kc: AsyncKernelClient = self._client.kc  # type: ignore[assignment]
        return kc

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
        try:
            spec = manager.kernel_spec
        except NoSuchKernel:
            spec = None
        if spec is None:
            known = ", ".join(sorted(KernelSpecManager().find_kernel_specs())) or "none"
            raise UncheckableError(
                f"its kernel {self._name!r} is not installed; choose another with --kernel: {known}"
            )
        if spec.language.lower() != "python":
            raise UncheckableError(f"its kernel {self._name!r} runs {spec.language}, not Python")
        try:
            place = {ENVIRONMENT: str(self._folder), "JPY_SESSION_NAME": str(self._path)}
            with self._errors.open("wb") as errors:
                await client.async_start_new_kernel(env={**os.environ, **place}, stderr=errors)
            Ledger.open(self._folder / NAME).close()  # created while the kernel starts
            await client.async_start_new_kernel_client()
        except Exception as error:
            raise UncheckableError(self._not_started(error)) from error
        await self.prepare()
        execute = self._kc.execute
        # After an allowed error, the next cell is sent at once and must not be dropped.
        self._kc.execute = lambda code, **_: execute(code, stop_on_error=False)  # type: ignore[method-assign]
        self._count_outputs(self._kc.iopub_channel)

    def _count_outputs(self, channel: Any) -> None:  # noqa: ANN401 -- jupyter_client's
        """Count the characters that a cell shows, and let timeouts work.

        Receiving a message that has already arrived does not suspend the task. A cell that prints
        without end would block the event loop, and with it the timeouts.
        """
        receive = channel.get_msg

        async def get_msg(**how: Any) -> Any:  # noqa: ANN401 -- a message
            self._receiving = asyncio.current_task()
            await asyncio.sleep(0)
            message = await receive(**how)
            content = message["content"]
            self._shown += len(content["text"]) if "text" in content else len(str(content))
            polling = self._client.task_poll_for_reply
            if self._shown > _MOST and polling is not None:
                polling.cancel()  # as nbclient does when the kernel dies
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

        self._kc.session.metadata["cellId"] = cell.id  # as front ends send it; nbclient sends none
        polling = asyncio.create_task(_keep_polling(self._kc))
        self._shown, node = 0, self.node.cells[cell.index]
        try:
            await self._client.async_execute_cell(node, cell.index)
        except CellTimeoutError:
            raise UncheckableError(
                f"{cell.name} took longer than {self._options.timeout:g} s (--timeout)"
            ) from None
        except DeadKernelError:
            if self._shown > _MOST:
                raise UncheckableError(
                    f"{cell.name} shows more than {_MOST >> 20} MB, too much to compare; the tag"
                    " skip-execution leaves it out"
                ) from None
            raise UncheckableError(f"the kernel died in {cell.name}{self._last_words()}") from None
        except CellExecutionError as error:
            if error.ename == "StdinNotImplementedError":
                raise UncheckableError(
                    f"{cell.name} asks for input, which a check cannot give; the tag skip-execution"
                    " leaves it out"
                ) from None
            shown = [each for each in node.outputs if each.output_type == "error"]
            told = shown[-1] if shown else error  # a reply lacks errors in showing the result
            lines = f"{told.ename}: {told.evalue.strip()}".splitlines()
            return lines[0].strip().removesuffix(":").removesuffix(".")
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
            await _end_group(group)

    async def prepare(self) -> None:
        """Check that the extension is loaded, and seed, without firing a cell's events."""
        try:
            told = await self.ask(Prepare(self._options.seed))
        except Exception as error:
            raise UncheckableError(self._not_started(error)) from error
        if not told.get("ready"):
            raise UncheckableError(
                f"its kernel {self._name!r} cannot load ipytorchseed; install it in that kernel's"
                " environment, or choose another with --kernel"
            )

    async def ask(self, question: Question) -> Mapping[str, Any]:
        """Ask the extension in the kernel; return its answer, empty if there is none."""
        ident = type(self._kc).execute(  # not the replacement that `start` installed
            self._kc,
            "",
            silent=True,
            user_expressions={"answer": expression(question)},
            allow_stdin=False,
        )
        reply: dict[str, Any] | None = await self._client.async_wait_for_reply(ident)
        said = (reply or {}).get("content", {}).get("user_expressions", {}).get("answer", {})
        told: dict[str, Any] = said.get("data", {}).get("application/json", {})
        return told

    def _not_started(self, error: Exception) -> str:
        said = str(error).partition("\n")[0] or type(error).__name__
        return (
            f"its kernel {self._name!r} does not start: {self._last_words().lstrip(': ') or said}"
        )

    def _last_words(self) -> str:
        """Return the last line that the process wrote to standard error, after a colon."""
        with suppress(OSError):
            lines = self._errors.read_text(errors="replace").split("\n")
            written = [line.strip() for line in lines if line.strip()]
            return f": {written[-1]}" if written else ""
        return ""


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


async def _keep_polling(client: AsyncKernelClient) -> None:
    """Poll regularly for a reply, because nbclient may miss it.

    A ZeroMQ socket announces a message once, possibly to code that is sending on it. nbclient sends
    back what ``ipywidgets.Output`` shows, and then waits forever for the cell's reply
    (https://github.com/jupyter/nbclient/issues/312; ``ZMQ_FD`` in
    http://api.zeromq.org/4-3:zmq-getsockopt). A second poller makes the socket announce it again.
    """
    socket: Any = client.shell_channel.socket
    while True:
        await asyncio.sleep(_POLL)
        await socket.poll(1)


async def _end_group(group: int | None) -> None:
    """Kill the processes that a kernel left behind, and wait until they have ended."""
    if group is None or os.name != "posix":
        return
    import signal

    until = time.monotonic() + _GONE
    while time.monotonic() < until:
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # macOS raises the latter for zombies
            return
        await asyncio.sleep(0.01)
