"""``ipytorchseed ledger``: show the ledger, prune it, check it, export from it."""

from __future__ import annotations

import json
import pathlib
import re
import time
from typing import TYPE_CHECKING

import click

from ipytorchseed.cli.check import is_receipt
from ipytorchseed.commands import Number, Whole, Words, flag, in_json, option, written
from ipytorchseed.errors import LookupFailure
from ipytorchseed.render.text import WIDTH, draw_table, visible
from ipytorchseed.why.words import many

if TYPE_CHECKING:
    from ipytorchseed.ledger.maintenance import Limits
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.ledger.store import Ledger


_MEGABYTE = 1e6

# The columns of a table of runs, and the maximum width of each in characters.
_MOST = {"#": 9, "In": 7, "Started": 16, "Took": 18, "Notebook": 14, "Cell": 60, "Moved": 12}

# Characters between two columns.
_GAP = 3


@click.group(cls=Words)
def ledger() -> None:
    """Show, prune, verify and export the record of runs."""


@ledger.command()
def path() -> None:
    """Print the path of the ledger, even if it does not exist yet."""
    click.echo(_path())


@ledger.command()
@option("--notebook", "N", "Only this notebook: its name, or the end of its path.")
@option("-n count", "N", "The number of runs.", Whole(min=1), default=20)
@in_json()
def show(*, notebook: str | None, count: int, as_json: bool) -> None:
    """Show the most recent runs, with the newest at the bottom."""
    with _open(read_only=True, as_json=as_json) as opened:
        names = _chosen(opened, notebook)
        found = [run for name in names for run in opened.runs(name, limit=count)]
        runs = sorted(found, key=lambda run: run.id or 0)[-count:]
        if as_json:
            click.echo(json.dumps({"schema": 1, "runs": [_as_json(run) for run in runs]}))
        elif runs:
            click.echo(_table(runs))
        else:
            click.echo(f"no runs yet in {opened.path}")


@ledger.command()
@option("--days", "N", "Drop runs older than N days, and their states.", Number(min=0))
@option("--size", "MB", "Drop the oldest runs if the ledger is larger.", Number(min=1))
@flag("--yes", "Do not ask for confirmation.")
def prune(*, days: float | None, size: float | None, yes: bool) -> None:
    """Drop old or excess runs and free the space.

    States saved under a name are kept. Notebooks also prune the ledger, automatically.
    """
    with _open(read_only=False) as opened:
        for notice in opened.notices:
            click.echo(notice, err=True)
        limits = _limits(opened.limits, days, size)
        if not yes:
            plan = (
                f"Drop runs older than {limits.runs_days:g} days, states unused for"
                f" {limits.states_days:g} days, and the oldest above {limits.megabytes:g} MB"
            )
            click.confirm(f"{plan} from {opened.path}?", abort=True)
        opened.limits = limits  # only now: closing the ledger applies them too
        before = opened.counts().bytes
        removed = opened.tidy()
        after = opened.counts()
    click.echo(
        f"removed {many(removed.runs, 'run')}, {many(removed.states, 'state')},"
        f" {many(removed.values, 'value')} and {many(removed.seeds, 'entry', 'entries')} of the"
        f" log of seeds: {(before - after.bytes) / _MEGABYTE:.1f} MB"
    )
    click.echo(f"{many(after.runs, 'run')} stay, {after.bytes / _MEGABYTE:.1f} MB")


@ledger.command()
@click.pass_context
def verify(ctx: click.Context) -> None:
    """Check that the ledger is intact: exit 0 if it is, 1 if not."""
    with _open(read_only=True) as opened:
        findings = opened.verify()
        for finding in findings:
            click.echo(finding)
        held = opened.counts()
    if findings:
        way_out = "move it away, and a new one will be created"
        click.echo(f"{opened.path} is damaged: {way_out}", err=True)
        ctx.exit(1)
    counts = f"{many(held.runs, 'run')}, {many(held.states, 'state')}"
    click.echo(f"{opened.path} is sound: {counts}, {held.bytes / _MEGABYTE:.1f} MB")


@ledger.command()
@click.argument("notebook", metavar="NOTEBOOK")
@written("-o --output", "Write the receipt to FILE, not to stdout.", "a receipt", is_receipt)
def export(*, notebook: str, output: pathlib.Path | None) -> None:
    """Write the last run of each cell of NOTEBOOK as a receipt.

    NOTEBOOK is a notebook's name, or the end of its path. The receipt has digests and settings, but
    no cell text and no contents of variables. `check --against` and `%why --against` compare runs
    with it.
    """
    from ipytorchseed.reads.own_lines import is_inspection
    from ipytorchseed.receipts.privacy import Places
    from ipytorchseed.receipts.receipt import write
    from ipytorchseed.session.states import LedgerStates

    if not _path().exists():
        raise LookupFailure(f"no ledger yet at {_path()}")
    with _open(read_only=True) as opened:
        name = _one(opened, notebook)
        last: dict[str, Run] = {}
        for run in opened.runs(name):
            if not is_inspection(run.source):
                last.setdefault(run.cell, run)
        title, runs = pathlib.PurePath(name).name, [*last.values()][::-1]
        receipt = write(title, runs, lambda: LedgerStates(opened), Places.here(name))
    if output is None:
        click.echo(receipt, nl=False)
    else:
        output.write_bytes(receipt)


def _path() -> pathlib.Path:
    from ipytorchseed.ledger.place import ledger_path

    return ledger_path()


def _open(*, read_only: bool, as_json: bool = False) -> Ledger:
    """Open the ledger; if there is none yet, say so and end the command."""
    from ipytorchseed.ledger.store import Ledger

    if not _path().exists():
        click.echo(f"no ledger yet at {_path()}", err=as_json)
        if as_json:
            click.echo(json.dumps({"schema": 1, "runs": []}))
        raise click.exceptions.Exit(0)
    return Ledger.open(read_only=read_only)


# The end of the notebook's key in the ledger, if it is one of several ranks.
_RANK = re.compile(r", rank \d+$")


def _chosen(opened: Ledger, notebook: str | None) -> list[str | None]:
    """Return the notebooks that match a name; for None, ``[None]``: all of them."""
    if notebook is None:
        return [None]
    known = opened.notebooks()
    files = {name: _RANK.sub("", name).replace("\\", "/") for name in known}
    found = [name for name, file in files.items() if notebook in (name, file)]
    found = found or [name for name, file in files.items() if file.endswith(f"/{notebook}")]
    if not found:
        there = f"the ledger has runs of {', '.join(known)}" if known else "the ledger has none yet"
        raise LookupFailure(f"no runs of a notebook {notebook!r}: {there}")
    return [*found]


def _one(opened: Ledger, notebook: str) -> str:
    """Return the one notebook that a name or a path matches."""
    path = str(pathlib.Path(notebook).absolute())
    found = [path] if path in opened.notebooks() else _chosen(opened, notebook)
    if len(found) > 1:
        raise LookupFailure(f"{notebook!r} may be any of {', '.join(map(str, found))}: name one")
    return str(found[0])


def _as_json(run: Run) -> dict[str, object]:
    from ipytorchseed.render.values import pick

    names = ["id", "notebook", "kernel", "cell", "execution_count", "seconds", "status", "source"]
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(run.started))
    return {**pick(run, *names), "started": started, "moved": _moved(run)}


def _moved(run: Run) -> list[str]:
    """Return the sources and generators that the run moved."""
    return [name for name, digest in run.after.items() if run.before.get(name, digest) != digest]


def _table(runs: list[Run]) -> str:
    rows = [[visible(cell)[: _MOST[head]] for head, cell in _cells(run).items()] for run in runs]
    widths = [max(map(len, cells)) for cells in zip(_MOST, *rows, strict=True)]
    over = sum(widths) + _GAP * (len(widths) - 1) - WIDTH
    if over > 0:  # the cell's text is shortened
        rows = [[*row[:-2], row[-2][: max(0, widths[-2] - over)], row[-1]] for row in rows]
    right = {"justify": "right", "no_wrap": True}
    columns = {head: right if head in {"#", "In"} else {"no_wrap": True} for head in _MOST}
    return draw_table("", columns, rows)


def _cells(run: Run) -> dict[str, str]:
    from ipytorchseed.render.labels import label_of

    ended = "" if run.status == "ok" else f" {run.status}"
    return {
        "#": str(run.id),
        "In": "" if run.execution_count is None else f"[{run.execution_count}]",
        "Started": time.strftime("%Y-%m-%d %H:%M", time.localtime(run.started)),
        "Took": f"{run.seconds:.1f} s{ended}",
        "Notebook": run.notebook.replace("\\", "/").rpartition("/")[2],
        "Cell": label_of(run.source),
        "Moved": ", ".join(_moved(run)),
    }


def _limits(limits: Limits, days: float | None, size: float | None) -> Limits:
    from msgspec.structs import replace

    if days is not None:
        drawn, full = min(days, limits.states_days), min(days, limits.states_days_full)
        limits = replace(limits, runs_days=days, states_days=drawn, states_days_full=full)
    return limits if size is None else replace(limits, megabytes=size)
