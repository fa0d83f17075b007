"""Records the operations of a run in all of its threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct

from ipytorchseed.errors import in_brief
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.trace.compiled import pass_lengths_as_numbers, watch_graphs
from ipytorchseed.trace.draws import Draws
from ipytorchseed.trace.format import Place
from ipytorchseed.trace.places import Lines, ModulePaths
from ipytorchseed.trace.watching import watch_class

if TYPE_CHECKING:
    from ipytorchseed.trace.file import Trace  # which imports numpy


class Recorder(Struct, dict=True, eq=False):
    """A recorder of every torch operation inside a ``with`` block.

    Args:
        lines: Finds the line of the cell.
        names: The user's namespace, for the names of modules and generators.
        draws: Records the draws of operations.
        fill: A number. New memory of operations such as ``empty`` is filled with bytes derived from
            it, and these operations are recorded too. If two runs with different numbers differ in
            other operations, memory was read before it was written. If None, new memory is not
            filled.
        trace: Records operations with their inputs and results.

    Attributes:
        place: The place of the last operation.
        active: Whether operations are being recorded.
        notes: Clauses about what could not be recorded.
    """

    lines: Lines
    names: Mapping[str, Any]
    draws: Draws | None = None
    fill: int | None = None
    trace: Trace | None = None
    place: Place | None = None
    active: bool = False

    def __post_init__(self) -> None:
        self.notes: list[str] = []
        self.modules = ModulePaths(self.names)
        self._made: list[Any] = []
        self._end = ExitStack()
        self._replaced = self._end.enter_context(Replacements())

    def __enter__(self) -> Self:
        mode = self.watch()
        self.active = True
        self.modules.attach(self._end)
        pass_lengths_as_numbers(self._replaced)
        self._watch_threads()
        if self.trace is not None:
            watch_graphs(self._run_graph, self._replaced)
        mode.begin()
        mode.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self.active = False
        self._made[0].__exit__(None, None, None)
        self._end.close()
        for mode in self._made:  # threads that are still running keep their modes
            mode.let_go()
        if self.trace is not None:
            try:
                self.trace.close(self.notes)
            except Exception as error:  # noqa: BLE001 -- a full disk must not end the user's code
                self._tell(error)

    def watch(self) -> Any:  # a TorchDispatchMode
        """Return a new dispatch mode for a thread, with its own track."""
        track = self.trace.track(len(self._made)) if self.trace else None
        self._made.append(mode := watch_class()(self, track))
        return mode

    def _watch_threads(self) -> None:
        """Give each new thread its own dispatch mode.

        Dispatch modes belong to a thread. torch passes them on to autograd threads, but not to
        Python's threads. Threads that are already running are not changed.
        """
        from torch.utils import _python_dispatch as dispatch

        start = threading.Thread.start

        def started(thread: threading.Thread) -> None:
            if self.active:
                run, mode = thread.run, self.watch()  # here, to number threads as they start

                def watched() -> None:
                    vars(thread).pop("run", None)
                    mode.begin()
                    dispatch._push_mode(mode)  # noqa: SLF001 -- `with` also saves process flags
                    try:
                        run()
                    finally:
                        dispatch._pop_mode()  # noqa: SLF001 -- as above

                thread.run = watched  # type: ignore[method-assign]
            start(thread)

        self._replaced.put(threading.Thread, "start", started)

    def _run_graph(self, graph: Any, inputs: Any, run: Callable[[Any, Any], Any]) -> Any:
        from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

        modes: list[Any] = _get_current_dispatch_mode_stack() if self.active else []
        for mode in modes:
            if getattr(mode, "recorder", None) is self:
                return mode.run_graph(graph, inputs, run)
        return run(graph, inputs)

    def fail(self, error: Exception) -> None:
        """Stop recording after an internal error. The user's code continues."""
        if self.active:  # otherwise, another thread has already stopped it
            self.active = False
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        count = f"{self.count:,} operations"
        self.notes.append(f"recording stopped after {count}: {in_brief(error)}")

    @property
    def count(self) -> int:
        """The number of operations that ran so far."""
        return sum(mode.count for mode in self._made)

    @property
    def threads(self) -> int:
        """The number of recorded threads: the cell's own, and threads that it started."""
        return len(self._made)
