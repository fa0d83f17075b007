"""Commands that show one view: ``ranks``, ``report`` and ``trace diff``."""

from __future__ import annotations

from pathlib import Path

import click

from ipytorchseed.commands import Number, Place, Words, expect, flag, in_json, option


@click.command()
@click.argument("folder", metavar="FOLDER", type=Place())
@expect
@in_json()
@click.pass_context
def ranks(ctx: click.Context, folder: str, expect: dict[str, str], *, as_json: bool) -> None:
    """Name the rank that diverged first, the step, and what differs.

    FOLDER is the folder to which its.ranks.watch(model) wrote in each rank. Exits with 0 if all
    ranks are as they should be, 1 if not, and 2 if there is nothing to read.
    """
    from ipytorchseed.ranks.comparing import read

    view = read(folder, expect=expect)
    click.echo(view.to_json() if as_json else view.text())
    ctx.exit(0 if view.alike else 1)


@click.command()
@in_json()
@flag("--all everything", "Show every setting.")
def report(*, as_json: bool, everything: bool) -> None:
    """List the settings that prevent repeatable results."""
    from ipytorchseed.determinism.assessment import assess
    from ipytorchseed.render.report import Report

    view = Report(assess())
    text = view.full_text if everything else view.text
    click.echo(view.to_json() if as_json else text())


@click.group(cls=Words)
def trace() -> None:
    """Compare trace files of its.trace or %%deterministic --trace."""


@trace.command()
@click.argument("a", type=Place(path_type=Path))
@click.argument("b", type=Place(path_type=Path))
@option(
    "--rtol",
    "R",
    "Treat results as equal if they differ by at most R times their greatest value.",
    Number(min=0),
)
@in_json()
@click.pass_context
def diff(ctx: click.Context, *, a: Path, b: Path, rtol: float | None, as_json: bool) -> None:
    """Name the first operation that differs between two traces.

    Operations are aligned by their kind, their line of code and the data that flows through them.
    So an operation that gives different results for equal inputs is distinguished from operations
    that are only extra, missing, fused or reordered. Exits with 0 if both runs computed the same
    results, 1 if they differ, and 2 if a file cannot be read.

    --rtol needs traces with summaries. R is relative to the greatest value or norm of a result.
    """
    from ipytorchseed.render.trace import comparison_json, write_comparison
    from ipytorchseed.trace.comparing import compare
    from ipytorchseed.trace.loading import load

    found = compare(load(a), load(b), rtol)
    click.echo(comparison_json(found) if as_json else write_comparison(found))
    ctx.exit(0 if found.equal else 1)
