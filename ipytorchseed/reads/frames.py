"""Columns of data frames that code reads, and names in their queries."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable

from msgspec.structs import replace

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.abstract import HELD, AbstractValue
from ipytorchseed.reads.columns import ALL_BUT, Rows, columns_in_query, dropped_by, picked, rows_of
from ipytorchseed.reads.keys import constant_keys
from ipytorchseed.reads.queries import tables_in_query
from ipytorchseed.reads.scope import Scope

_NAME_IN_QUERY = lazy_pattern(r"@([A-Za-z_]\w{0,200})")

_MASKS = (ast.BoolOp, ast.Call, ast.Compare, ast.UnaryOp, ast.BinOp)
"""What picks rows by whether something holds of them."""


def _read_columns(scope: Scope, rows: Rows, keys: Iterable[str]) -> AbstractValue:
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
    keys, rows = picked(node)
    if rows is None or isinstance(node.value, ast.Name):
        return None
    return _read_columns(scope, rows, keys)


def set_columns(scope: Scope, node: ast.Subscript) -> bool:
    """Follow ``frame.loc[rows, "open"] = 0``, after which the other rows are as they were."""
    owner = node.value
    if not (isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name)):
        return False
    keys, rows = picked(node)
    if rows is None or owner.attr != "loc":
        return False
    scope.effects.attributes.add(owner.attr)
    scope.effects.columns.update(itertools.product(scope.load(rows.name).paths, keys))
    return True


def aggregates(scope: Scope, node: ast.Call) -> bool:
    """Follow ``frame.groupby("k").agg({"open": "mean"})``, ``frame.eval("open / high")``, ``drop``.

    Of the frame, columns are read.
    """
    callee = node.func
    if not (isinstance(callee, ast.Attribute) and callee.attr in _BY_COLUMNS):
        return False
    given = node.args[:1] or [word.value for word in node.keywords if word.arg]
    if callee.attr == "drop":
        keys = [_column(scope, each) for each in dropped_by(node)]
        each_key = [[ALL_BUT + ALL_BUT.join(keys)]] if all(keys) and keys else []
    elif callee.attr == "eval":
        each_key = [columns_in_query(each) for each in given]
    else:
        named = [each.keys if isinstance(each, ast.Dict) else _first(each) for each in given]
        each_key = [constant_keys(key) if key is not None else [] for keys in named for key in keys]
        each_key = each_key if all(named) else []
    rows = rows_of(callee.value) if each_key and all(each_key) else None
    if rows is None:
        return False
    scope.effects.attributes.add(callee.attr)
    _read_columns(scope, rows, itertools.chain(*each_key))
    ask_frame(scope, node)
    for each in (*node.args, *(word.value for word in node.keywords)):
        scope.consume(scope.visit(each))
    return True


_BY_COLUMNS = frozenset({"agg", "aggregate", "drop", "eval"})
"""Methods of which an argument may name all columns that they read."""


def _first(node: ast.expr) -> list[ast.expr]:
    return node.elts[:1] if isinstance(node, ast.Tuple) else []


def columns_held(scope: Scope, node: ast.Subscript) -> AbstractValue | None:
    """Follow ``frame[features]``: the columns that a variable names, where it names any."""
    if not (isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name)):
        return None
    key = _column(scope, node.slice)
    if not key:
        return None
    value = scope.load(node.value.id)
    scope.effects.columns.update((path, key) for path in value.paths)
    return value


def _column(scope: Scope, node: ast.expr) -> str:
    """Return the column that a constant is, or those that a variable names; or nothing."""
    key = scope.visit(node)
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.Name) and len(key.texts) == 1 and HELD.fullmatch(key.texts[0]):
        return key.texts[0]  # an item of a list that goes by a name: any of them
    known = isinstance(node, ast.Name) and not key.texts and len(key.paths) == 1
    return f"\0*{key.paths[0]}\0" if known and key.paths[0].isidentifier() else ""


def column_of_rows(scope: Scope, node: ast.expr, name: str) -> AbstractValue | None:
    """Follow ``frame[frame.price > limit].open``: of some rows, the column of that name."""
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, _MASKS):
        return None
    rows = rows_of(node) if isinstance(node, ast.Subscript | ast.Call) else None
    if rows is None or not (rows.columns or isinstance(node, ast.Subscript)):
        return None
    return replace(_read_columns(scope, rows, [f".{name}"]).item(), bodies=())


def ask_frame(scope: Scope, node: ast.Call) -> None:
    """Follow the names in ``frame.query("price > @limit")`` and ``polars.sql("… FROM rides")``."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("query", "eval", "sql"):
        given = [*node.args, *(word.value for word in node.keywords)]
        for text in [text for each in given for text in scope.visit(each).text()]:
            scope.effects.held |= {("query", text)} if "\0" in text else set()
            for name in names_in_query(text):
                scope.effects.paths.update(scope.load(name).paths)


def names_in_query(text: str) -> list[str]:
    """Return the names in ``"price > @limit"``, which a data frame looks up, and tables in SQL."""
    return [*_NAME_IN_QUERY.findall(text), *tables_in_query(text)]
