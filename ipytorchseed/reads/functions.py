"""Functions, classes and comprehensions: scopes inside others, and code that runs later.

What a function looks up counts from where the function is called, or given away.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ipytorchseed.reads.calls import ask_order
from ipytorchseed.reads.expressions import branches
from ipytorchseed.reads.flow import Flow
from ipytorchseed.reads.guess import UNKNOWN, UNKNOWN_ORDER, Body, Guess, joined
from ipytorchseed.reads.scope import Scope, State, evaluates
from ipytorchseed.reads.scopes import (
    annotations_of,
    arguments_of,
    defaults_of,
    names_of,
    targets_of,
    type_parameters,
)
from ipytorchseed.reads.statements import ANNOTATIONS_ARE_EVALUATED

_CONSTRUCTORS = frozenset({"__new__", "__init__", "__post_init__"})


@evaluates("FunctionDef", "AsyncFunctionDef")
def _functiondef(scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Guess:
    decorators = [scope.visit(each) for each in node.decorator_list]
    defaults = [scope.visit(each) for each in defaults_of(node.args)]
    if decorators and ANNOTATIONS_ARE_EVALUATED:  # a decorator may go by them
        for each in annotations_of(node):
            if not type_parameters(node):
                scope.spend(scope.visit(each))
    flow = function_flow(scope, node)
    for guess in decorators:
        scope.run_all(guess.bodies)
        if guess.tail.removesuffix("()").endswith("interact"):  # ipywidgets' calls it at once
            scope.run(Body(flow))
    bodies = (Body(flow), *joined(*defaults, *decorators))
    scope.store(node.name, Guess(tail=node.name, bodies=bodies))
    return UNKNOWN


def function_flow(scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Flow:
    """Return what a function does when it is called."""
    local, declared = names_of(node, walrus=scope.reader.walrus)
    inner = Scope(local, State(set(local), {}), scope.reader)
    inner.name = node.name
    inner.block(node.body)
    inner.settle()
    for made_of in inner.flow.timed.values():
        inner.flow.leaked |= made_of
    inner.meet([inner.state(), *inner.returns])
    runs_later = inner.is_generator or isinstance(node, ast.AsyncFunctionDef)
    if not inner.dead and not runs_later:
        inner.flow.sure = inner.known & declared
    inner.spend_all()
    return inner.flow


@evaluates("ClassDef")
def _classdef(scope: Scope, node: ast.ClassDef) -> Guess:
    for decorator in node.decorator_list:
        scope.spend(scope.visit(decorator))
    inner = Scope(set(), scope.state(), scope.reader, in_class=True)
    for name in type_parameters(node):
        inner.store(name)
    bases = [inner.visit(each) for each in node.bases]
    for word in node.keywords:
        inner.spend(inner.visit(word.value))
    inner.block(node.body)
    first, later = Flow(), [body for base in bases for body in base.bodies]
    for base in later:
        first.add(base.flow)
    later = [body for base in later for body in base.then]
    for name in inner.local:
        bodies = inner.bound.get(name, UNKNOWN).bodies
        if name in _CONSTRUCTORS:
            for body in bodies:
                first.add(body.flow)
        else:
            later += bodies
    for own in (inner.flow.timed, inner.flow.sure):
        own.clear()
    scope.flow.add(inner.flow)
    for name in inner.declared & inner.known:
        scope.store(name)
    scope.store(node.name, Guess(bodies=(Body(first, tuple(later)),)))
    return UNKNOWN


@evaluates("Lambda")
def _lambda(scope: Scope, node: ast.Lambda) -> Guess:
    defaults = [scope.visit(each) for each in defaults_of(node.args)]
    return Guess(bodies=(Body(lambda_flow(scope, node)), *joined(*defaults)))


def lambda_flow(scope: Scope, node: ast.Lambda) -> Flow:
    """Return what a ``lambda`` does when it is called."""
    local = arguments_of(node.args)
    inner = Scope(local, State(set(local), {}), scope.reader)
    inner.spend(inner.visit(node.body))
    return inner.flow


@evaluates("ListComp", "GeneratorExp")
def _listcomp(scope: Scope, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Guess:
    order, guess = _comprehension(scope, node.generators, [node.elt])
    return Guess(bodies=guess.bodies, clocks=guess.clocks, pure=guess.pure, order=order)


@evaluates("SetComp")
def _setcomp(scope: Scope, node: ast.SetComp) -> Guess:
    guess = _listcomp(scope, node)
    return replace(guess, order=UNKNOWN_ORDER, is_set=True)


@evaluates("DictComp")
def _dictcomp(scope: Scope, node: ast.DictComp) -> Guess:
    order, guess = _comprehension(scope, node.generators, [node.key, node.value])
    ask_order(scope.flow, order)
    return Guess(bodies=guess.bodies)


def _comprehension(
    scope: Scope, loops: list[ast.comprehension], parts: list[ast.expr]
) -> tuple[str, Guess]:
    """Follow a comprehension, whose targets are nobody's but its own."""
    order = ""
    hidden: dict[str, tuple[bool, Guess | None]] = {}
    local, surroundings = scope.local, scope.known
    for number, loop in enumerate(loops):
        over = scope.visit(loop.iter)
        if number == 0 and scope.known_inside() is not scope.known:
            scope.known = set(scope.known_inside())
        scope.run_all(over.bodies)
        order = order or over.own_order()
        for name in targets_of(loop.target):
            hidden.setdefault(name, (name in scope.known, scope.bound.get(name)))
            scope.known.add(name)
            scope.bound.pop(name, None)
        scope.local = scope.local | hidden.keys()
        for test in loop.ifs:
            yes = branches(scope, test)[0]
            if not yes.dead:
                scope.resume(yes)
    guesses = [scope.visit(part) for part in parts]
    scope.local = local
    if surroundings is not scope.known:
        scope.known = surroundings | scope.known
    for name, (known, bound) in hidden.items():
        (scope.known.add if known else scope.known.discard)(name)
        scope.bound.pop(name, None)
        if bound is not None:
            scope.bound[name] = bound
    clocks = frozenset().union(*(guess.clocks for guess in guesses))
    pure = bool(clocks) and all(guess.pure or guess.neutral for guess in guesses)
    return order, Guess(bodies=joined(*guesses), clocks=clocks, pure=pure)
