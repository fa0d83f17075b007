"""Conditions, and what holds where they are true and where they are false."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ipytorchseed.reads.abstract import AbstractValue, join
from ipytorchseed.reads.options import constant, is_plain
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
    answer = _answer(scope, node)
    if answer is not None:
        dead = State(set(), {}, dead=True)
        return (scope.state(), dead) if answer else (dead, scope.state())
    return scope.state(), scope.state()


_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.Is: lambda one, other: type(one) is type(other) and one == other,
    ast.NotEq: operator.ne,
    ast.IsNot: lambda one, other: type(one) is not type(other) or one != other,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, others: one in others,
    ast.NotIn: lambda one, others: one not in others,
}


def _answer(scope: Scope, node: ast.expr) -> bool | None:
    """Note a name that alone decides on a branch, and tell how where its value is known."""
    name, compare, other = node, None, None
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        name, compare = node.left, _COMPARE.get(type(node.ops[0]))
        other = constant(node.comparators[0])
    if not isinstance(name, ast.Name) or (name is not node and not (compare and is_plain(other))):
        return None
    if name.id in scope.reader.deciding:
        scope.effects.options.add(name.id)
        known = scope.reader.arguments
    elif {name.id}.isdisjoint(scope.local | scope.assigned | scope.bound.keys()):
        scope.effects.flags.add(name.id)
        known = scope.reader.values
    else:
        return None
    if name.id not in known:
        return None
    try:
        return compare(known[name.id], other) if compare else bool(known[name.id])
    except TypeError:  # as of None < 1, which is for the function to raise
        return None


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
