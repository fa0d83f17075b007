"""Simple statements, and the scope in which they stand."""

from __future__ import annotations

import ast
import sys

from ipytorchseed.reads.calls import ask_order
from ipytorchseed.reads.expressions import branches, container, item_of_namespace, operate
from ipytorchseed.reads.guess import UNKNOWN, Guess, named
from ipytorchseed.reads.scope import Scope, evaluates

ANNOTATIONS_ARE_EVALUATED = sys.version_info < (3, 14)


@evaluates("Expr")
def _expr(scope: Scope, node: ast.Expr) -> Guess:
    guess = scope.visit(node.value)  # shown at most, not used; a set is sorted to be shown
    if not guess.is_set:
        ask_order(scope.flow, guess.order)
    return UNKNOWN


@evaluates("Assign")
def _assign(scope: Scope, node: ast.Assign) -> Guess:
    value = node.value
    if isinstance(value, ast.Tuple | ast.List) and not _starred(value):
        guesses = [scope.visit(each) for each in value.elts]
        whole = container(guesses, value.elts)
        for target in node.targets:
            if isinstance(target, ast.Tuple | ast.List) and not _starred(target):
                for part, guess in zip(target.elts, guesses, strict=False):
                    assign(scope, part, guess)
            else:
                assign(scope, target, whole)
        return UNKNOWN
    guess = scope.visit(value)
    for target in node.targets:
        assign(scope, target, guess)
    return UNKNOWN


def assign(scope: Scope, target: ast.expr, guess: Guess) -> None:
    """Follow what sets a target to a value."""
    if isinstance(target, ast.Name):
        scope.store(target.id, guess)
    elif isinstance(target, ast.Starred):
        assign(scope, target.value, UNKNOWN)
    elif isinstance(target, ast.Tuple | ast.List):
        ask_order(scope.flow, guess.own_order())
        for part in target.elts:
            assign(scope, part, Guess(bodies=guess.bodies, clocks=guess.clocks, pure=guess.pure))
    else:
        put(scope, target, guess)


def put(scope: Scope, target: ast.expr, guess: Guess) -> None:
    """Follow what puts a value into an attribute or item."""
    if isinstance(target, ast.Subscript):
        key = item_of_namespace(scope, target)
        if key is not None:
            scope.store(key, guess)
            return
        scope.visit(target.value)
        scope.spend(scope.visit(target.slice))
    elif isinstance(target, ast.Attribute):
        _put_attribute(scope, target, guess)
    if not guess.is_set:
        ask_order(scope.flow, guess.order)
    root: ast.expr = target
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if isinstance(root, ast.Name):
        scope.fill(root.id, guess)
    else:
        scope.spend(guess)


def _put_attribute(scope: Scope, target: ast.Attribute, guess: Guess) -> None:
    owner = target.value
    base = scope.load(owner.id) if isinstance(owner, ast.Name) else scope.visit(owner)
    scope.flow.paths.update(f"{path}.{target.attr}=" for path in base.paths)
    if isinstance(owner, ast.Name):
        scope.store_attribute(f"{owner.id}.{target.attr}")
    if guess.is_set and not guess.order.startswith("is:"):
        scope.flow.holds.add(target.attr)


@evaluates("AnnAssign")
def _annassign(scope: Scope, node: ast.AnnAssign) -> Guess:
    if scope.in_class and ANNOTATIONS_ARE_EVALUATED:  # classes of data are made from them
        scope.spend(scope.visit(node.annotation))
    if node.value is not None:
        assign(scope, node.target, scope.visit(node.value))
    return UNKNOWN


@evaluates("AugAssign")
def _augassign(scope: Scope, node: ast.AugAssign) -> Guess:
    target = node.target
    if isinstance(target, ast.Name):
        before = scope.load(target.id)
        scope.flow.paths.update(before.paths)
        scope.store(target.id, operate(scope, before, node.op, scope.visit(node.value)))
        return UNKNOWN
    if isinstance(target, ast.Attribute):
        scope.visit(target)
    put(scope, target, scope.visit(node.value))
    return UNKNOWN


@evaluates("Delete")
def _delete(scope: Scope, node: ast.Delete) -> Guess:
    for target in node.targets:
        for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(part, ast.Name):
                scope.delete(part.id)
            elif isinstance(part, ast.Attribute | ast.Subscript):
                put(scope, part, UNKNOWN)
    return UNKNOWN


@evaluates("Import")
def _import(scope: Scope, node: ast.Import) -> Guess:
    for alias in node.names:
        package = alias.name.partition(".")[0]
        scope.flow.imports.add(package)
        path = f":{alias.name if alias.asname else package}"
        scope.store(alias.asname or package, named(path))
    return UNKNOWN


@evaluates("ImportFrom")
def _importfrom(scope: Scope, node: ast.ImportFrom) -> Guess:
    module = node.module or ""
    if not node.level:
        scope.flow.imports.add(module.partition(".")[0])
    for alias in node.names:
        if alias.name == "*":
            scope.flow.stars.add(f":{'.' * node.level}{module}")
            continue
        path = f":{'.' * node.level}{module}{'.' if module else ''}{alias.name}"
        scope.flow.paths.add(path)
        scope.store(alias.asname or alias.name, named(path))
    return UNKNOWN


@evaluates("Global")
def _global(scope: Scope, node: ast.Global) -> Guess:
    scope.declared.update(node.names)
    return UNKNOWN


@evaluates("TypeAlias")
def _typealias(scope: Scope, node: ast.AST) -> Guess:
    scope.store(node.name.id)  # type: ignore[attr-defined]
    return UNKNOWN


@evaluates("Return")
def _return(scope: Scope, node: ast.Return) -> Guess:
    if node.value is not None:
        guess = scope.visit(node.value)
        _give(scope, guess)
    scope.returns.append(scope.state())
    scope.dead = True
    return UNKNOWN


@evaluates("Yield")
def _yield(scope: Scope, node: ast.Yield) -> Guess:
    scope.is_generator = True
    if node.value is not None:
        _give(scope, scope.visit(node.value))
    return UNKNOWN


@evaluates("YieldFrom")
def _yieldfrom(scope: Scope, node: ast.YieldFrom) -> Guess:
    scope.is_generator = True
    guess = scope.visit(node.value)
    ask_order(scope.flow, guess.own_order())
    scope.spend(guess)
    return UNKNOWN


def _give(scope: Scope, guess: Guess) -> None:
    scope.spend(guess)
    if guess.is_set and not guess.order.startswith("is:"):
        scope.flow.holds.add(f"{scope.name}()")
    elif guess.order:
        ask_order(scope.flow, guess.order)


@evaluates("Raise")
def _raise(scope: Scope, node: ast.Raise) -> Guess:
    for part in (node.exc, node.cause):
        if part is not None:
            scope.spend(scope.visit(part))
    scope.dead = True
    return UNKNOWN


@evaluates("Assert")
def _assert(scope: Scope, node: ast.Assert) -> Guess:
    yes, no = branches(scope, node.test)
    if node.msg is not None and not no.dead:
        scope.resume(no)
        scope.spend(scope.visit(node.msg))
    scope.resume(yes)
    return UNKNOWN


@evaluates("Break")
def _break(scope: Scope, _: ast.Break) -> Guess:
    return _leave(scope, 0)


@evaluates("Continue")
def _continue(scope: Scope, _: ast.Continue) -> Guess:
    return _leave(scope, 1)


def _leave(scope: Scope, way: int) -> Guess:
    if scope.loops:
        scope.loops[-1][way].append(scope.state())
    scope.dead = True
    return UNKNOWN


def _starred(node: ast.Tuple | ast.List) -> bool:
    return any(isinstance(each, ast.Starred) for each in node.elts)
