"""Which names of a cell may share memory, so that what changes one changes the others."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ipytorchseed.reads.drawn import CHANGES
from ipytorchseed.reads.parsing import dotted_name, names_in, nodes_in

_NUMBERS = frozenset(
    {"all", "any", "bool", "count", "float", "int", "len", "nunique", "print", "range", "str"}
)
"""Functions and methods that keep nothing of what they are given, and return nothing of it."""

_COPIES = frozenset({
    "abs", "clone", "copy", "corr", "item", "mean", "median", "norm", "prod", "round", "std", "sum",
    "var",
})  # fmt: skip
"""Those that do so where they are given no objects in lists and the like."""


class Aliases:
    """Groups of names that may share memory."""

    def __init__(self) -> None:
        self._groups: list[set[str]] = []

    def join(self, names: Iterable[str]) -> None:
        """Note that names may share memory."""
        joined = {*names}
        for group in [each for each in self._groups if not each.isdisjoint(joined)]:
            self._groups.remove(group)
            joined |= group
        self._groups.append(joined)

    def of(self, names: set[str]) -> set[str]:
        """Return names, and those that may share memory with them."""
        return names.union(*(group for group in self._groups if not group.isdisjoint(names)))


def find_sharing(statement: ast.stmt, holders: set[str]) -> Iterator[ast.AST]:
    """Find the pieces of a statement after which the names in them may share memory.

    Args:
        statement: The statement.
        holders: Names of values that hold other objects, as lists do.
    """
    for each in nodes_in(statement):
        if isinstance(each, (ast.Assign, ast.AnnAssign, ast.Expr, ast.AugAssign, ast.NamedExpr)):
            if each.value is not None and not _is_fresh(each.value, holders):
                yield each
        elif isinstance(each, (ast.For, ast.AsyncFor, ast.comprehension)):
            if not _is_fresh(each.iter, holders):
                yield ast.Tuple([each.target, each.iter])
        elif isinstance(each, ast.withitem):
            yield each


def _is_fresh(value: ast.expr, holders: set[str]) -> bool:
    """Tell whether what is evaluated keeps nothing of what it is made of, nor lets others do so."""
    if isinstance(value, (ast.Compare, ast.Constant, ast.JoinedStr)):
        return True
    if isinstance(value, ast.Call):
        path = dotted_name(value.func)
        tail = getattr(value.func, "attr", path)
        if tail in _NUMBERS:
            return True
        if tail in CHANGES:
            return all(_is_fresh(each, holders) for each in value.args)
        copies = tail in _COPIES
    else:
        copies = isinstance(value, (ast.BinOp, ast.UnaryOp))
    return copies and names_in(value).isdisjoint(holders)
