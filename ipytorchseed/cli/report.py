"""``ipytorchseed report``: the determinism report of a fresh process."""

from __future__ import annotations

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print it as one line of JSON.")
def report(*, as_json: bool) -> None:
    """Show every setting that decides whether results repeat, and what it should be."""
    from ipytorchseed.render.report import report as make

    view = make()
    click.echo(view.to_json() if as_json else view.text())
