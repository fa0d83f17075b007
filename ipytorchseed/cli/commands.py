"""What click says less plainly: a mistyped command, and what is no number."""

from __future__ import annotations

import click

from ipytorchseed.errors import did_you_mean


class Commands(click.Group):
    """Click does so itself from 8.4 on."""

    def resolve_command(  # noqa: D102 -- click's
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}{did_you_mean(name, [*self.commands])}")
        return super().resolve_command(ctx, args)


class Whole(click.IntRange):
    """An integer between bounds; what is none is not called "no integer range"."""

    name = "integer"


class Number(click.FloatRange):
    """A number between bounds."""

    name = "number"
