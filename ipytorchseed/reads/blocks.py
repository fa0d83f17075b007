"""Evaluates compound statements in the order in which they run.

It assumes that the bodies of loops, ``with`` and ``try`` run, and that an error comes from the last
statement of its ``try``. After ``if`` and ``match``, only names that all branches set are certain.
A function's reads count where the function is called or passed on.
"""

from __future__ import annotations

import ast

from ipytorchseed.reads.abstract import AbstractValue
from ipytorchseed.reads.bindings import captures_of
from ipytorchseed.reads.conditions import branches
from ipytorchseed.reads.parsing import nodes_in
from ipytorchseed.reads.scope import Scope, State, evaluates
from ipytorchseed.reads.statements import assign

_SWALLOWS = frozenset({"suppress", "raises", "assertRaises"})


@evaluates("For", "AsyncFor")
def _for(scope: Scope, node: ast.For | ast.AsyncFor) -> None:
    over = scope.visit(node.iter)
    scope.run_all(over.bodies)
    never = scope.state()
    assign(scope, node.target, over.item())
    _loop(scope, node, never, endless=False)


@evaluates("While")
def _while(scope: Scope, node: ast.While) -> None:
    yes, no = branches(scope, node.test)
    scope.resume(yes)
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    _loop(scope, node, no, endless=endless)


def _loop(
    scope: Scope, node: ast.For | ast.AsyncFor | ast.While, never: State, *, endless: bool
) -> None:
    """Evaluate a loop, assuming that its body runs at least once.

    Args:
        scope: The scope of the loop.
        node: The loop.
        never: The state if the body does not run.
        endless: Whether it ends only by ``break``.
    """
    breaks: list[State] = []
    again: list[State] = []
    before = {name: abstract.bodies for name, abstract in scope.bound.items()}
    scope.loops.append((breaks, again))
    scope.block(node.body)
    scope.join([scope.state(), *again])
    if any(abstract.bodies != before.get(name, ()) for name, abstract in scope.bound.items()):
        again.clear()
        scope.block(node.body)  # functions that it defines may be called at its start
        scope.join([scope.state(), *again])
    scope.loops.pop()
    if endless:
        scope.dead = True
    elif scope.dead and (node.orelse or not breaks):
        scope.resume(never)
    scope.block(node.orelse)
    scope.join([scope.state(), *breaks])


@evaluates("If")
def _if(scope: Scope, node: ast.If) -> None:
    yes, no = branches(scope, node.test)
    scope.resume(yes)
    scope.block(node.body)
    after = scope.state()
    scope.resume(no)
    scope.block(node.orelse)
    scope.join([after, scope.state()])


@evaluates("Match")
def _match(scope: Scope, node: ast.Match) -> None:
    scope.run_all(scope.visit(node.subject).bodies)
    ends = []
    for case in node.cases:
        on = scope.state()
        for part in nodes_in(case.pattern):
            if isinstance(part, ast.MatchClass):
                by_place = {"__match_args__"} if part.patterns else set[str]()
                scope.effects.attributes |= {*part.kwd_attrs} | by_place
            if isinstance(part, ast.MatchValue | ast.MatchClass):
                scope.consume(
                    scope.visit(part.value if isinstance(part, ast.MatchValue) else part.cls)
                )
        for name in captures_of(case.pattern):
            scope.store(name)
        if case.guard is not None:
            yes, no = branches(scope, case.guard)
            on = no if _irrefutable(case.pattern) else on
            scope.resume(yes)
        scope.block(case.body)
        ends.append(scope.state())
        scope.resume(on)
        if case.guard is None and _irrefutable(case.pattern):
            scope.dead = True
            break
    scope.join([*ends, scope.state()])


@evaluates("With", "AsyncWith")
def _with(scope: Scope, node: ast.With | ast.AsyncWith) -> None:
    swallows = False
    for item in node.items:
        abstract = scope.visit(item.context_expr)
        scope.consume(abstract)
        swallows |= abstract.tail.strip(".").removesuffix("()") in _SWALLOWS
        if item.optional_vars is not None:
            assign(scope, item.optional_vars, AbstractValue(bodies=abstract.bodies))
    scope.block(node.body)
    if swallows:
        scope.dead = False


@evaluates("Try", "TryStar")
def _try(scope: Scope, node: ast.Try) -> None:
    start = scope.state()
    scope.tries += 1
    scope.latest = start
    scope.block(node.body)
    failed = scope.latest
    scope.tries -= 1
    if failed is not start:
        scope.latest = failed
    body = scope.state()
    scope.block(node.orelse)
    normal = scope.state()
    ends = []
    for handler in node.handlers:
        scope.resume(State(set(failed.assigned), {**failed.bound, **body.bound}))
        _handler(scope, handler)
        ends.append(scope.state())
    if normal.dead and ends:
        scope.join(ends)
    else:
        scope.resume(normal)
        for end in ends:
            scope.may_be_bound(end)
    if node.finalbody:
        dead, scope.dead = scope.dead, False
        scope.block(node.finalbody)
        scope.dead |= dead


def _handler(scope: Scope, handler: ast.ExceptHandler) -> None:
    if handler.type is not None:
        scope.consume(scope.visit(handler.type))
    if handler.name:
        scope.store(handler.name)
    scope.block(handler.body)
    if handler.name:
        scope.effects.actions[f"del {handler.name}"] = None


def _irrefutable(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return any(map(_irrefutable, pattern.patterns))
    return isinstance(pattern, ast.MatchAs) and (
        pattern.pattern is None or _irrefutable(pattern.pattern)
    )
