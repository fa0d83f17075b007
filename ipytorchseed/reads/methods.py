"""Which attributes of an object its methods read, and functions that it is given to."""

from __future__ import annotations

import ast
import functools
import types
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ipytorchseed.introspection.anatomy import (
    PerObject,
    anatomy,
    module_of_class,
    mro,
    name_of_class,
    own,
)
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.introspection.values import CONTAINERS, PLAIN, module_of, parts
from ipytorchseed.reads.abstract import CALL, ITEM, ITERATE
from ipytorchseed.reads.source import find_source
from ipytorchseed.reads.values import captured

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

INSIDE = "inside"
"""The part that stands for all that a model holds besides attributes of its own."""

_MODULE = "torch.nn.modules.module", "Module"

_THROUGH = {
    CALL: ("forward",),
    **dict.fromkeys(
        {
            "buffers",
            "cpu",
            "double",
            "eval",
            "float",
            "half",
            "load_state_dict",
            "named_buffers",
            "named_parameters",
            "parameters",
            "requires_grad_",
            "state_dict",
            "to",
            "train",
            "zero_grad",
        },
        (),
    ),
}
"""Methods of ``torch.nn.Module``, and those of the user's that each calls."""

_METHODS = (types.FunctionType, property, functools.cached_property, classmethod, staticmethod)
_HOOKS = "__getattr__", "__getattribute__"
"""Methods by which a class answers for attributes."""

_OF_MODULES = frozenset({"training", "_buffers", "_modules", "_parameters"})
"""Attributes of a model that are told as other parts of it."""

_MENTIONS = frozenset({"id", "isinstance", "issubclass", "type"})
_ASKS = frozenset({"getattr", "hasattr"})
_LOOKS_AT_ALL = frozenset({"dir", "eval", "exec", "locals", "vars"})
_PUTS = frozenset({"add", "append", "appendleft", "extend"})
"""Functions by what they do with an object, and methods that only put something into one."""

_Step = tuple[str, int]

_MOST = 200
_MOST_PARTS = 300
"""Methods that are followed for one object, and objects that it holds."""


class Uses(Struct, frozen=True):
    """What a function does with one of its arguments.

    Attributes:
        names: Attributes that it reads, ``rate``, and items by a constant key, ``[rate]``.
        above: Methods that it asks ``super()`` for.
        given: Functions that it gives the argument to, each with the place or name it has there.
    """

    names: frozenset[str]
    above: frozenset[str]
    given: frozenset[tuple[str, int | str]]


def part_named(name: str) -> str:
    """Name a part as fingerprints do, of which ``Uses`` has the name."""
    return f"k:{name[1:-1]}" if name[:1] == "[" else f"a:{name}"


def argument_read(function: Any, place: int | str) -> set[str] | None:  # noqa: ANN401
    """Find which attributes and items a function of the user's reads of an argument.

    Args:
        function: The function.
        place: The argument's place, from 0, or its name.

    Returns:
        Names as in ``Uses``. None where that cannot be told.
    """
    found: set[str] = set()
    queue: list[tuple[Any, int | str]] = [(function, place)]
    seen: set[tuple[types.CodeType, int | str]] = set()
    while queue:
        called, at = queue.pop()
        user = _function(called)
        if user is None or len(seen) > _MOST:
            return None
        if (user.__code__, at) in seen:
            continue
        seen.add((user.__code__, at))
        use = _use(user, at)
        if use is None or use.above:
            return None
        found |= use.names
        queue += [(user.__globals__.get(each), where) for each, where in use.given]
    return found


def find_member(kind: type, name: str) -> Any:  # noqa: ANN401
    """Return what a class or a base of it defines under a name, or None."""
    return next((own(each)[name] for each in mro(kind) if name in own(each)), None)


def leads_further(value: object, name: str) -> bool:
    """Tell whether an attribute of an object is none of its own parts.

    It is a method or property, or what a model keeps elsewhere: a layer, a parameter, its mode.
    """
    if type(find_member(type(value), name)) in _METHODS:
        return True
    held = {each for each, _ in anatomy(type(value)).unsorted(value)} - _OF_MODULES
    return any(map(_is_module, mro(type(value)))) and name not in held


def attributes_read(value: object, asked: Iterable[str]) -> set[str] | None:
    """Find which parts of an object's own some of its attributes lead to.

    Args:
        value: The object, of a class of the user's.
        asked: Attributes of it that some code reads: methods, properties or its own.

    Returns:
        The parts, as fingerprints name them: ``a:rate``. None where that cannot be told.
    """
    users = [own(each) for each in mro(type(value)) if is_local_module(module_of_class(each))]
    if any(hook in each for each in users for hook in _HOOKS):
        return None
    members = _Members(value)
    queue: list[_Step] = [(name, 0) for name in asked]
    seen: set[_Step] = set()
    while queue:
        step = queue.pop()
        if step in seen:
            continue
        seen.add(step)
        more = members.follow(*step)
        if more is None or len(seen) > _MOST:
            return None
        queue += more
    return members.found


class _Members:
    """What the names of an object's attributes lead to.

    Args:
        value: The object.

    Attributes:
        found: The parts of its own that were met.
    """

    def __init__(self, value: object) -> None:
        self._value = value
        self._classes = mro(type(value))
        self._held = dict(anatomy(type(value)).unsorted(value))
        self.found = {INSIDE} if any(map(_is_module, self._classes)) else set[str]()

    def follow(self, name: str, first: int) -> list[_Step] | None:
        """Return what is looked up next; None where that may be anything.

        Args:
            name: The attribute.
            first: The first of the object's classes that is searched for it.
        """
        places = range(first, len(self._classes))
        at = next((each for each in places if name in own(self._classes[each])), None)
        member = None if at is None else own(self._classes[at])[name]
        if INSIDE in self.found and name in _OF_MODULES:
            return []
        if name in self._held and type(member) is not property:
            self.found.add(f"a:{name}")
            return None if _leads_to(self._held[name], self._value) else []
        if at is None:
            in_turn = [(ITEM, 0), ("__len__", 0)] if name == ITERATE else []
            return None if name[:1] == "[" else in_turn
        if _is_module(self._classes[at]):
            return [(each, 0) for each in _THROUGH[name]] if name in _THROUGH else None
        function = _function(member)
        return self._enter(function, at) if function else [] if _is_plain(member) else None

    def _enter(self, function: types.FunctionType, at: int) -> list[_Step] | None:
        """Return what a method looks up, which the class at this place defines."""
        use = _use(function, 0)
        given = use.given if use is not None else ()
        read = [argument_read(function.__globals__.get(each), place) for each, place in given]
        if use is None or None in read:
            return None
        inner = f"_{name_of_class(self._classes[at]).rpartition('.')[2].lstrip('_')}"
        names = use.names.union(*filter(None, read))
        return [
            *((f"{inner}{each}" if _is_private(each) else each, 0) for each in names),
            *((each, at + 1) for each in use.above),
        ]


def _leads_to(start: object, goal: object) -> bool:
    """Tell whether code of the user's that is given one object comes by another one."""
    queue: list[Any] = [start]
    seen: dict[int, Any] = {}
    while queue and len(seen) < _MOST_PARTS:
        value = queue.pop()
        if value is goal:
            return True
        kind = type(value)
        if id(value) in seen or id(kind) in PLAIN:
            continue
        seen[id(value)] = value
        if kind is types.MethodType:
            queue.append(value.__self__)
        elif kind is types.FunctionType:
            queue += captured(value)
        elif id(kind) in CONTAINERS or any(is_local_module(module_of_class(b)) for b in mro(kind)):
            queue += parts(value)
    return False


def _is_plain(member: object) -> bool:
    """Tell whether a member of a class reads nothing of the objects it is looked up in."""
    kind = type(member)
    return kind in (staticmethod, classmethod) or not any(
        "__get__" in own(each) for each in mro(kind)
    )


def _is_module(made: type) -> bool:
    return (module_of_class(made), name_of_class(made)) == _MODULE


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _function(member: Any) -> types.FunctionType | None:  # noqa: ANN401
    """Return the user's function that runs when this is called, or looked up in an object."""
    kind = type(member)
    if kind is property:
        member = member.fget
    elif kind is functools.cached_property:
        member = member.func
    while type(member) is types.FunctionType:
        if is_local_module(module_of(member)):
            return member
        member = vars(member).get("__wrapped__")  # such as that of torch.no_grad()
    return None


def _use(function: types.FunctionType, place: int | str) -> Uses | None:
    """Return what a function does with one argument, by its place or name; None for anything."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    name = place if isinstance(place, str) else next(iter(names[place:]), "")
    return _uses(code).get(name)


def _find_uses(code: types.CodeType) -> dict[str, Uses | None]:
    """Find what a function does with each of its arguments; None where that may be anything."""
    functions = find_source(code)
    function: Any = functions[0] if len(functions) == 1 else None
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return {}
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    taken = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    given = function.args
    found: dict[str, Uses | None] = {}
    for each in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        scan = _Scan(each.arg, taken)
        for statement in body:
            scan.visit(statement)
        whole = scan.escapes
        found[each.arg] = (
            None
            if whole
            else Uses(frozenset(scan.names), frozenset(scan.above), frozenset(scan.given))
        )
    return found


_uses: PerObject[types.CodeType, dict[str, Uses | None]] = PerObject(_find_uses)


class _Scan(ast.NodeVisitor):
    """Collects what code does with the object that a name holds.

    Args:
        name: The name.
        taken: Names that mean something of the function's own.

    Attributes:
        names: Attributes and items that are read, as in ``Uses``.
        above: Methods that ``super()`` is asked for.
        given: Functions that it is given to, and where.
        escapes: Whether anything else is done with it.
    """

    def __init__(self, name: str, taken: Collection[str]) -> None:
        self._self = name
        self._taken = taken
        self.names: set[str] = set()
        self.above: set[str] = set()
        self.given: set[tuple[str, int | str]] = set()
        self.escapes = False

    def _is_self(self, node: ast.AST | None) -> bool:
        return isinstance(node, ast.Name) and node.id == self._self

    def visit_Name(self, node: ast.Name) -> None:
        self.escapes |= node.id in (self._self, "super") or node.id in _LOOKS_AT_ALL

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = node.value
        if self._is_self(owner):
            self.names |= set() if isinstance(node.ctx, ast.Store) else {node.attr}
            self.escapes |= node.attr == "__dict__"
        elif isinstance(owner, ast.Call) and _called(owner) == "super":
            self.above.add(node.attr)
            self.escapes |= not all(isinstance(each, ast.Name) for each in owner.args)
        else:
            self.visit(owner)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if self._is_self(node.value) and isinstance(key, str):
            self.names |= set() if isinstance(node.ctx, ast.Store) else {f"[{key}]"}
        else:
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Attribute):
            self.visit(ast.Attribute(node.target.value, node.target.attr, ast.Load()))
        elif isinstance(node.target, ast.Subscript):
            self.visit(ast.Subscript(node.target.value, node.target.slice, ast.Load()))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """Pass over ``self.losses.append(loss)``, which reads nothing of what is there."""
        call = node.value
        method = call.func if isinstance(call, ast.Call) else None
        held = method.value if isinstance(method, ast.Attribute) and method.attr in _PUTS else None
        if isinstance(call, ast.Call) and self._is_self(getattr(held, "value", None)):
            for each in (*call.args, *call.keywords):
                self.visit(each)
        else:
            self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        if self._is_self(node.iter):
            self.names.add(ITERATE)
            for each in (node.target, *node.body, *node.orelse):
                self.visit(each)
        else:
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Pass over ``model is None``."""
        alike = all(isinstance(each, ast.Is | ast.IsNot) for each in node.ops)
        for each in (node.left, *node.comparators):
            if not (alike and self._is_self(each)):
                self.visit(each)

    def visit_Call(self, node: ast.Call) -> None:
        called, given = _called(node), node.args
        own = bool(given) and self._is_self(given[0])
        key = given[0].value if given and isinstance(given[0], ast.Constant) else None
        if self._is_self(node.func):
            self.names.add(CALL)
        elif called == "len" and own:
            self.names.add("__len__")
            given = given[1:]
        elif (
            isinstance(key, str)
            and self._is_self(getattr(node.func, "value", None))
            and (getattr(node.func, "attr", "") == "get")
        ):
            self.names.add(f"[{key}]")
        elif called in _MENTIONS and own:
            given = given[1:]
        elif called in _ASKS and own and isinstance(given[1], ast.Constant):
            self.names.add(str(given[1].value))
            given = given[2:]
        else:
            self.visit(node.func)
        placed: list[tuple[int | str, ast.expr]] = [*enumerate(given)]
        placed += [(each.arg or "", each.value) for each in node.keywords]
        known = called and given is node.args and called not in self._taken
        spread = any(isinstance(each, ast.Starred) for each in given)
        for place, each in placed:
            if known and not spread and place != "" and self._is_self(each):
                self.given.add((called, place))
            else:
                self.visit(each)


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""
