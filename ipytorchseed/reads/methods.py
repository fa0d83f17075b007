"""Which attributes of an object its own methods read, told from their source."""

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
from ipytorchseed.introspection.values import module_of
from ipytorchseed.reads.source import find_source

if TYPE_CHECKING:
    from collections.abc import Iterable

INSIDE = "inside"
"""The part that stands for all that a model holds besides attributes of its own."""

_MODULE = "torch.nn.modules.module", "Module"

_THROUGH = {
    "__call__": ("forward",),
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

_HOOKS = "__getattr__", "__getattribute__"
"""Methods by which a class answers for attributes."""

_MENTIONS = frozenset({"id", "isinstance", "issubclass", "type"})
_ASKS = frozenset({"getattr", "hasattr"})
_LOOKS_AT_ALL = frozenset({"dir", "eval", "exec", "locals", "vars"})
_PUTS = frozenset({"add", "append", "appendleft", "extend"})
"""Functions by what they do with an object, and methods that only put something into one."""

_Step = tuple[str, int]

_MOST = 200
"""Methods that are followed for one object."""


class Uses(Struct, frozen=True):
    """What a function does with its first argument.

    Attributes:
        names: Attributes that it reads.
        above: Methods that it asks ``super()`` for.
    """

    names: frozenset[str]
    above: frozenset[str]


def attributes_read(value: object, asked: Iterable[str]) -> set[str] | None:
    """Find which parts of an object's own some of its attributes lead to.

    Args:
        value: The object, of a class of the user's.
        asked: Attributes of it that some code reads: methods, properties or its own.

    Returns:
        The parts, as fingerprints name them: ``a:rate``. None where that cannot be told.
    """
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
        self._classes = mro(type(value))
        self._held = dict(anatomy(type(value)).unsorted(value))
        users = [each for each in self._classes if is_local_module(module_of_class(each))]
        self._asked = {hook for each in users for hook in _HOOKS if hook in own(each)}
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
        if "__getattribute__" in self._asked:
            return None
        if name in self._held and type(member) is not property:
            self.found.add(f"a:{name}")
            return None if type(self._held[name]) is types.MethodType else []
        if at is None:
            return None if self._asked else []
        if _is_module(self._classes[at]):
            return [(each, 0) for each in _THROUGH[name]] if name in _THROUGH else None
        code = _code(member)
        uses = None if code is None else _uses(code)
        if uses is not None:
            inner = f"_{name_of_class(self._classes[at]).rpartition('.')[2].lstrip('_')}"
            names = [f"{inner}{each}" if _is_private(each) else each for each in uses.names]
            return [*((each, 0) for each in names), *((each, at + 1) for each in uses.above)]
        return [] if code is None and _is_plain(member) else None


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


def _code(member: Any) -> types.CodeType | None:  # noqa: ANN401
    """Return the user's code that runs when a member of a class is called or looked up."""
    kind = type(member)
    if kind is property:
        member = member.fget
    elif kind is functools.cached_property:
        member = member.func
    while type(member) is types.FunctionType:
        if is_local_module(module_of(member)):
            return member.__code__
        member = vars(member).get("__wrapped__")
    return None


def _find_uses(code: types.CodeType) -> Uses | None:
    """Find what a function does with its first argument; None where that may be anything."""
    functions = find_source(code)
    function: Any = functions[0] if len(functions) == 1 else None
    given = function and [*function.args.posonlyargs, *function.args.args]
    if not given:
        return None
    scan = _Scan(given[0].arg)
    for each in function.body if isinstance(function.body, list) else [function.body]:
        scan.visit(each)
    return None if scan.escapes else Uses(frozenset(scan.names), frozenset(scan.above))


_uses: PerObject[types.CodeType, Uses | None] = PerObject(_find_uses)


class _Scan(ast.NodeVisitor):
    """Collects what code does with the object that a name holds.

    Args:
        name: The name.

    Attributes:
        names: Attributes that are read.
        above: Methods that ``super()`` is asked for.
        escapes: Whether anything else is done with it.
    """

    def __init__(self, name: str) -> None:
        self._self = name
        self.names: set[str] = set()
        self.above: set[str] = set()
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

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Attribute):
            self.visit(ast.Attribute(node.target.value, node.target.attr, ast.Load()))
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

    def visit_Call(self, node: ast.Call) -> None:
        called, given = _called(node), node.args
        own = bool(given) and self._is_self(given[0])
        if self._is_self(node.func):
            self.names.add("__call__")
        elif called in _MENTIONS and own:
            given = given[1:]
        elif called in _ASKS and own and isinstance(given[1], ast.Constant):
            self.names.add(str(given[1].value))
            given = given[2:]
        else:
            self.visit(node.func)
        for each in (*given, *node.keywords):
            self.visit(each)


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""
