"""What helps to type a magic right: examples, and what a line that does not fit meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ipytorchseed.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

_HELP = ("-h", "--help")


class Words(click.Group):
    """The words that may follow a magic's name; one that is mistyped is met with the nearest."""

    def resolve_command(  # noqa: D102 -- click's
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands and not ctx.resilient_parsing:
            known = {**without_dashes(self), **{name: name for name in self.commands}}
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)


def examples(lines: Mapping[str, str]) -> str:
    """Write lines that work, and what each does, as the end of a help text."""
    width = max(map(len, lines)) + 2
    shown = "\n".join(f"  {line:<{width}}{what}" for line, what in lines.items())
    return f"\b\nExamples:\n{shown}"  # click leaves what follows a \\b as it is


def without_dashes(command: click.Command) -> dict[str, str]:
    """Return a command's options by their names without dashes, as one may have typed them."""
    options = [each for each in command.params if isinstance(each, click.Option)]
    return {name.lstrip("-"): name for option in options for name in option.opts}


def no_such_option(name: str, here: click.Context, forms: Mapping[str, click.Command]) -> str:
    """Say that a command has no such option, and what was most likely meant.

    Args:
        name: With its dashes.
        here: The command that was given it.
        forms: The commands of the magics of that name, by how each is typed.
    """
    said = f"No such option {name!r}"
    options = {form: without_dashes(command).values() for form, command in forms.items()}
    elsewhere = [f"{form} {name}" for form, known in options.items() if name in known]
    if name in _HELP:
        return f"{said}; for help, type {here.find_root().info_name}?"
    if elsewhere:
        return f"{said}; did you mean {' or '.join(elsewhere)}?"
    return f"{said}{did_you_mean(name, without_dashes(here.command).values())}"
