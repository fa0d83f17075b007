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
    from ipytorchseed.trace.file import TraceFile  # which brings numpy


def watch_threads(make: Callable[[], Any], replaced: Replacements) -> None:
    """Give each thread that is started a dispatch mode of its own, until all is put back.

    Modes are a thread's own; torch hands them on to its autograd threads, not to Python's. Threads
    under way keep theirs.

    Args:
        make: Returns the mode for a new thread, or None. Called in the starting thread, so that
            threads are told apart by the order in which they were started.
        replaced: Takes what is replaced.
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
    """Records every operation of torch's, forward and backward, while it is entered.

    Args:
        tables: Shared with the recordings that this one is to be compared with.
        lines: Finds the line of the cell.
        names: The user's namespace, for the names of modules and generators.
        digests: Whether to digest what operations are given and give.
        draws: Told of each operation that draws.
        probe: Looks closer at one operation.
        progress: Called now and then with the number of operations so far.
        fill: A byte with which to fill memory that operations such as ``empty`` give unwritten.
            Two runs with different bytes differ where it is read before it is written, and
            nowhere else.
        keep: Whether to keep a record of each operation, or only know the last one's place.
        file: Where operations are kept, instead of in memory.

    Attributes:
        recording: What was recorded so far.
        place: Where the last operation came from.
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
        """Make the dispatch mode of a further thread, which gets its own list of operations."""
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
        """Stop recording, as something of ours went wrong: the user's code goes on."""
        if self.active:  # else another thread has ended it meanwhile
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
        """Whether this is another process, such as a DataLoader's worker made by fork."""
        return os.getpid() != self._process
