"""Captures what a cell prints and displays, without hiding it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from ipytorchseed.introspection.replacing import Replacements

if TYPE_CHECKING:
    from ipytorchseed.session.outputs import OutputWatch

# Methods that write ``Out[...]`` in a terminal; the result itself is recorded separately.
_HOOKS = ("write_output_prompt", "finish_displayhook")

# The method that writes a traceback; the error itself is recorded separately.
_TRACEBACK = "_showtraceback"


class OutputCapture:
    """A listener to a kernel's outputs while a cell runs.

    The methods that write are wrapped on the objects themselves, so that references to the objects
    stay valid. IPython restores such methods after each cell, so they are wrapped again for each
    cell. A terminal prints results, displays and tracebacks; they do not count as printed by the
    cell.

    Args:
        shell: The running shell.
        find: Returns the outputs to record to; None if nothing is recorded now.
    """

    def __init__(self, shell: InteractiveShell, find: Callable[[], OutputWatch | None]) -> None:
        self._shell: Any = shell
        self._publisher: Any = shell.display_pub
        self._hook: Any = shell.displayhook
        self._stream: Any = sys.stdout
        self._find = find
        self._replaced = Replacements()
        self._round = object()
        self._showing = 0  # the thread that shows a result, a display or a traceback

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to capture."""
        self.stop()
        write = self._stream.write
        watcher = getattr(getattr(self._stream, "watch_fd_thread", None), "ident", None)
        mine = self._round

        def captured_write(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- as the original
            __tracebackhide__ = True  # tracebacks show only the user's frames
            captured = self._round is mine and (thread := get_ident()) != self._showing
            if captured and args and isinstance(args[0], str):
                piped = thread == watcher  # ipykernel forwards programs and native code
                self._note("piped" if piped else "printed", str.__str__(args[0]))  # no user code
            return write(*args, **kwargs)

        def noting(show: Callable[..., Any], what: str, *first: str) -> Callable[..., Any]:
            """Wrap ``show`` to record each call, with its first argument if ``first`` is set."""

            def noted(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- as the original
                __tracebackhide__ = True
                if self._round is mine and not kwargs.get("update"):
                    self._note(what, *(args[0] if args else kwargs.get(each, {}) for each in first))
                return show(*args, **kwargs)

            return noted

        self._showing = 0
        hook, publisher = self._hook, self._publisher
        if self._shell.system == self._shell.system_raw:  # its output bypasses sys.stdout
            self._replaced.put(self._shell, "system", noting(self._shell.system, "passed_by"))
        publish = noting(publisher.publish, "displayed", "data")
        write_result = noting(hook.write_format_data, "resulted", "format_dict")
        for holder, name, ours in (
            (self._stream, "write", captured_write),
            (publisher, "publish", self._uncaptured(publish)),
            (hook, "write_format_data", self._uncaptured(write_result)),
            *((hook, name, self._uncaptured(getattr(hook, name))) for name in _HOOKS),
            (self._shell, _TRACEBACK, self._uncaptured(getattr(self._shell, _TRACEBACK))),
        ):
            with suppress(AttributeError):  # a stream without settable attributes
                self._replaced.put(holder, name, ours)

    def _note(self, how: str, *told: Any) -> None:
        """Call a method of the outputs; the cell's output appears even if it fails."""
        __tracebackhide__ = True
        try:
            outputs = self._find()
            if outputs is not None:
                getattr(outputs, how)(*told)
        except KeyboardInterrupt as interrupt:  # the cell raises it: hide our frames
            raise interrupt.with_traceback(None) from None
        except Exception:  # noqa: BLE001 -- an error of ours
            self._round = object()

    def _uncaptured(self, show: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``show`` so that what it prints is not recorded."""

        def shown(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- as the original
            __tracebackhide__ = True
            self._showing = get_ident()
            try:
                return show(*args, **kwargs)
            finally:
                self._showing = 0

        return shown

    def stop(self) -> None:
        """Stop capturing, and restore the objects. Wrappers by other code stay."""
        self._round = object()  # wrappers that others hold record nothing
        self._replaced.put_back()
