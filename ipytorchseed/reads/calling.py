"""Evaluates calls of functions, ``exec`` and magics."""

from __future__ import annotations

import ast

from ipytorchseed.reads.abstract import UNKNOWN, AbstractValue
from ipytorchseed.reads.entropy import ADDRESS, ANY, READING_TAILS, SAYS_WHEN
from ipytorchseed.reads.expressions import hold, is_namespace, look_up_name, look_up_text, text_of
from ipytorchseed.reads.magics import Magic, magic_of
from ipytorchseed.reads.parsing import dotted_name, nodes_in, parse_text
from ipytorchseed.reads.queries import names_in_query
from ipytorchseed.reads.scope import Scope, evaluates
from ipytorchseed.reads.source import remember

_SETS = frozenset({"frozenset", "set"})

# Builtins that make sets, or that ignore the order of a set.
_ORDERLESS = _SETS | {"all", "any", "isinstance", "len", "max", "min", "sorted"}

_LOOKUP_METHODS = frozenset({"get", "pop", "setdefault"})
_FILL_METHODS = frozenset({"add", "append", "appendleft", "extend", "insert"})
_QUERIES = frozenset({"eval", "query", "sql"})

# Functions that only show a reading of a clock.
_SHOWS = frozenset(
    {"print", "display", "debug", "info", "warning", "error", "critical", "log", "exception"}
    | {"write", "set_description", "set_postfix", "set_postfix_str", "pprint", "warn"}
)

# Functions and methods that convert a reading of a clock to another reading.
_RESHAPES = frozenset(
    {"abs", "astype", "float", "format", "fromtimestamp", "int", "isoformat", "item", "max", "min"}
    | {"repr", "round", "str", "strftime", "timedelta", "timestamp", "total_seconds"}
)


@evaluates("Call")
def _call(scope: Scope, node: ast.Call) -> AbstractValue:
    callee, found = node.func, None
    name = callee.id if isinstance(callee, ast.Name) else ""
    if name in {"eval", "exec"}:
        return _run_text(scope, node)
    if name == "getattr":
        found = _attribute(scope, node)
    elif isinstance(callee, ast.Attribute):
        found = _method(scope, callee, node)
    if found is not None:
        return found
    func = _callee(scope, node)
    outer, scope.orderless = scope.orderless, name in _ORDERLESS
    args = scope.visit_all(node.args)
    scope.orderless = outer
    args += scope.visit_all(word.value for word in node.keywords)
    path = args[0].paths[0] if args and args[0].paths else ""
    if name in _SETS and func.paths == (name,) and path != "range()":
        scope.record_set(path)
    if name == "setattr" and len(node.args) > 1 and (key := text_of(node.args[1])) is not None:
        scope.effects.paths.update(f"{path}.{key}=" for path in args[0].paths)
    return _record(scope, node, func, args)


def _method(scope: Scope, callee: ast.Attribute, node: ast.Call) -> AbstractValue | None:
    """Evaluate magics, and methods that look up names, run queries or fill containers."""
    magic = magic_of(node)
    if magic is not None:
        return _magic(scope, magic)
    if callee.attr in _LOOKUP_METHODS and node.args and is_namespace(callee.value):
        held = look_up_text(scope, callee.value, node.args[0])
        if callee.attr == "pop":
            scope.effects.actions |= dict.fromkeys(f"del {name}" for name in held.paths)
    if callee.attr in _QUERIES:
        for each in node.args:
            if isinstance(each, ast.Name):
                scope.effects.held.add(("text", each.id))
            for text in filter(None, map(text_of, nodes_in(each))):
                for name in names_in_query(text):
                    look_up_name(scope, name)
    if callee.attr in _FILL_METHODS and node.args and isinstance(callee.value, ast.Name):
        func, *args = scope.visit_all([callee, *node.args])
        scope.fill(callee.value.id, args[-1])
        kept = [AbstractValue(each.paths) for each in (func, *args)]  # without readings
        return _record(scope, node, kept[0], kept[1:])
    return None


def _callee(scope: Scope, node: ast.Call) -> AbstractValue:
    """Evaluate the callee.

    ``numpy.datetime64("now")`` becomes ``numpy.datetime64.now``; see ``entropy.SAYS_WHEN``.
    """
    if isinstance(node.func, ast.Name):
        func = look_up_name(scope, node.func.id, ".__call__")
    else:
        func = scope.visit(node.func)
    scope.run_all(func.bodies)
    if dotted_name(node.func).rpartition(".")[2] not in SAYS_WHEN or not node.args:
        return func
    first = text_of(node.args[0])
    return func.attribute(first) if first in ("now", "today") else func


def _attribute(scope: Scope, node: ast.Call) -> AbstractValue | None:
    """Evaluate ``getattr(cfg, "rate")``; return None if the attribute is unknown."""
    text = text_of(node.args[1]) if len(node.args) > 1 else None
    if text is None:
        return None
    scope.use(*node.args[2:])
    return scope.visit(ast.Attribute(node.args[0], text, ast.Load()))


def _record(
    scope: Scope, node: ast.Call, func: AbstractValue, args: list[AbstractValue]
) -> AbstractValue:
    """Record a call and return the abstract value of its result."""
    effects, callee = scope.effects, node.func
    tail = callee.attr if isinstance(callee, ast.Attribute) else dotted_name(callee)
    last = func.paths[0].rpartition(".")[2].lstrip(":") if func.paths else tail
    effects.actions |= dict.fromkeys(
        func.paths or [f".{tail}" if isinstance(callee, ast.Attribute) else tail]
    )
    values = [*node.args, *(word.value for word in node.keywords)]
    given = sum(not (isinstance(each, ast.Constant) and each.value is None) for each in values)
    if any(isinstance(each, ast.Starred) for each in values) or not all(
        word.arg for word in node.keywords
    ):
        given = ANY  # ``*args`` and ``**options`` cannot be counted
    for path in func.paths:
        effects.call(path, given)
    if last not in _SHOWS:
        effects.handed.update(*(arg.paths for arg in args))
    results = tuple([f"{path}()" for path in func.paths])
    readings = func.readings.union(*(arg.readings for arg in args))
    if readings and last in _RESHAPES:
        return AbstractValue(readings=readings, pure=all(arg.pure for arg in args))
    if readings and last not in _SHOWS:
        effects.escaped |= readings
    elif results and (last in READING_TAILS or func.paths == (ADDRESS,)):
        return AbstractValue(results, (), frozenset(results), pure=True)
    return AbstractValue(results)


# --------------------------------------------------------------------------------------------------
# Code in strings


def _magic(scope: Scope, magic: Magic) -> AbstractValue:
    scope.load("get_ipython")  # IPython's translation of the magic
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
        before = {*scope.assigned}, {**scope.bound}, {*scope.effects.writes}
        scope.block(tree.body)
        if magic.forgets:
            scope.assigned, scope.bound, scope.effects.writes = before
    for name in magic.writes:
        scope.store(name)
    return UNKNOWN


def _run_text(scope: Scope, node: ast.Call) -> AbstractValue:
    """Evaluate ``exec`` and ``eval`` of a literal string or of a variable."""
    scope.visit(node.func)
    text = text_of(node.args[0]) if len(node.args) == 1 else None
    tree = parse_text(text.strip()) if text is not None else None
    if tree is not None:
        scope.block(tree.body)
        return UNKNOWN
    values = scope.visit_all([*node.args, *(word.value for word in node.keywords)])
    hold(scope, values[0] if len(node.args) == 1 else UNKNOWN)
    return UNKNOWN
