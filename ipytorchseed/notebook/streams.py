"""Captures what a cell prints and displays, without hiding it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.reads.own_lines import MARK

if TYPE_CHECKING:
    from ipytorchseed.session.outputs import Outputs

# Methods that write around ``Out[...]`` in a terminal; the result is recorded as a result.
_HOOKS = ("write_output_prompt", "finish_displayhook")

# The method that writes a traceback; the error is recorded as an error.
_TRACEBACK = "_showtraceback"


def _printed(outputs: Outputs, text: str) -> None:
    outputs.printed(str.__str__(text))  # without code of a subclass


def _piped(outputs: Outputs, text: str) -> None:
    outputs.piped(str.__str__(text))


def _displayed(outputs: Outputs, bundle: Any) -> None:  # noqa: ANN401 -- whatever is displayed
    outputs.displayed(bundle)


def _resulted(outputs: Outputs, bundle: Any) -> None:  # noqa: ANN401 -- as above
    outputs.resulted(bundle)


def _passed_by(outputs: Outputs) -> None:
    outputs.passed_by()


class OutputCapture:
    """Listens to a kernel's standard output and displays while a cell runs.

    The methods that write are wrapped on the objects themselves, so that references to the objects
    stay valid. IPython restores such methods after each cell, so they are wrapped again for each
    cell. A terminal prints results, displays and tracebacks; they do not count as printed by the
    cell.

    Args:
        shell: The running shell.
        find: Returns the outputs to record to; None if nothing is recorded now.
    """

    def __init__(self, shell: InteractiveShell, find: Callable[[], Outputs | None]) -> None:
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
        write, publish = self._stream.write, self._publisher.publish
        watcher = getattr(getattr(self._stream, "watch_fd_thread", None), "ident", None)
        mine = self._round

        def captured_write(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- as the original
            __tracebackhide__ = True  # tracebacks show only the user's frames
            captured = self._round is mine and (thread := get_ident()) != self._showing
            if captured and args and isinstance(args[0], str):
                piped = thread == watcher  # ipykernel forwards programs and native code
                self._note(_piped if piped else _printed, args[0])
            return write(*args, **kwargs)

        def captured_publish(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- as above
            __tracebackhide__ = True
            if self._round is mine and not kwargs.get("update"):
                bundle = args[0] if args else kwargs.get("data", {})
                self._note(_displayed, bundle)
            return publish(*args, **kwargs)

        write_result = self._hook.write_format_data

        def captured_result(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- as above
            __tracebackhide__ = True
            if self._round is mine:
                bundle = args[0] if args else kwargs.get("format_dict", {})
                self._note(_resulted, bundle)
            return write_result(*args, **kwargs)

        self._showing = 0
        if self._shell.system == self._shell.system_raw:  # not through standard output
            self._replaced.put(self._shell, "system", self._told(self._shell.system, mine))
        for holder, name, ours in (
            (self._stream, "write", captured_write),
            (self._publisher, "publish", self._uncaptured(captured_publish)),
            (self._hook, "write_format_data", self._uncaptured(captured_result)),
            *((self._hook, name, self._uncaptured(getattr(self._hook, name))) for name in _HOOKS),
            (self._shell, _TRACEBACK, self._uncaptured(getattr(self._shell, _TRACEBACK))),
        ):
            with suppress(AttributeError):  # a stream without settable attributes
                self._replaced.put(holder, name, ours)

    def _note(self, note: Callable[..., None], *told: Any) -> None:
        """Record what the cell shows; it is shown even if recording fails."""
        __tracebackhide__ = True
        try:
            outputs = self._find()
            if outputs is not None:
                note(outputs, *told)
        except KeyboardInterrupt as interrupt:  # it is the cell's: hide our frames
            raise interrupt.with_traceback(None) from None
        except Exception:  # noqa: BLE001 -- an error of ours
            self._round = object()

    def _told(self, run: Callable[..., Any], mine: object) -> Callable[..., Any]:
        """Wrap ``run`` to record that its programs may print."""

        def ran(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- as the original
            __tracebackhide__ = True
            if self._round is mine:
                self._note(_passed_by)
            return run(*args, **kwargs)

        return ran

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
        """Stop capturing, and restore the objects; wrappers around ours stay."""
        self._round = object()  # wrappers that others hold record nothing
        self._replaced.put_back()


@contextmanager
def marked(shell: InteractiveShell, what: str) -> Iterator[None]:
    """Mark what is displayed in the block as ours, so that checks ignore it.

    Only kernels send displays that a notebook's file keeps. Their publisher takes hooks, which stay
    apart from the methods that captures wrap.

    Args:
        shell: The running shell.
        what: The magic that displays it.
    """
    publisher: Any = shell.display_pub

    def mark(message: Any) -> Any:  # noqa: ANN401 -- ipykernel's
        content = message["content"]
        if "metadata" in content:
            content["metadata"][MARK] = {"what": what}
        return message

    if not hasattr(publisher, "register_hook"):
        yield
        return
    publisher.register_hook(mark)
    try:
        yield
    finally:
        publisher.unregister_hook(mark)
