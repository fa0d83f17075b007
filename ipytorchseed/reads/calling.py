"""Evaluates calls of functions of the cell, of ``exec`` and of magics."""

from __future__ import annotations

import ast
import functools

from msgspec.structs import replace

from ipytorchseed.reads.abstract import (
    CALL,
    LENGTH,
    UNKNOWN,
    AbstractValue,
    Body,
    join,
)
from ipytorchseed.reads.entropy import SAYS_WHEN
from ipytorchseed.reads.expressions import look_up_text
from ipytorchseed.reads.magics import Magic, magic_of
from ipytorchseed.reads.parsing import dotted_name, parse_text
from ipytorchseed.reads.queries import names_in_query
from ipytorchseed.reads.scope import Scope, evaluates
from ipytorchseed.reads.source import remember
from ipytorchseed.reads.taint import record_call

_SETS = frozenset({"frozenset", "set"})

# Builtins that make sets, or that ignore the order of a set.
_ORDERLESS = _SETS | {"all", "any", "isinstance", "len", "max", "min", "sorted"}

_LOOKUP_METHODS = frozenset({"get", "pop", "setdefault"})
_FILL_METHODS = frozenset({"add", "append", "appendleft", "extend", "insert"})
_QUERIES = frozenset({"eval", "query", "sql"})


@evaluates("Call")
def _call(scope: Scope, node: ast.Call) -> AbstractValue:
    callee = node.func
    name = callee.id if isinstance(callee, ast.Name) else ""
    if name in _BY_TEXT and (found := _BY_TEXT[name](scope, node)) is not None:
        return found
    if not name:
        magic = magic_of(node)
        if magic is not None:
            scope.visit(callee)
            return _magic(scope, magic)
    if isinstance(callee, ast.Attribute) and callee.attr in _LOOKUP_METHODS and node.args:
        _look_up_item(scope, callee, node.args[0])
    func = _callee(scope, node)
    outer, scope.orderless = scope.orderless, name in _ORDERLESS
    args = [
        scope.visit_by(each, LENGTH) if name == "len" else scope.visit(each)
        for each in (*node.args, *(word.value for word in node.keywords))
    ]
    scope.orderless = outer
    for arg in args:
        scope.run_all(arg.bodies)
    if name in _SETS and func.paths == (name,) and (not args or args[0].tail != "range()"):
        scope.record_set(next(iter(args[0].paths), "") if args else "")
    _set_attribute(scope, func, args)
    if isinstance(callee, ast.Attribute) and callee.attr in _QUERIES:
        _look_up_query(scope, args)
    if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
        owner = callee.value.id
        if args and callee.attr in _FILL_METHODS and _fills(scope, owner, args[-1]):
            return UNKNOWN
    abstract = record_call(scope.effects, func, args, more=_has_uncounted(node))
    return _enter(scope, func, abstract, certain=bool(name)) if func.bodies else abstract


def _look_up_item(scope: Scope, callee: ast.Attribute, key: ast.expr) -> None:
    """Look up the name in ``globals().get("name")`` and ``pop``, which deletes it."""
    held = look_up_text(scope, callee.value, key)
    if held is not None and callee.attr == "pop":
        scope.effects.actions |= dict.fromkeys(f"del {name}" for name in held.paths)


def _callee(scope: Scope, node: ast.Call) -> AbstractValue:
    """Evaluate the callee: ``numpy.datetime64("now")`` as ``numpy.datetime64.now``."""
    func = scope.visit_by(node.func, CALL)
    if dotted_name(node.func).rpartition(".")[2] not in SAYS_WHEN:
        return func
    first = getattr(node.args[0], "value", None) if node.args else None
    return func.attribute(first) if first in ("now", "today") else func


def _look_up_query(scope: Scope, args: list[AbstractValue]) -> None:
    """Load the names in ``frame.query("price > @limit")`` and SQL queries."""
    for text in [text for each in args for text in each.text()]:
        scope.effects.held |= {("query", text)} if "\0" in text else set()
        for name in names_in_query(text):
            scope.effects.paths.update(scope.load(name).paths)


def _attribute(scope: Scope, node: ast.Call) -> AbstractValue | None:
    """Evaluate ``getattr(cfg, "rate")``; return None if the attribute is unknown."""
    owner, *others = node.args or [node]
    texts = scope.visit(others.pop(0)).text() if others else ()
    if not texts or "\0" in "".join(texts):
        return None
    held = scope.visit(owner) if not isinstance(owner, ast.Name) else scope.load(owner.id)
    scope.run_all(held.bodies)
    found = [held.attribute(text) for text in texts]
    scope.effects.attributes.update(texts)
    for each in found:
        scope.effects.paths.update(each.paths)
    return functools.reduce(join, [*found, *map(scope.visit, others)])


def _enter(
    scope: Scope, func: AbstractValue, result: AbstractValue, *, certain: bool
) -> AbstractValue:
    """Run the code of the callee and return the result with the code that it holds."""
    after: list[Body] = []
    for body in func.bodies:
        scope.run(body, certain=certain)
        after += body.then
    return replace(result, bodies=tuple(after))


def _set_attribute(scope: Scope, func: AbstractValue, args: list[AbstractValue]) -> None:
    """Record the attribute that ``setattr(torch, "relu", mine)`` sets."""
    if "setattr" in func.paths and len(args) > 1:
        named = [text for text in args[1].texts if text.isidentifier()]
        scope.effects.paths.update(f"{path}.{name}=" for path in args[0].paths for name in named)


def _fills(scope: Scope, name: str, item: AbstractValue) -> bool:
    """Return whether a call fills a list with its taint: ``times.append(now - then)``."""
    before = scope.bound.get(name, UNKNOWN)
    if name not in scope.assigned:
        scope.fill(name, AbstractValue(bodies=item.bodies))
        return False
    scope.fill(name, item)
    return bool(before.taint or item.taint)


def _magic(scope: Scope, magic: Magic) -> AbstractValue:
    scope.effects.actions.pop("get_ipython", None)  # IPython's translation of the magic
    scope.effects.actions[magic.text] = None
    for text in magic.expressions:
        tree = parse_text(text.strip())
        if tree is not None:
            scope.block(tree.body)
    scope.effects.files.update(magic.files)
    scope.effects.texts.update(magic.words)
    if magic.program:
        scope.effects.programs.add(magic.program)
    tree = scope.reader.parse(magic.body) if magic.cell else parse_text(magic.body.strip())
    if tree is not None and magic.body:
        remember(tree)
        before = scope.state()
        writes = set(scope.effects.writes)
        scope.block(tree.body)
        if magic.forgets:
            scope.resume(before)
            scope.effects.writes = writes
    for name in magic.writes:
        scope.store(name)
    return UNKNOWN


def _run_text(scope: Scope, node: ast.Call) -> AbstractValue:
    """Evaluate ``exec`` and ``eval`` of a literal string, or one that a name holds."""
    scope.visit(node.func)
    texts = scope.visit(node.args[0]).text() if len(node.args) == 1 else ()
    text = texts[0] if len(texts) == 1 and "\0" not in texts[0] else None
    tree = parse_text(text.strip()) if text is not None else None
    if tree is not None:
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            return scope.visit(tree.body[0].value)
        scope.block(tree.body)
        return UNKNOWN
    for each in (*node.args, *node.keywords):
        scope.consume(scope.visit(each))
    scope.effects.held |= {("code", text) for text in texts}
    scope.effects.complete &= bool(texts)
    return UNKNOWN


# Functions that look up what a string argument names.
_BY_TEXT = {"eval": _run_text, "exec": _run_text, "getattr": _attribute}


def _has_uncounted(node: ast.Call) -> bool:
    """Return whether the arguments cannot be counted: ``*args`` and ``**options``."""
    for each in node.args:
        if type(each) is ast.Starred:
            return True
    return any(word.arg is None for word in node.keywords)
