"""``%check``: compares what the notebook shows with a run in a fresh kernel."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
from IPython.display import display

from ipytorchseed.checking.background import Request
from ipytorchseed.commands import examples, flag, in_json
from ipytorchseed.errors import UncheckableError
from ipytorchseed.notebook.fresh import FreshRun
from ipytorchseed.notebook.state import Target
from ipytorchseed.render.notebook_check import Fresh, NotebookCheckView
from ipytorchseed.session.identity import FileCell, saved_cells
from ipytorchseed.session.restart import Restart
from ipytorchseed.why.words import first_of

_NO_FILE = "The notebook's file is not known here: only this kernel was looked at."


@click.command(
    epilog=examples(
        ("%check", "before you share the notebook"),
        ("%check --now", "at once, without a fresh kernel"),
        ("%check stop", "end the fresh run"),
    )
)
@click.argument("word", required=False, metavar="[stop]", type=click.Choice(["stop"]))
@flag("--now", "Start no kernel: say what is known at once.")
@flag("--yes", "Run it in the notebook's folder itself, whatever its cells write.")
@in_json()
@click.pass_obj
def line(target: Target, word: str | None, *, now: bool, yes: bool, as_json: bool) -> None:
    """Report whether Restart & Run All gives what this notebook shows.

    Says at once what exists only in this kernel, what ran out of order and what was never seeded.
    Then the saved file runs once in a fresh kernel, in the background: each cell is compared
    with what it last showed here, and the first that differs is explained.
    """
    state = target[0]
    if state.unattended:
        click.echo("%check does nothing here: a program runs this notebook.")
        return
    state.stop_check()
    if word:
        return
    session = state.session
    path = Path(session.notebook)
    file, saved, note = _read(path if hasattr(state.shell, "kernel") else Path())
    restart = Restart(session, state.shell.user_ns, file, saved)
    last = restart.last_runs
    wrote = {name for run in last.values() for name in run.outside.wrote}
    outside = sorted(name for name in wrote if _is_outside(Path(name), path.parent.resolve()))
    if outside and not (note or yes):
        named = first_of(outside, 3)
        note = f"It was not run: its cells write {named}, outside its folder. --yes runs it."
    note = note or ("" if last else "The file was not run: none of its cells has run here.")
    numbers = {ident: run.execution_count for ident, run in last.items()}
    name = "" if file is None else str(path)
    view = NotebookCheckView(name, restart.remarks(), Fresh(note=note), numbers)
    runs = [run.id for run in last.values() if run.id is not None]
    copy = bool(wrote) and not yes
    run = FreshRun(state, view, Request(str(path), str(session.ledger.path), runs, copy))
    state.stop_check = run.stop
    if as_json:
        if not (note or now):
            run.wait()
        click.echo(view.to_json())
    elif note or now:
        display(view)
    else:
        run.begin()


def _read(path: Path) -> tuple[list[FileCell] | None, float, str]:
    """Return the cells of the notebook's file and its save time, or the reason."""
    try:
        if path.suffix == ".ipynb" and path.is_file():
            return saved_cells(path), path.stat().st_mtime, ""
    except (OSError, UncheckableError) as error:
        return None, 0.0, f"{path.name}: {error}"
    return None, 0.0, _NO_FILE


def _is_outside(name: Path, folder: Path) -> bool:
    """Return whether a written file is neither in a folder nor temporary."""
    return not any(name.is_relative_to(each) for each in (folder, tempfile.gettempdir()))
