"""Tasks for engines, each given to another where its engine dies."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

from ipytorchseed.cluster.clients import explain, import_ipyparallel
from ipytorchseed.errors import LookupFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import TypeVar

    T = TypeVar("T")

_TURN = 0.3
"""Seconds between two looks at what is done."""

_TRIES = 3
"""Engines that may be lost with one task: it may be what ends them."""

_DIED = ("EngineError", "ImpossibleDependency")
"""What the scheduler says of a task whose engine died, and of one whose engines all did."""


class Lost(LookupFailure):
    """A task that was not done, because engines died."""


def spread(  # noqa: PLR0913 -- most by name
    client: Any,  # noqa: ANN401 -- an ipyparallel.Client
    function: Callable[..., T],
    tasks: Mapping[str, tuple[Any, ...]],
    *,
    done: Callable[[str, T | LookupFailure], object],
    told: Callable[[str], object],
    turn: Callable[[], object] = lambda: None,
    engines: Collection[int] = (),
) -> None:
    """Call a function on engines, once for each task, and wait for all.

    What engines print is not shown. An interrupt ends what is under way there, and what waits.

    Args:
        client: Connected to the engines.
        function: One that they can import.
        tasks: Its arguments, by the task's name.
        done: Called with each task's name, as it ends, and what came of it: what the function
            returned, or why it did not; ``Lost`` where engines died.
        told: Called with a sentence when an engine dies.
        turn: Called several times a second meanwhile.
        engines: Those to use; none for all that are there now.

    Raises:
        KeyboardInterrupt: The user interrupts it.
    """
    alive = {*(engines or client.ids)}
    tries = dict.fromkeys(tasks, 0)
    open_ = [*tasks]
    waiting: dict[Any, str] = {}
    try:
        while open_ or waiting:
            gone = alive - {*client.ids}
            alive -= gone
            for engine in sorted(gone):
                told(f"Engine {engine} was lost; what it had begun went to others.")
            if not alive:
                for name in [*open_, *waiting.values()]:
                    done(name, Lost("no engine is left"))
                waiting.clear()
                return
            view = client.load_balanced_view(targets=sorted(alive))
            waiting |= {view.apply_async(function, *tasks[name]): name for name in open_}
            open_ = []
            client.wait([*waiting], timeout=_TURN)
            turn()
            for result in [each for each in waiting if each.ready()]:
                name, came = waiting.pop(result), _take(result)
                tries[name] += isinstance(came, Lost)
                if isinstance(came, Lost) and tries[name] < _TRIES:
                    open_.append(name)
                else:
                    done(name, came)
    finally:
        if waiting:
            client.abort([*waiting], block=False)
            client.send_signal(signal.SIGINT, block=False)


def _take(result: Any) -> Any:  # noqa: ANN401 -- an AsyncResult; what came of it
    try:
        return result.get()
    except import_ipyparallel().error.RemoteError as raised:
        if raised.ename in _DIED:
            return Lost(f"{_TRIES} engines died with it, one after the other")
        return LookupFailure(explain(raised))
