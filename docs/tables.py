"""What the pages of the reference show of the package's own tables, as Markdown."""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

import ipytorchseed
from ipytorchseed.cli import main
from ipytorchseed.determinism import environment, precision, torch_flags
from ipytorchseed.determinism.flag import ANY
from ipytorchseed.determinism.libraries import SETTINGS
from ipytorchseed.determinism.library_calls import known_calls
from ipytorchseed.determinism.machine import Machine
from ipytorchseed.determinism.table import FLAGS
from ipytorchseed.notebook.extension import MAGICS
from ipytorchseed.render.links import DOCS, cause_page, flag_page
from ipytorchseed.render.values import write_value
from ipytorchseed.rng import library_random
from ipytorchseed.rng.table import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ipytorchseed.determinism.flag import Flag

SCHEMAS = Path(ipytorchseed.__file__).parent / "schemas"

_GROUPS = {
    "Deterministic algorithms": torch_flags.ALGORITHMS,
    "Libraries below torch": torch_flags.LIBRARIES,
    "Environment variables": environment.FLAGS,
    "Compiled code": torch_flags.COMPILED,
    "Modes and threads": torch_flags.MODES,
    "The precision of float32": precision.FLAGS,
    "Smaller types and attention": torch_flags.NUMBERS,
}

_HARDWARE = {
    "on a CPU": {"cuda": False, "xpu": False},
    "on an NVIDIA or AMD GPU": {"cuda": True, "xpu": False},
    "on an Intel GPU": {"cuda": False, "xpu": True},
}
_VERSIONS = {"up to torch 2.9": (2, 9), "from torch 2.10 on": (2, 10)}
"""Machines between which needs differ."""


def flags() -> str:
    """Return a section for each flag, in groups."""
    named = {flag.name for group in _GROUPS.values() for flag in group}
    others = tuple(flag for flag in FLAGS if flag.name not in named)
    groups = {**_GROUPS, "Other settings": others}
    return "".join(
        f"## {title}\n\n{''.join(map(_flag, group))}" for title, group in groups.items() if group
    )


def _flag(flag: Flag) -> str:
    late = flag.late(Machine((2, 10), cuda=False, xpu=False, started=False))
    when = "at any time" if flag.set else "only by the block of code that sets it"
    when = f"no: {late}" if late else when
    lines = [f"Needed to repeat: {_needed(flag)}", f"Can be changed: {when}"]
    lines += [f"Otherwise: {flag.risk}"] if flag.risk else []
    lines += [f"In a new process: {flag.remedy}"] if flag.remedy else []
    lines += [f"Source: [{urlsplit(flag.source).netloc}]({flag.source})"]
    return f"### {flag.name}\n\n{flag.why}\n\n" + "".join(f"- {line}\n" for line in lines) + "\n"


def _needed(flag: Flag) -> str:
    """Return the value that repeatability needs, and where, unless everywhere."""
    values, places, versions = [], [], []
    for (place, kind), (since, torch) in product(_HARDWARE.items(), _VERSIONS.items()):
        machine = Machine(torch, **kind, started=False)
        if flag.applies(machine) and flag.wanted(machine) is not ANY:
            values.append(flag.wanted(machine))
            places.append(place)
            versions.append(since)
    if not values:
        return "any value, the same in each run"
    told = [f"`{write_value(values[0])}`"]
    for found, known in ((places, _HARDWARE), (versions, _VERSIONS)):
        if {*found} != {*known}:
            told.append(" and ".join(dict.fromkeys(found)))
    return ", ".join(told)


def magics() -> str:
    """Return a section for each magic and each of its words."""
    signs = {"line": "%", "cell": "%%"}
    return "".join(
        _command(getattr(import_module(module), kind), signs[kind] + name, 2)
        for kind, name, module in MAGICS
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
    """Return what autodoc writes about each public name of the package."""
    own = [name for name in ipytorchseed.__all__ if not name.endswith(("__", "_extension"))]
    told = "\n".join(map(_directive, sorted(own, key=str.swapcase)))  # functions before classes
    return f"```{{eval-rst}}\n.. module:: ipytorchseed\n\n{told}```\n"


def _directive(name: str) -> str:
    value = getattr(ipytorchseed, name)
    if inspect.isclass(value):
        hidden = "   :exclude-members: __init__, __new__\n"
        return f".. autoclass:: ipytorchseed.{name}\n   :members:\n{hidden}"
    if inspect.ismodule(value) and not callable(value):
        return f".. automodule:: {value.__name__}\n   :members:\n"
    return f".. autofunction:: ipytorchseed.{name}\n"


def schemas() -> str:
    """Return a line for each JSON Schema: what it describes, and its address."""
    rows = [
        (path.name, schema["$id"], schema["title"])
        for path in sorted(SCHEMAS.glob("*.json"))
        for schema in [json.loads(path.read_text("utf-8"))]
    ]
    return "".join(f"- [`{name}`]({where}): {title}\n" for name, where, title in rows)


def streams() -> str:
    """Return a line for each library that is seeded: whether its streams can be read."""
    setters = {row.name for row in library_random.LIBRARIES} - {"keras", "numba"}
    return "".join(
        f"- {row.name}: {'seeded; cannot be read' if row.name in setters else 'seeded and read'}\n"
        for row in BUILT_IN
    )


def calls() -> str:
    """Return a line for each call that does not repeat: reason, fix and source."""
    return "".join(
        f"- `{row.package}.{name}`: {row.why}. Fix: `{row.fix}` ({_link(row.source)})\n"
        for row in known_calls().calls
        for name in row.names
    )


def settings() -> str:
    """Return a line for each setting of a library: what it acts on, and the source."""
    return "".join(
        f"- `{row.name}`: acts on {row.acts_on} ({_link(row.source)})\n" for row in SETTINGS
    )


def _link(source: str) -> str:
    return f"[{urlsplit(source).netloc}]({source})"


# What a page may have as ``{{ flags }}``, on a separate line.
TABLES: dict[str, Callable[[], str]] = {
    "flags": flags,
    "magics": magics,
    "commands": commands,
    "names": names,
    "schemas": schemas,
    "streams": streams,
    "calls": calls,
    "settings": settings,
}


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
