"""``ipytorchseed kernel``: kernels with settings that cannot be changed later."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from ipytorchseed import __version__
from ipytorchseed.commands import Whole, Words, option
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.render.text import draw_table, visible

Specs = dict[str, dict[str, Any]]

_HASH_SEED = Whole(0, 2**32 - 1)

# More threads than any machine runs at once. With far more, a kernel crashes.
_THREADS = Whole(1, 1024)

# A kernel's name is also the name of its folder: ``..`` would be the folder of all kernels.
_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_LAUNCH = "-m ipykernel_launcher -f {connection_file} --ext=ipytorchseed"

# The entry in ``metadata`` that marks our kernels.
_MARK = "ipytorchseed"

_FILE = "kernel.json"


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
@option("--name", "NAME", "The name in Jupyter.", callback=_check_name, default=_MARK)
@option("--hash-seed", "N", "PYTHONHASHSEED: the order of sets of strings.", _HASH_SEED, default=0)
@option("--threads", "N", "Threads of torch and MKL; torch's default if not given.", _THREADS)
def install(*, name: str, hash_seed: int, threads: int | None) -> None:
    """Install a kernel of this Python, for this user.

    It starts with PYTHONHASHSEED, thread counts and the settings that the installed torch needs,
    and with the extension loaded.
    """
    from ipytorchseed.determinism.environment import launch_environment

    user, found, ours = _kernels()
    folder = user / name
    if name not in ours and (name in found or os.path.lexists(folder)):
        place = found[name]["resource_dir"] if name in found else folder
        fault = f"the kernel {name!r} in {place} was not installed by ipytorchseed"
        raise click.UsageError(f"{fault}; choose another --name")
    variables = launch_environment(hash_seed=hash_seed, threads=threads)
    title = f"Python {sys.version_info.major} ({name})"
    spec = {
        "argv": [sys.executable, *_LAUNCH.split()],
        "display_name": title,
        "language": "python",
        "env": variables,
        "metadata": {"debugger": True, _MARK: {"version": __version__}},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _FILE).write_text(json.dumps(spec, indent=1), encoding="utf-8")
    click.echo(visible(f"installed {name} in {folder}"))
    for variable, value in variables.items():
        click.echo(visible(f"  {variable}={value}"))
    click.echo(f"choose '{title}' in Jupyter, or: ipytorchseed check --kernel {name}")


@kernel.command("list")
def list_() -> None:
    """List the kernels that ipytorchseed installed."""
    _, _, ours = _kernels()
    if not ours:
        click.echo("no kernel of ipytorchseed is installed: run ipytorchseed kernel install")
        return
    rows = []
    for name, spec in sorted(ours.items()):
        variables = ", ".join(f"{variable}={value}" for variable, value in spec["env"].items())
        rows.append([name, variables, "".join(spec["argv"][:1])])
    fold: dict[str, Any] = {"overflow": "fold"}
    columns = {"Name": fold | {"no_wrap": True}, "Starts with": fold, "Python": fold}
    click.echo(draw_table("", columns, rows))


@kernel.command()
@click.argument("name", callback=_check_name)
def remove(*, name: str) -> None:
    """Remove the kernel NAME, if ipytorchseed installed it."""
    user, found, ours = _kernels()
    if name not in ours:
        there = name in found or os.path.lexists(user / name)
        reason = "was not installed by ipytorchseed" if there else "is not installed"
        known = ", ".join(sorted(ours)) or "none"
        raise click.UsageError(f"the kernel {name!r} {reason}; kernels you can remove: {known}")
    shutil.rmtree(folder := user / name)
    click.echo(visible(f"removed {name} from {folder}"))


def _kernels() -> tuple[Path, Specs, Specs]:
    """Return the folder of this user's kernels, all kernels by name, and our specs."""
    from jupyter_client.kernelspec import KernelSpecManager

    manager = KernelSpecManager()
    user, found = Path(manager.user_kernel_dir), manager.get_all_specs()
    ours = {
        name: each["spec"]
        for name, each in found.items()
        if Path(each["resource_dir"]) == user / name
        and not any(place.is_symlink() for place in (user / name, user / name / _FILE))
        and isinstance(each["spec"]["metadata"].get(_MARK), dict)
    }
    return user, found, ours
