"""Evaluates functions, classes and comprehensions.

A function's reads count where the function is called or passed on.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ipytorchseed.reads.abstract import (
    BY_ADDRESS,
    UNKNOWN,
    AbstractValue,
    Body,
    bodies_of,
    contents,
)
from ipytorchseed.reads.bindings import (
    annotations_of,
    arguments_of,
    defaults_of,
    names_of,
    targets_of,
    type_parameters,
)
from ipytorchseed.reads.conditions import branches
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import ADDRESSES
from ipytorchseed.reads.scope import Scope, State, evaluates
from ipytorchseed.reads.statements import ANNOTATIONS_ARE_EVALUATED

_CONSTRUCTORS = frozenset({"__new__", "__init__", "__post_init__"})


@evaluates("FunctionDef", "AsyncFunctionDef")
def _functiondef(scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    decorators = [scope.visit(each) for each in node.decorator_list]
    defaults = [scope.visit(each) for each in defaults_of(node.args)]
    if decorators and ANNOTATIONS_ARE_EVALUATED:  # a decorator may read them
        for each in annotations_of(node):
            if not type_parameters(node):
                scope.consume(scope.visit(each))
    effects = function_effects(scope, node)
    for name in effects.reads.keys() & scope.assigned_inside():  # set whenever it exists
        effects.reads[name] |= {name}
    for abstract in decorators:
        scope.run_all(abstract.bodies)
        if abstract.tail.removesuffix("()").endswith("interact"):  # ipywidgets calls it
            scope.run(Body(effects))
    bodies = (Body(effects), *bodies_of(*defaults, *decorators))
    scope.store(node.name, AbstractValue(tail=node.name, bodies=bodies))


def function_effects(scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Effects:
    """Return the effects of calling a function."""
    local = names_of(node)
    inner = Scope(local, State(set(local), {}), scope.reader)
    inner.block(node.body)
    for made_of in inner.effects.timed.values():
        inner.effects.escaped |= made_of
    inner.join([inner.state(), *inner.returns])
    runs_later = inner.is_generator or isinstance(node, ast.AsyncFunctionDef)
    if not inner.dead and not runs_later:
        inner.effects.must_assign = inner.assigned & inner.effects.writes
    inner.consume_all()
    return inner.effects


@evaluates("ClassDef")
def _classdef(scope: Scope, node: ast.ClassDef) -> None:
    for decorator in node.decorator_list:
        scope.consume(scope.visit(decorator))
    inner = Scope(set(), scope.state(), scope.reader, in_class=True)
    for name in type_parameters(node):
        inner.store(name)
    bases = [inner.visit(each) for each in node.bases]
    for word in node.keywords:
        inner.consume(inner.visit(word.value))
    inner.block(node.body)
    first, later = Effects(), [body for base in bases for body in base.bodies]
    for base in later:
        first.add(base.effects)
    later = [body for base in later for body in base.then]
    for name in inner.local:
        bodies = inner.bound.get(name, UNKNOWN).bodies
        if name in _CONSTRUCTORS:
            for body in bodies:
                first.add(body.effects)
        else:
            later += bodies
    for own in (inner.effects.timed, inner.effects.must_assign):
        own.clear()
    scope.effects.add(inner.effects)
    for name in inner.declared & inner.assigned:
        scope.store(name)
    scope.store(node.name, AbstractValue(bodies=(Body(first, tuple(later)),)))


@evaluates("Lambda")
def _lambda(scope: Scope, node: ast.Lambda) -> AbstractValue:
    defaults = [scope.visit(each) for each in defaults_of(node.args)]
    return AbstractValue(bodies=(Body(lambda_effects(scope, node)), *bodies_of(*defaults)))


def lambda_effects(scope: Scope, node: ast.Lambda) -> Effects:
    """Return the effects of calling a lambda."""
    local = arguments_of(node.args)
    inner = Scope(local, State(set(local), {}), scope.reader)
    inner.consume(inner.visit(node.body))
    return inner.effects


@evaluates("ListComp", "GeneratorExp")
def _listcomp(scope: Scope, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> AbstractValue:
    return _comprehension(scope, node.generators, [node.elt]).item()


@evaluates("SetComp")
def _setcomp(scope: Scope, node: ast.SetComp) -> AbstractValue:
    scope.record_set()
    return _listcomp(scope, node)


@evaluates("DictComp")
def _dictcomp(scope: Scope, node: ast.DictComp) -> AbstractValue:
    abstract = _comprehension(scope, node.generators, [node.key, node.value])
    made = BY_ADDRESS if abstract.taint >= ADDRESSES else UNKNOWN
    return replace(made, bodies=abstract.bodies)


def _comprehension(
    scope: Scope, loops: list[ast.comprehension], parts: list[ast.expr]
) -> AbstractValue:
    """Evaluate a comprehension and return the abstract value of its container."""
    hidden: dict[str, tuple[bool, AbstractValue | None]] = {}
    local, surroundings = scope.local, scope.assigned
    for number, loop in enumerate(loops):
        over = scope.visit(loop.iter)
        if number == 0 and scope.assigned_inside() is not scope.assigned:
            scope.assigned = set(scope.assigned_inside())
        scope.run_all(over.bodies)
        for name in targets_of(loop.target):
            hidden.setdefault(name, (name in scope.assigned, scope.bound.get(name)))
            scope.assigned.add(name)
            scope.bound[name] = AbstractValue(texts=over.item().texts)
        scope.local = scope.local | hidden.keys()
        for test in loop.ifs:
            scope.resume(branches(scope, test)[0])
    abstracts = [scope.visit(part) for part in parts]
    scope.local = local
    if surroundings is not scope.assigned:
        scope.assigned = surroundings | scope.assigned
    for name, (assigned, bound) in hidden.items():
        (scope.assigned.add if assigned else scope.assigned.discard)(name)
        scope.bound.pop(name, None)
        if bound is not None:
            scope.bound[name] = bound
    return contents(abstracts)
