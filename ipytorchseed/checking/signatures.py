"""Remedies by a named seed: for functions and classes of libraries that take one."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from typing import TYPE_CHECKING

from ipytorchseed.checking.edits import Edit, Splice
from ipytorchseed.render.timeline import label_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ipytorchseed.checking.placing import Site
    from ipytorchseed.checking.program import Call

_ASK = """
import importlib, inspect, json, sys
taken = {}
for path in sys.argv[1:]:
    module, _, name = path.rpartition(".")
    try:
        known = inspect.signature(getattr(importlib.import_module(module), name)).parameters
        name = next(each for each in ("random_state", "seed", "rng") if each in known)
        by_name = known[name].kind is inspect.Parameter.KEYWORD_ONLY
        taken[path] = name, sys.maxsize if by_name else [*known].index(name)
    except BaseException:
        continue
sys.__stdout__.write("\\n" + json.dumps(taken))
"""
"""Asked in a process of its own: to import a library takes time, and may do anything."""

_PATIENCE = 60
"""Seconds that the libraries may take to be imported."""


def name_seed(site: Site) -> Iterator[tuple[Edit, ...]]:
    """Give the seed that they take to the functions and classes that a cell calls without one.

    Where one of them is the cause, to that alone, wherever the notebook calls it until then.
    """
    libraries = {*site.program.names.values()}
    calls = [call for call in site.program.calls(site.until) if call.path == site.name] or [
        call
        for call in site.program.calls([site.code])
        if any(f"{call.path}.".startswith(f"{each}.") for each in libraries)
    ]
    taken = _taken({call.path for call in calls})
    edits: list[Edit] = []
    for call in calls:
        splice = call.path in taken and _name(call, *taken[call.path], site.seed + len(edits))
        if splice:
            why = f"gives {label_of(ast.unparse(call.node.func), 40)} the seed that it takes"
            edits.append(Edit(call.code.cell.index, "generator", why, (splice,)))
    yield tuple(edits)


def _taken(paths: Collection[str]) -> dict[str, tuple[str, int]]:
    """Return what takes a seed: by which parameter, and which place that has.

    Args:
        paths: Functions and classes, as one would import them.
    """
    if not paths:
        return {}
    try:
        said = subprocess.run(  # noqa: S603 -- this Python, with names of a notebook's libraries
            [sys.executable, "-c", _ASK, *sorted(paths)],
            cwd=sys.prefix,  # where no module of the user's lies
            capture_output=True,
            text=True,
            check=True,
            timeout=_PATIENCE,
        )
        taken: dict[str, tuple[str, int]] = json.loads(said.stdout.rpartition("\n")[2])
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return taken


def _name(call: Call, name: str, place: int, seed: int) -> Splice | None:
    """Return the splice that names a seed, or None where one is given, or may be."""
    code, node = call.code, call.node
    for keyword in node.keywords:
        if keyword.arg == name:
            empty = isinstance(keyword.value, ast.Constant) and keyword.value.value is None
            where = code.start(keyword.value), code.end(keyword.value)
            return Splice(*where, str(seed)) if empty else None
    unpacked = [each for each in node.args if isinstance(each, ast.Starred)]
    if unpacked or None in {each.arg for each in node.keywords} or place < len(node.args):
        return None
    begin, end = code.end(node.func), code.end(node) - 1
    before = code.cell.source[begin:end].rstrip()
    lines = before.split("\n")
    if begin + len(before) < code.offset(node.end_lineno or 1, 0) and "#" not in lines[-1]:
        # the parenthesis stands on a line of its own: so does the seed
        indent = lines[-1][: len(lines[-1]) - len(lines[-1].lstrip())]
        end, ends = begin + len(before), before.endswith(",")
        comma = "" if before.endswith(("(", ",")) else ","
        return Splice(end, end, f"{comma}\n{indent}{name}={seed}{',' * ends}")
    comma = "" if before.endswith(("(", ",")) else ", "
    return Splice(end, end, f"{comma}{name}={seed}")
