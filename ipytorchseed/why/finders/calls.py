"""Finds calls of libraries that do not repeat: see ``determinism.library_calls``."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from ipytorchseed.determinism.library_calls import Call, known_calls
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.parsing import base_of, dotted_name, nodes_in, parse_text
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Cleared

_UNKNOWN: Any = object()
"""Stands for an argument of which only the run knows the value."""

_COMMANDS = lazy_pattern(r"^[ \t]*[%!].*$", re.MULTILINE)


def find_calls(case: Evidence, others: bool) -> Iterator[Cause | Cleared]:  # noqa: FBT001
    """Name calls that do not repeat, in the cell and in what it calls.

    Args:
        case: The evidence.
        others: Whether another cause was found. None is then named, unless experiments prove it.
    """
    if case.two_cells or not case.changed:
        return
    rows = [row for row in known_calls().calls if case.uses(row.package)]
    texts = case.texts() if rows else []
    for row in rows:
        if row.setter and (case.run.seeds or any(row.setter in text for text in texts)):
            continue
        for name in row.names:
            node = next(_calls(case, row, name, texts), None)
            if node is None:
                continue
            title = f"{row.package}.{name}"
            written = dotted_name(node.func) or title
            fix = f"{written}(..., {row.fix})" if "=" in row.fix else row.fix
            cause = Cause(row.kind, title, f"`{written}()` {row.why}", fix=fix)
            reason = "other causes account for the change"
            yield Cleared(row.kind, title, reason, cause) if others else cause


def _calls(case: Evidence, row: Call, name: str, texts: Sequence[str]) -> Iterator[ast.Call]:
    """Yield the calls of a row that do not repeat, in the cell and in what made what it uses."""
    tail = name.rpartition(".")[2]
    for statements in [*map(_parse, texts), *_made_by(case, row, name)]:
        nodes = [node for each in statements for node in nodes_in(each)]
        for node in nodes:
            called = isinstance(node, ast.Call) and dotted_name(node.func).rpartition(".")[2]
            if isinstance(node, ast.Call) and tail == (called or getattr(node.func, "attr", "")):
                given = _arguments(case, node, nodes)
                if given is not None and row.varies(given) and _is_of(case, row, node):
                    yield node


def _made_by(case: Evidence, row: Call, name: str) -> Iterator[list[ast.stmt]]:
    """Yield the statements that made objects of a class which the cell uses."""
    if not name[0].isupper() or row.on:
        return
    for run in case.states.latest(case.run):
        made = case.run.reads.keys() & run.writes.keys() - run.in_place
        if made and name in run.source:
            assigned = [each for each in _parse(run.source) if isinstance(each, ast.Assign)]
            yield [each for each in assigned if made & {*map(dotted_name, each.targets)}]


@lru_cache(maxsize=256)
def _parse(source: str) -> list[ast.stmt]:
    tree = parse_text(_COMMANDS.sub("", source))
    return [] if tree is None else tree.body


def _arguments(case: Evidence, node: ast.Call, nodes: list[ast.AST]) -> dict[str, Any] | None:
    """Return what a call is given by name, also by dictionaries in the same text, if that is known.

    Args:
        case: The evidence.
        node: The call.
        nodes: The text.
    """
    given = {each.arg: _value(case, each.value) for each in node.keywords if each.arg}
    open_ended = any(each.arg is None for each in node.keywords)
    if not open_ended and not any(isinstance(each, ast.Name | ast.Dict) for each in node.args):
        return given
    options = {
        str(key.value): _value(case, value)
        for each in nodes
        if isinstance(each, ast.Dict)
        for key, value in zip(each.keys, each.values, strict=True)
        if isinstance(key, ast.Constant)
    }
    return None if open_ended and not options else options | given


def _is_of(case: Evidence, row: Call, node: ast.Call) -> bool:
    """Return whether what is called is the library's, as far as is known."""
    root = next(iter(base_of(node.func)), "")
    package = _imported_as(case, root)
    if package or root in sys.stdlib_module_names:
        return package == row.package
    value = case.run.reads.get(root) or case.run.writes.get(root)
    if not row.on or value is None:
        return value is None
    return not {*row.on}.isdisjoint(re.findall(r"\w+", value.summary))


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


def _value(case: Evidence, node: ast.expr) -> Any:  # noqa: ANN401 -- any constant
    """Return the value of a constant, or of a variable that held a number or None."""
    if isinstance(node, ast.Name) and node.id in case.run.reads:
        held = case.run.reads[node.id]
        number = held.series[0] if held.series and len(held.series) == 1 else _UNKNOWN
        return None if held.kind == "none" else int(number) if held.kind == "int" else _UNKNOWN
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _UNKNOWN
