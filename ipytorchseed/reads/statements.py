"""Evaluates simple statements in their scope."""

from __future__ import annotations

import ast
import sys

from ipytorchseed.reads.abstract import UNKNOWN, AbstractValue, named
from ipytorchseed.reads.conditions import branches
from ipytorchseed.reads.entropy import ADDRESSES
from ipytorchseed.reads.expressions import container, is_namespace, operate
from ipytorchseed.reads.scope import Scope, evaluates

ANNOTATIONS_ARE_EVALUATED = sys.version_info < (3, 14)


@evaluates("Expr")
def _expr(scope: Scope, node: ast.Expr) -> None:
    scope.visit(node.value)  # shown at most, not used


@evaluates("Assign")
def _assign(scope: Scope, node: ast.Assign) -> None:
    value = node.value
    if isinstance(value, ast.Tuple | ast.List) and not _starred(value):
        abstracts = [scope.visit(each) for each in value.elts]
        whole = container(abstracts, value.elts)
        for target in node.targets:
            if isinstance(target, ast.Tuple | ast.List) and not _starred(target):
                for part, abstract in zip(target.elts, abstracts, strict=False):
                    assign(scope, part, abstract)
            else:
                assign(scope, target, whole)
        return
    abstract = scope.visit(value)
    for target in node.targets:
        assign(scope, target, abstract)


def assign(scope: Scope, target: ast.expr, abstract: AbstractValue) -> None:
    """Set a target to a value."""
    if isinstance(target, ast.Name):
        scope.store(target.id, abstract)
    elif isinstance(target, ast.Starred):
        assign(scope, target.value, UNKNOWN)
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            assign(scope, part, abstract.item())
    else:
        put(scope, target, abstract)


def put(scope: Scope, target: ast.expr, abstract: AbstractValue) -> None:
    """Put a value into an attribute or item."""
    if isinstance(target, ast.Subscript):
        if is_namespace(target.value):
            names = scope.visit(target.slice).text()
            scope.effects.complete &= bool(names) and "\0" not in "".join(names)
            if len(names) == 1:
                scope.store(names[0], abstract)
                return
            scope.effects.writes.update(names)
        held = scope.visit(target.value)
        where = scope.visit(target.slice)
        scope.consume(where)
        keys = [repr(text) for text in where.texts]
        items = [f"{path}[{key}]=" for path in held.paths for key in keys]
        scope.effects.actions |= dict.fromkeys(items)
        if where.taint == ADDRESSES:
            scope.consume(abstract)
            abstract = where
    elif isinstance(target, ast.Attribute):
        _put_attribute(scope, target)
    root: ast.expr = target
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if isinstance(root, ast.Name):
        scope.fill(root.id, abstract)
    else:
        scope.consume(abstract)


def _put_attribute(scope: Scope, target: ast.Attribute) -> None:
    owner = target.value
    base = scope.load(owner.id) if isinstance(owner, ast.Name) else scope.visit(owner)
    set_paths = [f"{path}.{target.attr}=" for path in base.paths]
    scope.effects.paths.update(set_paths)
    scope.effects.actions |= dict.fromkeys(set_paths)
    if isinstance(owner, ast.Name):
        scope.store_attribute(f"{owner.id}.{target.attr}")


@evaluates("AnnAssign")
def _annassign(scope: Scope, node: ast.AnnAssign) -> None:
    if scope.in_class and ANNOTATIONS_ARE_EVALUATED:  # dataclasses read them
        scope.consume(scope.visit(node.annotation))
    if node.value is not None:
        assign(scope, node.target, scope.visit(node.value))


@evaluates("AugAssign")
def _augassign(scope: Scope, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        before = scope.load(target.id)
        scope.effects.paths.update(before.paths)
        scope.store(target.id, operate(scope, before, node.op, scope.visit(node.value)))
        return
    scope.visit(target)
    put(scope, target, scope.visit(node.value))


@evaluates("Delete")
def _delete(scope: Scope, node: ast.Delete) -> None:
    for target in node.targets:
        for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(part, ast.Name):
                scope.delete(part.id)
            elif isinstance(part, ast.Attribute | ast.Subscript):
                put(scope, part, UNKNOWN)


@evaluates("Import")
def _import(scope: Scope, node: ast.Import) -> None:
    for alias in node.names:
        scope.effects.actions[f"import {alias.name}"] = None
        package = alias.name.partition(".")[0]
        scope.effects.imports.add(package)
        path = f":{alias.name if alias.asname else package}"
        scope.store(alias.asname or package, named(path))


@evaluates("ImportFrom")
def _importfrom(scope: Scope, node: ast.ImportFrom) -> None:
    module = node.module or ""
    if not node.level:
        scope.effects.imports.add(module.partition(".")[0])
    for alias in node.names:
        if alias.name == "*":
            scope.effects.stars.add(f":{'.' * node.level}{module}")
            scope.effects.actions[f"import {'.' * node.level}{module}"] = None
            continue
        path = f":{'.' * node.level}{module}{'.' if module else ''}{alias.name}"
        scope.effects.paths.add(path)
        scope.effects.actions[f"import {path[1:]}"] = None
        scope.store(alias.asname or alias.name, named(path))


@evaluates("Global")
def _global(scope: Scope, node: ast.Global) -> None:
    scope.declared.update(node.names)


@evaluates("TypeAlias")
def _typealias(scope: Scope, node: ast.AST) -> None:
    scope.store(node.name.id)  # type: ignore[attr-defined]


@evaluates("Return")
def _return(scope: Scope, node: ast.Return) -> None:
    if node.value is not None:
        scope.consume(scope.visit(node.value))
    scope.returns.append(scope.state())
    scope.dead = True


@evaluates("Yield")
def _yield(scope: Scope, node: ast.Yield) -> AbstractValue:
    scope.is_generator = True
    if node.value is not None:
        scope.consume(scope.visit(node.value))
    return UNKNOWN


@evaluates("YieldFrom")
def _yieldfrom(scope: Scope, node: ast.YieldFrom) -> AbstractValue:
    scope.is_generator = True
    scope.consume(scope.visit(node.value))
    return UNKNOWN


@evaluates("Raise")
def _raise(scope: Scope, node: ast.Raise) -> None:
    for part in (node.exc, node.cause):
        if part is not None:
            scope.consume(scope.visit(part))
    scope.dead = True


@evaluates("Assert")
def _assert(scope: Scope, node: ast.Assert) -> None:
    yes, no = branches(scope, node.test)
    if node.msg is not None:
        scope.resume(no)
        scope.consume(scope.visit(node.msg))
    scope.resume(yes)


@evaluates("Break", "Continue")
def _leave(scope: Scope, node: ast.Break | ast.Continue) -> None:
    if scope.loops:
        scope.loops[-1][isinstance(node, ast.Continue)].append(scope.state())
    scope.dead = True


def _starred(node: ast.Tuple | ast.List) -> bool:
    return any(isinstance(each, ast.Starred) for each in node.elts)
