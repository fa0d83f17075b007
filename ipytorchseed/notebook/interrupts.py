"""Handles Ctrl-C while the extension inspects values before or after a cell.

The interrupt ends the inspection and stops the cell.

If a callback of IPython's events raises ``KeyboardInterrupt``, IPython prints the error and runs
the cell anyway. So an interrupt is held while our callbacks run, and passed to the cell afterwards.
A cell that is about to run raises it at its first line. If the cell has already run, the interrupt
becomes its error, which also stops the queued cells.
"""

from __future__ import annotations

import ast
import functools
import gc
import signal
from collections.abc import Callable
from threading import current_thread, main_thread
from typing import Any, ParamSpec, TypeVar

from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell

from ipytorchseed.determinism.interrupts import HeldInterrupt, Interruptible

P = ParamSpec("P")
Result = TypeVar("Result")
Callback = Callable[..., object]


class Interrupts:
    """Interrupts that are held while callbacks of a shell's events run.

    Args:
        shell: The running shell.
        stop: Called when an interrupt arrives, to end the current inspection soon.
    """

    def __init__(self, shell: InteractiveShell, stop: Callable[[], object]) -> None:
        self._shell = shell
        self._held = HeldInterrupt(stop)
        self._cell: Interruptible | None = None
        self._raiser = _Raiser()

    def note(self) -> None:
        """Record an interrupt that was raised, and pass it to the running cell."""
        self._held.note()

    def forget(self) -> None:
        """Drop an interrupt that arrived: no cell is running that could raise it."""
        self._held.arrived = False

    def held(self, callback: Callback, then: Callback) -> Callable[..., None]:
        """Wrap a callback of an event so that interrupts are held while it runs.

        Args:
            callback: The callback.
            then: Called afterwards with the same arguments, to pass on an interrupt that arrived.
        """

        @functools.wraps(callback)
        def called(*args: Any) -> None:
            if current_thread() is not main_thread():  # only the main thread raises interrupts
                callback(*args)
                return
            try:
                self._hold()
            except KeyboardInterrupt:  # it arrived before the hold
                self.note()
                self._hold()
            try:
                callback(*args)
                then(*args)
            finally:  # a user's tracer may raise in any frame
                self._held.allowed = self._cell
                if self._cell is None:
                    self._release()
            if self._held.arrived:  # it arrived just before the release
                then(*args)

        return called

    def before_cell(self, _: ExecutionInfo) -> None:
        """Make the next cell raise an interrupt that arrived, at its first line."""
        if self._held.arrived:
            self.forget()
            self._raiser.armed = True
            if self._raiser not in self._shell.ast_transformers:  # after_cell removes it
                self._shell.ast_transformers.append(self._raiser)

    def after_cell(self, result: ExecutionResult | None) -> None:
        """Make an interrupt the error of the cell that ran, unless it failed otherwise."""
        if self._raiser in self._shell.ast_transformers:
            self._shell.ast_transformers.remove(self._raiser)
        arrived = self._held.arrived
        self.forget()
        if arrived and result is not None and result.success:
            result.error_in_exec = error = KeyboardInterrupt("the cell had run to its end")
            self._shell.last_execution_succeeded = False
            self._shell.showtraceback((KeyboardInterrupt, error, None))

    def impatient(self, look: Callable[P, Result]) -> Callable[P, Result]:
        """Wrap an inspection, which may take long: a second interrupt ends it at once."""

        @functools.wraps(look)
        def called(*args: P.args, **kwargs: P.kwargs) -> Result:
            self._held.patient, collects = False, gc.isenabled()
            try:
                return look(*args, **kwargs)
            finally:
                self._held.patient = True
                if collects:  # the inspection disables it, and an interrupt may skip enabling it
                    gc.enable()

        return called

    def hold_cell(self) -> None:
        """Hold interrupts until the running cell ends, except in the cell's own code.

        The cell's settings are then restored even if an interrupt arrives between its last line
        and our callback.
        """
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler and self._hold():
            self._held.allowed = self._cell = Interruptible(None, self._shell.user_global_ns)

    def leave_cell(self) -> None:
        """End what ``hold_cell`` began, once the calling callback returns."""
        self._cell = None

    def _hold(self) -> bool:
        self._held.allowed = None
        handler = signal.getsignal(signal.SIGINT)
        module = getattr(handler, "__module__", None)
        ours = handler is signal.default_int_handler or str(module).startswith("ipykernel.")
        return ours and self._held.hold_back(handler)

    def _release(self) -> None:
        try:
            self._held.release()
        except KeyboardInterrupt:  # it arrived just before
            self.note()


class _Raiser(ast.NodeTransformer):
    """A transformer that replaces one cell with ``raise KeyboardInterrupt``."""

    armed = False

    def visit(self, node: Any) -> Any:  # noqa: ANN401 -- as IPython calls it
        """Return the cell to run."""
        if self.armed and isinstance(node, ast.Module):
            self.armed = False
            place = node.body[0] if node.body else ast.Pass(lineno=1, col_offset=0)
            stop = ast.Raise(ast.Name("KeyboardInterrupt", ast.Load()))
            node.body = [ast.copy_location(stop, place)]
        return node
