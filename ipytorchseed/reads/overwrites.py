"""Finds names whose content a cell sets anew before it reads it.

What such a name held before has no part in the result: ``model.load_state_dict(start)`` on top of a
training cell, ``model.apply(reset)``, ``losses.clear()``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ipytorchseed.reads.magics import magic_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_WHOLE = frozenset({
    "clear", "copy_", "fill", "fill_", "load_state_dict", "normal_", "uniform_", "zero_",
})  # fmt: skip
"""Methods after which nothing is left of what an object held."""

_LAYERS = frozenset({
    "children", "modules", "named_children", "named_modules", "named_parameters", "parameters",
})  # fmt: skip
"""Methods that list the layers or parameters of a model."""

_NO_READS = frozenset({
    "cpu", "eval", "float", "named_parameters", "parameters", "requires_grad_", "to", "train",
    "zero_grad",
})  # fmt: skip
"""Methods whose answers hang on nothing that such methods set: an optimizer is given parameters."""


def find_overwrites(
    body: Iterable[ast.stmt], parse: Callable[[str], ast.Module | None]
) -> tuple[set[str], set[str]]:
    """Find the names whose content some code sets anew before it reads them.

    Args:
        body: The statements of a cell or a function.
        parse: Parses the bodies of magics such as ``%%time``.

    Returns:
        Names of which nothing is left, and names of models whose layers are initialised anew, as
        far as these have a way to.
    """
    whole: set[str] = set()
    layers: set[str] = set()
    met: set[str] = set()
    for statement in _statements(body, parse):
        used = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
        for name in used - met:
            how = _overwrites(statement, name)
            if how is None and _reads_nothing(statement, name):
                continue
            met.add(name)
            if how is not None:
                (whole if how == "whole" else layers).add(name)
    return whole, layers


def _statements(
    body: Iterable[ast.stmt], parse: Callable[[str], ast.Module | None]
) -> Iterator[ast.stmt]:
    """Yield statements in their order, those inside of magics and of ``with`` as well."""
    for node in body:
        value = getattr(node, "value", None)
        magic = magic_of(value) if isinstance(value, ast.Call) else None
        inner = parse(magic.body) if magic is not None and magic.cell else None
        if inner is not None:
            yield from _statements(inner.body, parse)
        elif isinstance(node, ast.With):
            yield from (ast.Expr(item.context_expr) for item in node.items)
            yield from _statements(node.body, parse)
        elif isinstance(node, ast.For) and not _goes_through_layers(node):
            yield ast.Expr(node.iter)
            yield from _statements(node.body, parse)
        else:
            yield node


def _overwrites(node: ast.stmt, name: str) -> str | None:
    """Tell how a statement sets anew what a name holds; None where it does not, or reads it too."""
    if isinstance(node, ast.For):
        anew = _method(node.iter, name) in _LAYERS and any(map(_initialises, ast.walk(node)))
        return "layers" if anew else None
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    if not isinstance(value, ast.Call):
        return None
    method = _method(value, name)
    if method is None:  # `reset_weights(model)`, of which nothing is kept
        alone = isinstance(node, ast.Expr) and [getattr(each, "id", "") for each in value.args] == [
            name
        ]
        return "layers" if alone and _initialises(value.func) else None
    given = [*value.args, *(each.value for each in value.keywords)]
    if any(_names(each, name) for each in given) or any(
        each.arg == "strict" and not getattr(each.value, "value", False) for each in value.keywords
    ):
        return None
    if method in _WHOLE:
        return "whole"
    apply = method == "apply" and any(_initialises(each) for arg in given for each in ast.walk(arg))
    return "layers" if apply or method == "reset_parameters" else None


def _goes_through_layers(node: ast.For) -> bool:
    called = node.iter.func if isinstance(node.iter, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in _LAYERS


def _initialises(node: ast.AST) -> bool:
    """Tell whether a name in code is that of a function which initialises weights."""
    word = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return "init" in word.lower() or "reset" in word.lower()


def _method(node: ast.expr | None, name: str) -> str | None:
    """Return the method of what a name holds that an expression calls, if it is such a call."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        return called.attr if called.value.id == name else None
    return None


def _names(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _reads_nothing(node: ast.stmt, name: str) -> bool:
    """Tell whether a statement calls methods of ``_NO_READS`` alone of what a name holds."""
    calls = [each for each in ast.walk(node) if _method_call(each, name) in _NO_READS]
    mentions = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
    return len(calls) == len(mentions)


def _method_call(node: ast.AST, name: str) -> str | None:
    return _method(node, name) if isinstance(node, ast.Call) else None
