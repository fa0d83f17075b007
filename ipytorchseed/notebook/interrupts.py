"""Ctrl-C while a look before or after a cell is under way.

Ends the look, and stops the cell.

IPython prints and drops a ``KeyboardInterrupt`` that leaves a callback of its events, and goes on
with the cell. So it is held while a callback of ours runs, and told to the cell in its own terms:
one that is about to run raises it at its first line, one that has run ends with it as its error,
which also stops the cells that wait behind it.
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

from ipytorchseed.determinism.interrupts import Door, HeldInterrupt

P = ParamSpec("P")
Result = TypeVar("Result")


class Interrupts:
    """Holds interrupts while callbacks of a shell's events run.

    Args:
        shell: The running shell.
        stop: Ends the look under way soon; called when an interrupt arrives.
    """

    def __init__(self, shell: InteractiveShell, stop: Callable[[], object]) -> None:
        self._shell = shell
        self._held = HeldInterrupt(stop)
        self._cell: Door | None = None
        self._raiser = _Raiser()

    def note(self) -> None:
        """Record an interrupt that was raised, and pass it to the running cell."""
        self._held.note()

    def forget(self) -> None:
        """Drop what arrived: no cell is under way that could be reported."""
        self._held.arrived = False

    def held(
        self, callback: Callable[..., object], then: Callable[..., object] | None = None
    ) -> Callable[..., None]:
        """Return a callback for an event.

        Args:
            callback: What to do while interrupts are held.
            then: What to do after it, as long as there is one to tell of.
        """

        @functools.wraps(callback)
        def called(*args: Any) -> None:
            if current_thread() is not main_thread():  # where none is raised
                callback(*args)
                return
            try:
                self._hold()
            except KeyboardInterrupt:  # it arrived before it could be held
                self.note()
                self._hold()
            try:
                callback(*args)
                if then is not None:
                    then(*args)
            finally:  # a tracer of the user's may raise in any frame
                self._held.door = self._cell
                if self._cell is None:
                    self._release()
            if then is not None and self._held.arrived:  # just before it was no longer held
                then(*args)

        return called

    def before_cell(self, _: ExecutionInfo) -> None:
        """Make the cell that is about to run raise at its first line what arrived."""
        if self._held.arrived:
            self.forget()
            self._raiser.armed = True
            if self._raiser not in self._shell.ast_transformers:  # for one that arrived before
                self._shell.ast_transformers.append(self._raiser)

    def after_cell(self, result: ExecutionResult | None) -> None:
        """Make the interrupt the error of the cell that ran, unless it has another."""
        if self._raiser in self._shell.ast_transformers:
            self._shell.ast_transformers.remove(self._raiser)
        arrived = self._held.arrived
        self.forget()
        if arrived and result is not None and result.success:
            result.error_in_exec = error = KeyboardInterrupt("the cell had run to its end")
            self._shell.last_execution_succeeded = False
            self._shell.showtraceback((KeyboardInterrupt, error, None))

    def impatient(self, look: Callable[P, Result]) -> Callable[P, Result]:
        """Return a look that may take long so that a second interrupt is raised in it."""

        @functools.wraps(look)
        def called(*args: P.args, **kwargs: P.kwargs) -> Result:
            self._held.patient, collects = False, gc.isenabled()
            try:
                return look(*args, **kwargs)
            finally:
                self._held.patient = True
                if collects:  # a look switches it off, and may have been left where it ends
                    gc.enable()

        return called

    def hold_cell(self) -> None:
        """Hold interrupts to the end of the running cell, except in its own code.

        What it set is then restored, whatever arrives between its last line and our callback.
        """
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler and self._hold():
            self._held.door = self._cell = Door(None, self._shell.user_global_ns)

    def leave_cell(self) -> None:
        """End what ``hold_cell`` began, with the callback that calls this."""
        self._cell = None

    def _hold(self) -> bool:
        self._held.door = None
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
    """Puts ``raise KeyboardInterrupt`` in the place of a cell's code, once."""

    armed = False

    def visit(self, node: Any) -> Any:  # noqa: ANN401 -- IPython fills in what an AST lacks
        """Return the cell to run."""
        if self.armed and isinstance(node, ast.Module):
            self.armed = False
            place = node.body[0] if node.body else ast.Pass(lineno=1, col_offset=0)
            stop = ast.Raise(ast.Name("KeyboardInterrupt", ast.Load()))
            node.body = [ast.copy_location(stop, place)]
        return node
