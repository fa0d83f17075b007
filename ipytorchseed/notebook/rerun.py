"""Runs a cell's code once more without showing, counting or recording it."""

from __future__ import annotations

import ast
import asyncio
import builtins
import getpass
import inspect
import io
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from types import CodeType
from typing import Any, NoReturn

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from ipytorchseed.determinism.interrupts import (
    held_interrupts,
    let_through,
    told_of_interrupts,
)
from ipytorchseed.experiment.repeating import Shown
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.session.outputs import Outputs
from ipytorchseed.studies.body import Body

_SHOW_ERRORS = ("showtraceback", "showsyntaxerror", "showindentationerror")
"""Methods of a shell."""


class AskedForInputError(RuntimeError):
    """The cell waits for input, which a run on copies is not given."""


class Rerunner:
    """Runs the code of a cell as the shell does.

    Args:
        shell: The running shell.
        text: The cell as Python.
        file: The name under which its own run was compiled.
        like: What is noted of outputs is what these note.
    """

    def __init__(self, shell: InteractiveShell, text: str, file: str, like: Outputs) -> None:
        self._shell = shell
        self._text = text
        self._file = file
        self._like = like

    def __call__(self, around: AbstractContextManager[object]) -> Shown:
        """Run it; ``around`` is entered around the code alone.

        Raises:
            KeyboardInterrupt: The user interrupts it.
        """
        outputs = self._like.anew()
        results: list[object] = []
        error: BaseException | None = None
        with hushed(self._shell, outputs, results, self._file):
            try:
                codes = self._compile()
                with around:
                    for code in codes:
                        self._execute(code)
            except KeyboardInterrupt:
                raise
            except BaseException as raised:  # noqa: BLE001 -- whatever the cell raises
                error = raised.with_traceback(None)  # whose frames hold the copies
            self._show_figures()
        return shown_by(outputs, results[-1] if results else None, error)

    def _compile(self) -> list[CodeType]:
        """Compile the cell statement by statement, the last one to show its value."""
        compiler: Any = self._shell.compile
        tree = self._shell.transform_ast(compiler.ast_parse(self._text, filename=self._file))
        mode = self._shell.ast_node_interactivity
        body = tree.body
        if mode == "last_expr_or_assign" and body:
            shown = _assigned(body[-1])
            body = [*body, shown] if shown is not None else body
        shows = {"none": 0, "all": len(body), "last": 1}.get(
            mode, int(bool(body) and isinstance(body[-1], ast.Expr))
        )
        codes = []
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if self._shell.autoawait else 0
        for index, node in enumerate(body):
            single = index >= len(body) - shows
            module = ast.Interactive([node]) if single else ast.Module([node], [])
            with compiler.extra_flags(flags):
                codes.append(compiler(module, self._file, "single" if single else "exec"))
        return codes

    def _execute(self, code: CodeType) -> None:
        names = self._shell.user_global_ns, self._shell.user_ns
        if code.co_flags & inspect.CO_COROUTINE:
            run_coroutine(eval(code, *names), names[0])  # noqa: S307 -- the user's own cell
        else:
            let_through(lambda: exec(code, *names))  # noqa: S102 -- as above

    def _show_figures(self) -> None:
        """Have matplotlib show and close the run's figures, as it does when a cell ends."""
        for callback in list(self._shell.events.callbacks["post_execute"]):
            if getattr(callback, "__name__", "") == "flush_figures":
                callback()


def shown_by(outputs: Outputs, result: object, error: BaseException | None = None) -> Shown:
    """Return what a run showed.

    Args:
        outputs: What was noted of it.
        result: The value of its last expression, or None.
        error: The error that ended it, or None.
    """
    result = outputs.content(result)
    return Shown(outputs.stdout(), outputs.displays, result, error, outputs.shown)


@contextmanager
def without_tracebacks(running: InteractiveShell) -> Iterator[None]:
    """Show no traceback: neither of a cell that fails, nor of a result that cannot be shown."""
    with Replacements() as replaced:
        for name in _SHOW_ERRORS:
            replaced.put(running, name, _show_nothing)
        yield


def _show_nothing(*_: object, **__: object) -> None:
    """Stand in for what shows an error."""


@contextmanager
def hushed(
    running: InteractiveShell, outputs: Outputs, results: list[object], file: str | None = None
) -> Iterator[None]:
    """Send what code shows to ``outputs`` and ``results``, and keep it from asking for input.

    Args:
        running: The shell.
        outputs: Where to.
        results: The values that are shown as results.
        file: Those of the code of this name alone: cells that it runs have results of their own.
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

    with shell.builtin_trap, shell.display_trap, restored_shell(shell):  # a magic runs within them
        sys.stdout, sys.stderr = _Stream(outputs.printed), _Stream(lambda _: None)
        sys.displayhook = show
        shell.display_pub = _Publisher(outputs)
        builtins.input = getpass.getpass = _refuse_input
        with warnings.catch_warnings(), without_tracebacks(shell):
            yield


_MISSING = object()


def shell_parts(shell: object) -> list[tuple[Any, str, Any]]:
    """List what running a cell again may replace: holder, name, and present value."""
    places = (
        *((sys, name) for name in ("stdout", "stderr", "displayhook", "excepthook")),
        (builtins, "input"),
        (builtins, "_"),
        (getpass, "getpass"),
        *((shell, name) for name in ("display_pub", "loop_runner", "showtraceback")),
    )
    return [(holder, name, getattr(holder, name, _MISSING)) for holder, name in places]


def moved_parts(before: list[tuple[Any, str, Any]]) -> list[str]:
    """Name what is not as ``shell_parts`` found it."""
    return [
        f"{getattr(holder, '__name__', 'shell')}.{name}"
        for holder, name, value in before
        if getattr(holder, name, _MISSING) != value
    ]


@contextmanager
def restored_shell(shell: object) -> Iterator[list[tuple[Any, str, Any]]]:
    """Restore after the block what it replaces of the shell, and of what it shows with."""
    before = shell_parts(shell)
    try:
        yield before
    finally:
        for holder, name, value in before:
            if value is _MISSING:
                vars(holder).pop(name, None)
            elif getattr(holder, name, _MISSING) != value:
                setattr(holder, name, value)


class _Stream(io.TextIOBase):
    """A stream that hands on what is written to it."""

    encoding = "utf-8"

    def __init__(self, written: Callable[[str], None]) -> None:
        super().__init__()
        self._written = written

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            msg = f"write() argument must be str, not {type(text).__name__}"  # type: ignore[unreachable]
            raise TypeError(msg)  # as any stream of text does: click asks by trying
        self._written(text)
        return len(text)

    def writable(self) -> bool:
        return True


class _Publisher(DisplayPublisher):
    """Takes displays instead of the front end."""

    def __init__(self, outputs: Outputs) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._outputs = outputs

    def publish(self, data: Mapping[str, Any], *_: object, **given: Any) -> None:
        if not given.get("update"):
            self._outputs.displayed(data)

    def clear_output(self, wait: bool = False) -> None:  # noqa: FBT001, FBT002 -- IPython's own
        """Clear nothing: nothing is shown."""


def _refuse_input(*_: object, **__: object) -> NoReturn:
    raise AskedForInputError("the cell asks for input, which a run on copies is not given")


def _assigned(node: ast.stmt) -> ast.stmt | None:
    """Return the expression that shows what an assignment assigned."""
    target: ast.expr | None = None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        target = node.target
    if not isinstance(target, ast.Name):
        return None
    return ast.fix_missing_locations(
        ast.copy_location(ast.Expr(ast.Name(target.id, ast.Load())), node)
    )


def run_coroutine(waiting: Any, names: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- of a cell
    """Run a coroutine to its end, also inside an event loop that runs: in one of its own.

    The thread stays the same, since grad mode, autocast and dispatch modes belong to it. An
    interrupt is raised in the code of the cell; while that waits, the cell is cancelled.

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


def make_body(running: Any, source: str) -> Body:  # noqa: ANN401 -- a shell
    """Return the code of a cell, to be run in a shell.

    Args:
        running: The shell.
        source: The cell's text.
    """
    text = str(running.transform_cell(source))
    return Body(
        text,
        namespace=running.user_ns,
        run=Rerunner(running, text, running.compile.cache(text), Outputs()),
        hidden=frozenset(running.user_ns_hidden),
    )
