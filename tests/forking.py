"""Starts kernels faster, as forks of a process that has done the slow imports.

A cold kernel takes seconds to import IPython, the extension and torch. A fork server imports them
once, and each kernel is a fork of it. Packages that users import are then hidden: a forked kernel
has neither numpy nor torch in ``sys.modules`` before a cell imports it. The import then shows all
modules that it would load. The modules of the extension are shown one by one.

Some differences remain: all forks of a server share its hash seed and its addresses. Libraries read
the environment when they are loaded, so each environment has its own server.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import gc
import importlib
import importlib.util
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import warnings
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NoReturn

# Whether kernels can be forked here: libraries of other systems do not support it.
CAN_FORK = sys.platform == "linux" and hasattr(os, "pidfd_open")

# Makes a forked kernel and its children write the stack of each thread to standard error.
TELL_STACKS = signal.SIGRTMAX if CAN_FORK else None

# Prefixes of environment variables that nothing reads before the kernel starts.
LATE = (
    "BOOK_MARK",
    "GITHUB_ACTIONS",
    "GIT_",
    "HOME",
    "IPYTHONDIR",
    "IPYTORCHSEED_",
    "JPY_",
    "PYTEST_",
    "PYTHONPATH",
    "PY_COLORS",
    "RANK",
    "USERPROFILE",
)

# Modules that a kernel imports at its start, and some of the standard library.
EVERY_KERNEL = (
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "tornado.platform.asyncio",
    "sqlite3",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.logger",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "importlib.resources.readers",
    "tomllib",
)


# --------------------------------------------------------------------------------------------------
# In the process of the tests


class ForkProvisioner(LocalProvisioner):
    """Starts Python's kernels as forks.

    Other kernels start as usual.
    """

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> dict[str, Any]:
        """Start a kernel, as a fork if it is one of this Python's."""
        if cmd[:3] != [sys.executable, "-m", "ipykernel_launcher"]:
            return await super().launch_kernel(cmd, **kwargs)
        env, folder = dict(kwargs.get("env") or os.environ), str(kwargs.get("cwd") or Path.cwd())
        outputs = kwargs.get("stdout") or 1, kwargs.get("stderr") or 2
        self.process = server_for(env).fork(cmd[3:], folder, env, outputs)
        self.pid = self.pgid = self.process.pid
        self.cwd = folder
        return self.connection_info

    async def kill(self, restart: bool = False) -> None:
        """End the kernel, and wait for it.

        Otherwise the manager checks again after a tenth of a second.
        """
        await super().kill(restart)
        if isinstance(self.process, Forked):
            self.process.wait()


@contextlib.contextmanager
def forking() -> Iterator[None]:
    """Fork the kernels that nbclient and the package start in this process."""
    factory = KernelProvisionerFactory.instance()
    entry = metadata.EntryPoint(
        "fork", f"{__name__}:{ForkProvisioner.__name__}", factory.GROUP_NAME
    )
    factory.provisioners[entry.name] = entry
    usual = factory.default_provisioner_name
    factory.default_provisioner_name = entry.name if CAN_FORK else usual
    try:
        yield
    finally:
        factory.default_provisioner_name = usual


_servers: dict[frozenset[tuple[str, str]], ForkServer] = {}
_starting = threading.Lock()


def server_for(env: dict[str, str]) -> ForkServer:
    """Return the fork server for an environment; start it if there is none."""
    early = {name: value for name, value in env.items() if not name.startswith(LATE)}
    key = frozenset(early.items())
    with _starting:
        if key not in _servers:
            _servers[key] = ForkServer(early)
        return _servers[key]


def stop_servers() -> None:
    """Stop the fork servers. The next kernel starts one again."""
    with _starting:
        while _servers:
            _servers.popitem()[1].stop()


class ForkServer:
    """A process that is forked.

    It ends with this process, and its kernels end after it.

    Args:
        env: Its environment variables.
    """

    def __init__(self, env: dict[str, str]) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                env={**env, "PYTHONPATH": str(Path(__file__).parents[1])},  # this checkout's code
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def fork(
        self, words: list[str], folder: str, env: dict[str, str], outputs: Iterable[Any]
    ) -> Forked:
        """Fork a kernel.

        Args:
            words: The words of its command line.
            folder: Its working folder.
            env: Its environment variables.
            outputs: Files, or their numbers, for its standard output and standard error.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        files = [file if isinstance(file, int) else file.fileno() for file in outputs]
        with theirs:
            request = json.dumps([words, folder, env]).encode()
            socket.send_fds(self._requests, [request], [theirs.fileno(), *files])
        return Forked(ours)

    def stop(self) -> None:
        """End it. Its kernels must have ended."""
        self._requests.close()
        self._process.wait()


class Forked:
    """A forked process: of ``subprocess.Popen``, what a provisioner uses.

    Args:
        told: A pipe from which the fork's process id and later its exit code are read.
    """

    stdin = stdout = stderr = None

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        pid = told.recv(20)
        if not pid:
            raise RuntimeError("the fork server has ended: what it wrote says why")
        self.pid = int(pid)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        with contextlib.suppress(BlockingIOError):
            self._receive(socket.MSG_DONTWAIT)
        return self.returncode

    def wait(self) -> int | None:
        """Return its exit code as soon as there is one."""
        self._receive(0)
        return self.returncode

    def _receive(self, flags: int) -> None:
        if self.returncode is None:
            self.returncode = int(self._told.recv(20, flags) or -signal.SIGKILL)
            self._told.close()

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it runs: no matter who forked it may collect it first."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


# --------------------------------------------------------------------------------------------------
# In the fork server, and in the kernels


def serve(requests: socket.socket) -> tuple[list[str], str, dict[str, str]]:
    """Fork for each request, and report the exit code of each fork.

    Returns in every fork, with the request: words of the command line, the folder, the environment.
    The server ends here when its client is gone.
    """
    with selectors.DefaultSelector() as waiting:
        waiting.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is not requests:
                    _tell_end(waiting, key)
                    continue
                request, handles, _, _ = socket.recv_fds(requests, 1 << 20, 3)
                if not request:
                    os._exit(0)
                with socket.socket(fileno=handles.pop(0)) as told:
                    pid = os.fork()
                    if not pid:
                        os.setsid()
                        told.send(str(os.getpid()).encode())
                        _let_go(waiting, handles)
                        return json.loads(request)
                    waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, told.dup()))
                for handle in handles:
                    os.close(handle)


def _tell_end(waiting: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    """Return the exit code of a fork that has ended."""
    pid, told = key.data
    waiting.unregister(key.fileobj)
    os.close(key.fd)
    _, status = os.waitpid(pid, 0)
    with told, contextlib.suppress(OSError):  # the reader may be gone
        told.send(str(os.waitstatus_to_exitcode(status)).encode())


def _let_go(waiting: selectors.BaseSelector, outputs: list[int]) -> None:
    """In a fork, use its outputs and close the server's files."""
    for ours, theirs in enumerate(outputs, start=1):
        os.dup2(theirs, ours)
        os.close(theirs)
    for key in waiting.get_map().values():
        os.close(key.fd)
        if key.data is not None:
            key.data[1].close()


def main() -> None:
    """Import what kernels import, and become each of the kernels that are requested."""
    from hidden_modules import HiddenExtension, HiddenLibraries

    del sys.path[0]  # this file's folder
    del sys.modules["hidden_modules"]
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # ipykernel reads it as it is imported
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # or the debugger writes a warning here
    for name in EVERY_KERNEL:
        importlib.import_module(name)
    keep_entry_points()
    extension = HiddenExtension()
    sys.meta_path.insert(0, extension)
    libraries = HiddenLibraries()
    extension.hide()
    gc.freeze()  # a collection in a fork would touch, and so copy, all that was imported
    with warnings.catch_warnings():  # of numpy's threads, which bear a fork
        warnings.simplefilter("ignore", DeprecationWarning)
        words, folder, env = serve(socket.socket(fileno=int(sys.argv[1])))
    sys.argv = [importlib.util.find_spec("ipykernel_launcher").origin, *words]
    os.chdir(folder)
    parent = os.environ["JPY_PARENT_PID"]
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=parent)
    libraries.renew()
    faulthandler.register(TELL_STACKS, os.dup(sys.stderr.fileno()))  # ipykernel takes stderr's own
    first = [*filter(None, env.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path[:] = [*first, *(each for each in sys.path if each not in first)]
    sys.meta_path.insert(0, libraries)
    importlib.import_module("ipykernel.kernelapp").launch_new_instance()
    end()


def keep_entry_points() -> None:
    """Read the entry points of the installed packages once, and not in each kernel."""
    kept = {str(each._path): each.entry_points for each in metadata.distributions()}
    read = metadata.Distribution.entry_points

    def entry_points(self: Any) -> metadata.EntryPoints:
        found = kept.get(str(self._path))
        return read.__get__(self) if found is None else found

    metadata.PathDistribution.entry_points = property(entry_points)


def end() -> NoReturn:
    """Exit as Python does, but without clearing modules.

    That would copy the memory of all modules, which takes longer than most kernels run.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
