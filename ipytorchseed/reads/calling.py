"""Evaluates calls: follows the cell's own functions, texts of ``exec`` and bodies of magics."""

from __future__ import annotations

import ast
import builtins
import functools

from msgspec.structs import replace

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.abstract import (
    CALL,
    UNKNOWN,
    AbstractValue,
    Body,
    join,
)
from ipytorchseed.reads.bindings import arguments_of
from ipytorchseed.reads.columns import by_row
from ipytorchseed.reads.entropy import SAYS_WHEN
from ipytorchseed.reads.expressions import look_up_text
from ipytorchseed.reads.frames import aggregates, ask_frame
from ipytorchseed.reads.functions import lambda_effects
from ipytorchseed.reads.keys import PUTS, constant_keys
from ipytorchseed.reads.magics import Magic, magic_of
from ipytorchseed.reads.parsing import dotted_name, parse_text
from ipytorchseed.reads.scope import Scope, evaluates
from ipytorchseed.reads.source import remember
from ipytorchseed.reads.taint import note_call
from ipytorchseed.reads.uses import SPREAD

_BUILTINS = frozenset(vars(builtins))
_FUNCTION = lazy_pattern(r"[^\W\d]\w*(?:\.\w+)?")

_OF_BATCHES = frozenset({"dataset", "batch_size", "drop_last", "collate_fn", "pin_memory"})
"""Arguments of a ``DataLoader`` that may be anything, and its order stays that of the data."""

_ORDERED = 2
"""Its first arguments, which are such."""

_LIKE = "empty_like full_like ones_like rand_like randint_like randn_like zeros_like"
_LAYOUT = {"len": ("__len__",), **dict.fromkeys(_LIKE.split(), ("shape", "dtype"))}
"""Functions that ask nothing of their first argument but how large it is, and of which type."""

_SETS = frozenset({"frozenset", "set"})
_ORDERLESS = _SETS | {"all", "any", "isinstance", "len", "max", "min", "sorted"}
"""Builtins that make sets, and that do not ask for the order of one."""

_LOOK_UP = frozenset({"get", "pop", "setdefault"})
_FILLS = PUTS | {"insert"}


@evaluates("Call")
def _call(scope: Scope, node: ast.Call) -> AbstractValue:
    callee = node.func
    name = callee.id if isinstance(callee, ast.Name) else ""
    if (found := _by_form(scope, node, name)) is not None:
        return found
    if not name:
        magic = magic_of(node)
        if magic is not None:
            scope.visit(callee)
            return _magic(scope, magic)
    if isinstance(callee, ast.Attribute) and callee.attr in _LOOK_UP and node.args:
        look_up_text(scope, callee.value, node.args[0])
    func = _callee(scope, node)
    called = name if name == "len" else getattr(callee, "attr", "")
    function = "" if any(type(each) is ast.Starred for each in node.args) else _named(func)
    outer, scope.orderless = scope.orderless, name in _ORDERLESS
    args = [
        scope.visit_by(each, *_LAYOUT[called])
        if place == 0 and called in _LAYOUT and isinstance(each, ast.Name)
        else scope.visit(ast.Attribute(each, "__len__", ast.Load()))
        if place == 0 and name == "len" and isinstance(each, ast.Attribute | ast.Subscript)
        else _argument(scope, each, function, place)
        for place, each in enumerate(node.args)
    ]
    args += [_argument(scope, word.value, function, word.arg or SPREAD) for word in node.keywords]
    scope.orderless = outer
    for arg in args:
        scope.run_all(arg.bodies)
    if name in _SETS and func.paths == (name,) and (not args or args[0].tail != "range()"):
        scope.note_set(next(iter(args[0].paths), "") if args else "")
    _look_up(scope, func, node)
    _set_attribute(scope, func, node, args)
    ask_frame(scope, node)
    if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
        owner = callee.value.id
        if args and callee.attr in _FILLS and _fills(scope, owner, args[-1]):
            return UNKNOWN
    abstract = note_call(scope.effects, func, args, more=_spreads(node))
    return _enter(scope, func, abstract, certain=bool(name)) if func.bodies else abstract


def _callee(scope: Scope, node: ast.Call) -> AbstractValue:
    """Follow what is called: ``numpy.datetime64("now")`` as ``numpy.datetime64.now``."""
    func = scope.visit_by(node.func, CALL)
    if dotted_name(node.func).rpartition(".")[2] not in SAYS_WHEN:
        return func
    first = getattr(node.args[0], "value", None) if node.args else None
    return func.attribute(first) if first in ("now", "today") else func


def _by_form(scope: Scope, node: ast.Call, name: str) -> AbstractValue | None:
    """Follow calls of which their form tells what they look up; None for any other."""
    if name in _BY_TEXT:
        return _BY_TEXT[name](scope, node)
    followed = not name and (_apply_to_rows(scope, node) or aggregates(scope, node))
    return UNKNOWN if followed else None


def _named(func: AbstractValue) -> str | AbstractValue:
    """Return the name of an earlier function, or ``owner.method``; a function made here itself."""
    if func.bodies:
        return func
    path = func.paths[0] if len(func.paths) == 1 else ""
    return path if _FUNCTION.fullmatch(path) is not None and path not in _BUILTINS else ""


def _argument(
    scope: Scope, node: ast.expr, function: str | AbstractValue, place: int | str
) -> AbstractValue:
    """Follow an argument, of which a function of the user's may read some parts only."""
    if not function or not isinstance(node, ast.Name):
        return scope.visit(node)
    abstract = scope.load(node.id)
    for path in abstract.paths:
        scope.give(path, function, place)
    return abstract


def _attribute(scope: Scope, node: ast.Call) -> AbstractValue | None:
    """Follow ``getattr(cfg, "rate")``; None where nobody knows the attribute before it runs."""
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
    """Run the code that is called, and return what its result holds."""
    after: list[Body] = []
    for body in func.bodies:
        scope.run(body, certain=certain)
        after += body.then
    return replace(result, bodies=tuple(after))


def _goes_in_order(node: ast.Call) -> bool:
    """Tell whether a ``DataLoader`` that is made so goes over its data in their order."""
    others = [word for word in node.keywords if word.arg not in _OF_BATCHES]
    unset = (isinstance(word.value, ast.Constant) and not word.value.value for word in others)
    return len(node.args) <= _ORDERED and None not in {word.arg for word in others} and all(unset)


def _look_up(scope: Scope, func: AbstractValue, node: ast.Call) -> None:
    """Note which item ``rates.get("warm")`` looks up, and in which order a ``DataLoader`` goes.

    No item is noted by name where that is no constant.
    """
    if func.tail.endswith("DataLoader"):
        scope.effects.loaders += (_goes_in_order(node),)
    first = node.args[0] if node.args else None
    keys = constant_keys(first, places=True) if isinstance(first, ast.Constant) else []
    key = keys[0] if keys else ""
    scope.effects.items.update((path, key) for path in func.paths if path.endswith(".get"))


def _set_attribute(
    scope: Scope, func: AbstractValue, node: ast.Call, args: list[AbstractValue]
) -> None:
    """Follow ``setattr(torch, "relu", mine)``."""
    if "setattr" in func.paths and args:
        named = [key for each in node.args[1:2] for key in constant_keys(each)]
        scope.effects.paths.update(f"{path}.{name}=" for path in args[0].paths for name in named)


def _apply_to_rows(scope: Scope, node: ast.Call) -> bool:
    """Follow ``frame.apply(lambda row: row.price, axis=1)``, of which functions read columns."""
    given, callee = by_row(node), node.func
    if not (isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name)):
        return False
    if isinstance(given, ast.Lambda) and len(arguments_of(given.args)) == 1:
        frame = scope.load(callee.value.id)
        scope.run(Body(lambda_effects(scope, given, frame)))
    elif isinstance(given, ast.Name) and (function := _plain_name(scope.visit(given))):
        frame = scope.load(callee.value.id)
        scope.effects.given.update((path, function, 0) for path in frame.paths)
    else:
        return False
    scope.effects.attributes.add("apply")
    scope.effects.columns.update((path, "") for path in frame.paths)
    for word in node.keywords:
        scope.consume(scope.visit(word.value))
    return True


def _plain_name(function: AbstractValue) -> str:
    """Return the one name of the namespace that leads to a function of an earlier cell, or ""."""
    path = function.paths[0] if len(function.paths) == 1 and not function.bodies else ""
    return path if path.isidentifier() and path not in _BUILTINS else ""


def _fills(scope: Scope, name: str, item: AbstractValue) -> bool:
    """Follow ``times.append(now - then)``, which keeps readings among readings."""
    before = scope.bound.get(name, UNKNOWN)
    if name not in scope.assigned:
        scope.fill(name, AbstractValue(bodies=item.bodies))
        return False
    scope.fill(name, item)
    return bool(before.taint or item.taint)


def _magic(scope: Scope, magic: Magic) -> AbstractValue:
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
    """Follow ``exec`` and ``eval`` of a text that stands there, or that a name holds."""
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


_BY_TEXT = {"eval": _run_text, "exec": _run_text, "getattr": _attribute}
"""Functions that are told by a text what they look up."""


def _spreads(node: ast.Call) -> bool:
    """Tell whether there are arguments that cannot be counted: ``*args`` and ``**options``."""
    for each in node.args:
        if type(each) is ast.Starred:
            return True
    return any(word.arg is None for word in node.keywords)
