"""Connects to a cluster, and runs tasks on its engines.

If an engine dies, another engine gets its task.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import suppress
from typing import Any, TypeVar

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.errors import LookupFailure

T = TypeVar("T")


_START = "ipyparallel.Cluster(n=2).start_and_connect_sync()"


def import_ipyparallel() -> Any:  # a module
    """Import ipyparallel.

    Raises:
        LookupFailure: It is not installed.
    """
    try:
        import ipyparallel
    except ImportError:
        msg = '--engines needs ipyparallel: pip install "ipytorchseed[cluster]"'
        raise LookupFailure(msg) from None
    return ipyparallel


def find_client(values: Iterable[Any]) -> Any:  # an ipyparallel.Client
    """Return the last client in a namespace that is connected to a cluster.

    Args:
        values: The values of the user's namespace. A view counts as its client.

    Raises:
        LookupFailure: There is no client or no engine, or ipyparallel is not installed.
    """
    ipyparallel = import_ipyparallel()
    view = ipyparallel.client.view.View
    held = (value.client if issubclass(type(value), view) else value for value in values)
    clients = [each for each in held if issubclass(type(each), ipyparallel.Client)]
    clients = [each for each in clients if not each._closed]  # noqa: SLF001 -- no public attribute says it
    if not clients:
        raise LookupFailure(f"no ipyparallel cluster is connected here; for example: rc = {_START}")
    return _with_engines(clients[-1], "the connected cluster")


def connect(profile: str) -> Any:  # an ipyparallel.Client
    """Connect to the cluster of an IPython profile.

    Args:
        profile: The profile's name; empty for ``default``.

    Raises:
        LookupFailure: No cluster runs or answers, it has no engine, or ipyparallel is not
            installed.
    """
    ipyparallel, profile = import_ipyparallel(), profile or "default"
    what = f"profile {profile!r}"
    ways: list[Callable[[], Any]] = [lambda: ipyparallel.Client(profile=profile)]
    said = ""
    with suppress(Exception):  # IPython raises if the profile was never used
        running = ipyparallel.ClusterManager().load_clusters(profile=profile).values()
        ways = [*(each.connect_client_sync for each in running), *ways]
    for way in ways:
        try:
            return _with_engines(way(), what)
        except (OSError, ipyparallel.error.IPythonError) as error:
            said = str(error).partition("\n")[0].rstrip(".")
        except AttributeError:  # raised by ipyparallel if the cluster's controller is gone
            said = "its controller has stopped"
    more = "" if profile == "default" else f" --profile={profile}"
    msg = f"no cluster answers under {what} ({said}); for example: ipcluster start -n 4{more}"
    raise LookupFailure(msg)


def _with_engines(client: Any, what: str) -> Any:  # an ipyparallel.Client
    if not client.ids:
        raise LookupFailure(f"{what} has no engine now: wait for one, or start more")
    return client


def ask(view: Any, function: Callable[..., T], *given: object) -> list[T]:
    """Call a function on every engine of a view; return the results.

    Raises:
        LookupFailure: A call failed; the message says why, and what to do.
    """
    try:
        return [*view.apply_sync(function, *given)]
    except import_ipyparallel().error.RemoteError as raised:
        raise LookupFailure(explain(raised)) from None


def explain(raised: Any) -> str:  # an ipyparallel.error.RemoteError
    """Describe the first error that an engine raised, and what to do about it."""
    own = (raised.ename, raised.evalue, "", raised.engine_info)
    several = getattr(raised, "elist", None) or [own]
    name, said, _, where = several[0][:4]
    if name == LookupFailure.__name__:
        return str(said)
    if name == "ModuleNotFoundError" and "'ipytorchseed" in said:
        return "ipytorchseed is not installed where the engines run: install it there, too"
    unknown = re.match(r"Can't get attribute '(\w+)' on <module '__main__'", said)
    if name == "AttributeError" and unknown:
        return f"the engines do not know {unknown[1]}: put %%px --local on the cell that makes it"
    engine = where.get("engine_id", "?") if isinstance(where, dict) else "?"
    return f"engine {engine}: {name}: {said}".partition("\n")[0]


# Seconds between two checks for results.
_TURN = 0.3

# How often a task is tried if its engines die, and how many interrupts are sent to end it.
_TRIES = 3

# Seconds to wait for a task to end after an interrupt.
_PATIENCE = 3.0


class Lost(LookupFailure):
    """A task that was not done because its engines died."""


def spread(  # noqa: PLR0913 -- most by name
    client: Any,  # an ipyparallel.Client
    function: Callable[..., T],
    tasks: Mapping[str, tuple[Any, ...]],
    *,
    done: Callable[[str, T | LookupFailure], object],
    told: Callable[[str], object],
    turn: Callable[[], object] = lambda: None,
    engines: Collection[int] = (),
) -> None:
    """Call a function on engines, once for each task, and wait for all.

    What engines print is not shown. An interrupt ends all tasks.

    Each engine is sent one task at a time, and not by ipyparallel's scheduler: if an interrupt
    arrives while an engine sends its result, the result is lost, and the scheduler regards the
    engine as busy forever.

    Args:
        client: The client of the cluster.
        function: A function that the engines can import.
        tasks: The arguments of each call, by the task's name.
        done: Called when a task ends, with the task's name and the returned value or the error,
            which is ``Lost`` if engines died.
        told: Called with a sentence when an engine dies.
        turn: Called several times a second while tasks run.
        engines: The numbers of the engines to use; empty for all engines.

    Raises:
        KeyboardInterrupt: The user interrupted the tasks.
    """
    alive = {*(engines or client.ids)}
    tries = dict.fromkeys(tasks, 0)
    open_ = [*tasks]
    waiting: dict[int, tuple[str, Any]] = {}  # by engine: one task each
    try:
        while open_ or waiting:
            gone = alive - {*client.ids}
            alive -= gone
            for engine in sorted(gone):
                told(f"Engine {engine} was lost; another engine gets its task.")
            if not (alive or waiting):
                for name in open_:
                    done(name, Lost("no engine is left"))
                return
            for engine in sorted(alive - waiting.keys())[: len(open_)]:
                # Send and record a task without an interrupt in between; the engine may be gone.
                with suppress(IndexError), held_interrupts():
                    result = client[engine].apply_async(function, *tasks[open_[0]])
                    waiting[engine] = (open_.pop(0), result)
            wait([result for _, result in waiting.values()], _TURN, FIRST_COMPLETED)
            turn()
            for engine in [each for each, (_, result) in waiting.items() if result.ready()]:
                name, result = waiting.pop(engine)
                came = _take(result)
                tries[name] += 1
                if isinstance(came, Lost) and tries[name] < _TRIES:
                    open_.append(name)
                else:
                    done(name, came)
    finally:
        _end(client, {engine: result for engine, (_, result) in waiting.items()})


def _end(client: Any, waiting: Mapping[int, Any]) -> None:
    """End the tasks of engines; give up on a task that ignores interrupts."""
    if waiting:
        client.abort([*waiting.values()], block=False)  # the tasks that have not started
    for _ in range(_TRIES):  # an engine ignores an interrupt that arrives before its task starts
        busy = [engine for engine, result in waiting.items() if not result.ready()]
        there = sorted({*busy} & {*client.ids})
        if not there:
            return
        sent = client.send_signal(signal.SIGINT, there, block=False)
        client.wait([sent, *(waiting[engine] for engine in there)], timeout=_PATIENCE)


def _take(result: Any) -> Any:  # an AsyncResult; returns its outcome
    try:
        return result.get()
    except import_ipyparallel().error.RemoteError as raised:
        if raised.ename == "EngineError":
            return Lost(f"{_TRIES} engines died with it, one after the other")
        return LookupFailure(explain(raised))
