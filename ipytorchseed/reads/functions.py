"""Evaluates functions, classes and comprehensions.

The names that a function reads are recorded where the function is called or passed on. The names
that methods read are recorded where their class is called or passed on.
"""

from __future__ import annotations

import ast
import itertools

from ipytorchseed.reads.abstract import AbstractValue, contents
from ipytorchseed.reads.bindings import (
    annotations_of,
    arguments_of,
    defaults_of,
    names_of,
    targets_of,
    type_parameters,
)
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.scope import Scope, evaluates


@evaluates("FunctionDef", "AsyncFunctionDef")
def _functiondef(scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    scope.use(*node.decorator_list, *defaults_of(node.args))
    effects = function_effects(scope, node)
    for name in effects.reads.keys() & scope.assigned_inside():  # set before the function
        effects.reads[name] |= {name}
    if node.decorator_list:  # a decorator may call it
        scope.run_all([effects])
    scope.store(node.name, AbstractValue(bodies=(effects,)))


def function_effects(scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Effects:
    """Return the effects of calling a function."""
    local = names_of(node)
    inner = Scope(local, scope.reader)
    inner.use(*annotations_of(node))
    inner.block(node.body)
    return inner.leave()


@evaluates("Lambda")
def _lambda(scope: Scope, node: ast.Lambda) -> AbstractValue:
    scope.use(*defaults_of(node.args))
    return AbstractValue(bodies=(lambda_effects(scope, node),))


def lambda_effects(scope: Scope, node: ast.Lambda) -> Effects:
    """Return the effects of calling a lambda."""
    local = arguments_of(node.args)
    inner = Scope(local, scope.reader)
    inner.use(node.body)
    return inner.leave()


@evaluates("ClassDef")
def _classdef(scope: Scope, node: ast.ClassDef) -> None:
    scope.use(*node.decorator_list)
    inner = Scope(set(), scope.reader, around=scope)
    for name in type_parameters(node):
        inner.store(name)
    inner.use(*node.bases, *(word.value for word in node.keywords))
    inner.block(node.body)
    inner.effects.timed.clear()
    scope.run_all([inner.effects])
    held = [inner.bound[name].bodies for name in inner.local if name in inner.bound]
    scope.store(node.name, AbstractValue(bodies=tuple(itertools.chain(*held))))


@evaluates("ListComp", "GeneratorExp", "SetComp", "DictComp")
def _comprehension(
    scope: Scope, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp
) -> AbstractValue:
    if isinstance(node, ast.SetComp):
        scope.record_set()
    before, bound, local = {*scope.assigned}, {**scope.bound}, scope.local
    hidden: set[str] = set()
    for loop in node.generators:
        scope.visit_all([loop.iter])
        hidden |= targets_of(loop.target)
        scope.local = local | hidden
        scope.assigned |= hidden
        for name in hidden:
            scope.bound.pop(name, None)
        scope.use(*loop.ifs)
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    value = contents(*scope.visit_all(parts))
    scope.local = local
    scope.assigned -= hidden - before
    scope.bound = {name: value for name, value in scope.bound.items() if name not in hidden}
    scope.bound |= {name: bound[name] for name in hidden & bound.keys()}
    return value
