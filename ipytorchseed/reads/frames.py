"""Columns that code asks data frames for, and names in their queries."""

from __future__ import annotations

import ast
import itertools
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ipytorchseed.reads.keys import constant_keys

if TYPE_CHECKING:
    from ipytorchseed.reads.abstract import AbstractValue
    from ipytorchseed.reads.scope import Scope

_NAME_IN_QUERY = re.compile(r"@([A-Za-z_]\w{0,200})")

_MASKS = (ast.BoolOp, ast.Call, ast.Compare, ast.UnaryOp, ast.BinOp)
"""What picks rows by whether something holds of them."""


def columns_of(scope: Scope, node: ast.Subscript) -> AbstractValue | None:
    """Follow ``frame[rows]["open"]``, ``frame.loc[rows, "open"]``, and so on after ``groupby``.

    Returns:
        What is known of the frame; None where it is none of these.
    """
    owner: ast.expr = node.value
    part: ast.expr = node.slice
    by: list[ast.expr] = []
    more: list[ast.expr] = []
    if isinstance(owner, ast.Subscript) and not constant_keys(owner.slice, places=True):
        more, owner = [owner.slice], owner.value
    elif isinstance(owner, ast.Attribute) and owner.attr == "loc" and isinstance(part, ast.Tuple):
        owner, part = owner.value, part.elts[-1]
    elif isinstance(owner, ast.Call) and getattr(owner.func, "attr", "") == "groupby":
        by = [*owner.args, *(word.value for word in owner.keywords if word.arg == "by")]
        more = [word.value for word in owner.keywords if word.arg != "by"]
        owner = getattr(owner.func, "value", owner)
    keys = [constant_keys(each) for each in (part, *by)]
    if owner is node.value or not isinstance(owner, ast.Name) or not all(keys):
        return None
    for each in more:
        scope.consume(scope.visit(each))
    value = scope.load(owner.id)
    named = itertools.product(value.paths, itertools.chain(*keys))
    scope.effects.columns.update(named)
    return value


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
    if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)):
        return None
    if not isinstance(node.slice, _MASKS) or not isinstance(node.ctx, ast.Load):
        return None
    value = scope.load(node.value.id)
    scope.effects.columns.update((path, f".{name}") for path in value.paths)
    scope.run_all(value.bodies)
    scope.consume(scope.visit(node.slice))
    return replace(value.item(), bodies=())


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
