"""Finds calls of libraries that do not repeat: see the table in ``determinism.library_calls``."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.library_calls import CALLS, UNKNOWN, Call
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.parsing import base_of, dotted_name, nodes_in, parse_text
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Cleared

_COMMANDS = lazy_pattern(r"^[ \t]*[%!].*$", re.MULTILINE)


class _Place(Struct, frozen=True):
    """A call in the text of a cell.

    Attributes:
        node: The call.
        options: What dictionaries in the same text hold, which calls may be given.
    """

    node: ast.Call
    options: dict[str, Any]


def find_calls(case: Evidence, others: bool) -> Iterator[Cause | Cleared]:  # noqa: FBT001
    """Name calls that do not repeat, in the cell and in what it calls.

    Args:
        case: The evidence.
        others: Whether another cause was found. None is then named, unless experiments prove it.
    """
    if case.two_cells or not case.changed:
        return
    rows = [row for row in CALLS if case.uses(row.package)]
    texts = "\n".join(case.texts()) if rows else ""
    for row in rows:
        place = next((each for each in _places(case, row) if _varies(case, row, each)), None)
        if place is None or (row.setter and (row.setter in texts or case.run.seeds)):
            continue
        written = dotted_name(place.node.func) or f"{row.package}.{row.name}"
        name = f"{row.package}.{row.name}"
        fix = row.fix if "=" not in row.fix else f"{written}(..., {row.fix})"
        cause = Cause(row.kind, name, f"`{written}()` {row.why}", fix=fix)
        if others:
            reason = "other causes account for the change"
            yield Cleared(row.kind, name, reason, cause)
        else:
            yield cause


def _places(case: Evidence, row: Call) -> Iterator[_Place]:
    """Yield the calls of a row's name, in the cell and in what made what it uses."""
    for statements in [*map(_parse, case.texts()), *_made_by(case, row)]:
        nodes = [node for each in statements for node in nodes_in(each)]
        options = _options(case, nodes)
        for node in nodes:
            if isinstance(node, ast.Call) and _tail(node.func) == row.tail:
                yield _Place(node, options)


def _made_by(case: Evidence, row: Call) -> Iterator[list[ast.stmt]]:
    """Yield the statements that made objects which the cell uses, by a class of a library."""
    if not row.name[0].isupper() or row.on:
        return
    for run in case.states.latest(case.run):
        made = case.run.reads.keys() & run.writes.keys() - run.in_place
        if made and row.tail in run.source:
            assigned = [each for each in _parse(run.source) if isinstance(each, ast.Assign)]
            yield [each for each in assigned if made & {*map(dotted_name, each.targets)}]


@lru_cache(maxsize=256)
def _parse(source: str) -> list[ast.stmt]:
    tree = parse_text(_COMMANDS.sub("", source))
    return [] if tree is None else tree.body


def _tail(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else dotted_name(function)


def _varies(case: Evidence, row: Call, place: _Place) -> bool:
    """Return whether a call is a row's, and does not repeat with what it is given."""
    given = {each.arg: _value(case, each.value) for each in place.node.keywords if each.arg}
    open_ended = any(each.arg is None for each in place.node.keywords)
    if open_ended and not place.options:
        return False  # nobody knows what it is given
    if open_ended or any(isinstance(each, ast.Name | ast.Dict) for each in place.node.args):
        given = place.options | given
    return row.varies(given) and _is_of(case, row, place.node)


def _is_of(case: Evidence, row: Call, node: ast.Call) -> bool:
    """Return whether what is called is the library's, as far as is known."""
    root = next(iter(base_of(node.func)), "")
    package = _imported_as(case, root)
    if package or root in sys.stdlib_module_names:
        return package == row.package
    value = case.run.reads.get(root) or case.run.writes.get(root)
    if not row.on or value is None:
        return value is None
    return not row.on.isdisjoint(re.findall(r"\w+", value.summary))


def _imported_as(case: Evidence, name: str) -> str:
    """Return the package from which a name was imported; empty if that is not known."""
    runs = [case.run, *case.states.latest(case.run)]
    for run in (each for each in runs if "import" in each.source and name in each.source):
        for node in (inner for each in _parse(run.source) for inner in nodes_in(each)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for each in node.names:
                    bound = each.asname or each.name.partition(".")[0]
                    if bound == name:
                        module = getattr(node, "module", each.name)
                        return str(module).partition(".")[0]
    return ""


def _options(case: Evidence, nodes: list[ast.AST]) -> dict[str, Any]:
    """Return what dictionaries that are written out hold by names."""
    return {
        str(key.value): _value(case, value)
        for node in nodes
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant)
    }


def _value(case: Evidence, node: ast.expr) -> Any:  # noqa: ANN401 -- any constant
    """Return the value of a constant, or of a variable that held a number or None."""
    if isinstance(node, ast.Name) and node.id in case.run.reads:
        held = case.run.reads[node.id]
        number = held.series[0] if held.series and len(held.series) == 1 else UNKNOWN
        return None if held.kind == "none" else int(number) if held.kind == "int" else UNKNOWN
    try:
        return ast.literal_eval(node)
    except ValueError:
        return UNKNOWN
