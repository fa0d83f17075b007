"""``%seed``: its words and options, and what each does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
from IPython.display import display

from ipytorchseed.errors import SeedError, SourceError, did_you_mean
from ipytorchseed.notebook.hints import Words, examples, without_dashes
from ipytorchseed.notebook.seed_history import HISTORY
from ipytorchseed.notebook.seeding import Each
from ipytorchseed.render.seeding import SeedStatus, seeded_text
from ipytorchseed.rng.ranks import own_rank, seed_by_rank
from ipytorchseed.rng.seeds import LIMIT, check_seed, fresh_seed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from click.shell_completion import CompletionItem

    from ipytorchseed.notebook.state import State
    from ipytorchseed.rng.generators import Found

    Target = tuple[State, str | None]

_NOW = ""  # what a seed without a word before it is parsed as
_LONG = 60  # characters of a bad seed that are shown

_quiet = click.option("-q", "--quiet", is_flag=True, help="Print nothing.")


class SeedValue(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.2
    """An integer from 0 to 2**32-1, as typed.

    Args:
        others: What else may have been meant: words, and what to suggest for each.
    """

    name = "SEED"

    def __init__(self, others: Mapping[str, str] | None = None) -> None:
        self._others = others or {}

    def convert(
        self,
        value: object,
        param: click.Parameter | None,  # noqa: ARG002 -- click's signature
        ctx: click.Context | None,
    ) -> int:
        """Check what was typed."""
        text = str(value)
        said = repr(text if len(text) <= _LONG else f"{text[:_LONG]}...")
        message = f"a seed is an integer from 0 to {LIMIT - 1}, not {said}"
        meant = {**self._others, **({} if ctx is None else without_dashes(ctx.command))}
        if re.fullmatch(rf"[+-]?\d{{1,{_LONG}}}", text):
            try:
                return check_seed(int(text))
            except SeedError as error:
                message = str(error)
        elif ctx is not None and ctx.info_name == _NOW and not re.match(r"[+-]?[\d.]", text):
            known = {name: name for name in _seed.commands}
            message = f"{said} is neither a seed (0 to {LIMIT - 1}) nor one of {', '.join(known)}"
            meant |= known
        raise click.UsageError(f"{message}{did_you_mean(text, meant)}", ctx)


class _SeedWords(Words):
    """The words of ``%seed``; a first word that is none of them is a seed."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return _NOW, _now, args

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        words = super().shell_complete(ctx, incomplete)
        return words + _now.shell_complete(ctx, incomplete)  # options may stand before a seed


class SeedCommand(click.Command):
    """Takes a negative number for the bad seed that it is, not for an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:  # noqa: D102 -- click's
        for word in args:
            if re.match(r"-\d", word):
                SeedValue().convert(word, None, ctx)  # which says what is wrong with it
        return super().parse_args(ctx, args)


def command(kind: str) -> click.Command:  # noqa: ARG001 -- there is no %%seed
    """Return the declaration of ``%seed``."""
    return _seed


@click.group(
    cls=_SeedWords,
    invoke_without_command=True,
    subcommand_metavar="[SEED [--generators [NAME]...] | COMMAND]",
    context_settings={"ignore_unknown_options": True},
    epilog=examples(
        {
            "%seed 42": "seed python, numpy and torch now",
            "%seed 42 --generators": "and the generators that you made",
            "%seed each 42": "each later cell, until %seed off",
            "%seed rewind 5": "go back to where In[5] began",
            "%seed save start": "keep where every source stands",
            "%seed restore start": "and come back to it, also after a restart",
            "%seed": "where every source stands",
        }
    ),
)
@click.pass_context
def _seed(ctx: click.Context) -> None:
    """Put every source of randomness in a known state.

    A SEED, an integer from 0 to 4294967295, seeds python, numpy, torch on every device and
    registered sources now. Without one, show what is in force.
    """
    if ctx.invoked_subcommand is None:
        state: State = ctx.obj[0]
        display(SeedStatus.read(state.seeding.last, state.seeding.rule, state.generators()))


def _generator_names(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    if not ctx.params.get("generators"):
        return []
    names = [each.name for each in ctx.obj[0].generators()]
    return [name for name in names if name.startswith(incomplete)]


@click.command(cls=SeedCommand)  # not in the group: before 8.2, click refuses an empty name
@click.argument("seed", type=SeedValue())
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_generator_names)
@click.option(
    "--generators",
    is_flag=True,
    help="Also reseed generators of the namespace, all or those named, each with a seed that"
    " follows from SEED and its name.",
)
@click.option(
    "--by-rank",
    is_flag=True,
    help="Give each of several processes a seed of its own, which follows from SEED and its rank.",
)
@_quiet
@click.pass_obj
def _now(  # noqa: PLR0913 -- click passes each option by itself
    target: Target,
    seed: int,
    names: tuple[str, ...],
    *,
    generators: bool,
    by_rank: bool,
    quiet: bool,
) -> None:
    """Seed every source now."""
    state = target[0]
    if names and not generators:
        message = f"{names[0]!r} is one word too many; generators are named after --generators"
        raise click.UsageError(message)
    found = state.generators()
    chosen = _named(found, names) if names else found if generators else []
    common, rank = seed, own_rank()
    seed = seed_by_rank(common, rank) if by_rank else common
    state.apply(seed, "now")
    reseeded = [(each, each.reseed(seed)) for each in chosen]
    left = [each for each in found if each not in chosen]
    if not quiet:
        click.echo(seeded_text(seed, reseeded, left))
        if by_rank:
            whose = "rank 0, as this process has none" if rank is None else f"rank {rank}"
            click.echo(f"The seed follows from {common} and {whose}.")


@_seed.command("each", cls=SeedCommand)
@click.argument("seed", type=SeedValue())
@click.option("--same", is_flag=True, help="Give every cell SEED itself.")
@_quiet
@click.pass_obj
def _each(target: Target, seed: int, *, same: bool, quiet: bool) -> None:
    """Seed before every later cell, with a seed of the cell's own that follows from SEED."""
    target[0].seeding.each = Each(seed, same)
    if not quiet:
        click.echo(f"{target[0].seeding.rule}.\n%seed off stops it.")


@_seed.command("off")
@_quiet
@click.pass_obj
def _off(target: Target, *, quiet: bool) -> None:
    """Stop seeding before every cell."""
    was, target[0].seeding.each = target[0].seeding.each, None
    if not quiet:
        click.echo("Cells are no longer seeded." if was else "%seed each was not on.")


@_seed.command("new")
@_quiet
@click.pass_obj
def _new(target: Target, *, quiet: bool) -> None:
    """Take a fresh seed from the system, apply it and print it."""
    state, seed = target[0], fresh_seed()
    state.apply(seed, "new")
    if not quiet:
        click.echo(seeded_text(seed, [], state.generators()))


@_seed.command("stamp")
@click.pass_obj
def _stamp(target: Target) -> None:
    """Print one line for a paper or a log: seed, states, settings, versions, hardware."""
    from ipytorchseed.render.seeding import stamp, stamp_text

    rule = target[0].seeding.each
    click.echo(stamp() if rule is None else stamp_text(f"each cell seeded from {rule.seed}"))


for _command in HISTORY:
    _seed.add_command(_command)


def _named(found: list[Found], names: tuple[str, ...]) -> list[Found]:
    chosen = []
    for name in names:
        each = next((each for each in found if name in (each.name, *each.others)), None)
        if each is None:
            known = ", ".join(each.name for each in found) or "none"
            message = f"no generator is called {name!r}; the namespace holds: {known}"
            message += did_you_mean(name, (each.name for each in found))
            raise SourceError(message)
        chosen.append(each)
    return chosen
