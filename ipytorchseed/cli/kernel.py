"""``ipytorchseed kernel``: Jupyter kernels that start right, for what is too late to set later."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ipytorchseed import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_client.kernelspec import KernelSpecManager

_LARGEST_HASH_SEED = 2**32 - 1

_MARK = "ipytorchseed"
"""The entry under ``metadata`` by which a kernel of ours is known."""


@click.group()
def kernel() -> None:
    """Install Jupyter kernels that start as repeatability needs it; list and remove them."""


@kernel.command()
@click.option(
    "--name", metavar="NAME", default=_MARK, show_default=True, help="What it is called in Jupyter."
)
@click.option(
    "--hash-seed",
    metavar="N",
    type=click.IntRange(0, _LARGEST_HASH_SEED),
    default=0,
    show_default=True,
    help="PYTHONHASHSEED: the order of sets of strings.",
)
@click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(min=1),
    help="Threads of torch and MKL; as many as torch takes on this machine where none is given.",
)
def install(*, name: str, hash_seed: int, threads: int | None) -> None:
    """Install a kernel of this Python, for this user.

    It starts with PYTHONHASHSEED, thread counts and what else this torch needs, and with the
    extension loaded.
    """
    from ipytorchseed.determinism.launch import launch_environment

    known = _specs()
    if name.lower() in known and not _ours(known[name.lower()]):
        msg = (
            f"a kernel {name!r} that is not ours is in {known[name.lower()]}; choose another name"
            " with --name"
        )
        raise click.UsageError(msg)
    variables = launch_environment(hash_seed=hash_seed, threads=threads)
    python = f"Python {sys.version_info.major}"
    spec = {
        "argv": [
            sys.executable,
            "-m",
            "ipykernel_launcher",
            "-f",
            "{connection_file}",
            "--ext=ipytorchseed",
        ],
        "display_name": f"{python} ({name})",
        "language": "python",
        "env": variables,
        "metadata": {"debugger": True, _MARK: {"version": __version__}},
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernel.json").write_text(json.dumps(spec, indent=1), encoding="utf-8")
        try:
            place = _manager().install_kernel_spec(folder, name, user=True)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        except OSError as error:
            msg = f"cannot install it: {error.strerror}: {error.filename}"
            raise click.ClickException(msg) from None
    click.echo(f"installed {name} in {place}")
    for variable, value in variables.items():
        click.echo(f"  {variable}={value}")
    click.echo(
        f"choose {spec['display_name']!r} in Jupyter, or: ipytorchseed check --kernel {name}"
    )


@kernel.command("list")
def list_() -> None:
    """List the kernels that were installed by this command."""
    from ipytorchseed.render.text import draw_table

    ours = {name: spec for name, place in _specs().items() if (spec := _ours(place)) is not None}
    if not ours:
        click.echo("no kernel of ours is installed; ipytorchseed kernel install makes one")
        return
    columns: dict[str, dict[str, Any]] = {
        "Name": {"no_wrap": True},
        "Starts with": {"overflow": "fold"},
        "Python": {"overflow": "fold"},
    }
    rows = [[name, _variables(spec), spec["argv"][0]] for name, spec in sorted(ours.items())]
    click.echo(draw_table("", columns, rows))


@kernel.command()
@click.argument("name")
def remove(*, name: str) -> None:
    """Remove the kernel NAME, if it was installed by this command."""
    known = _specs()
    place = known.get(name.lower())
    if place is None or _ours(place) is None:
        ours = [each for each, where in known.items() if _ours(where) is not None]
        reason = "is not installed" if place is None else "is not ours"
        msg = f"the kernel {name!r} {reason}; ours are: {', '.join(sorted(ours)) or 'none'}"
        raise click.UsageError(msg)
    try:
        _manager().remove_kernel_spec(name.lower())
    except OSError as error:
        msg = f"cannot remove it: {error.strerror}: {error.filename}"
        raise click.ClickException(msg) from None
    click.echo(f"removed {name} from {place}")


def _manager() -> KernelSpecManager:
    from jupyter_client.kernelspec import KernelSpecManager

    return KernelSpecManager()


def _specs() -> dict[str, Path]:
    """Return where each kernel is installed, by its name."""
    return {name: Path(place) for name, place in _manager().find_kernel_specs().items()}


def _ours(place: Path) -> dict[str, Any] | None:
    """Return the kernelspec in a folder if it carries our mark, else None."""
    try:
        spec = json.loads((place / "kernel.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    marked = isinstance(spec, dict) and _MARK in (spec.get("metadata") or {})
    return spec if marked else None


def _variables(spec: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}={value}" for name, value in spec.get("env", {}).items())
