"""``ipytorchseed report``: the determinism report of a fresh process."""

from __future__ import annotations

import click

from ipytorchseed.commands import flag, in_json


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
