"""``--trace``: records the operations of the running cell."""

from __future__ import annotations

import sys

import click

from ipytorchseed.errors import TraceError
from ipytorchseed.ledger.records import Draw, Trace
from ipytorchseed.notebook.location import Locator
from ipytorchseed.notebook.runs import Run
from ipytorchseed.notebook.state import State
from ipytorchseed.render.values import pick
from ipytorchseed.trace.draws import Draws, LineDraws
from ipytorchseed.trace.recorder import Recorder
from ipytorchseed.why.words import many


def follow(state: State, run: Run) -> Recorder:
    """Track the lines of operations until a run ends; store nothing."""
    recorder = Recorder(state.part(Locator).cell(run).lines, state.shell.user_ns)
    recorder.__enter__()
    run.on_end.append(lambda: recorder.__exit__(None, None, None))
    return recorder


def begin_trace(state: State, path: str, *, summaries: bool, quiet: bool) -> None:
    """Record each operation in the rest of the current run.

    Args:
        state: The state of the extension in the shell.
        path: The file to write operations to; empty for none.
        summaries: Whether the file stores what a comparison with a tolerance needs.
        quiet: Whether to print nothing.

    Raises:
        UsageError: The file cannot be written.
    """
    from ipytorchseed.trace.file import TraceFile  # imports numpy

    run, names = state.runs.current, state.shell.user_ns
    if run is None or run.info is None:
        raise click.UsageError("--trace needs a separate cell; this code runs without one")
    cell = state.part(Locator).cell(run)
    draws = Draws(names, count=True)
    try:
        file = TraceFile(path, summaries=summaries) if path else None
    except TraceError as error:
        raise click.UsageError(str(error)) from None
    recorder = Recorder(cell.lines, names, draws=draws, trace=file)
    by_line = LineDraws(cell.file)

    def end() -> None:
        by_line.detach()
        recorder.__exit__(None, None, None)
        if file is not None and not quiet:
            click.echo(f"{many(file.count, 'operation')} recorded in {file.path}")
        pending = state.tracking.session.pending
        if pending is not None and pending.execution_count is not None and not quiet:
            click.echo(f"Who drew how much: %rng who {pending.execution_count}")
        if by_line.refused:
            recorder.notes.append(
                "a debugger is running, so the lines of python's and numpy's draws are unknown"
            )
        drawn = tuple(
            Draw(
                line=each.place.line or None,
                module=each.place.module or each.by,
                backward=each.place.backward,
                **pick(each, "source", "operation", "calls", "numbers"),
            )
            for each in (*draws.drawn, *by_line.drawn)
        )
        state.note(Trace(traced=recorder.count, draws=drawn, notes=tuple(recorder.notes)))

    recorder.__enter__()
    run.on_end.append(end)
    by_line.attach(sys._getframe(1))  # noqa: SLF001 -- the documented way to it
