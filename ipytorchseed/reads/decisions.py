"""What conditions come to as names hold what they hold, found without running the user's code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.anatomy import attributes, find_member
from ipytorchseed.reads.parsing import children_of, dotted_name, nodes_in

_PLAIN = introspection.identities({bool, float, int, str, type(None)})
"""Types of values that are compared as they are, by identity."""

_SIZED = introspection.identities({dict, frozenset, list, set, str, tuple})
"""Types of values that are asked how many they hold, which is whether they are true."""

_HASHED = introspection.identities({dict, frozenset, set, str})
_IN_ORDER = introspection.identities({list, tuple})
_ASKED = introspection.identities({dict, list, str, tuple})
"""Types of what is asked whether it holds something, by its hash or one by one, and for an item."""

LOOKS = frozenset({"copy", "count", "get", "index", "items", "keys", "values", "__len__"})
"""Methods that leave what they are called of as it is."""

_MOST_ITEMS = 1_000

_ABSENT: Any = object()

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip

_COUNT: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
}  # fmt: skip


class UnknownError(Exception):
    """What a condition comes to is not known before it is evaluated."""


class Decision(Struct, frozen=True):
    """A condition that decides on a branch.

    Attributes:
        test: The condition.
        paths: What it looks up: names, and dotted names of attributes.
        inside: Whether it asks for parts of what these hold.
        first: Whether it comes before all that sets its names, and once.
    """

    test: ast.expr
    paths: frozenset[str]
    inside: bool
    first: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The names that it looks up."""
        return frozenset(path.partition(".")[0] for path in self.paths)

    def looks_inside(self, names: Mapping[str, Any]) -> bool:
        """Tell whether it looks at what names hold, which may change and they stay the same.

        A list, for one, is true where it is not empty.
        """
        alone = isinstance(self.test, ast.Name)
        return self.inside or (alone and id(type(names.get(*self.names))) not in _PLAIN)

    def answer(self, names: Mapping[str, Any]) -> bool | None:
        """Tell what it comes to where names hold these values; None where that is not known."""
        value = self.value(names)
        return bool(value) if id(type(value)) in _PLAIN | _SIZED else None

    def value(self, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return its value where names hold these; where that is not known, a bare object."""
        if isinstance(self.test, ast.Name):
            return names.get(self.test.id, _ABSENT)
        try:
            return _evaluate(self.test, names)
        except (UnknownError, TypeError, ValueError, ArithmeticError, LookupError):
            return _ABSENT  # what fails here may fail there as well


def decision(test: ast.expr) -> Decision | None:
    """Return a condition as what decides on a branch; None where names alone do not decide."""
    kinds = {*map(type, nodes_in(test))}
    if not kinds <= _DECIDE:
        return None
    paths = frozenset(_paths(test))
    return Decision(test, paths, not kinds.isdisjoint(_INSIDE)) if paths else None


def _paths(node: ast.AST) -> set[str]:
    path = dotted_name(node)
    if path:
        return {path}
    if isinstance(node, ast.Call):
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return set().union(*map(_paths, [*owner, *node.args]))
    skipped = node.target if isinstance(node, ast.NamedExpr) else None
    inner = (each for each in children_of(node) if each is not skipped)
    return set().union(*map(_paths, inner))


def test_of(subject: ast.expr, pattern: ast.pattern) -> ast.expr | None:
    """Return what a ``case`` asks of its subject, as a condition; None for what is no such one."""
    if isinstance(pattern, ast.MatchValue):
        return ast.Compare(subject, [ast.Eq()], [pattern.value])
    if isinstance(pattern, ast.MatchSingleton):
        return ast.Compare(subject, [ast.Is()], [ast.Constant(pattern.value)])
    if isinstance(pattern, ast.MatchAs):
        return test_of(subject, pattern.pattern) if pattern.pattern else ast.Constant(value=True)
    if isinstance(pattern, ast.MatchOr):
        parts = [test_of(subject, each) for each in pattern.patterns]
        known = [each for each in parts if each is not None]
        return ast.BoolOp(ast.Or(), known) if len(known) == len(parts) else None
    if isinstance(pattern, ast.MatchMapping) and pattern.keys and pattern.rest is None:
        asked: list[ast.expr | None] = []
        for key, each in zip(pattern.keys, pattern.patterns, strict=True):
            asked.append(ast.Compare(key, [ast.In()], [subject]))
            asked.append(test_of(ast.Subscript(subject, key, ast.Load()), each))
        known = [each for each in asked if each is not None]
        return ast.BoolOp(ast.And(), known) if len(known) == len(asked) else None
    return None


# --------------------------------------------------------------------------------------------------
# Values


def _evaluate(node: ast.expr, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
    return _EVALUATORS[type(node)](node, names)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if id(type(value)) not in _PLAIN:
        raise UnknownError
    return value


def _truth(value: Any) -> bool:  # noqa: ANN401
    if id(type(value)) not in _PLAIN | _SIZED:
        raise UnknownError
    return bool(value)


def _length(value: Any) -> int:  # noqa: ANN401
    if id(type(value)) not in _SIZED:
        raise UnknownError
    return len(value)


def _name(node: ast.Name, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
    return names[node.id]


def _attribute(node: ast.Attribute, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
    owner = _evaluate(node.value, names)
    if introspection.is_module(owner):
        return introspection.module_names(owner)[node.attr]
    is_class = introspection.is_class(owner)
    kind = owner if is_class else type(owner)
    member = find_member(kind, node.attr, _ABSENT)
    looks_up = find_member(kind, "__getattribute__")
    odd = type(owner) is not type if is_class else introspection.is_function(looks_up)
    computed = member is not _ABSENT and id(type(member)) not in _PLAIN | _SIZED  # by a property
    held = {} if is_class else dict(attributes(owner))
    found = held.get(node.attr, member)
    if odd or computed or found is _ABSENT:
        raise UnknownError
    return found


def _subscript(node: ast.Subscript, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
    owner, key = _evaluate(node.value, names), _plain(_evaluate(node.slice, names))
    if id(type(owner)) not in _ASKED:
        raise UnknownError
    return owner[key]


def _call(node: ast.Call, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
    callee = node.func
    if node.keywords:
        raise UnknownError
    if isinstance(callee, ast.Name) and callee.id == "len" and "len" not in names:
        return _length(*(_evaluate(each, names) for each in node.args))
    if isinstance(callee, ast.Attribute) and callee.attr == "get":
        owner = _evaluate(callee.value, names)
        if type(owner) is dict:
            return owner.get(*(_plain(_evaluate(each, names)) for each in node.args))
    raise UnknownError


def _unaryop(node: ast.UnaryOp, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
    value = _evaluate(node.operand, names)
    if isinstance(node.op, ast.Not):
        return not _truth(value)
    if isinstance(node.op, ast.USub):
        return -_plain(value)
    raise UnknownError


def _binop(node: ast.BinOp, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
    sides = _plain(_evaluate(node.left, names)), _plain(_evaluate(node.right, names))
    if type(node.op) not in _COUNT or not {type(each) for each in sides} <= {bool, float, int}:
        raise UnknownError
    return _COUNT[type(node.op)](*sides)


def _boolop(node: ast.BoolOp, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
    value, *others = node.values
    left = _evaluate(value, names)
    is_last = not others or _truth(left) is isinstance(node.op, ast.Or)
    return left if is_last else _boolop(ast.BoolOp(node.op, others), names)


def _compare(node: ast.Compare, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
    values = [_evaluate(each, names) for each in (node.left, *node.comparators)]
    pairs = zip(node.ops, values, values[1:], strict=False)
    return all(_holds(operator, *pair) for operator, *pair in pairs)


def _holds(how: ast.cmpop, left: Any, right: Any) -> bool:  # noqa: ANN401
    if isinstance(how, ast.Is | ast.IsNot):
        plain = {id(type(left)), id(type(right))} <= _PLAIN
        alike = type(left) is type(right) and left == right if plain else left is right
        return alike is isinstance(how, ast.Is)
    if isinstance(how, ast.In | ast.NotIn):
        return (_plain(left) in _searched(right)) is isinstance(how, ast.In)
    return _COMPARE[type(how)](_plain(left), _plain(right))


def _searched(holder: Any) -> Any:  # noqa: ANN401
    """Return what an item is looked for in, if only its hash, or plain items, are asked."""
    if id(type(holder)) in _IN_ORDER and len(holder) <= _MOST_ITEMS:
        return [_plain(each) for each in holder]
    if id(type(holder)) in _HASHED:
        return holder
    raise UnknownError


def _display(node: ast.List | ast.Set | ast.Tuple, names: Mapping[str, Any]) -> Any:  # noqa: ANN401
    return tuple(_evaluate(each, names) for each in node.elts)


_EVALUATORS: dict[type[ast.AST], Callable[[Any, Mapping[str, Any]], Any]] = {
    ast.Attribute: _attribute,
    ast.BinOp: _binop,
    ast.BoolOp: _boolop,
    ast.Call: _call,
    ast.Compare: _compare,
    ast.Constant: lambda node, _: _plain(node.value),
    ast.List: _display,
    ast.Name: _name,
    ast.NamedExpr: lambda node, names: _evaluate(node.value, names),
    ast.Set: _display,
    ast.Subscript: _subscript,
    ast.Tuple: _display,
    ast.UnaryOp: _unaryop,
}

_BESIDE = (ast.boolop, ast.cmpop, ast.operator, ast.unaryop)
_DECIDE = {*_EVALUATORS}.union(*(each.__subclasses__() for each in _BESIDE))
"""Nodes that are evaluated, and those that stand beside them."""

_INSIDE = {ast.Attribute, ast.Subscript, ast.Call, ast.In, ast.NotIn}
"""Nodes that ask for parts of what names hold."""
