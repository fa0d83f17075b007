"""Records a run operation by operation, in each of its threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct

from ipytorchseed.errors import in_brief
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.trace.compiled import watch_graphs
from ipytorchseed.trace.draws import Draws
from ipytorchseed.trace.format import Place
from ipytorchseed.trace.places import Lines, ModulePaths, Places
from ipytorchseed.trace.unwatched import pass_lengths_as_numbers
from ipytorchseed.trace.watching import watch_class

if TYPE_CHECKING:
    from ipytorchseed.trace.file import Trace  # which imports numpy


def watch_threads(make: Callable[[], Any], replaced: Replacements) -> None:
    """Give each new thread a separate dispatch mode, until everything is restored.

    Modes belong to a thread. torch passes them on to its autograd threads, not to Python's.
    Running threads keep theirs.

    Args:
        make: Returns the mode for a new thread, or None. Called in the starting thread, so that
            threads are identified by the order of their start.
        replaced: Restores what is replaced.
    """
    start = threading.Thread.start

    def started(thread: threading.Thread) -> None:
        mode = make()
        if mode is not None:
            run = thread.run
            thread.run = lambda: _run(thread, run, mode)  # type: ignore[method-assign]
        start(thread)

    replaced.put(threading.Thread, "start", started)


def _run(thread: threading.Thread, run: Callable[[], None], mode: Any) -> None:
    """Run a thread with its mode at the top of the others."""
    from torch.utils import _python_dispatch as dispatch

    vars(thread).pop("run", None)
    mode.begin()
    dispatch._push_mode(mode)  # noqa: SLF001 -- `with mode` would keep flags of the process
    try:
        run()
    finally:
        dispatch._pop_mode()  # noqa: SLF001 -- as above


class Recorder(Struct, dict=True, eq=False):
    """Records every torch operation, forward and backward, while entered.

    Args:
        lines: Finds the line of the cell.
        names: The user's namespace, for the names of modules and generators.
        draws: Called for each operation that draws.
        fill: A number to fill the uninitialized memory of operations such as ``empty`` with, which
            are then recorded too. Two runs with different numbers differ in other operations only
            if memory is read before it is written.
        trace: Where to record operations with their inputs and results; None to record none.

    Attributes:
        place: The place of the last operation.
        places: All of them.
        notes: What could not be seen, in words.
    """

    lines: Lines
    names: Mapping[str, Any]
    draws: Draws | None = None
    fill: int | None = None
    trace: Trace | None = None
    place: Place | None = None
    active: bool = False

    def __post_init__(self) -> None:
        self.places = Places()
        self.notes: list[str] = []
        self.modules = ModulePaths(self.names)
        self._process = os.getpid()
        self._made: list[Any] = []
        self._replaced = Replacements()

    def __enter__(self) -> Self:
        mode = self.watch()
        self.active = True
        self.modules.attach()
        pass_lengths_as_numbers(self._replaced)
        watch_threads(lambda: self.watch() if self.active else None, self._replaced)
        if self.trace is not None:
            watch_graphs(self._run_graph, self._replaced)
        mode.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self.active = False
        self._made[0].__exit__(None, None, None)
        self._replaced.put_back()
        for mode in self._made:  # a thread that lives on keeps its mode
            mode.let_go()
        self.modules.detach()
        if self.trace is not None:
            try:
                self.trace.close(self.notes)
            except Exception as error:  # noqa: BLE001 -- a full disk: the user's code goes on
                self._tell(error)

    def watch(self) -> Any:  # a TorchDispatchMode
        """Return the dispatch mode of a further thread, with its own track."""
        number = len(self._made)
        track = self.trace.track(number, self.places) if self.trace else None
        mode = watch_class()(self, track)
        self._made.append(mode)
        return mode

    def _run_graph(self, graph: Any, inputs: Any, run: Callable[[Any, Any], Any]) -> Any:
        from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

        modes: list[Any] = _get_current_dispatch_mode_stack() if self.active else []
        for mode in modes:
            if getattr(mode, "recorder", None) is self:
                return mode.run_graph(graph, inputs, run)
        return run(graph, inputs)

    def fail(self, error: Exception) -> None:
        """Stop recording after an internal error; the user's code goes on."""
        if self.active:  # else another thread has already ended it
            self.active = False
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        told = f"recording stopped after {self.count:,} operations: "
        self.notes.append(f"{told}{in_brief(error)}")

    @property
    def count(self) -> int:
        """How many operations ran so far."""
        return sum(mode.count for mode in self._made)

    @property
    def threads(self) -> int:
        """How many threads were watched: the cell's own, and those that it started."""
        return len(self._made)

    @property
    def elsewhere(self) -> bool:
        """Whether this is another process, such as a forked worker of a DataLoader."""
        return os.getpid() != self._process
