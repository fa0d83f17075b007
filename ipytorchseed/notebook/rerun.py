"""Runs a cell's code once more without showing, counting or recording it."""

from __future__ import annotations

import asyncio
import builtins
import getpass
import io
import sys
import warnings
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, NoReturn

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from ipytorchseed.determinism.interrupts import (
    held_interrupts,
    let_through,
    told_of_interrupts,
)
from ipytorchseed.experiment.repeating import Shown
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.notebook.errors import raised
from ipytorchseed.notebook.seeding import Seeding
from ipytorchseed.session.outputs import OutputWatch
from ipytorchseed.studies.body import Body

# Methods of a shell that show errors.
_SHOW_ERRORS = ("showtraceback", "showsyntaxerror", "showindentationerror")


class AskedForInputError(RuntimeError):
    """The cell asked for input, which a rerun on copies does not provide."""


def run_code(
    shell: InteractiveShell,
    text: str,
    file: str,
    like: OutputWatch,
    around: AbstractContextManager[object],
) -> Shown:
    """Run the code of a cell as the shell does.

    Args:
        shell: The running shell.
        text: The cell as Python.
        file: The file name that its own run was compiled with.
        like: Outputs with the settings to record by.
        around: A context manager entered around the code alone.

    Raises:
        KeyboardInterrupt: The user interrupts it.
    """
    outputs, results = like.fresh(), list[object]()
    with silenced(shell, outputs, results, file):
        try:
            with around:
                error = _execute(shell, text, file)
        except Exception as failed:  # noqa: BLE001 -- from ``around``, or a syntax error
            error = failed
        if isinstance(error, KeyboardInterrupt):
            raise error
        for callback in list(shell.events.callbacks["post_execute"]):
            if getattr(callback, "__name__", "") == "flush_figures":  # shows and closes figures
                callback()
    if error is not None:
        error = error.with_traceback(None)  # its frames hold the copies
    return shown_by(outputs, results[-1] if results else None, error)


def _execute(shell: InteractiveShell, text: str, file: str) -> BaseException | None:
    """Run code; return the error that ended it."""
    result = ExecutionResult(None)
    tree = shell.transform_ast(shell.compile.ast_parse(text, filename=file))
    mode, names = shell.ast_node_interactivity, shell.user_global_ns
    running = shell.run_ast_nodes(tree.body, file, mode, shell.compile, result)
    awaits = shell.should_run_async(text, transformed_cell=text)
    run = partial(run_coroutine, names=names) if awaits else _run_at_once
    let_through(partial(run, running), names)
    return raised(result)


def shown_by(outputs: OutputWatch, result: object, error: BaseException | None = None) -> Shown:
    """Return what a run showed.

    Args:
        outputs: The recorded outputs.
        result: The value of its last expression, or None.
        error: The error that ended it, or None.
    """
    result = outputs.content(result)
    return Shown(outputs.record(), result, error)


@contextmanager
def without_tracebacks(running: InteractiveShell) -> Iterator[None]:
    """Show no traceback in the block, not even of a result that cannot be displayed."""
    with Replacements() as replaced:
        for name in _SHOW_ERRORS:
            replaced.put(running, name, lambda *_, **__: None)
        yield


@contextmanager
def silenced(
    running: InteractiveShell, outputs: OutputWatch, results: list[object], file: str | None = None
) -> Iterator[None]:
    """Redirect what code shows to ``outputs`` and ``results``, and disable input.

    Args:
        running: The shell.
        outputs: Filled in with what is shown.
        results: Filled in with the values that are shown as results.
        file: Only results of code with this file name count: nested cells have their own results.
    """
    shell: Any = running

    def show(value: object) -> None:
        if value is not None and not shell.displayhook.quiet():
            if file is None or sys._getframe(1).f_code.co_filename == file:  # noqa: SLF001
                results.append(value)
            bundle, _ = shell.display_formatter.format(value)  # as the shell does
            if bundle:
                outputs.resulted(bundle)
            builtins._ = value  # type: ignore[attr-defined]

    with shell.builtin_trap, shell.display_trap, restored_shell(shell):  # as magics run
        sys.stdout, sys.stderr = _Stream(outputs.printed), _Stream(lambda _: None)
        sys.displayhook = show
        shell.display_pub = _Publisher(outputs)
        builtins.input = getpass.getpass = _refuse_input
        with warnings.catch_warnings(), without_tracebacks(shell):
            yield


_MISSING = object()


def shell_parts(shell: Any) -> list[tuple[Any, str, Any]]:  # noqa: ANN401 -- with private parts
    """List what a rerun may replace: holder, name and current value."""
    places = (
        *((sys, name) for name in ("stdout", "stderr", "displayhook", "excepthook")),
        (builtins, "input"),
        (builtins, "_"),
        (getpass, "getpass"),
        *((shell, name) for name in ("display_pub", "loop_runner", "showtraceback")),
        (shell.builtin_trap, "_nested_level"),  # if a magic's begin or end is interrupted
        (shell.display_trap, "_nested_level"),
    )
    return [(holder, name, getattr(holder, name, _MISSING)) for holder, name in places]


def moved_parts(before: list[tuple[Any, str, Any]]) -> list[str]:
    """List what differs from the result of ``shell_parts``."""
    return [
        f"{getattr(holder, '__name__', 'shell')}.{name}"
        for holder, name, value in before
        if getattr(holder, name, _MISSING) != value
    ]


@contextmanager
def restored_shell(shell: object) -> Iterator[None]:
    """Restore what the block replaces in the shell and its displays."""
    before = shell_parts(shell)
    try:
        yield
    finally:
        restore_parts(before)


def restore_parts(before: list[tuple[Any, str, Any]]) -> None:
    """Restore the result of ``shell_parts``."""
    for holder, name, value in before:
        if value is _MISSING:
            vars(holder).pop(name, None)
        elif getattr(holder, name, _MISSING) != value:
            setattr(holder, name, value)


@contextmanager
def left_as_before(
    shell: InteractiveShell, seeding: Seeding, leave: Callable[[], list[str]], stays: list[str]
) -> Iterator[ExitStack]:
    """Hold interrupts while cells run again, and restore everything afterwards.

    Args:
        shell: The running shell.
        seeding: The seeding rule, which cells may change.
        leave: Restores what the cells changed; returns what could not be restored.
        stays: Filled in with that, and with parts of the shell that could not be restored.

    Yields:
        The stack of undo calls; ``pop_all`` keeps everything as the cells left it.
    """
    visited, parts = shell.user_ns.get("_dh", []), shell_parts(shell)
    with held_interrupts(), ExitStack() as undo:
        undo.callback(visited.__setitem__, slice(None), [*visited])  # where `%cd` was
        undo.callback(vars(seeding).update, dict(vars(seeding)))
        undo.callback(lambda: stays.extend([*leave(), *moved_parts(parts)]))
        undo.callback(restore_parts, parts)
        yield undo


class _Stream(io.StringIO):
    """A stream that passes on what is written to it, and keeps nothing."""

    encoding = "utf-8"

    def __init__(self, written: Callable[[str], None]) -> None:
        super().__init__()
        self._written = written

    def write(self, text: str) -> int:
        size = super().write(text)  # raises for what is no text, as click relies on
        self.seek(0)
        self.truncate()
        self._written(text)
        return size


class _Publisher(DisplayPublisher):
    """Receives displays instead of the front end."""

    def __init__(self, outputs: OutputWatch) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._outputs = outputs

    def publish(self, data: Mapping[str, Any], *_: object, **given: Any) -> None:
        if not given.get("update"):
            self._outputs.displayed(data)

    def clear_output(self, wait: bool = False) -> None:  # noqa: FBT001, FBT002 -- IPython's own
        """Do nothing, as nothing is shown."""


def _refuse_input(*_: object, **__: object) -> NoReturn:
    raise AskedForInputError("the cell asks for input, which a run on copies is not given")


def _run_at_once(waiting: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine that awaits nothing."""
    with suppress(StopIteration):
        waiting.send(None)


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
    text = str(running.transform_cell(source))
    return Body(
        text,
        namespace=running.user_ns,
        run=partial(run_code, running, text, running.compile.cache(text), OutputWatch()),
        hidden=frozenset(running.user_ns_hidden),
        stays=stays,
    )
