"""Starts kernels faster, by forking a process that has done the slow imports.

A cold kernel takes seconds to import IPython, the extension and torch. A fork server imports them
once, and each kernel is a fork of the server. Imported packages are hidden in a fork: numpy and
torch are not in ``sys.modules`` until a cell imports them. Such an import adds all modules that it
would load. The modules of the extension are added one by one.

Some differences from a cold kernel remain. All forks of a server have the same hash seed and the
same addresses of objects. Libraries read environment variables when they are loaded, so there is a
server for each set of environment variables.
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

# Whether kernels can be forked: on other systems, libraries do not support this.
CAN_FORK = sys.platform == "linux" and hasattr(os, "pidfd_open")

# The signal that makes a kernel and its children write the stacks of all threads to standard error.
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

# Modules that a kernel imports when it starts, and some that it imports later.
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
    """Forks kernels of this Python. Other kernels start as usual."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> dict[str, Any]:
        """Start a kernel, as a fork if it runs this Python."""
        if cmd[:3] != [sys.executable, "-m", "ipykernel_launcher"]:
            return await super().launch_kernel(cmd, **kwargs)
        env, folder = dict(kwargs.get("env") or os.environ), str(kwargs.get("cwd") or Path.cwd())
        outputs = kwargs.get("stdout") or 1, kwargs.get("stderr") or 2
        self.process = server_for(env).fork(cmd[3:], folder, env, outputs)
        self.pid = self.pgid = self.process.pid
        self.cwd = folder
        return self.connection_info

    async def kill(self, restart: bool = False) -> None:
        """End the kernel, and wait until it has ended.

        Without waiting, the manager would check again only after 0.1 s.
        """
        await super().kill(restart)
        if isinstance(self.process, Forked):
            self.process.wait()


@contextlib.contextmanager
def forking() -> Iterator[None]:
    """Fork the kernels that nbclient and the package start inside the context."""
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
    """Return the fork server for an environment. Start it if there is none."""
    early = {name: value for name, value in env.items() if not name.startswith(LATE)}
    key = frozenset(early.items())
    with _starting:
        if key not in _servers:
            _servers[key] = ForkServer(early)
        return _servers[key]


def stop_servers() -> None:
    """Stop all fork servers. The next kernel starts a new one."""
    with _starting:
        while _servers:
            _servers.popitem()[1].stop()


class ForkServer:
    """A process whose forks are kernels.

    It ends when this process ends, and its kernels end after it.

    Args:
        env: The environment variables of the server.
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
            words: The words of the kernel's command line.
            folder: The kernel's working folder.
            env: The kernel's environment variables.
            outputs: Files or descriptors for the kernel's standard output and standard error.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        files = [file if isinstance(file, int) else file.fileno() for file in outputs]
        with theirs:
            request = json.dumps([words, folder, env]).encode()
            socket.send_fds(self._requests, [request], [theirs.fileno(), *files])
        return Forked(ours)

    def stop(self) -> None:
        """End the server. Its kernels must have ended before."""
        self._requests.close()
        self._process.wait()


class Forked:
    """A forked process, with the methods of ``Popen`` that provisioners use.

    Args:
        told: A pipe from which the process id and, later, the exit code are read.
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
        """Return the exit code, or None if the process is running."""
        with contextlib.suppress(BlockingIOError):
            self._receive(socket.MSG_DONTWAIT)
        return self.returncode

    def wait(self) -> int | None:
        """Wait until the process has ended; return its exit code."""
        self._receive(0)
        return self.returncode

    def _receive(self, flags: int) -> None:
        if self.returncode is None:
            self.returncode = int(self._told.recv(20, flags) or -signal.SIGKILL)
            self._told.close()

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, if it is running."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End the process at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask the process to end."""
        self.send_signal(signal.SIGTERM)


# --------------------------------------------------------------------------------------------------
# In the fork server, and in the kernels


def serve(requests: socket.socket) -> tuple[list[str], str, dict[str, str]]:
    """Fork for each request, and report the exit code of each fork.

    This function returns only in forks. The server exits in it when its client is gone.

    Returns:
        The request: the words of the command line, the working folder, the environment variables.
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
    """Send the exit code of a fork that has ended to the client."""
    pid, told = key.data
    waiting.unregister(key.fileobj)
    os.close(key.fd)
    _, status = os.waitpid(pid, 0)
    with told, contextlib.suppress(OSError):  # the reader may be gone
        told.send(str(os.waitstatus_to_exitcode(status)).encode())


def _let_go(waiting: selectors.BaseSelector, outputs: list[int]) -> None:
    """Redirect the outputs of a fork, and close the server's files in it."""
    for ours, theirs in enumerate(outputs, start=1):
        os.dup2(theirs, ours)
        os.close(theirs)
    for key in waiting.get_map().values():
        os.close(key.fd)
        if key.data is not None:
            key.data[1].close()


def main() -> None:
    """Import what kernels import, serve requests, and run a kernel in each fork."""
    from hidden_modules import HiddenExtension, HiddenLibraries

    del sys.path[0]  # this file's folder
    del sys.modules["hidden_modules"]
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # ipykernel reads it when it is imported
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # avoids a warning of the debugger
    for name in EVERY_KERNEL:
        importlib.import_module(name)
    keep_entry_points()
    extension = HiddenExtension()
    sys.meta_path.insert(0, extension)
    libraries = HiddenLibraries()
    extension.hide()
    gc.freeze()  # a collection in a fork would write to, and so copy, all imported objects
    with warnings.catch_warnings():  # Python warns of numpy's threads, but forks do not use these
        warnings.simplefilter("ignore", DeprecationWarning)
        words, folder, env = serve(socket.socket(fileno=int(sys.argv[1])))
    sys.argv = [importlib.util.find_spec("ipykernel_launcher").origin, *words]
    os.chdir(folder)
    parent = os.environ["JPY_PARENT_PID"]
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=parent)
    libraries.renew()
    faulthandler.register(TELL_STACKS, os.dup(sys.stderr.fileno()))  # ipykernel redirects stderr
    first = [*filter(None, env.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path[:] = [*first, *(each for each in sys.path if each not in first)]
    sys.meta_path.insert(0, libraries)
    importlib.import_module("ipykernel.kernelapp").launch_new_instance()
    end()


def keep_entry_points() -> None:
    """Cache the entry points of installed packages, so that forks need not read them."""
    kept = {str(each._path): each.entry_points for each in metadata.distributions()}
    read = metadata.Distribution.entry_points

    def entry_points(self: Any) -> metadata.EntryPoints:
        found = kept.get(str(self._path))
        return read.__get__(self) if found is None else found

    metadata.PathDistribution.entry_points = property(entry_points)


def end() -> NoReturn:
    """Exit like Python does, but without clearing modules.

    Clearing would copy the memory of all modules, which takes longer than most kernels run.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
