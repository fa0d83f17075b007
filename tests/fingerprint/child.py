"""Runs what may kill a process in its own process."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# The prefix of files that a test process and its children create, and that it removes.
PREFIX = f"lost-{os.getpid()}-"


def in_child(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a forked child; return its result, by way of JSON.

    Raises:
        AssertionError: it failed, or a signal ended the child.
    """
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(out)
            faulthandler.disable()
            torch.set_num_threads(1)  # the pool of threads was left behind
            told = json.dumps(function(*args))
            status = 0
        except BaseException:  # noqa: BLE001 -- told to the parent
            told = traceback.format_exc()
        with os.fdopen(into, "w") as pipe:
            pipe.write(told)
        os._exit(status)
    os.close(into)
    with os.fdopen(out) as pipe:
        told = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status >= 0, f"ended by signal {signal.Signals(-status).name}"
    assert status == 0, told
    return json.loads(told)


def removes_files() -> Iterator[None]:
    """Remove the files and the shared memory that the makers of lost values left."""
    yield
    shared = Path("/dev/shm") if sys.platform == "linux" else None  # noqa: S108 -- listed only
    for folder, pattern in (
        (Path(tempfile.gettempdir()), f"{PREFIX}*"),
        (shared, f"torch_{os.getpid()}_*"),
    ):
        for path in folder.glob(pattern) if folder else ():
            path.unlink(missing_ok=True)
