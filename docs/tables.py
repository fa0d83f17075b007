"""What the pages of the reference show of the package's own tables, as Markdown."""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

import ipytorchseed
from ipytorchseed.cli import main
from ipytorchseed.determinism import environment, precision, torch_flags
from ipytorchseed.determinism.flag import ANY
from ipytorchseed.determinism.machine import Machine
from ipytorchseed.determinism.table import FLAGS
from ipytorchseed.notebook.extension import MAGICS
from ipytorchseed.render.links import DOCS, cause_page, flag_page
from ipytorchseed.render.values import write_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ipytorchseed.determinism.flag import Flag

SCHEMAS = Path(ipytorchseed.__file__).parent / "schemas"

_GROUPS = {
    "Deterministic algorithms": torch_flags.ALGORITHMS,
    "Libraries below torch": torch_flags.LIBRARIES,
    "Environment variables": environment.FLAGS,
    "Modes and threads": torch_flags.MODES,
    "The precision of float32": precision.FLAGS,
    "Smaller types and attention": torch_flags.NUMBERS,
}

_MACHINES = {
    "on a CPU": Machine(torch=(2, 13), cuda=False, xpu=False, started=False),
    "on an NVIDIA or AMD GPU": Machine(torch=(2, 13), cuda=True, xpu=False, started=False),
    "there with torch 2.9 or older": Machine(torch=(2, 9), cuda=True, xpu=False, started=False),
    "on an Intel GPU": Machine(torch=(2, 13), cuda=False, xpu=True, started=False),
}
"""Machines between which needs differ."""


def flags() -> str:
    """Return a section for each flag, in groups."""
    assert FLAGS == tuple(flag for group in _GROUPS.values() for flag in group)
    return "".join(
        f"## {title}\n\n{''.join(map(_flag, group))}" for title, group in _GROUPS.items()
    )


def _flag(flag: Flag) -> str:
    late = flag.late(_MACHINES["on a CPU"])
    when = late or ("at any time" if flag.set else "only by the block of code that sets it")
    lines = [f"Needed to repeat: {_needed(flag)}", f"Can be changed: {when}"]
    lines += [f"Until then: {flag.risk}"] if flag.risk else []
    lines += [f"Where `%deterministic on` cannot: {flag.mend}"] if flag.mend else []
    lines += [f"Source: <{flag.source}>"]
    return f"### {flag.name}\n\n{flag.why}\n\n" + "".join(f"- {line}\n" for line in lines) + "\n"


def _needed(flag: Flag) -> str:
    """Say which value repeatability needs, and where it is not the same everywhere."""
    wanted = {
        where: flag.wanted(machine)
        for where, machine in _MACHINES.items()
        if flag.applies(machine) and flag.wanted(machine) is not ANY
    }
    if not wanted:
        return "any value, the same in each run"
    value = f"`{write_value(next(iter(wanted.values())))}`"
    return value if len(wanted) == len(_MACHINES) else f"{value}, {' and '.join(wanted)}"


def magics() -> str:
    """Return a section for each magic and each of its words."""
    signs = {"line": "%", "cell": "%%"}
    return "".join(
        _command(import_module(module).command(kind), signs[kind] + name, 2)
        for kind, name, module, _ in MAGICS
    )


def commands() -> str:
    """Return a section for each command of the shell."""
    return "".join(
        _command(command, f"ipytorchseed {name}", 2)
        for name, command in sorted(main.commands.items())
    )


def _command(command: click.Command, name: str, level: int) -> str:
    """Return a command's help and that of its words."""
    told = f"{'#' * level} {name}\n\n```text\n{_help(command, name)}\n```\n\n"
    words = command.commands if isinstance(command, click.Group) else {}
    return told + "".join(
        _command(word, f"{name} {each}", level + 1) for each, word in sorted(words.items())
    )


def _help(command: click.Command, name: str) -> str:
    parent = click.Context(command, info_name=name, max_content_width=80, terminal_width=80)
    return command.get_help(parent).rstrip()


def names() -> str:
    """Return what autodoc tells of each public name of the package."""
    own = [name for name in ipytorchseed.__all__ if not name.endswith(("__", "_extension"))]
    told = "\n".join(map(_directive, own))
    return f"```{{eval-rst}}\n.. module:: ipytorchseed\n\n{told}```\n"


def _directive(name: str) -> str:
    value = getattr(ipytorchseed, name)
    if inspect.isclass(value):
        return f".. autoclass:: {name}\n   :members:\n   :exclude-members: __init__, __new__\n"
    if inspect.ismodule(value) and not callable(value):
        return f".. automodule:: {value.__name__}\n   :members:\n"
    return f".. autofunction:: {name}\n"


def schemas() -> str:
    """Return a line for each JSON Schema: what it describes, and where it lies."""
    rows = [
        (path.name, schema["$id"], schema["title"])
        for path in sorted(SCHEMAS.glob("*.json"))
        for schema in [json.loads(path.read_text("utf-8"))]
    ]
    return "".join(f"- [`{name}`]({where}): {title}\n" for name, where, title in rows)


TABLES: dict[str, Callable[[], str]] = {
    "flags": flags,
    "magics": magics,
    "commands": commands,
    "names": names,
    "schemas": schemas,
}
"""What may stand in a page as ``{{ flags }}``, on a line of its own."""


def kinds() -> list[str]:
    """Return the kinds of causes."""
    schema = json.loads((SCHEMAS / "cause.json").read_text("utf-8"))
    return list(schema["properties"]["kind"]["enum"])


def missing_anchors(built: Path) -> list[str]:
    """List the addresses that reports link to and that a built site does not have.

    Args:
        built: The folder of its HTML.
    """
    return [link for link in _links() if not _has(built, link)]


def _links() -> Iterator[str]:
    yield from (flag_page(flag.name) for flag in FLAGS)
    yield from map(cause_page, kinds())


def _has(built: Path, link: str) -> bool:
    page, _, anchor = link.removeprefix(DOCS).partition("#")
    return re.search(f'id="{re.escape(anchor)}"', (built / page).read_text("utf-8")) is not None
