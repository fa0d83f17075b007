"""Common options of commands and magics, and suggestions for mistyped words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from ipytorchseed.errors import SeedError, did_you_mean, quoted
from ipytorchseed.rng.seeds import check_seed, no_seed

F = TypeVar("F", bound="Callable[..., Any]")
P = TypeVar("P")
IsOurs = Callable[[Path], bool]


def flag(names: str, told: str) -> Callable[[F], F]:
    """Declare a flag.

    Args:
        names: The names of the flag, separated by spaces.
        told: The help text.
    """
    return click.option(*names.split(), is_flag=True, help=told)


def option(
    names: str, metavar: str, told: str, kind: object = None, **more: Any
) -> Callable[[F], F]:
    """Declare an option with a value; its help shows the default.

    Args:
        names: The names of the option, separated by spaces.
        metavar: The placeholder of the value in the help.
        told: The help text.
        kind: The type of the value; a string by default.
        more: Further arguments of ``click.option``, and ``alone``: the value if the user types the
            option without one.
    """
    if "alone" in more:
        more |= {"is_flag": False, "flag_value": more.pop("alone")}
    more.setdefault("show_default", "default" in more)
    return click.option(*names.split(), metavar=metavar, help=told, type=kind, **more)


def in_json(what: str = "the result") -> Callable[[F], F]:
    """Declare ``--json``, which prints ``what`` as JSON."""
    return flag("--json as_json", f"Print {what} as a line of JSON.")


def says(function: Callable[..., str]) -> Callable[..., str | None]:
    """Add ``--quiet``, which makes a command return None instead of its text."""

    @flag("-q --quiet", "Print nothing.")
    @click.pass_obj
    @wraps(function)
    def command(*args: Any, quiet: bool, **given: Any) -> str | None:
        said = function(*args, **given)
        return None if quiet else said

    return command


expect: Callable[[F], F] = option(
    "--expect",
    "same|distinct SOURCE",
    "What a source should be in all ranks. Repeat the option for several sources.",
    nargs=2,
    multiple=True,
    callback=lambda _, __, wishes: {source: wish for wish, source in wishes},
)


class Whole(click.IntRange):
    """An integer between bounds, with our error message for anything else."""

    name = "integer"


# A number of runs; more than 1000 is probably a typo.
RUNS = Whole(2, 1000)


class Number(click.FloatRange):
    """A number between bounds; ``nan`` and ``inf`` are refused."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:  # noqa: ANN401, D102 -- click's
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a valid number", param, ctx)
        return number


class Seed(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.2
    """A seed on the command line: an integer from 0 to 2**32-1."""

    name = "SEED"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:  # noqa: ANN401, D102 -- click's
        text = str(value)
        if not re.fullmatch(r"[+-]?\d{1,60}", text):
            self.fail(no_seed(quoted(text)), param, ctx)
        try:
            return check_seed(int(text))
        except SeedError as error:
            self.fail(str(error), param, ctx)


class Place(click.Path):
    """A path that is not empty.

    An unset shell variable gives an empty path, which would mean the current folder.
    """

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401, D102 -- click's
        if value == "":
            self.fail("a path is empty", param, ctx)
        return super().convert(value, param, ctx)


def no_notebook(ctx: click.Context, param: click.Parameter, file: P) -> P:
    """Refuse the name of a notebook as an output file; a callback of click.

    If the user leaves out the option's value, click takes the notebook that follows.
    """
    if str(file).lower().endswith(".ipynb"):
        raise click.BadParameter(f"{file} is a notebook's name: choose another", ctx, param)
    return file


def written(name: str, told: str, what: str, is_ours: IsOurs) -> Callable[[F], F]:
    """Declare an option that names a file to write.

    Args:
        name: The option's name.
        told: The help text.
        what: The kind of file that is written: ``a receipt``.
        is_ours: Returns whether an existing file is of this kind, and may be replaced.
    """
    kind = Place(dir_okay=False, path_type=Path)
    return option(name, "FILE", told, kind, callback=partial(no_stranger, what, is_ours))


def no_stranger(
    what: str, is_ours: IsOurs, ctx: click.Context, param: click.Parameter, path: Path | None
) -> Path | None:
    """Refuse to overwrite another kind of file or a link; a callback of click."""
    no_notebook(ctx, param, path)
    if path is None or path.parts[:2] == (path.anchor, "dev"):  # /dev/stdout is a link
        return path
    if path.is_symlink():
        to = f"{path} is a link to {path.readlink()}: name the file itself, or remove the link"
        raise click.BadParameter(to, ctx, param)
    if path.is_file() and path.stat().st_size and not is_ours(path):
        said = f"{path} exists and is not {what}: choose another name, or remove it"
        raise click.BadParameter(said, ctx, param)
    return path


class UnreadableError(click.ClickException):
    """A one-line error with the exit code of a usage error."""

    exit_code = 2


class Words(click.Group):
    """A group of commands; the error for a mistyped one suggests the nearest."""

    def resolve_command(  # noqa: D102 -- click's
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            known = {**without_dashes(self), **{name: name for name in self.commands}}
            ctx.fail(f"No such command {name!r}{did_you_mean(name, known)}")
        return super().resolve_command(ctx, args)


def without_dashes(command: click.Command) -> dict[str, str]:
    """Return the names of a command's options, keyed by the name without dashes."""
    options = (each.opts for each in command.params if isinstance(each, click.Option))
    return {name.lstrip("-"): name for names in options for name in names}


def no_such_option(name: str, here: click.Context, forms: Mapping[str, click.Command]) -> str:
    """Return the error for an unknown option; it suggests the most likely one.

    Args:
        name: The unknown option, with its dashes.
        here: The context of the command that received it.
        forms: The magics that share the command's name, and their subcommands, each keyed by how it
            is typed: ``%seed log``.
    """
    said = f"No such option {name!r}"
    if name[1:].isdecimal():
        return f"{said}; numbers here begin at 1"
    options = {form: without_dashes(command).values() for form, command in forms.items()}
    elsewhere = [f"{form} {name}" for form, known in options.items() if name in known]
    if name in ("-h", "--help"):
        return f"{said}; for help, type {here.find_root().info_name}?"
    if elsewhere:
        return f"{said}; did you mean {' or '.join(elsewhere)}?"
    return f"{said}{did_you_mean(name, without_dashes(here.command).values())}"
