"""Records the connections that a cell opens or writes to, by host and port."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable
from types import FrameType
from typing import Any

from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.session.importing import ImportWatch

# The maximum number of connections to record for one run.
_MOST = 16

# Prefixes of addresses of this machine.
_LOCAL = ("127.", "::1", "::ffff:127.", "0.0.0.0", "localhost")  # noqa: S104 -- nothing is bound

# The module of thread pools, whose threads may run functions of later cells.
_POOL = "concurrent.futures.thread"

# Packages that connect processes on this machine, for kernels, pools or distributed training.
_BETWEEN_PROCESSES = frozenset({
    "IPython", "accelerate", "ipykernel", "ipyparallel", "ipytorchseed", "joblib", "jupyter_client",
    "lightning", "lightning_fabric", "multiprocessing", "pytorch_lightning", "torch", "zmq",
})  # fmt: skip


class Connections:
    """The connections that the running cell opens.

    These connections are not recorded:

    * connections of threads that are older than the run, except in a pool that runs user code;
    * connections between processes on this machine, if a package opens them;
    * connections that a package opens at its import, which a second run would not open.

    Args:
        imports: Tells whether a package is being imported.

    Attributes:
        opened: The connections, such as ``example.org:443`` or the path of a socket. The values
            are None.
    """

    def __init__(self, imports: ImportWatch) -> None:
        self._imports = imports
        self.opened: dict[str, None] = {}
        self._hosts: dict[str, str] = {}
        self._others: set[int | None] = set()

    def start(self) -> None:
        """Start recording."""
        others = {each.ident for each in threading.enumerate()}
        self._others = others - {threading.get_ident()}

    def resolves(self, host: str, addresses: Iterable[str]) -> None:
        """Record the addresses of a host, so that connections to them can be named."""
        self._hosts.update((each, host) for each in addresses if each != host)

    def connects(self, family: int, address: Any, frame: FrameType) -> None:  # noqa: ANN401
        """Record a connection that is about to be opened or written to.

        Args:
            family: The family of the socket, such as ``socket.AF_INET``.
            address: The address to which the socket connects.
            frame: The frame that calls the socket's method.
        """
        if len(self.opened) >= _MOST or self._imports.inside:
            return
        unix = family == getattr(socket, "AF_UNIX", None)
        if unix:
            name, local = os.fsdecode(address).replace("\0", "@", 1), True  # NUL if abstract
        elif family in (socket.AF_INET, socket.AF_INET6):
            host, port = os.fsdecode(address[0]), int(address[1])
            local = host.startswith(_LOCAL) or not host
            host = self._hosts.get(host, host) or "localhost"
            name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        else:  # netlink, Bluetooth
            return
        if name not in self.opened:
            user, between_processes, in_pool = _find_callers(frame)
            ours = threading.get_ident() not in self._others or (in_pool and user)
            # In an event loop, user code is not among the callers.
            if ours and (not local or (not between_processes and (user or not unix))):
                self.opened[name] = None


def _find_callers(frame: FrameType | None) -> tuple[bool, bool, bool]:
    """Return facts about the call stack of a socket's method.

    Returns:
        Whether it contains user code; whether it contains a package that connects processes,
        called by user code if there is any; and whether the thread belongs to a thread pool.
    """
    user = between_processes = in_pool = False
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        in_pool |= module == _POOL
        user |= module == "__main__" or not is_installed_file(frame.f_code.co_filename)
        if not user:
            between_processes |= module.partition(".")[0] in _BETWEEN_PROCESSES
        frame = frame.f_back
    return user, between_processes, in_pool
