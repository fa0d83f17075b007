"""Expressions, followed in the order in which they are evaluated."""

from __future__ import annotations

import ast
from typing import Any

from msgspec.structs import replace

from ipytorchseed.reads.calls import ask_order, combine, leak
from ipytorchseed.reads.dead import constant_answer
from ipytorchseed.reads.guess import NEUTRAL, NOTHING, UNKNOWN, UNKNOWN_ORDER, Guess, either, joined
from ipytorchseed.reads.scope import Scope, State, evaluates

_TEXT = Guess(pure=True)
_SET_OPERATORS = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_NAMESPACES = frozenset({"globals", "locals", "vars"})


@evaluates("Constant")
def _constant(_: Scope, node: ast.Constant) -> Guess:
    if node.value is None:
        return NOTHING
    return NEUTRAL if type(node.value) in (int, float, bool) else _TEXT


@evaluates("Name")
def _name(scope: Scope, node: ast.Name) -> Guess:
    guess = scope.load(node.id)
    scope.flow.paths.update(guess.paths)
    return guess


@evaluates("Attribute")
def _attribute(scope: Scope, node: ast.Attribute) -> Guess:
    names = [node.attr]
    base = node.value
    while isinstance(base, ast.Attribute):
        names.append(base.attr)
        base = base.value
    scope.flow.attributes.update(names)
    if isinstance(base, ast.Name):
        guess = scope.load(base.id)
        if scope.has_dotted and f"{base.id}.{names[-1]}" in scope.known:
            return UNKNOWN
    else:
        guess = scope.visit(base)
    if guess.bodies:
        scope.run_all(guess.bodies)
    for name in reversed(names):
        guess = guess.attribute(name)
    scope.flow.paths.update(guess.paths)
    return guess


@evaluates("Subscript")
def _subscript(scope: Scope, node: ast.Subscript) -> Guess:
    name = item_of_namespace(scope, node)
    if name is not None:
        guess = scope.load(name)
        scope.flow.paths.update(guess.paths)
        return guess
    value = scope.visit(node.value)
    scope.run_all(value.bodies)
    scope.spend(scope.visit(node.slice))
    return Guess(clocks=value.clocks, pure=value.pure)


def item_of_namespace(scope: Scope, node: ast.Subscript) -> str | None:
    """Return the name in ``globals()["name"]``."""
    value, key = node.value, node.slice
    is_namespace = (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in _NAMESPACES
        and not value.args
    ) or (isinstance(value, ast.Attribute) and value.attr == "user_ns")
    if not is_namespace:
        return None
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value
    scope.flow.complete = False
    return None


@evaluates("NamedExpr")
def _namedexpr(scope: Scope, node: ast.NamedExpr) -> Guess:
    guess = scope.visit(node.value)
    scope.store(node.target.id, guess)
    return guess


@evaluates("BinOp")
def _binop(scope: Scope, node: ast.BinOp) -> Guess:
    return operate(scope, scope.visit(node.left), node.op, scope.visit(node.right))


def operate(scope: Scope, left: Guess, operator: ast.operator, right: Guess) -> Guess:
    """Follow an operation on two values."""
    if left.bodies or right.bodies:
        scope.run_all(joined(left, right))
    if left is UNKNOWN and right is UNKNOWN:
        return UNKNOWN
    if not isinstance(operator, (*_ARITHMETIC, *_SET_OPERATORS)):
        leak(scope.flow, left, right)
        return NEUTRAL if left.neutral and right.neutral else UNKNOWN
    return combine(
        scope.flow,
        left,
        right,
        of_sets=isinstance(operator, _SET_OPERATORS),
        of_text=isinstance(operator, ast.Mod),
    )


@evaluates("UnaryOp")
def _unaryop(scope: Scope, node: ast.UnaryOp) -> Guess:
    guess = scope.visit(node.operand)
    if isinstance(node.op, ast.USub | ast.UAdd):
        return guess
    scope.spend(guess)
    return NEUTRAL if guess.neutral else UNKNOWN


@evaluates("Compare")
def _compare(scope: Scope, node: ast.Compare) -> Guess:
    scope.spend(scope.visit(node.left))
    for each in node.comparators:
        scope.spend(scope.visit(each))
    return UNKNOWN


@evaluates("BoolOp")
def _boolop(scope: Scope, node: ast.BoolOp) -> Guess:
    guess = scope.visit(node.values[0])
    ends = []
    for value in node.values[1:]:
        ends.append(scope.state())
        guess = either(guess, scope.visit(value))
    scope.meet([scope.state(), *ends])
    return guess


@evaluates("IfExp")
def _ifexp(scope: Scope, node: ast.IfExp) -> Guess:
    yes, no = branches(scope, node.test)
    guesses, ends = [], []
    for state, part in ((yes, node.body), (no, node.orelse)):
        if not state.dead:
            scope.resume(state)
            guesses.append(scope.visit(part))
            ends.append(scope.state())
    scope.meet(ends)
    return either(guesses[0], guesses[-1])


def branches(scope: Scope, node: ast.expr) -> tuple[State, State]:
    """Follow a condition: return what holds where it is true, and where it is false."""
    answer = constant_answer(node)
    if answer is not None:
        dead = State(set(), {}, dead=True)
        return (scope.state(), dead) if answer else (dead, scope.state())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yes, no = branches(scope, node.operand)
        return no, yes
    if isinstance(node, ast.BoolOp):
        both = isinstance(node.op, ast.And)
        ends = []
        for value in node.values:
            on, off = branches(scope, value) if both else reversed(branches(scope, value))
            ends.append(off)
            scope.resume(on)
            if on.dead:
                break
        last = scope.state()
        scope.meet(ends)
        early = scope.state()
        return (last, early) if both else (early, last)
    scope.spend(scope.visit(node))
    return scope.state(), scope.state()


@evaluates("List", "Tuple")
def _list(scope: Scope, node: ast.List | ast.Tuple) -> Guess:
    return container([scope.visit(each) for each in node.elts if not _plain(each)], node.elts)


@evaluates("Dict")
def _dict(scope: Scope, node: ast.Dict) -> Guess:
    parts = [each for pair in zip(node.keys, node.values, strict=True) for each in pair]
    return container(
        [scope.visit(each) for each in parts if each is not None and not _plain(each)], parts
    )


@evaluates("Set")
def _set(scope: Scope, node: ast.Set) -> Guess:
    made = container([scope.visit(each) for each in node.elts], node.elts)
    order = "" if all(map(_is_number, node.elts)) else UNKNOWN_ORDER
    return replace(made, order=order, is_set=True)


def container(items: list[Guess], parts: list[Any]) -> Guess:
    """Return what is known of a container.

    Args:
        items: What is known of those of its parts that are not constants.
        parts: All its parts, as written.
    """
    if not items:
        return NEUTRAL if not parts else _TEXT
    clocks = frozenset().union(*(item.clocks for item in items))
    pure = bool(clocks) and all(item.pure or item.neutral for item in items)
    return Guess(bodies=joined(*items), clocks=clocks, pure=pure)


@evaluates("Starred")
def _starred(scope: Scope, node: ast.Starred) -> Guess:
    guess = scope.visit(node.value)
    ask_order(scope.flow, guess.own_order())
    return guess


@evaluates("JoinedStr")
def _joinedstr(scope: Scope, node: ast.JoinedStr) -> Guess:
    items = [scope.visit(each) for each in node.values if not _plain(each)]
    for item in items:
        if item.bodies:
            scope.run_all(item.bodies)
    return replace(container(items, node.values), bodies=())


@evaluates("FormattedValue")
def _formattedvalue(scope: Scope, node: ast.FormattedValue) -> Guess:
    guess = scope.visit(node.value)
    ask_order(scope.flow, guess.own_order())
    if node.format_spec is not None:
        scope.spend(scope.visit(node.format_spec))
    return guess


def _plain(node: object) -> bool:
    return type(node) is ast.Constant


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, bool)
