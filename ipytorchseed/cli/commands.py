"""What commands share: options, an error, what click says less plainly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from ipytorchseed.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def flag(name: str, told: str) -> Callable[[F], F]:
    """Declare an option that is given or not, and what it does."""
    return click.option(name, is_flag=True, help=told)


in_json: Callable[[F], F] = click.option(
    "--json", "as_json", is_flag=True, help="Print it as one line of JSON."
)


class UnreadableError(click.ClickException):
    """One line; it exits as a usage error does."""

    exit_code = 2


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
