"""Whether code keeps in a variable or attribute nothing but what it would work out again."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from msgspec import Struct

from ipytorchseed.reads.bindings import arguments_of
from ipytorchseed.reads.parsing import children_of, names_in, nodes_in, parse_without_magics
from ipytorchseed.reads.scan import set_once

_TELLS = frozenset({"display", "log", "logger", "logging", "print", "tqdm", "warnings"})
"""Names by which code shows that it works something out."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Remembering(Struct, frozen=True):
    """The functions and classes that a cell reaches.

    Attributes:
        functions: Each function, the inner ones of others included.
        outside: All code but what stands in functions.
    """

    functions: tuple[_Function, ...]
    outside: tuple[ast.AST, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Remembering | None:
        """Parse cells; None where one is no Python."""
        trees = [parse_without_magics(text) for text in texts]
        nodes = list[ast.AST]()
        for tree in trees:
            if tree is None:
                return None
            nodes += nodes_in(tree)
        functions = tuple(each for each in nodes if isinstance(each, _Function))
        inside = {id(each) for function in functions for each in nodes_in(function)}
        return cls(functions, tuple(each for each in nodes if id(each) not in inside))

    def tells(self) -> bool:
        """Tell whether a function may show that it works something out."""
        return any(not _TELLS.isdisjoint(names_in(each)) for each in self.functions)

    def counts(self, but: str = "") -> bool:
        """Tell whether a function adds to what outlives its call, or sets names, ``but`` one."""
        nodes = chain.from_iterable(map(nodes_in, self.functions))
        return any(
            (isinstance(each, ast.Global | ast.Nonlocal) and each.names != [but])
            or (isinstance(each, ast.AugAssign) and not isinstance(each.target, ast.Name))
            for each in nodes
        )

    def remembers(self, name: str, *, attribute: bool = False) -> bool:
        """Tell whether functions keep results under a name, and nothing else is done with it.

        It is None until they work one out, or it is a dictionary that holds each under all that
        its function was given.

        Args:
            name: A variable's name, or an attribute's, whatever object has it.
            attribute: Whether it is an attribute's.
        """

        def is_it(node: ast.AST) -> bool:
            if attribute:
                return isinstance(node, ast.Attribute) and node.attr == name
            return isinstance(node, ast.Name) and node.id == name

        outside = [each for each in self.outside if is_it(each)]
        if outside and (attribute or not _only_begins(self.outside, is_it)):
            return False
        users = [each for each in self.functions if any(map(is_it, nodes_in(each)))]
        users = [each for each in users if not _only_begins(nodes_in(each), is_it)]
        fills = all(_fills(each, is_it) for each in users)
        return bool(users) and (fills or all(_keeps(each, is_it) for each in users))


class _Lookup(Struct, frozen=True):
    """A place where a function looks into a dictionary or sets an item of it.

    Attributes:
        found: The expression, as ``kept[key]`` and ``kept.get(key)``.
        key: The key.
        stores: Whether it sets the item, or may.
    """

    found: ast.expr
    key: ast.expr
    stores: bool


def _keeps(function: _Function, is_it: Callable[[ast.AST], bool]) -> bool:
    """Tell whether a function sets an item of a dictionary if it is not there, and returns it."""
    nodes = nodes_in(function)
    parents = {id(child): node for node in nodes for child in children_of(node)}
    lookups, held = list[_Lookup](), set[str]()
    for node in filter(is_it, nodes):
        lookup = _lookup(node, parents)
        if lookup is None or not _is_handed_on(lookup.found, parents):
            return False
        lookups.append(lookup)
        user = parents[id(lookup.found)]
        targets = user.targets if isinstance(user, ast.Assign) else [getattr(user, "target", None)]
        held |= {each.id for each in targets if isinstance(each, ast.Name)}
    alone = all(
        _is_handed_on(node, parents)
        for node in nodes
        if isinstance(node, ast.Name) and node.id in held and isinstance(node.ctx, ast.Load)
    )
    stored = any(each.stores for each in lookups)
    return stored and alone and _is_key(function, [each.key for each in lookups])


def _lookup(node: ast.AST, parents: Mapping[int, ast.AST]) -> _Lookup | None:
    """Return how a dictionary is looked into; None where something else is done with it."""
    user = parents[id(node)]
    if isinstance(user, ast.Compare) and isinstance(user.ops[-1], ast.In | ast.NotIn):
        return _Lookup(user, user.left, stores=False) if user.comparators == [node] else None
    if isinstance(user, ast.Subscript) and user.value is node and not isinstance(user.ctx, ast.Del):
        return _Lookup(user, user.slice, stores=isinstance(user.ctx, ast.Store))
    call = parents.get(id(user))  # none, where it is the function itself: in a decorator
    if not isinstance(user, ast.Attribute) or not isinstance(call, ast.Call) or call.keywords:
        return None
    others = call.args[1:]
    sets = user.attr == "setdefault" and len(others) == 1
    gets = user.attr == "get" and all(map(_is_none, others))
    known = call.func is user and call.args and (sets or gets)
    return _Lookup(call, call.args[0], stores=sets) if known else None


def _is_handed_on(node: ast.AST, parents: Mapping[int, ast.AST]) -> bool:
    """Tell whether a value stays as it is where it is used: ``got is None``, ``return got``."""
    user = parents[id(node)]
    if isinstance(node, ast.Compare):
        return True
    if isinstance(user, ast.Compare):
        return isinstance(user.ops[0], ast.Is | ast.IsNot)
    return isinstance(user, ast.Assign | ast.Expr | ast.NamedExpr | ast.Return)


def _is_key(function: _Function, keys: Iterable[ast.expr]) -> bool:
    """Tell whether one key stands for all that a function is given."""
    named = set_once(function)
    meant = [named.get(key.id, key) if isinstance(key, ast.Name) else key for key in keys]
    return len({ast.dump(each) for each in meant}) == 1 and _given(function) <= names_in(meant[0])


def _given(function: _Function) -> set[str]:
    """Return the names of all that a function is given, but for ``self``."""
    return arguments_of(function.args) - {"self"}


def _fills(function: _Function, is_it: Callable[[ast.AST], bool]) -> bool:
    """Tell whether a function works something out where it is None, and then leaves it alone.

    First it says ``if self._total is None: ...``, or returns it where it is not None.
    """
    nodes = nodes_in(function)
    parents = {id(child): node for node in nodes for child in children_of(node)}
    uses = [at for at, each in enumerate(function.body) if any(map(is_it, nodes_in(each)))]
    first = uses[0] if uses else 0
    guard, later = function.body[first], function.body[first + 1 :]
    if not isinstance(guard, ast.If) or guard.orelse or _given(function):
        return False
    test = guard.test
    if (
        not isinstance(test, ast.Compare)
        or not is_it(test.left)
        or not _is_none(test.comparators[0])
    ):
        return False
    returns = isinstance(test.ops[0], ast.IsNot) and isinstance(guard.body[-1], ast.Return)
    filling = guard.body if isinstance(test.ops[0], ast.Is) else later if returns else []
    within = {id(each) for statement in filling for each in nodes_in(statement)}
    return bool(filling) and all(
        id(each) in within if _is_set(each, parents) else _is_looked_at(each, parents)
        for each in nodes
        if is_it(each)
    )


def _is_set(node: ast.AST, parents: Mapping[int, ast.AST]) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store) and isinstance(
        parents[id(node)], ast.Assign
    )


def _is_looked_at(node: ast.AST, parents: Mapping[int, ast.AST]) -> bool:
    """Tell whether a value stays as it is: no method of it is called, no item of it set."""
    user = parents[id(node)]
    called = isinstance(user, ast.Attribute) and isinstance(parents[id(user)], ast.Call)
    into = isinstance(user, ast.Subscript) and not isinstance(user.ctx, ast.Load)
    return isinstance(getattr(node, "ctx", None), ast.Load) and not called and not into


def _only_begins(nodes: Iterable[ast.AST], is_it: Callable[[ast.AST], bool]) -> bool:
    """Tell whether all that code does with a name is to set it to None or an empty dictionary."""
    nodes = [*nodes]
    begun = [
        each
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value
        if _is_none(node.value) or _is_empty(node.value)
        for each in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return all(each in begun for each in nodes if is_it(each))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_empty(node: ast.expr) -> bool:
    """Tell whether an expression makes an empty dictionary."""
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and node.func.id == "dict"
        return named and not node.args and not node.keywords
    return isinstance(node, ast.Dict) and not node.keys
