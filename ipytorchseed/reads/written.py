"""The calls, arguments and imports in the text of a cell."""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.parsing import base_of, dotted_name, parse_text

_COMMANDS = lazy_pattern(r"^[ \t]*[%!].*$", re.MULTILINE)


class Variable(Struct, frozen=True):
    """An argument that is a variable."""

    name: str


# An argument that is neither a constant nor a variable.
UNKNOWN: Any = object()


class Call(Struct, frozen=True):
    """A call in the text of a cell.

    Attributes:
        name: The dotted name that is called; empty if another expression is called.
        tail: The last part of the name: ``fit`` for ``model.fit()`` and ``make().fit()``.
        root: The first part of the name: ``model`` for ``model.fit()``. May be empty.
        given: The keyword arguments: constants, ``Variable`` or ``UNKNOWN``. If a dictionary may be
            passed, the items of all dictionaries in the cell are included. None if the arguments
            are unknown.
        takes: Variables that are arguments.
        made: Variables and attributes that the statement with the call sets.
        is_unused: Whether the result is not used, because the call is a statement.
        is_last: Whether the call is in the last statement.
    """

    name: str
    tail: str
    root: str
    given: Mapping[str, Any] | None
    takes: frozenset[str]
    made: frozenset[str]
    is_unused: bool = False
    is_last: bool = False


class Written(Struct, frozen=True):
    """The calls and imports in the text of a cell.

    Attributes:
        calls: All calls in the order of the text, including calls inside functions.
        imports: The packages of imported names.
        names: The names that the cell reads.
        altered: The names of objects whose attributes or items the cell sets or deletes.
        used: The names that the cell reads. Reads that only alter the object, and reads in calls
            with unused results, do not count.
    """

    calls: tuple[Call, ...] = ()
    imports: Mapping[str, str] = {}
    names: frozenset[str] = frozenset()
    altered: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()


@lru_cache(maxsize=256)
def written(source: str) -> Written:
    """Return the calls and imports of a cell; empty if its text is invalid."""
    tree = parse_text(_COMMANDS.sub("", source))
    if tree is None:
        return Written()
    nodes = [*ast.walk(tree)]
    options = _options(nodes)
    unused = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    calls = []
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        made = frozenset(map(dotted_name, targets))
        inner = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
        last = statement is tree.body[-1]
        for node in inner:
            call = _call(node, options, made)
            calls.append(replace(call, is_unused=id(node) in unused, is_last=last))
    reads = Counter(
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )
    altered = Counter(
        name
        for node in nodes
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load)
        for name in base_of(node)
    )
    acts = altered + Counter(
        name
        for call in calls
        if call.is_unused and not hasattr(builtins, call.name)
        for name in (call.root, *call.takes)
    )
    used = frozenset(reads - acts)
    names = frozenset(reads)
    return Written(tuple(calls), dict(_imports(nodes)), names, frozenset(altered), used)


def _call(node: ast.Call, options: Mapping[str, Any], made: frozenset[str]) -> Call:
    name = dotted_name(node.func)
    arguments = [*node.args, *(each.value for each in node.keywords)]
    given: Mapping[str, Any] | None = {
        each.arg: _value(each.value) for each in node.keywords if each.arg
    }
    is_open = any(each.arg is None for each in node.keywords)
    if is_open or any(isinstance(each, ast.Name | ast.Dict) for each in node.args):
        given = None if is_open and not options else {**options, **(given or {})}
    return Call(
        name=name,
        tail=name.rpartition(".")[2] or getattr(node.func, "attr", ""),
        root=next(iter(base_of(node.func)), ""),
        given=given,
        takes=frozenset(each.id for each in arguments if isinstance(each, ast.Name)),
        made=made,
    )


def _options(nodes: list[ast.AST]) -> dict[str, Any]:
    """Return the items of all dictionary displays, which may be passed as arguments."""
    return {
        str(key.value): _value(value)
        for each in nodes
        if isinstance(each, ast.Dict)
        for key, value in zip(each.keys, each.values, strict=True)
        if isinstance(key, ast.Constant)
    }


def _imports(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for each in node.names:
                module = getattr(node, "module", each.name)
                bound = each.asname or each.name.partition(".")[0]
                yield bound, str(module).partition(".")[0]


def _value(node: ast.expr) -> Any:  # noqa: ANN401 -- any constant
    if isinstance(node, ast.Name):
        return Variable(node.id)
    try:
        return ast.literal_eval(node)
    except ValueError:
        return UNKNOWN
