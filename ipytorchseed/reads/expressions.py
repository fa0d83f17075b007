"""Evaluates expressions in the order in which they run."""

from __future__ import annotations

import ast
from typing import Any

from msgspec.structs import replace

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.abstract import (
    BY_ADDRESS,
    CONTAINS,
    NEUTRAL,
    NOTHING,
    UNKNOWN,
    AbstractValue,
    bodies_of,
    concatenations,
    contents,
    either,
    join,
)
from ipytorchseed.reads.entropy import ADDRESSES
from ipytorchseed.reads.parsing import dotted_name
from ipytorchseed.reads.queries import asked_by_query
from ipytorchseed.reads.scope import Scope, evaluates
from ipytorchseed.reads.taint import combine, escape

_TEXT = AbstractValue(only_taint=True)
_PATH = lazy_pattern(r"[^\n\0]{1,240}")
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_RESULTS = {"Out": "_", "In": "_i"}
_NAMESPACES = frozenset({"dir", "globals", "locals", "vars"})


@evaluates("Constant")
def _constant(scope: Scope, node: ast.Constant) -> AbstractValue:
    if node.value is None:
        return NOTHING
    if type(node.value) is str:
        if _PATH.fullmatch(node.value):
            scope.effects.texts.add(node.value)
        scope.effects.programs |= asked_by_query(node.value)
        return _TEXT if "\0" in node.value else replace(_TEXT, texts=(node.value,))
    return NEUTRAL if type(node.value) in (int, float, bool) else _TEXT


@evaluates("Name")
def _name(scope: Scope, node: ast.Name) -> AbstractValue:
    return look_up_name(scope, node.id)


def look_up_name(scope: Scope, name: str | None) -> AbstractValue:
    """Record that a name is read, if any, and return its abstract value."""
    abstract = UNKNOWN if name is None else scope.load(name)
    scope.effects.paths.update(abstract.paths)
    return abstract


@evaluates("Attribute")
def _attribute(scope: Scope, node: ast.Attribute) -> AbstractValue:
    names = [node.attr]
    base = node.value
    while isinstance(base, ast.Attribute):
        names.append(base.attr)
        base = base.value
    above = isinstance(base, ast.Call) and dotted_name(base.func) == "super"
    more = {"__init__"} if above else set[str]()  # creates no other object
    scope.effects.attributes.update({*names} - more)
    if isinstance(base, ast.Name):
        abstract = scope.load(base.id)
        if scope.has_dotted and f"{base.id}.{names[-1]}" in scope.assigned:
            return UNKNOWN
    else:
        abstract = scope.visit(base)
    scope.run_all(abstract.bodies)
    for name in reversed(names):
        abstract = abstract.attribute(name)
    scope.effects.paths.update(abstract.paths)
    return abstract


@evaluates("Subscript")
def _subscript(scope: Scope, node: ast.Subscript) -> AbstractValue:
    found = look_up_text(scope, node.value, node.slice)
    if found is not None:
        return found
    value = _result(scope, node) or scope.visit(node.value)
    scope.run_all(value.bodies)
    scope.consume(scope.visit(node.slice))
    found = replace(value.item(), bodies=())
    cut = value.texts and isinstance(node.slice, ast.Slice)  # its strings are slices
    return replace(found, texts=()) if cut else found


def _result(scope: Scope, node: ast.Subscript) -> AbstractValue | None:
    """Look up ``Out[5]`` and ``In[5]`` under the name that the shell gives to each."""
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    number = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if name not in _RESULTS or type(number) is not int or name in scope.assigned | scope.local:
        return None
    return look_up_name(scope, f"{_RESULTS[name]}{number}")


def is_namespace(node: ast.expr) -> bool:
    """Return whether a node is ``globals()`` or a similar namespace."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _NAMESPACES
        and not node.args
    ) or (isinstance(node, ast.Attribute) and node.attr == "user_ns")


def look_up_text(scope: Scope, namespace: ast.expr, key: ast.expr) -> AbstractValue | None:
    """Look up the name in ``globals()["name"]``; return None for other containers."""
    if not is_namespace(namespace):
        return None
    texts = scope.visit(key).text()
    names = [look_up_name(scope, text) for text in texts if "\0" not in text]
    scope.effects.held |= {("name", text) for text in texts if "\0" in text}
    if not texts:
        scope.visit(namespace)
        scope.effects.complete = False
    return join(names[0], names[-1]) if names else UNKNOWN


@evaluates("NamedExpr")
def _namedexpr(scope: Scope, node: ast.NamedExpr) -> AbstractValue:
    abstract = scope.visit(node.value)
    scope.store(node.target.id, abstract)
    return abstract


@evaluates("BinOp")
def _binop(scope: Scope, node: ast.BinOp) -> AbstractValue:
    left, right = scope.visit(node.left), scope.visit(node.right)
    made = operate(scope, left, node.op, right)
    texts = concatenations(left.text(), right.text()) if isinstance(node.op, ast.Add) else ()
    return replace(made, texts=texts) if texts else made


def operate(
    scope: Scope, left: AbstractValue, operator: ast.operator, right: AbstractValue
) -> AbstractValue:
    """Evaluate an operation on two values."""
    scope.run_all(bodies_of(left, right))
    if left is UNKNOWN and right is UNKNOWN:
        return UNKNOWN
    if not isinstance(operator, _ARITHMETIC):
        escape(scope.effects, left, right)
        return NEUTRAL if left.neutral and right.neutral else UNKNOWN
    return combine(scope.effects, left, right, operator)


@evaluates("UnaryOp")
def _unaryop(scope: Scope, node: ast.UnaryOp) -> AbstractValue:
    abstract = scope.visit(node.operand)
    if isinstance(node.op, ast.USub | ast.UAdd):
        return abstract
    scope.consume(abstract)
    return NEUTRAL if abstract.neutral else UNKNOWN


@evaluates("Compare")
def _compare(scope: Scope, node: ast.Compare) -> AbstractValue:
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        look_up_text(scope, node.comparators[0], node.left)
    outer, scope.orderless = scope.orderless, True
    scope.consume(scope.visit(node.left))
    for operator, each in zip(node.ops, node.comparators, strict=True):
        by_keys = isinstance(operator, ast.In | ast.NotIn)
        scope.consume(scope.visit_by(each, CONTAINS) if by_keys else scope.visit(each))
    scope.orderless = outer
    return UNKNOWN


@evaluates("List", "Tuple")
def _list(scope: Scope, node: ast.List | ast.Tuple) -> AbstractValue:
    found = [(each, scope.visit(each)) for each in node.elts]
    made = container([abstract for each, abstract in found if not _plain(each)], node.elts)
    texts = either(*(abstract.text() for _, abstract in found))
    return replace(made, texts=texts) if texts != made.texts else made


@evaluates("Dict")
def _dict(scope: Scope, node: ast.Dict) -> AbstractValue:
    parts = [each for pair in zip(node.keys, node.values, strict=True) for each in pair]
    found = [(each, scope.visit(each)) for each in parts if each is not None and not _plain(each)]
    made = replace(container([abstract for _, abstract in found], parts), texts=())
    if any(abstract.taint == ADDRESSES and key in node.keys for key, abstract in found):
        return replace(BY_ADDRESS, bodies=made.bodies)
    return made


@evaluates("Set")
def _set(scope: Scope, node: ast.Set) -> AbstractValue:
    if not all(map(_is_number, node.elts)):
        scope.record_set()
    return container([scope.visit(each) for each in node.elts], node.elts)


def container(items: list[AbstractValue], parts: list[Any]) -> AbstractValue:
    """Return the abstract value of a container.

    Args:
        items: The abstract values of its items that are not constants.
        parts: The nodes of all items.
    """
    if not items:
        return NEUTRAL if not parts else _TEXT
    return contents(items)


@evaluates("Starred")
def _starred(scope: Scope, node: ast.Starred) -> AbstractValue:
    return scope.visit(node.value)


@evaluates("JoinedStr")
def _joinedstr(scope: Scope, node: ast.JoinedStr) -> AbstractValue:
    visited = [(each, scope.visit(each)) for each in node.values]
    items = [item for each, item in visited if not _plain(each)]
    for item in items:
        scope.run_all(item.bodies)
    texts = concatenations(*(item.text() for _, item in visited))
    return replace(container(items, node.values), bodies=(), texts=texts)


@evaluates("FormattedValue")
def _formattedvalue(scope: Scope, node: ast.FormattedValue) -> AbstractValue:
    abstract = scope.visit(node.value)
    if node.format_spec is not None:
        scope.consume(scope.visit(node.format_spec))
    plain = node.format_spec is None and node.conversion < 0
    return abstract if plain else replace(abstract, paths=(), texts=())


def _plain(node: object) -> bool:
    return type(node) is ast.Constant


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, bool)
