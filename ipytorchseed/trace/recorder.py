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
from ipytorchseed.trace.places import Lines, ModulePaths, Place
from ipytorchseed.trace.probe import Probe
from ipytorchseed.trace.recording import Recording, Tables, Thread
from ipytorchseed.trace.watching import watch_class

if TYPE_CHECKING:
    from ipytorchseed.trace.file import TraceFile  # which imports numpy


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
    """Run a thread with its mode on top of the others."""
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
        tables: Shared with the recordings to compare with.
        lines: Finds the line of the cell.
        names: The user's namespace, for the names of modules and generators.
        digests: Whether to digest inputs and results.
        draws: Called for each operation that draws.
        probe: Examines one operation.
        progress: Called regularly with the number of operations so far.
        fill: A byte to fill the uninitialized memory of operations such as ``empty``. Two runs
            with different bytes differ only if it is read before it is written.
        keep: Whether to keep a record of each operation, or only the last one's place.
        file: The file for operations, instead of memory.

    Attributes:
        recording: What was recorded so far.
        place: The place of the last operation.
    """

    tables: Tables
    lines: Lines
    names: Mapping[str, Any]
    digests: bool = True
    draws: Draws | None = None
    probe: Probe | None = None
    progress: Callable[[int], None] | None = None
    fill: int | None = None
    keep: bool = True
    file: TraceFile | None = None
    place: Place | None = None
    active: bool = False

    def __post_init__(self) -> None:
        self.recording = Recording(self.tables)
        self.modules = ModulePaths(self.names)
        self._process = os.getpid()
        self._modes: list[Any] = []
        self._made: list[Any] = []
        self._replaced = Replacements()

    def __enter__(self) -> Self:
        mode = self.watch()
        self.active = True
        self.modules.attach()
        watch_threads(lambda: self.watch() if self.active else None, self._replaced)
        if self.file is not None:
            watch_graphs(self._run_graph, self._replaced)
        mode.__enter__()
        self._modes.append(mode)
        return self

    def __exit__(self, *raised: object) -> None:
        self.active = False
        while self._modes:
            self._modes.pop().__exit__(None, None, None)
        self._replaced.put_back()
        while self._made:  # a thread that lives on keeps its mode
            self._made.pop().let_go()
        self.modules.detach()
        if self.draws is not None:
            self.recording.drawn = self.draws.all
        if self.file is not None:
            try:
                self.file.close(self.recording.notes)
            except Exception as error:  # noqa: BLE001 -- a full disk: the user's code goes on
                self._tell(error)

    def watch(self) -> Any:  # a TorchDispatchMode
        """Return the dispatch mode of a further thread, with its own list of operations."""
        thread, number = Thread(), len(self.recording.threads)
        self.recording.threads.append(thread)
        mode = watch_class()(self, thread, None if self.file is None else self.file.track(number))
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
        self.recording.notes.append(f"{told}{in_brief(error)}")

    @property
    def count(self) -> int:
        """How many operations were recorded so far."""
        return self.recording.count if self.file is None else self.file.count

    def tick(self) -> None:
        """Report the number of operations so far."""
        if self.progress is not None:
            self.progress(self.count)

    @property
    def elsewhere(self) -> bool:
        """Whether this is another process, such as a forked worker of a DataLoader."""
        return os.getpid() != self._process
