"""Finds names whose content a cell sets anew before it reads it.

What such a name held before has no part in the result: ``model.load_state_dict(start)`` on top of a
training cell, ``model.apply(reset)``, ``losses.clear()``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from msgspec import Struct

from ipytorchseed.reads.bindings import names_of
from ipytorchseed.reads.magics import magic_of
from ipytorchseed.reads.parsing import dotted_name, names_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

WHOLE, LAYERS, UNREAD = "whole", "layers", "unread"
"""How content is set anew: nothing is left of it, or layers initialise what they have a way to; or
it is not, and is not read either."""


class Lent(Struct, frozen=True):
    """A function that is given an object: what it does with that decides.

    Attributes:
        function: Its dotted name.
        argument: The place of the object among the arguments, or its keyword.
    """

    function: str
    argument: int | str


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


_OUTER = frozenset({"device", "dtype", "numel", "requires_grad", "requires_grad_", "shape", "size"})
"""What may be asked of a parameter without reading its numbers."""


def find_overwrites(
    body: Iterable[ast.stmt], parse: Callable[[str], ast.Module | None]
) -> dict[str, str | Lent]:
    """Find the names whose content some code sets anew before it reads them.

    Args:
        body: The statements of a cell or a function.
        parse: Parses the bodies of magics such as ``%%time``.

    Returns:
        By name, ``WHOLE``, ``LAYERS``, ``UNREAD``, or the function that it is given to first.
    """
    found: dict[str, str | Lent] = {}
    met: set[str] = set()
    passed: set[str] = set()
    functions: dict[str, _Function] = {}
    for statement in _statements(body, parse):
        if isinstance(statement, ast.FunctionDef) and _runs_when_called(statement):
            functions[statement.name] = _Function(statement, find_overwrites(statement.body, parse))
            continue  # what it does counts where it is named
        used = names_in(statement)
        called = [functions[name] for name in sorted(used & functions.keys())]
        for name in used.union(*(each.uses for each in called)) - met:
            users = [each for each in called if name in each.uses]
            if users:
                alone = len(users) == 1 and name not in used
                running = {dotted_name(each.func) for each in _calls(statement)}
                calls = alone and users[0].node.name in running
                how = users[0].does.get(name) if calls else None
            else:
                how = WHOLE if _fills(statement, name) else _overwrites(statement, name)
                if how is None and _reads_nothing(statement, name):
                    passed.add(name)
                    continue
                how = how or _lends(statement, name)
                while isinstance(how, Lent) and how.function in functions:
                    how = functions[how.function].does_with(how.argument)
            met.add(name)
            if how is not None:
                found[name] = how
        if _may_leave(statement):
            break  # what follows is not certain to run
    else:
        found |= dict.fromkeys(passed - met, UNREAD)
    return found


class _Function:
    """A function that the code itself defines.

    Args:
        node: Its definition.
        does: The names whose content it sets anew, its own as well.
    """

    def __init__(self, node: ast.FunctionDef, does: dict[str, str | Lent]) -> None:
        self.node, self.does = node, does
        self.uses = names_in(node) - names_of(node)

    def does_with(self, argument: int | str) -> str | Lent | None:
        """Tell how it sets anew what it is given as an argument."""
        given = [each.arg for each in (*self.node.args.posonlyargs, *self.node.args.args)]
        name = argument if isinstance(argument, str) else [*given, *[""] * argument][argument]
        return self.does.get(name)


def _runs_when_called(node: ast.FunctionDef) -> bool:
    """Tell whether a call runs the function as it stands here: not later, nor inside another."""
    return not node.decorator_list and not any(
        isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node)
    )


def _may_leave(node: ast.stmt) -> bool:
    """Tell whether a statement that holds others may end what it stands in."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return False
    return any(isinstance(each, ast.Return | ast.Break | ast.Continue) for each in ast.walk(node))


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
        return LAYERS if anew else None
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    if not isinstance(value, ast.Call):
        return None
    method = _method(value, name)
    if method is None:  # `reset_weights(model)`, of which nothing is kept
        alone = isinstance(node, ast.Expr) and [getattr(each, "id", "") for each in value.args] == [
            name
        ]
        return LAYERS if alone and _initialises(value.func) else None
    given = [*value.args, *(each.value for each in value.keywords)]
    if any(name in names_in(each) for each in given) or any(
        each.arg == "strict" and not getattr(each.value, "value", False) for each in value.keywords
    ):
        return None
    if method in _WHOLE:
        return WHOLE
    apply = method == "apply" and any(_initialises(each) for arg in given for each in ast.walk(arg))
    return LAYERS if apply or method == "reset_parameters" else None


def _fills(node: ast.stmt, name: str) -> bool:
    """Tell whether a statement sets all items of what a name holds: ``sums[:] = 0``."""
    return (
        isinstance(node, ast.Assign)
        and any(_is_every_item(each, name) for each in node.targets)
        and name not in names_in(node.value)
    )


def _is_every_item(node: ast.expr, name: str) -> bool:
    if not (isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == name):
        return False
    part = node.slice
    if isinstance(part, ast.Slice):
        return part.lower is part.upper is part.step is None
    return isinstance(part, ast.Constant) and part.value is ...


def _lends(node: ast.stmt, name: str) -> Lent | None:
    """Tell which function a statement gives what a name holds; None where it does more with it."""
    mentions = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
    for call in _calls(node) if len(mentions) == 1 else ():
        given: dict[int | str, ast.expr] = dict(enumerate(call.args))
        given |= {word.arg: word.value for word in call.keywords if word.arg is not None}
        for argument, value in given.items():
            if value is mentions[0] and dotted_name(call.func):
                return Lent(dotted_name(call.func), argument)
    return None


def _calls(node: ast.stmt) -> list[ast.Call]:
    """Return the calls of a statement that certainly runs them all."""
    parts = [*ast.walk(node)] if isinstance(node, ast.Expr | ast.Assign | ast.Return) else []
    if any(isinstance(each, ast.Lambda | ast.IfExp | ast.BoolOp | ast.Starred) for each in parts):
        return []
    return [each for each in parts if isinstance(each, ast.Call)]


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


def _reads_nothing(node: ast.stmt, name: str) -> bool:
    """Tell whether a statement calls methods of ``_NO_READS`` alone of what a name holds."""
    calls = [each for each in ast.walk(node) if _method_call(each, name) in _NO_READS]
    mentions = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
    return len(calls) == len(mentions) and not any(
        _reads_each(node, loop.target)
        for loop in ast.walk(node)
        if isinstance(loop, ast.For | ast.comprehension) and name in names_in(loop.iter)
    )


def _reads_each(node: ast.stmt, target: ast.expr) -> bool:
    """Tell whether more than ``_OUTER`` is asked of each parameter that a loop goes over."""
    last = target.elts[-1] if isinstance(target, ast.Tuple) else target
    asked = [each for each in ast.walk(node) if isinstance(each, ast.Attribute)]
    passed = {id(each.value) for each in asked if each.attr in _OUTER}
    passed |= {id(each.elt) for each in ast.walk(node) if isinstance(each, ast.ListComp)}
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    return any(
        each.id in names_in(last) and id(each) not in passed
        for each in names
        if isinstance(each.ctx, ast.Load)
    )


def _method_call(node: ast.AST, name: str) -> str | None:
    return _method(node, name) if isinstance(node, ast.Call) else None
