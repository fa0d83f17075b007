"""Calls a function in a process with limited memory and time."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import sys
import warnings
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from typing import Self

# Bytes that a call may allocate.
MEMORY = 1 << 30

# Seconds that a call may take.
SECONDS = 20


class LimitError(Exception):
    """A call exceeded its limit of memory or time."""


class LimitedCalls:
    """A function that runs in a forked process, which is forked again if it dies.

    Args:
        function: The function. Its results and exceptions must be picklable.
        memory: The bytes that the function may allocate.
        seconds: The seconds that a call may take.
    """

    def __init__(
        self, function: Callable[..., Any], *, memory: int = MEMORY, seconds: int = SECONDS
    ) -> None:
        self._function, self._memory, self._seconds = function, memory, seconds
        self._pipe: Connection | None = None
        self._process: multiprocessing.Process | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def __call__(self, *args: Any) -> Any:
        """Call the function.

        Raises:
            LimitError: The call exceeded the limit of memory or time.
            Exception: Whatever the function raises.
        """
        if self._process is None:
            self._start()
        try:
            self._pipe.send(args)
            failed, result = self._pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            self._stop()
            raise LimitError(f"the process ended with exit code {code}") from None
        if failed:
            raise result
        return result

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=self._serve, args=(other, self._pipe), daemon=True)
        with warnings.catch_warnings():  # Python warns of threads, but the child uses none
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        other.close()

    def _stop(self) -> None:
        if self._process is not None:
            self._pipe.close()  # ends the process
            self._process.kill()
            self._process.join()
            self._process.close()
            self._pipe = self._process = None

    # -- in the process ----------------------------------------------------------------------------

    def _serve(self, pipe: Connection, other: Connection) -> None:
        """Answer calls until the other end of the pipe is closed."""
        other.close()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # an alarm ends the process, even in C code
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if sys.platform == "linux":  # other systems ignore this limit
            most = psutil.Process().memory_info().vms + self._memory
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        with contextlib.suppress(EOFError):
            while True:
                args = pipe.recv()
                signal.alarm(self._seconds)
                reply = self._reply(args)
                signal.alarm(0)
                pipe.send(reply)
        os._exit(0)

    def _reply(self, args: tuple[Any, ...]) -> tuple[bool, Any]:
        try:
            return False, self._function(*args)
        except MemoryError:
            return True, LimitError("out of memory")
        except Exception as error:  # noqa: BLE001 -- raised again in the caller
            return True, error
