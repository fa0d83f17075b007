"""``ipytorchseed ranks``: compares what the ranks of a training run wrote."""

from __future__ import annotations

import sys

import click

from ipytorchseed.commands import Place, expect, in_json

_DIFFER = 1


@click.command()
@click.argument("folder", metavar="FOLDER", type=Place())
@expect
@in_json()
def ranks(folder: str, expect: dict[str, str], *, as_json: bool) -> None:
    """Name the rank that diverged first, the step, and what differs.

    FOLDER is the folder to which its.ranks.watch(model) wrote in each rank. Exits with 0 if all
    ranks are as they should be, 1 if not, and 2 if there is nothing to read.
    """
    from ipytorchseed.ranks.comparing import read

    view = read(folder, expect=expect)
    click.echo(view.to_json() if as_json else view.text())
    sys.exit(0 if view.alike else _DIFFER)
