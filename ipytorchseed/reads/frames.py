"""Columns of data frames that code reads, and names in their queries."""

from __future__ import annotations

import ast
import itertools
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.reads.keys import constant_keys
from ipytorchseed.reads.parsing import nodes_in, parse_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ipytorchseed.reads.abstract import AbstractValue
    from ipytorchseed.reads.scope import Scope

_NAME_IN_QUERY = re.compile(r"@([A-Za-z_]\w{0,200})")

_MASKS = (ast.BoolOp, ast.Call, ast.Compare, ast.UnaryOp, ast.BinOp)
"""What picks rows by whether something holds of them."""


class _Rows(Struct):
    """Rows of what may be a data frame, as ``frame.query("n > 1").groupby("k")`` names them.

    Attributes:
        name: The frame's name.
        columns: Columns that tell the rows, their order and their groups.
        others: What else is evaluated.
        methods: The methods that are called.
    """

    name: str
    columns: list[str] = []
    others: list[ast.expr] = []
    methods: list[ast.Call] = []


def _rows_of(node: ast.expr) -> _Rows | None:
    """Tell the rows of which frame something is; None where it may be more than its rows."""
    rows = _Rows("")
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Subscript) and not constant_keys(node.slice, places=True):
            rows.others.append(node.slice)
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if not _picks(node, node.func.attr, rows):
                return None
            node = node.func.value
        else:
            return None
    rows.name = node.id
    return rows


_BY = {"groupby": (0, "by"), "sort_values": (0, "by"), "set_index": (0, "keys"),
       "nlargest": (1, "columns"), "nsmallest": (1, "columns"), "query": (0, "expr"),
       "dropna": (-1, "subset"), "drop_duplicates": (0, "subset")}  # fmt: skip
"""Methods that pick, order or group rows by columns: which argument names them, and its name."""

_AS_THEY_ARE = frozenset({"copy", "head", "reset_index", "tail"})
"""Methods that give rows as they are, in their order."""


def _picks(call: ast.Call, method: str, rows: _Rows) -> bool:
    """Note the columns by which a method picks rows; tells whether those are known."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return False
    place, word = _BY.get(method, (-1, ""))
    by = [each for at, each in enumerate(call.args) if at == place]
    by += [each.value for each in call.keywords if each.arg == word]
    given = [*call.args, *(each.value for each in call.keywords)]
    if word:
        keys = [columns_in_query(each) if method == "query" else constant_keys(each) for each in by]
        if not keys or not all(keys):
            return False
        rows.columns += itertools.chain(*keys)
    elif method not in _AS_THEY_ARE or (call.args and method == "copy"):
        return False
    rows.others += [each for each in given if each not in by]
    rows.methods.append(call)
    return True


def _read_columns(scope: Scope, rows: _Rows, keys: Iterable[str]) -> AbstractValue:
    """Note that of some rows these columns are read."""
    for each in rows.others:
        scope.consume(scope.visit(each))
    value = scope.load(rows.name)
    scope.run_all(value.bodies)
    for call in rows.methods:
        scope.effects.attributes.add(getattr(call.func, "attr", ""))
        ask_frame(scope, call)
    named = itertools.product(value.paths, [*keys, *rows.columns])
    scope.effects.columns.update(named)
    return value


def columns_of(scope: Scope, node: ast.Subscript) -> AbstractValue | None:
    """Follow ``frame[rows]["open"]``, ``frame.loc[rows, "open"]``, and so on after ``groupby``.

    Returns:
        What is known of the frame; None where it is none of these.
    """
    owner: ast.expr = node.value
    part: ast.expr = node.slice
    if isinstance(owner, ast.Attribute) and owner.attr == "loc" and isinstance(part, ast.Tuple):
        owner, part = owner.value, part.elts[-1]
    elif isinstance(owner, ast.Name):
        return None
    keys = constant_keys(part)
    rows = _rows_of(owner) if keys else None
    return None if rows is None else _read_columns(scope, rows, keys)


def aggregates(scope: Scope, node: ast.Call) -> bool:
    """Follow ``frame.groupby("k").agg({"open": "mean"})``, of which columns are read."""
    callee = node.func
    if not (isinstance(callee, ast.Attribute) and callee.attr in ("agg", "aggregate")):
        return False
    given = node.args[:1] or [word.value for word in node.keywords if word.arg]
    named = [each.keys if isinstance(each, ast.Dict) else _first(each) for each in given]
    each_key = [constant_keys(key) if key is not None else [] for keys in named for key in keys]
    rows = _rows_of(callee.value) if each_key and all(named) and all(each_key) else None
    if rows is None:
        return False
    scope.effects.attributes.add(callee.attr)
    _read_columns(scope, rows, itertools.chain(*each_key))
    for each in (*node.args, *(word.value for word in node.keywords)):
        scope.consume(scope.visit(each))
    return True


def _first(node: ast.expr) -> list[ast.expr]:
    return node.elts[:1] if isinstance(node, ast.Tuple) else []


def columns_held(scope: Scope, node: ast.Subscript) -> AbstractValue | None:
    """Follow ``frame[features]``: the columns that a variable names, where it names any."""
    if not (isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name)):
        return None
    key = scope.visit(node.slice)
    if key.texts or len(key.paths) != 1 or not key.paths[0].isidentifier():
        return None
    value = scope.load(node.value.id)
    scope.effects.columns.update((path, f"\0*{key.paths[0]}\0") for path in value.paths)
    return value


def column_of_rows(scope: Scope, node: ast.expr, name: str) -> AbstractValue | None:
    """Follow ``frame[frame.price > limit].open``: of some rows, the column of that name."""
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, _MASKS):
        return None
    rows = _rows_of(node) if isinstance(node, ast.Subscript | ast.Call) else None
    if rows is None or not (rows.columns or isinstance(node, ast.Subscript)):
        return None
    return replace(_read_columns(scope, rows, [f".{name}"]).item(), bodies=())


def ask_frame(scope: Scope, node: ast.Call) -> None:
    """Follow the names in ``frame.query("price > @limit")``."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("query", "eval"):
        for text in [text for each in node.args for text in scope.visit(each).text()]:
            scope.effects.held |= {("query", text)} if "\0" in text else set()
            for name in names_in_query(text):
                scope.effects.paths.update(scope.load(name).paths)


def names_in_query(text: str) -> list[str]:
    """Return the names in ``"price > @limit"``, which a data frame looks up."""
    return _NAME_IN_QUERY.findall(text)


def columns_in_query(node: ast.expr) -> list[str]:
    """Return the columns in ``"price > @limit"``; none where they cannot be told."""
    text = node.value if isinstance(node, ast.Constant) else None
    tree = parse_text(text.replace("@", _VARIABLE).strip()) if isinstance(text, str) else None
    names = [each.id for each in nodes_in(tree) if isinstance(each, ast.Name)] if tree else []
    return [name for name in names if not name.startswith(_VARIABLE)]


_VARIABLE = "_at_"
"""What stands for the sign before a variable's name, which is no Python."""
