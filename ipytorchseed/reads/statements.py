"""Evaluates statements in the order in which they run.

The bodies of loops, ``with`` and ``try`` are assumed to run. After ``if`` and ``match``, a name is
certainly set only if all branches set it.
"""

from __future__ import annotations

import ast

from ipytorchseed.reads.abstract import UNKNOWN, AbstractValue, contents
from ipytorchseed.reads.bindings import captures_of
from ipytorchseed.reads.expressions import is_namespace, operate, text_of
from ipytorchseed.reads.parsing import dotted_name
from ipytorchseed.reads.scope import Scope, evaluates

# --------------------------------------------------------------------------------------------------
# Names that are set


@evaluates("Expr")
def _expr(scope: Scope, node: ast.Expr) -> None:
    scope.visit_all([node.value])  # the value is at most shown, so readings do not escape


@evaluates("Assign")
def _assign(scope: Scope, node: ast.Assign) -> None:
    pairs = _pairs(node.targets[0], node.value) if len(node.targets) == 1 else None
    if pairs is None:
        value = scope.visit(node.value)
        for target in node.targets:
            assign(scope, target, value)
        return
    values = [scope.visit(each) for _, each in pairs]
    for (target, _), value in zip(pairs, values, strict=True):
        assign(scope, target, value)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """Return each target of ``a, b = c, d`` with its value, or None for other forms."""
    if not (isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)):
        return None
    is_starred = any(isinstance(each, ast.Starred) for each in (*target.elts, *value.elts))
    if is_starred or len(target.elts) != len(value.elts):
        return None
    return [*zip(target.elts, value.elts, strict=True)]


def assign(scope: Scope, target: ast.expr, value: AbstractValue) -> None:
    """Set a target to a value."""
    if isinstance(target, ast.Name):
        scope.store(target.id, value)
    elif isinstance(target, ast.Starred):
        assign(scope, target.value, UNKNOWN)
    elif isinstance(target, ast.Tuple | ast.List):
        scope.run_all(value.bodies)
        for part in target.elts:
            assign(scope, part, contents(value))
    else:
        _put(scope, target, value)


def _put(scope: Scope, target: ast.expr, value: AbstractValue) -> None:
    """Put a value into an attribute or item."""
    if isinstance(target, ast.Subscript):
        key = text_of(target.slice)
        if is_namespace(target.value):
            if key is not None:
                scope.store(key, value)
                return
            scope.effects.complete = False
        held = scope.visit(target.value)
        scope.use(target.slice)
        items = [f"{path}[{key!r}]=" for path in held.paths if key is not None]
        scope.effects.actions |= dict.fromkeys(items)
    elif isinstance(target, ast.Attribute):
        owner = target.value
        base = scope.load(owner.id) if isinstance(owner, ast.Name) else scope.visit(owner)
        scope.assigned.add(dotted_name(target))
        set_paths = [f"{path}.{target.attr}=" for path in base.paths]
        scope.effects.paths.update(set_paths)
        scope.effects.actions |= dict.fromkeys(set_paths)
    root: ast.expr = target
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    scope.fill(root.id if isinstance(root, ast.Name) else "", value)


@evaluates("AnnAssign")
def _annassign(scope: Scope, node: ast.AnnAssign) -> None:
    scope.use(node.annotation)
    if node.value is not None:
        assign(scope, node.target, scope.visit(node.value))


@evaluates("AugAssign")
def _augassign(scope: Scope, node: ast.AugAssign) -> None:
    before = scope.visit(node.target)
    made = operate(scope, before, node.op, scope.visit(node.value))
    assign(scope, node.target, made)


@evaluates("Delete")
def _delete(scope: Scope, node: ast.Delete) -> None:
    for target in node.targets:
        for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(part, ast.Name):
                scope.effects.actions[f"del {part.id}"] = None
            assign(scope, part, UNKNOWN)


@evaluates("Import")
def _import(scope: Scope, node: ast.Import) -> None:
    for alias in node.names:
        scope.effects.actions[f"import {alias.name}"] = None
        package = alias.name.partition(".")[0]
        path = f":{alias.name if alias.asname else package}"
        scope.store(alias.asname or package, AbstractValue((path,)))


@evaluates("ImportFrom")
def _importfrom(scope: Scope, node: ast.ImportFrom) -> None:
    module = f"{'.' * node.level}{node.module or ''}"
    for alias in node.names:
        if alias.name == "*":
            scope.effects.stars.add(f":{module}")
            scope.effects.actions[f"import {module}"] = None
            continue
        path = f":{module}{'.' if node.module else ''}{alias.name}"
        scope.effects.paths.add(path)
        scope.effects.actions[f"import {path[1:]}"] = None
        scope.store(alias.asname or alias.name, AbstractValue((path,)))


@evaluates("TypeAlias")
def _typealias(scope: Scope, node: ast.AST) -> None:
    scope.store(node.name.id)  # type: ignore[attr-defined]


# --------------------------------------------------------------------------------------------------
# Blocks


@evaluates("If")
def _if(scope: Scope, node: ast.If) -> None:
    scope.use(node.test)
    scope.branch(node.body, node.orelse)


@evaluates("For", "AsyncFor")
def _for(scope: Scope, node: ast.For | ast.AsyncFor) -> None:
    (items,) = scope.visit_all([node.iter])
    assign(scope, node.target, contents(items))
    _loop(scope, node)


@evaluates("While")
def _while(scope: Scope, node: ast.While) -> None:
    scope.use(node.test)
    _loop(scope, node)


def _loop(scope: Scope, node: ast.For | ast.AsyncFor | ast.While) -> None:
    """Evaluate a loop, assuming that its body runs at least once."""
    before, bound = {*scope.assigned}, {**scope.bound}
    scope.loops.append([])
    scope.depth += 1
    scope.block(node.body)
    scope.depth -= 1
    left = scope.loops.pop()
    breaks = [assigned for is_break, assigned in left if is_break]
    scope.meet([scope.end(), *(assigned for is_break, assigned in left if not is_break)])
    if scope.dead and not breaks:
        scope.assigned, scope.dead = before, False
    for name, value in [*scope.bound.items()]:
        if value.bodies != bound.get(name, UNKNOWN).bodies:
            scope.run_all(value.bodies)  # the next iteration may call it
    scope.block(node.orelse)
    scope.meet([scope.end(), *breaks])


@evaluates("Break", "Continue")
def _leave_loop(scope: Scope, node: ast.Break | ast.Continue) -> None:
    if scope.loops:
        scope.loops[-1].append((isinstance(node, ast.Break), scope.end()))
    scope.dead = True


@evaluates("Return", "Raise")
def _leave(scope: Scope, node: ast.Return | ast.Raise) -> None:
    scope.use(*ast.iter_child_nodes(node))
    scope.dead = True


@evaluates("Match")
def _match(scope: Scope, node: ast.Match) -> None:
    scope.use(node.subject)
    last = node.cases[-1]
    is_any = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    others = [] if is_any and last.guard is None else [()]
    scope.branch(*([case] for case in node.cases), *others)


@evaluates("match_case")
def _case(scope: Scope, node: ast.match_case) -> None:
    scope.use(node.pattern)
    for name in captures_of(node.pattern):
        scope.store(name)
    if node.guard is not None:
        scope.use(node.guard)
    scope.block(node.body)


@evaluates("With", "AsyncWith")
def _with(scope: Scope, node: ast.With | ast.AsyncWith) -> None:
    for item in node.items:
        scope.use(item.context_expr)
        if item.optional_vars is not None:
            assign(scope, item.optional_vars, UNKNOWN)
    scope.block(node.body)
    scope.dead = False  # the context manager may suppress exceptions


@evaluates("Try", "TryStar")
def _try(scope: Scope, node: ast.Try) -> None:
    start = {*scope.assigned}
    scope.depth += 1
    scope.block(node.body)
    scope.block(node.orelse)
    normal, ends = scope.end(), []
    for handler in node.handlers:
        scope.assigned, scope.dead = {*start}, False
        scope.block([handler])
        ends.append(scope.end())
    scope.depth -= 1
    scope.meet(ends if normal is None else [normal])
    if node.finalbody:
        dead, scope.dead = scope.dead, False
        scope.block(node.finalbody)
        scope.dead |= dead


@evaluates("ExceptHandler")
def _handler(scope: Scope, handler: ast.ExceptHandler) -> None:
    if handler.type is not None:
        scope.use(handler.type)
    if handler.name:
        scope.store(handler.name)
    scope.block(handler.body)
    if handler.name:
        scope.effects.actions[f"del {handler.name}"] = None
