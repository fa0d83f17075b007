"""Evaluates conditions and the states after each outcome."""

from __future__ import annotations

import ast

from ipytorchseed.reads.abstract import AbstractValue, join
from ipytorchseed.reads.scope import Scope, State, evaluates


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
    scope.resume(yes)
    abstract = scope.visit(node.body)
    after = scope.state()
    scope.resume(no)
    abstract = join(abstract, scope.visit(node.orelse))
    scope.join([after, scope.state()])
    return abstract


def branches(scope: Scope, node: ast.expr) -> tuple[State, State]:
    """Evaluate a condition and return the states if it is true and if it is false."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yes, no = branches(scope, node.operand)
        return no, yes
    if isinstance(node, ast.BoolOp):
        both = isinstance(node.op, ast.And)
        ends = []
        for value in node.values:
            yes, no = branches(scope, value)
            ends.append(no if both else yes)
            scope.resume(yes if both else no)
        last = scope.state()
        scope.join(ends)
        early = scope.state()
        return (last, early) if both else (early, last)
    scope.consume(scope.visit(node))
    return scope.state(), scope.state()
