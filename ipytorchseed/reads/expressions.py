"""Evaluates expressions in the order in which they run."""

from __future__ import annotations

import ast
import glob

from ipytorchseed.reads.abstract import CONSTANT, UNKNOWN, AbstractValue, contents, join
from ipytorchseed.reads.parsing import children_of
from ipytorchseed.reads.queries import asked_by_query
from ipytorchseed.reads.scope import Scope, evaluates

_LONGEST_PATH = 240  # characters
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_RESULTS = {"Out": "_", "In": "_i"}
_NAMESPACES = frozenset({"dir", "globals", "locals", "vars"})


@evaluates("Constant")
def _constant(scope: Scope, node: ast.Constant) -> AbstractValue:
    if type(node.value) is str:
        if 0 < len(node.value) <= _LONGEST_PATH and not {"\n", "\0"} & {*node.value}:
            scope.effects.texts.add(node.value)
        scope.effects.programs |= asked_by_query(node.value)
    return CONSTANT


# --------------------------------------------------------------------------------------------------
# Names, attributes and items


@evaluates("Name")
def _name(scope: Scope, node: ast.Name) -> AbstractValue:
    return look_up_name(scope, node.id)


def look_up_name(scope: Scope, name: str, method: str = "") -> AbstractValue:
    """Record that a name is read, and return its abstract value.

    Args:
        scope: The current scope.
        name: The name.
        method: The only method that is called on the value, with a leading dot; "" if unknown.
    """
    value = scope.load(name)
    end = ".__len__" if scope.orderless else method  # any method that ignores the order
    scope.effects.paths.update([f"{path}{end}" for path in value.paths])
    return value


@evaluates("Attribute")
def _attribute(scope: Scope, node: ast.Attribute) -> AbstractValue:
    names = [node.attr]
    base = node.value
    while isinstance(base, ast.Attribute):
        names.append(base.attr)
        base = base.value
    value = scope.load(base.id) if isinstance(base, ast.Name) else scope.visit(base)
    scope.run_all(value.bodies)
    scope.effects.attributes.update(names)
    if isinstance(base, ast.Name) and f"{base.id}.{names[-1]}" in scope.assigned:
        return UNKNOWN  # the cell has set it
    for name in reversed(names):
        value = value.attribute(name)
    scope.effects.paths.update(value.paths)
    return value


@evaluates("Subscript")
def _subscript(scope: Scope, node: ast.Subscript) -> AbstractValue:
    if is_namespace(node.value):
        return look_up_text(scope, node.value, node.slice)
    number = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if isinstance(node.value, ast.Name) and node.value.id in _RESULTS and type(number) is int:
        return look_up_name(scope, f"{_RESULTS[node.value.id]}{number}")
    (value,) = scope.visit_all([node.value])
    scope.use(node.slice)
    return contents(value)


def is_namespace(node: ast.expr) -> bool:
    """Return whether a node is ``globals()`` or a similar namespace."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _NAMESPACES
        and not node.args
    ) or (isinstance(node, ast.Attribute) and node.attr == "user_ns")


def text_of(node: ast.AST) -> str | None:
    """Return the string of a string constant, or None for another node."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) is str else None


def look_up_text(scope: Scope, namespace: ast.expr, key: ast.expr) -> AbstractValue:
    """Look up ``name`` in ``globals()["name"]``, or a pattern for ``f"name_{x}"``."""
    text = text_of(key)
    if text is not None:
        return look_up_name(scope, text)
    _, value = scope.visit_all([namespace, key])
    pattern = _pattern_of(key)
    if pattern.strip("*"):
        scope.effects.held.add(("pattern", pattern))
    else:
        hold(scope, value)
    return UNKNOWN


def _pattern_of(node: ast.expr) -> str:
    """Return a pattern of ``fnmatch`` for the strings that an expression may return."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_pattern_of, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _pattern_of(node.left) + _pattern_of(node.right)
    text = text_of(node)
    return "*" if text is None else glob.escape(text)


def hold(scope: Scope, value: AbstractValue) -> None:
    """Record that a string, maybe a variable's value, is used as a name or as code."""
    names = [path for path in value.paths if path.isidentifier()]
    scope.effects.held |= {("text", name) for name in names}
    scope.effects.complete &= bool(names)


@evaluates("NamedExpr")
def _namedexpr(scope: Scope, node: ast.NamedExpr) -> AbstractValue:
    value = scope.visit(node.value)
    scope.store(node.target.id, value)
    return value


# --------------------------------------------------------------------------------------------------
# Operations


@evaluates("BinOp")
def _binop(scope: Scope, node: ast.BinOp) -> AbstractValue:
    return operate(scope, scope.visit(node.left), node.op, scope.visit(node.right))


def operate(
    scope: Scope, left: AbstractValue, operator: ast.operator, right: AbstractValue
) -> AbstractValue:
    """Evaluate an operation on two values."""
    scope.run_all((*left.bodies, *right.bodies))
    if not (left.readings or right.readings):
        return contents(left, right)
    made = contents(_as_reading(left), _as_reading(right))
    # With `%`, a string that contains readings may also contain other values.
    kept = isinstance(operator, _ARITHMETIC) and (made.pure or isinstance(operator, ast.Mod))
    if not kept:
        scope.escape(made)
    return made


def _as_reading(side: AbstractValue) -> AbstractValue:
    """Treat a name in the namespace as a reading, which is checked later."""
    name = side.paths[0] if len(side.paths) == 1 else ""
    if side.readings or not name.isidentifier():
        return side
    return AbstractValue(readings=frozenset({name}), pure=True)


@evaluates("BoolOp")
def _boolop(scope: Scope, node: ast.BoolOp) -> AbstractValue:
    value = scope.visit(node.values[0])
    for other in node.values[1:]:
        value = join(value, scope.branch([other], []))
    return value


@evaluates("IfExp")
def _ifexp(scope: Scope, node: ast.IfExp) -> AbstractValue:
    scope.use(node.test)
    return scope.branch([node.body], [node.orelse])


@evaluates("Compare")
def _compare(scope: Scope, node: ast.Compare) -> AbstractValue:
    if isinstance(node.ops[0], ast.In | ast.NotIn) and is_namespace(node.comparators[0]):
        return look_up_text(scope, node.comparators[0], node.left)
    outer, scope.orderless = scope.orderless, True
    scope.use(node.left, *node.comparators)
    scope.orderless = outer
    return UNKNOWN


@evaluates("List", "Tuple", "Set", "Dict", "JoinedStr", "FormattedValue", "Starred", "UnaryOp")
def _container(scope: Scope, node: ast.expr) -> AbstractValue:
    parts = [each for each in children_of(node) if isinstance(each, ast.expr)]
    values = (getattr(each, "value", None) for each in parts)
    if isinstance(node, ast.Set) and not all(isinstance(each, int | float) for each in values):
        scope.record_set()
    return contents(*scope.visit_all(parts))
