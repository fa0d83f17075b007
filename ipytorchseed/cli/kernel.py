"""``ipytorchseed kernel``: kernels with settings that cannot be changed later."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import MsgspecError, Struct, field
from msgspec.json import decode

from ipytorchseed import __version__
from ipytorchseed.commands import Whole, Words, option
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.render.table import TableView
from ipytorchseed.render.text import visible

if TYPE_CHECKING:
    from jupyter_client.kernelspec import KernelSpecManager


_LARGEST_HASH_SEED = 2**32 - 1

# More than any machine runs at once; a kernel with far more crashes.
_MOST_THREADS = 1024

# Names of kernels become names of folders; ``..`` would be all of Jupyter's.
_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_LAUNCH = "-m ipykernel_launcher -f {connection_file} --ext=ipytorchseed"
# The entry in ``metadata`` that marks our kernels.
_MARK = "ipytorchseed"

_FILE = "kernel.json"


class _Marked(Struct):
    """The metadata of a kernelspec that carries our mark."""

    mark: dict[str, Any] = field(name=_MARK)


class _Spec(Struct):
    """The fields of our kernelspecs that are shown."""

    metadata: _Marked
    argv: list[str] = []
    env: dict[str, str] = {}


def _check_name(_: click.Context, __: click.Parameter, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise click.BadParameter(
            f"{name!r}: use letters, digits, '.', '_' and '-', beginning with a letter or digit"
        )
    return name.lower()  # as Jupyter stores it


@click.group(cls=Words)
def kernel() -> None:
    """Install, list and remove kernels that start with the right settings."""


@kernel.command()
@option("--name", "NAME", "Its name in Jupyter.", callback=_check_name, default=_MARK)
@option(
    "--hash-seed",
    "N",
    "PYTHONHASHSEED: the order of sets of strings.",
    Whole(0, _LARGEST_HASH_SEED),
    default=0,
)
@option(
    "--threads",
    "N",
    "Threads of torch and MKL; torch's default on this machine if not given.",
    Whole(1, _MOST_THREADS),
)
def install(*, name: str, hash_seed: int, threads: int | None) -> None:
    """Install a kernel of this Python, for this user.

    It starts with PYTHONHASHSEED, thread counts and the other settings of this torch, and with
    the extension loaded.
    """
    from ipytorchseed.determinism.environment import launch_environment

    manager = _manager()
    folder = Path(manager.user_kernel_dir, name)
    found = Path(manager.find_kernel_specs().get(name, folder))  # may hide one of this user's
    for place in {found, folder}:
        if os.path.lexists(place) and _read(place) is None:
            raise click.UsageError(
                f"a kernel {name!r} that is not ours is in {place}; choose another name with --name"
            )
    variables = launch_environment(hash_seed=hash_seed, threads=threads)
    python = f"Python {sys.version_info.major}"
    spec = {
        "argv": [sys.executable, *_LAUNCH.split()],
        "display_name": f"{python} ({name})",
        "language": "python",
        "env": variables,
        "metadata": {"debugger": True, _MARK: {"version": __version__}},
    }
    try:
        _write(folder, json.dumps(spec, indent=1))
    except OSError as error:
        raise click.ClickException(
            f"cannot install it: {error.strerror}: {error.filename}"
        ) from None
    click.echo(visible(f"installed {name} in {folder}"))
    for variable, value in variables.items():
        click.echo(visible(f"  {variable}={value}"))
    click.echo(
        f"choose {spec['display_name']!r} in Jupyter, or: ipytorchseed check --kernel {name}"
    )


@kernel.command("list")
def list_() -> None:
    """List the kernels that were installed by this command."""
    ours = _installed()
    if not ours:
        click.echo("no kernel of ours is installed; ipytorchseed kernel install makes one")
        return
    table = TableView()
    table.columns = ("Name", "whole"), ("Starts with", ""), ("Python", "")
    table.rows = rows = []
    for name, spec in ours.items():
        variables = [f"{variable}={value}" for variable, value in spec.env.items()] or [""]
        rows.append([name, variables[0], "".join(spec.argv[:1])])
        rows += [["", variable, ""] for variable in variables[1:]]
    click.echo(table.text())


@kernel.command()
@click.argument("name", callback=_check_name)
def remove(*, name: str) -> None:
    """Remove the kernel NAME, if it was installed by this command."""
    manager = _manager()
    folder = Path(manager.user_kernel_dir, name)
    if _read(folder) is None:
        there = os.path.lexists(folder) or name in manager.find_kernel_specs()
        reason = "is not ours" if there else "is not installed"
        raise click.UsageError(
            f"the kernel {name!r} {reason}; ours are: {', '.join(_installed()) or 'none'}"
        )
    try:
        (folder / _FILE).unlink()
    except OSError as error:
        raise click.ClickException(
            f"cannot remove it: {error.strerror}: {error.filename}"
        ) from None
    click.echo(visible(f"removed {name} from {folder}"))
    try:
        folder.rmdir()
    except OSError:
        click.echo("the folder is left, as there is more in it than was installed")


def _manager() -> KernelSpecManager:
    from jupyter_client.kernelspec import KernelSpecManager

    return KernelSpecManager()


def _installed() -> dict[str, _Spec]:
    """Return the kernels that this command installed, by their names."""
    folder = Path(_manager().user_kernel_dir)
    places = sorted(folder.iterdir()) if folder.is_dir() else []
    return {place.name: spec for place in places if (spec := _read(place)) is not None}


def _read(folder: Path) -> _Spec | None:
    """Return the kernelspec in a folder if we installed it there, else None."""
    file = folder / _FILE
    if folder.is_symlink() or file.is_symlink() or not file.is_file():
        return None  # another program put it there
    with suppress(OSError, ValueError, MsgspecError, RecursionError):
        return decode(file.read_bytes(), type=_Spec)
    return None


def _write(folder: Path, text: str) -> None:
    """Write a kernelspec atomically.

    Jupyter's own function first removes the folder, with everything else in it.

    Raises:
        OSError: It cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    begun = folder / f"{_FILE}.{os.getpid()}"
    try:
        begun.write_text(text, encoding="utf-8")
        begun.replace(folder / _FILE)
    finally:
        begun.unlink(missing_ok=True)
