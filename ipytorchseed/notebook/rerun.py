"""Runs a cell's code once more without showing, counting or recording it."""

from __future__ import annotations

import asyncio
import builtins
import getpass
import io
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from threading import get_ident
from typing import Any, NoReturn, Self

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.display import display

from ipytorchseed.determinism.interrupts import held_interrupts, let_through, told_of_interrupts
from ipytorchseed.errors import ReplayError
from ipytorchseed.experiment.repeating import Shown
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.ledger.records import Run
from ipytorchseed.notebook.errors import raised
from ipytorchseed.notebook.state import State
from ipytorchseed.render.view import View
from ipytorchseed.session.outputs import OutputWatch
from ipytorchseed.studies.body import Body
from ipytorchseed.why.evidence import run_phrase

# Seconds until the line appears.
_PATIENCE = 1.5

# Seconds between two updates.
_EVERY = 0.3


class Progress:
    """A line that is shown during long work, and is updated as the work goes on.

    Where text cannot be replaced, as in a pipe, each step is a separate line.

    Args:
        shell: The running shell.
        silent: Whether to show nothing.
        what: The first word of the line: the kind of work.
    """

    def __init__(self, shell: InteractiveShell, *, silent: bool, what: str = "Checking") -> None:
        self._publisher: Any = shell.display_pub
        self._in_kernel = hasattr(shell, "kernel")
        self._silent = silent
        self._what = what
        self._shown = False
        self._ident = uuid.uuid4().hex
        self._began = self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._show("")

    def conclude(self, view: View) -> None:
        """Show the result; it replaces the line if that is shown."""
        if self._shown:
            self._publish({"text/plain": view.text(), "text/html": view.html()})
        else:
            display(view)

    def tell(self, what: str) -> None:
        """Report the current step, if the work has taken long."""
        now = time.monotonic()
        if now - self._began >= _PATIENCE and now - self._last >= _EVERY:
            self._last = now
            if self._in_kernel or sys.stderr.isatty():
                self.step(f"{what} …")

    def step(self, what: str, *, shows: bool = False) -> None:
        """Report that a step begins.

        Args:
            what: The step.
            shows: Whether the step itself prints; in a terminal, the line is then ended.
        """
        if not self._silent:
            self._show(f"{self._what}: {what}")
            if shows and not self._in_kernel and sys.stderr.isatty():
                sys.stderr.write("\n")
                self._shown = False

    def _show(self, text: str) -> None:
        if self._in_kernel:
            self._publish({"text/plain": text})
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[2K{text}")  # back to the start of the line, and clear it
            sys.stderr.flush()
        elif text:
            sys.stderr.write(f"{text}\n")
        self._shown = bool(text) or self._in_kernel  # a kernel can also replace an empty line

    def _publish(self, data: dict[str, str]) -> None:
        """Display data directly, even while a run's displays are captured."""
        self._publisher.publish(data, {}, transient={"display_id": self._ident}, update=self._shown)
        self._shown = True


# Methods of a shell that show errors.
_SHOW_ERRORS = ("showtraceback", "showsyntaxerror", "showindentationerror")


def run_cell(shell: Any, source: str, file: str = "") -> ExecutionResult:  # noqa: ANN401 -- a shell
    """Run a cell again as the shell does, without history and tracebacks.

    Args:
        shell: The running shell.
        source: The cell's text.
        file: The file name to compile it with; empty for the shell's choice.

    Raises:
        KeyboardInterrupt: The user interrupted outside the cell's own code.
    """
    names, cache, files = shell.user_global_ns, shell.compile.cache, iter([file])
    with restored_shell(shell), _quiet_as(shell, source), Replacements() as replaced:
        for name in _SHOW_ERRORS:
            replaced.put(shell, name, lambda *_, **__: None)
        shell.loop_runner = partial(run_coroutine, names=names)  # not the running loop
        # The first name is for this cell; cells that run inside it get names from IPython.
        replaced.put(shell.compile, "cache", lambda *it, **by: next(files, "") or cache(*it, **by))
        run = partial(shell.run_cell, source, store_history=False)
        result: ExecutionResult = let_through(run, names)
        return result


def run_unseen(
    shell: Any,  # noqa: ANN401 -- as above
    source: str,
    file: str,
    like: OutputWatch,
    around: AbstractContextManager[object],
) -> Shown:
    """Run a cell again without events: nothing shows, counts or records it.

    Args:
        shell: The running shell.
        source: The cell's text.
        file: The file name that the cell's first run was compiled with; empty if it had none.
        like: The outputs of the first run; the new outputs get the same settings.
        around: A context manager entered around the run.

    Raises:
        KeyboardInterrupt: The user interrupted the run.
    """
    outputs, result = OutputWatch(like.timed, like.addressed), ExecutionResult(None)
    with silenced(shell, outputs):
        shell.events.callbacks = {  # only matplotlib's, which shows and closes figures
            name: [each for each in known if getattr(each, "__name__", "") == "flush_figures"]
            for name, known in shell.events.callbacks.items()
        }
        try:
            with around:
                result = run_cell(shell, source, file)
            error = raised(result)
        except Exception as failed:  # noqa: BLE001 -- from ``around``
            error = failed
    if isinstance(error, KeyboardInterrupt):
        raise error
    if error is not None:
        error = error.with_traceback(None)  # frames keep the copies alive
    return Shown(outputs.record(), outputs.content(result.result), error)


@contextmanager
def silenced(running: InteractiveShell, outputs: OutputWatch) -> Iterator[None]:
    """Redirect what code shows to ``outputs``, and disable input."""
    shell: Any = running

    def show(value: object) -> None:
        if value is not None and not shell.displayhook.quiet():
            shell.displayhook.fill_exec_result(value)
            bundle, _ = shell.display_formatter.format(value)  # as the shell does
            if bundle:
                outputs.resulted(bundle)
            builtins._ = value  # type: ignore[attr-defined]

    ours = _Stream(outputs.printed), _Stream(lambda _: None)
    with (
        shell.builtin_trap, shell.display_trap, restored_shell(shell),  # as in a running cell
        Replacements() as replaced,
    ):  # fmt: skip
        for stream, instead in zip((sys.stdout, sys.stderr), ours, strict=True):
            with suppress(AttributeError):  # loggers hold the stream; some streams refuse
                replaced.put(stream, "write", _diverted(stream, instead))
        sys.stdout, sys.stderr = ours
        sys.displayhook = show
        shell.display_pub = _Publisher(outputs)
        builtins.input = getpass.getpass = _refuse_input
        with warnings.catch_warnings():
            yield


def _diverted(stream: Any, instead: io.StringIO) -> Callable[[str], int]:  # noqa: ANN401 -- any
    """Return a method that writes this thread's texts to another stream."""
    write, thread = stream.write, get_ident()
    return lambda text: instead.write(text) if get_ident() == thread else write(text)


_MISSING = object()


def shell_parts(shell: Any) -> list[tuple[Any, str, Any]]:  # noqa: ANN401 -- with private parts
    """List the attributes that a rerun may replace: holder, name and current value."""
    traps = ((shell.builtin_trap, "_nested_level"), (shell.display_trap, "_nested_level"))
    places = (
        *((sys, name) for name in ("stdout", "stderr", "displayhook", "excepthook")),
        *((builtins, "input"), (builtins, "_"), (getpass, "getpass")),
        *((shell, name) for name in ("display_pub", "loop_runner", "showtraceback")),
        *((shell, name) for name in ("last_execution_result", "last_execution_succeeded")),
        (shell.events, "callbacks"),
        *traps,  # wrong if a magic's begin or end is interrupted
    )
    return [(holder, name, getattr(holder, name, _MISSING)) for holder, name in places]


@contextmanager
def restored_shell(shell: object) -> Iterator[None]:
    """Restore the attributes that the block replaces (see ``shell_parts``)."""
    before = shell_parts(shell)
    try:
        yield
    finally:
        for holder, name, value in before:
            if value is _MISSING:
                vars(holder).pop(name, None)
            elif getattr(holder, name, _MISSING) != value:
                setattr(holder, name, value)


@contextmanager
def left_as_before(
    state: State, leave: Callable[[], list[str]], stays: list[str], command: str = ""
) -> Iterator[ExitStack]:
    """Hold interrupts while cells run again, and restore everything afterwards.

    Args:
        state: The state of the extension in the shell.
        leave: Restores what the cells changed; returns what could not be restored.
        stays: Extended with the result of ``leave``.
        command: The command that the user typed, if the new runs are recorded. If empty, they are
            not recorded, and the extension is inactive in the block.

    Yields:
        The stack of undo calls; after ``pop_all``, nothing is restored.

    Raises:
        ReplayError: ``command`` is in a cell that is itself being run again and recorded.
    """
    if command and state.replaying:
        raise ReplayError(f"this cell is being run again: remove {command} from the cell")
    seeding, visited = state.seeding, state.shell.user_ns.get("_dh", [])
    before = state.replaying, state.rerunning
    with held_interrupts():
        try:
            state.replaying |= bool(command)
            state.rerunning |= not command
            with ExitStack() as undo:
                undo.callback(visited.__setitem__, slice(None), [*visited])  # for `%cd -`
                undo.callback(vars(seeding).update, dict(vars(seeding)))
                undo.callback(lambda: stays.extend(leave()))
                undo.enter_context(restored_shell(state.shell))
                yield undo
        finally:
            state.replaying, state.rerunning = before


def rerun(
    state: State, again: Run, number: int | None, begin: Callable[[], None], *, quiet: bool
) -> Run:
    """Run the cell of a recorded run again; it may fail.

    Args:
        state: The state of the extension in the shell.
        again: The recorded run.
        number: The number in ``In[...]`` of the new run, or None.
        begin: Called before the cell.
        quiet: Whether to hide the cell's outputs.

    Raises:
        RerunError: The run was not recorded.
        KeyboardInterrupt: The user interrupted the run.
    """
    execute = partial(run_cell, state.shell, again.source)
    silence = partial(silenced, state.shell) if quiet else None
    run = state.tracking.record(again, number, begin, execute, silence)
    if run is None:
        raise RerunError(_failed(state, again, "it was not recorded"))
    if run.status == "interrupted":
        raise KeyboardInterrupt
    return run


def rerun_successfully(
    state: State, again: Run, number: int | None, begin: Callable[[], None], *, quiet: bool
) -> Run:
    """Call ``rerun``, and raise an error if the cell fails.

    Raises:
        RerunError: The cell failed, or its run was not recorded.
        KeyboardInterrupt: The user interrupted the run.
    """
    run = rerun(state, again, number, begin, quiet=quiet)
    if run.status != "ok":
        raise RerunError(_failed(state, again, run.outputs.error))
    return run


def _failed(state: State, again: Run, why: str | None) -> str:
    name = run_phrase(again, state.tracking.session.kernel)
    return f"{name} failed when it ran again ({why})"


@contextmanager
def _quiet_as(shell: InteractiveShell, source: str) -> Iterator[None]:
    """Let the cell's own semicolon decide whether its value is shown.

    IPython looks for the semicolon in the last typed cell, which is the one that started this run.
    """
    typed: list[str] = getattr(shell.history_manager, "input_hist_parsed", [])
    own, typed[-1:] = typed[-1:], [source]
    try:
        yield
    finally:
        typed[-1:] = own


class RerunError(ReplayError):
    """A cell failed when it ran again."""


class _Stream(io.StringIO):
    """A stream that passes on what is written to it, and keeps nothing."""

    encoding = "utf-8"

    def __init__(self, written: Callable[[str], None]) -> None:
        super().__init__()
        self._written = written

    def write(self, text: str) -> int:
        size = super().write(text)  # raises if it is not text; click relies on that
        self.seek(0)
        self.truncate()
        self._written(text)
        return size


class _Publisher(DisplayPublisher):
    """A receiver of displays in place of the front end."""

    def __init__(self, outputs: OutputWatch) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._outputs = outputs

    def publish(self, data: Mapping[str, Any], *_: object, **given: Any) -> None:
        if not given.get("update"):
            self._outputs.displayed(data)

    def clear_output(self, wait: bool = False) -> None:  # noqa: FBT001, FBT002 -- IPython's own
        """Do nothing, as nothing is shown."""


def _refuse_input(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("the cell asks for input, which is not available when it runs on copies")


def run_coroutine(waiting: Any, names: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- of a cell
    """Run a coroutine to its end in a new event loop, also inside a running one.

    It runs in the same thread, since grad mode, autocast and dispatch modes are per thread. An
    interrupt is raised in the code of the cell, or cancels the cell if it is waiting.

    Args:
        waiting: The coroutine.
        names: The global names of the cell.
    """
    with held_interrupts(), ExitStack() as undo:
        outer = asyncio._get_running_loop()  # noqa: SLF001 -- public by its ``__all__``
        undo.callback(asyncio._set_running_loop, outer)  # noqa: SLF001 -- as above
        undo.callback(sys.set_asyncgen_hooks, *sys.get_asyncgen_hooks())
        swap = getattr(asyncio.tasks, "_swap_current_task", None)
        asyncio._set_running_loop(None)  # noqa: SLF001 -- as above
        if swap is not None and outer is not None:
            undo.callback(swap, outer, swap(outer, None))
        loop = asyncio.new_event_loop()
        undo.callback(loop.close)
        task = loop.create_task(waiting)
        with told_of_interrupts(lambda: loop.call_soon_threadsafe(task.cancel)):
            return let_through(partial(loop.run_until_complete, task), names)


def make_body(running: Any, source: str, stays: list[str] | None = None) -> Body:  # noqa: ANN401 -- a shell
    """Return the code of a cell, ready to run in a shell.

    Args:
        running: The shell.
        source: The cell's text.
        stays: As in ``Body``.
    """
    return Body(
        str(running.transform_cell(source)),
        running.user_ns,
        partial(run_unseen, running, source, "", OutputWatch()),
        frozenset(running.user_ns_hidden),
        [] if stays is None else stays,
    )
