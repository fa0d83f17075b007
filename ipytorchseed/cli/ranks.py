"""``ipytorchseed ranks``: what ranks wrote of themselves, side by side."""

from __future__ import annotations

import sys

import click

from ipytorchseed.commands import Place, expect, in_json

_DIFFER = 1


@click.command()
@click.argument("folder", metavar="FOLDER", type=Place())
@expect
@in_json()
def ranks(folder: str, expect: tuple[tuple[str, str], ...], *, as_json: bool) -> None:
    """Say which rank parted first, at which step, and in what.

    FOLDER is where its.ranks.watch(model) wrote, in each rank. Exits 0 where all ranks are as they
    should be, 1 where they are not, 2 where there is nothing to read.
    """
    from ipytorchseed.ranks.comparing import read

    view = read(folder, expect={source: wish for wish, source in expect})
    click.echo(view.to_json() if as_json else view.text())
    sys.exit(0 if view.alike else _DIFFER)
