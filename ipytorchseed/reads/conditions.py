"""Evaluates conditions, and what is known where they hold and where they do not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ipytorchseed.reads.abstract import AbstractValue, join
from ipytorchseed.reads.scope import Scope, State, evaluates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ipytorchseed.reads.effects import Effects


@evaluates("BoolOp")
def _boolop(scope: Scope, node: ast.BoolOp) -> AbstractValue:
    abstract = scope.visit(node.values[0])
    ends = []
    for value in node.values[1:]:
        ends.append(scope.state())
        abstract = join(abstract, scope.visit(value))
    scope.join([scope.state(), *ends])
    return abstract


@evaluates("IfExp")
def _ifexp(scope: Scope, node: ast.IfExp) -> AbstractValue:
    yes, no = branches(scope, node.test)
    abstracts, ends = [], []
    for state, part in ((yes, node.body), (no, node.orelse)):
        if not state.dead:
            scope.resume(state)
            abstracts.append(scope.visit(part))
            ends.append(scope.state())
    scope.join(ends)
    return join(abstracts[0], abstracts[-1])


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
        scope.join(ends)
        early = scope.state()
        return (last, early) if both else (early, last)
    scope.consume(scope.visit(node))
    answer = _answer_of_flag(scope, node)
    if answer is not None:
        dead = State(set(), {}, dead=True)
        return (scope.state(), dead) if answer else (dead, scope.state())
    return scope.state(), scope.state()


_EQUAL: dict[type[ast.cmpop], bool] = {
    ast.Eq: True,
    ast.Is: True,
    ast.NotEq: False,
    ast.IsNot: False,
}


def _answer_of_flag(scope: Scope, node: ast.expr) -> bool | None:
    """Note a name that decides on a branch, and tell how where its value is known."""
    name, constant = node, None
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _EQUAL:
        name, constant = node.left, node.comparators[0]
    if not isinstance(name, ast.Name) or name.id in scope.local:
        return None
    if name.id in scope.assigned or name.id in scope.bound:
        return None
    if constant is not None and not isinstance(constant, ast.Constant):
        return None
    scope.effects.flags.add(name.id)
    if name.id not in scope.reader.values:
        return None
    value = scope.reader.values[name.id]
    if constant is None or not isinstance(node, ast.Compare):
        return bool(value)
    operator = type(node.ops[0])
    alike = operator in (ast.Eq, ast.NotEq) or type(value) is type(constant.value)
    return (alike and value == constant.value) == _EQUAL[operator]


_PLAIN = frozenset({bool, str, type(None)})
"""Types of values that decide on branches and seldom change: no counters."""


def known_flags(effects: Effects, names: Mapping[str, object]) -> dict[str, object]:
    """Return the values of names that decide on branches of some code, which does not set them.

    Args:
        effects: What the code does.
        names: The namespace.
    """
    whole = effects.complete and not effects.files and not effects.stars
    flags = sorted(effects.flags - effects.writes) if whole else []
    return {name: names[name] for name in flags if name in names and type(names[name]) in _PLAIN}


_ANSWERS = {"TYPE_CHECKING": False, "__debug__": __debug__}


def constant_answer(node: ast.expr) -> bool | None:
    """Tell whether a condition is always true, or always false; None where it hangs on more.

    ``__name__`` is ``"__main__"`` in a notebook.

    Args:
        node: The condition.
    """
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.Name):
        return _ANSWERS.get(node.id)
    if isinstance(node, ast.Attribute):
        return _ANSWERS.get(node.attr)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = [_as_name(node.left), _as_name(node.comparators[0])]
        if sorted(sides) == ["__main__", "__name__"]:
            return {ast.Eq: True, ast.NotEq: False}.get(type(node.ops[0]))
    return None


def _as_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
