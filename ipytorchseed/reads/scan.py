"""What code does with the objects that names hold, by its syntax: attributes and items it reads."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable

from msgspec import Struct

from ipytorchseed.reads.abstract import CALL, CONTAINS, ITERATE
from ipytorchseed.reads.columns import Rows, picked, rows_of
from ipytorchseed.reads.keys import PUTS, over_sizes
from ipytorchseed.reads.parsing import INNER, Visitor, names_in, nodes_in

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
"""What has parameters."""

_MENTIONS = frozenset({"id", "isinstance", "issubclass", "type"})
_ASKS = frozenset({"getattr", "hasattr"})
_LOOKS_AT_ALL = frozenset({"dir", "eval", "exec", "locals", "vars"})
"""Functions by what they do with an object."""


class Uses(Struct, frozen=True):
    """What a function does with one of its arguments.

    Attributes:
        names: Attributes that it reads, ``rate``, items by a constant key, ``[rate]``, and what is
            inside of them: ``settings.rate``.
        above: Methods that it asks ``super()`` for.
        given: Functions that it gives the argument to, each with the place or name it has there.
        of_frame: Whether that is so of a data frame alone; of anything else, nothing is known.
    """

    names: frozenset[str] = frozenset()
    above: frozenset[str] = frozenset()
    given: frozenset[tuple[str, int | str]] = frozenset()
    of_frame: bool = False


def uses_of_parameters(function: Function, taken: Collection[str]) -> dict[str, Uses | None]:
    """Find what a function does with each of its arguments; None where that may be anything.

    Args:
        function: Its syntax.
        taken: Names that mean something of its own.

    Raises:
        RecursionError: It is nested too deeply.
    """
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    named = set_once(function)
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    found = {}
    mentions = [names_in(statement) for statement in body]
    for place, each in enumerate(filter(None, every)):
        scan = _Scan(each.arg, taken, is_first=not place)
        scan.name_parts(named)
        for statement, names in zip(body, mentions, strict=True):
            if scan.heeds(names):
                scan.visit(statement)
        found[each.arg] = scan.uses()
    return found


class _Scan(Visitor):
    """Collects what code does with the object that a name holds.

    Args:
        name: The name.
        taken: Names that mean something of the function's own.
        is_first: Whether it is the function's first argument, for which ``super()`` stands.

    Attributes:
        names: Attributes and items that are read, as in ``Uses``.
        above: Methods that ``super()`` is asked for.
        given: Functions that it is given to, and where.
        of_frame: As in ``Uses``.
        escapes: Whether anything else is done with it.
    """

    def __init__(self, name: str, taken: Collection[str], *, is_first: bool) -> None:
        self._self = name
        self._is_first = is_first
        self._taken = taken
        self.names: set[str] = set()
        self.above: set[str] = set()
        self.given: set[tuple[str, int | str]] = set()
        self.of_frame = False
        self.escapes = False
        self._named: dict[str, str] = {}

    def name_parts(self, named: dict[str, ast.expr]) -> None:
        """Note which names stand for parts of the object, as after ``opt = self.opt``.

        Args:
            named: Names, and what each is set to, once and for all.
        """
        paths = {name: self._path(value) for name, value in named.items()}
        self._named = {name: path for name, path in paths.items() if path and path != "__dict__"}
        self._named |= {name: "" for name, value in named.items() if self._rows(value) is not None}

    def heeds(self, names: set[str]) -> bool:
        """Tell whether code may do something with the object in which these names stand."""
        return not names.isdisjoint({self._self, "super", *self._named, *_LOOKS_AT_ALL})

    def uses(self) -> Uses | None:
        """Return what was found; None where the object is used in some other way."""
        if self.escapes:
            return None
        found = frozenset(self.names), frozenset(self.above), frozenset(self.given)
        return Uses(*found, self.of_frame)

    def _is_self(self, node: ast.AST | None) -> bool:
        return isinstance(node, ast.Name) and self._path(node) == ""

    def _rows(self, node: ast.expr) -> Rows | None:
        """Return what ``frame.copy()`` or ``frame[frame.n > 1]`` picks of it; None for others."""
        rows = None if isinstance(node, ast.Name) else rows_of(node)
        return rows if rows is not None and self._is_self(ast.Name(rows.name)) else None

    def _pick(self, rows: Rows | None, keys: Iterable[str] = ()) -> bool:
        """Note the columns that are read of some rows, if they are such of it; tell whether."""
        if rows is None or not self._is_self(ast.Name(rows.name)):
            return False
        self.of_frame = True
        self.names |= {f"[{key}]" for key in (*rows.columns, *keys)}
        for each in rows.others:
            self.visit(each)
        return True

    def _path(self, node: ast.AST | None) -> str | None:
        """Return by which attributes and items code comes from the object to something else.

        Returns:
            A name as in ``Uses``, empty for the object itself; None where there is no such way.
        """
        if isinstance(node, ast.Name):
            return "" if node.id == self._self else self._named.get(node.id)
        key = _text([node.slice]) if isinstance(node, ast.Subscript) else ""
        name = node.attr if isinstance(node, ast.Attribute) else f"[{key}]" if key else ""
        outer = self._path(getattr(node, "value", None)) if name else None
        if not outer:
            return None if outer is None else name
        return f"{outer}.{key or name}" if "." not in key else None

    def _follow(self, node: ast.Attribute | ast.Subscript) -> str | None:
        """Note what is read of the object on the way to a part of it, and return that way."""
        path = self._path(node)
        read = self._path(node.value) if isinstance(node.ctx, ast.Store) else path
        self.names |= {read} if read else set()
        return path

    def visit_Name(self, node: ast.Name) -> None:
        path = self._path(node)
        self.names |= {path} if path else set()
        self.escapes |= path == "" or node.id in _LOOKS_AT_ALL
        self.escapes |= self._is_first and node.id == "super"

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = node.value
        path = self._follow(node)
        if path is not None:
            self.escapes |= path == "__dict__"
        elif isinstance(owner, ast.Call) and _called(owner) == "super":
            self.above |= {node.attr} if self._is_first else set()
            self.escapes |= not all(isinstance(each, ast.Name) for each in owner.args)
        else:
            self.visit(owner)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        keys, rows = picked(node)
        if self._follow(node) is None and not self._pick(rows, keys):
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        name = _name_set(node)
        if name == self._self or self._named.get(name) == "":
            if not self._pick(self._rows(node.value)):
                self.generic_visit(node)
        elif name not in self._named:
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Attribute):
            self.visit(ast.Attribute(node.target.value, node.target.attr, ast.Load()))
        elif isinstance(node.target, ast.Subscript):
            self.visit(ast.Subscript(node.target.value, node.target.slice, ast.Load()))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """Pass over ``self.losses["train"].append(loss)``, which reads nothing of what is there."""
        call, keys = node.value, list[ast.expr]()
        method = call.func if isinstance(call, ast.Call) else None
        held = method.value if isinstance(method, ast.Attribute) and method.attr in PUTS else None
        while isinstance(held, ast.Subscript) and not self._is_self(held.value):
            keys.append(held.slice)
            held = held.value
        if isinstance(call, ast.Call) and self._is_self(getattr(held, "value", None)):
            for each in (*keys, *call.args, *call.keywords):
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

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        first, *others = node.generators
        over = over_sizes(first, [*others, node.elt])
        for each in (over, first.target, *first.ifs, *others, node.elt):
            self.visit(each)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self.visit_ListComp(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Pass over ``model is None``; of ``key in cache``, the keys are read."""
        alike = all(isinstance(each, ast.Is | ast.IsNot) for each in node.ops)
        if isinstance(node.ops[-1], ast.In | ast.NotIn) and self._is_self(node.comparators[-1]):
            self.names.add(CONTAINS)
            alike = True
        for each in (node.left, *node.comparators):
            if not (alike and self._is_self(each)):
                self.visit(each)

    def visit_Call(self, node: ast.Call) -> None:
        called, given = _called(node), node.args
        own = bool(given) and self._is_self(given[0])
        key = _text(given[:1])
        if self._is_self(node.func):
            self.names.add(CALL)
        elif called == "len" and given and (path := self._path(given[0])) is not None:
            self.names.add(f"{path}.__len__".lstrip("."))
            given = given[1:]
        elif (
            key
            and self._is_self(getattr(node.func, "value", None))
            and getattr(node.func, "attr", "") == "get"
        ):
            self.names.add(f"[{key}]")
        elif called in _MENTIONS and own:
            given = given[1:]
        elif called in _ASKS and own and _text(given[1:2]):
            self.names.add(_text(given[1:2]))
            given = given[2:]
        elif "." in (self._path(node.func) or ""):  # a method of a part, which may read all of that
            self.visit(getattr(node.func, "value", node.func))
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


def _name_set(node: ast.AST) -> str:
    """Return the name that an assignment sets, if that is all it does; empty for anything else."""
    only = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    return only.id if isinstance(only, ast.Name) else ""


def set_once(function: ast.AST) -> dict[str, ast.expr]:
    """Return the names that a function sets by one assignment alone, and to what."""
    bound = Counter[str]()
    found = {}
    for node in nodes_in(function):
        if isinstance(node, ast.Name):
            bound[node.id] += not isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.Assign) and _name_set(node):
            found[_name_set(node)] = node.value
        elif isinstance(node, _OUTER):
            bound.update(node.names)
        else:
            names = [getattr(node, field, None) for field in _BINDING.get(type(node), ())]
            bound.update(each for each in names if isinstance(each, str))
    return {name: value for name, value in found.items() if bound[name] == 1}


_OUTER = (ast.Global, ast.Nonlocal)
_BINDING = {
    kind: [field for field in kind._fields if field in {"name", "asname", "arg", "rest"}]
    for kind in INNER
    if kind is not ast.keyword
}
"""By kind of node, the fields in which a name stands that it binds."""


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _text(nodes: list[ast.expr]) -> str:
    """Return the text that the one node is a constant of; empty for anything else."""
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return values[0] if values and isinstance(values[0], str) else ""
