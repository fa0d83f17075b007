"""Finds names whose content a cell overwrites before it reads it.

What such a name held before has no part in the result: ``model.load_state_dict(start)`` on top of a
training cell, ``model.apply(reset)``, ``losses.clear()``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property

from msgspec import Struct

from ipytorchseed.reads.bindings import names_of
from ipytorchseed.reads.magics import magic_of
from ipytorchseed.reads.parsing import dotted_name, names_in, nodes_in

WHOLE, LAYERS, UNREAD = "whole", "layers", "unread"
"""How content is set anew: nothing is left of it, or layers initialise what they have a way to; or
it is not, and is not read either."""


Parse = Callable[[str], ast.Module | None]


class Lent(Struct, frozen=True):
    """A function that is given an object: what it does with that decides.

    Attributes:
        function: Its dotted name.
        argument: The place of the object among the arguments, or its keyword.
    """

    function: str
    argument: int | str


WHOLE_BY_METHOD = frozenset({
    "bernoulli_", "cauchy_", "clear", "copy_", "exponential_", "fill", "fill_", "geometric_",
    "load_state_dict", "log_normal_", "normal_", "random_", "uniform_", "zero_",
})  # fmt: skip
"""Methods after which nothing is left of what an object held."""

_LAYERS = frozenset({
    "children", "modules", "named_children", "named_modules", "named_parameters", "parameters",
})  # fmt: skip
"""Methods that list the layers or parameters of a model."""

_NO_READS = frozenset({
    "cpu", "eval", "float", "named_parameters", "parameters", "requires_grad_", "to", "train",
    "zero_grad",
})  # fmt: skip
"""Methods whose answers hang on nothing that such methods set: an optimizer is given parameters."""


_OUTER = frozenset({"device", "dtype", "numel", "requires_grad", "requires_grad_", "shape", "size"})
"""What may be asked of a parameter without reading its numbers."""


def find_overwrites(
    statements: Iterable[Statement],
    names: Iterable[str],
    before: dict[str, frozenset[str]] | None = None,
) -> dict[str, str | Lent]:
    """Find the names whose content some code sets anew before it reads them.

    Args:
        statements: Those of a cell or a function.
        names: The names that are asked for.
        before: Takes, by name that is found, the dotted names that are called until then.

    Returns:
        By name, ``WHOLE``, ``LAYERS``, ``UNREAD``, or the function that it is given to first.
    """
    found: dict[str, str | Lent] = {}
    left, passed, called_before = {*names}, set[str](), set[str]()
    functions: dict[str, _Function] = {}
    for statement in statements:
        node, used = statement.node, statement.mentions.keys()
        called_before |= statement.called
        if isinstance(node, ast.FunctionDef) and statement.runs_when_called():
            functions[node.name] = _Function(statement)
            continue  # what it does counts where it is named
        called = [functions[name] for name in used & functions.keys()]
        for name in left & {*used}.union(*(each.uses for each in called)):
            users = [each for each in called if name in each.uses]
            if users:
                alone = len(users) == 1 and name not in used
                running = {dotted_name(each.func) for each in statement.calls}
                calls = alone and users[0].node.name in running
                how = users[0].does(name) if calls else None
            else:
                how = WHOLE if _fills(node, name) else _overwrites(node, name)
                if how is None and statement.reads_nothing(name):
                    passed.add(name)
                    continue
                how = how or statement.lends(name)
                while isinstance(how, Lent) and how.function in functions:
                    how = functions[how.function].does_with(how.argument)
            left.discard(name)
            if how is not None:
                found[name] = how
                if before is not None:
                    before[name] = frozenset(called_before)
        if not left or statement.may_leave():
            break  # what follows is not certain to run
    else:
        found |= dict.fromkeys(passed & left, UNREAD)
    return found


class Statement:
    """A statement, gone through once for all the names in it.

    Args:
        node: The statement.
        parse: Parses the bodies of magics such as ``%%time``.
        loop: The loop over it, where it stands for what a loop goes over.

    Attributes:
        kinds: The kinds of nodes in it.
        mentions: Where each name stands in it.
    """

    def __init__(self, node: ast.stmt, parse: Parse, loop: ast.For | None = None) -> None:
        self.node, self.parse, self.loop = node, parse, loop
        self._parts = nodes_in(node)
        self.kinds = {*map(type, self._parts)}
        self.mentions: dict[str, list[ast.Name]] = {}
        for each in self._parts:
            if type(each) is ast.Name:
                self.mentions.setdefault(each.id, []).append(each)

    def runs_when_called(self) -> bool:
        """Tell whether a call runs this function as it stands here, and not later."""
        plain = not getattr(self.node, "decorator_list", ())
        return plain and self.kinds.isdisjoint((ast.Yield, ast.YieldFrom))

    def may_leave(self) -> bool:
        """Tell whether a statement that holds others may end what it stands in."""
        if isinstance(self.node, ast.FunctionDef | ast.ClassDef):
            return False
        return not self.kinds.isdisjoint((ast.Return, ast.Break, ast.Continue))

    @cached_property
    def called(self) -> set[str]:
        """The dotted names that a statement may call, "" for what has no such name."""
        calls = (each for each in self._parts if isinstance(each, ast.Call))
        return {dotted_name(each.func) for each in calls}

    @cached_property
    def calls(self) -> list[ast.Call]:
        """The calls of a statement that certainly runs them all."""
        may_not_run = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.Starred)
        plain = isinstance(self.node, ast.Expr | ast.Assign | ast.Return)
        if not (plain and self.kinds.isdisjoint(may_not_run)):
            return []
        return [each for each in self._parts if isinstance(each, ast.Call)]

    @cached_property
    def _lent(self) -> dict[int, Lent]:
        """The functions that names are given to, by the identity of the name's node."""
        found: dict[int, Lent] = {}
        for call in self.calls:
            given: dict[int | str, ast.expr] = dict(enumerate(call.args))
            given |= {word.arg: word.value for word in call.keywords if word.arg is not None}
            if "where" in given:  # which of the numbers are set
                given.pop("out", None)
            function = dotted_name(call.func)
            if function:
                found |= {id(value): Lent(function, place) for place, value in given.items()}
        return found

    def lends(self, name: str) -> Lent | None:
        """Tell which function is given what a name holds; None where more is done with it."""
        mentions = self.mentions[name]
        return self._lent.get(id(mentions[0])) if len(mentions) == 1 else None

    @cached_property
    def _harmless(self) -> dict[str, int]:
        """How often methods of ``_NO_READS`` are called of what each name holds."""
        found: dict[str, int] = {}
        for each in self._parts:
            called = each.func if isinstance(each, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr in _NO_READS:
                name = getattr(called.value, "id", "")
                found[name] = found.get(name, 0) + 1
        return found

    def reads_nothing(self, name: str) -> bool:
        """Tell whether methods of ``_NO_READS`` alone are called of what a name holds."""
        return self._harmless.get(name) == len(self.mentions[name]) and not any(
            self._reads_each(loop.target)
            for loop in self._parts
            if isinstance(loop, (ast.For, ast.comprehension)) and name in names_in(loop.iter)
        )

    def _reads_each(self, target: ast.expr) -> bool:
        """Tell whether more than ``_OUTER`` is asked of each parameter that a loop goes over."""
        last = target.elts[-1] if isinstance(target, ast.Tuple) else target
        asked = [each for each in self._parts if isinstance(each, ast.Attribute)]
        passed = {id(each.value) for each in asked if each.attr in _OUTER}
        passed |= {id(each.elt) for each in self._parts if isinstance(each, ast.ListComp)}
        return any(
            id(each) not in passed and isinstance(each.ctx, ast.Load)
            for name in names_in(last)
            for each in self.mentions[name]
        )


class _Function:
    """A function that the code itself defines.

    Args:
        statement: Its definition.
    """

    def __init__(self, statement: Statement) -> None:
        self.node: ast.FunctionDef = statement.node  # type: ignore[assignment]
        self._parse = statement.parse

    @cached_property
    def uses(self) -> set[str]:
        """The names around it that stand in it."""
        return names_in(self.node) - names_of(self.node)

    def does(self, name: str) -> str | Lent | None:
        """Tell how it sets anew what a name holds, be it one of its own."""
        return find_overwrites(statements_in(self.node.body, self._parse), [name]).get(name)

    def does_with(self, argument: int | str) -> str | Lent | None:
        """Tell how it sets anew what it is given as an argument."""
        given = [each.arg for each in (*self.node.args.posonlyargs, *self.node.args.args)]
        name = argument if isinstance(argument, str) else [*given, *[""] * (argument + 1)][argument]
        return self.does(name)


def statements_in(body: Iterable[ast.stmt], parse: Parse) -> Iterator[Statement]:
    """Yield statements in their order, those inside of magics and of ``with`` as well."""
    for node in body:
        value = getattr(node, "value", None)
        magic = magic_of(value) if isinstance(value, ast.Call) else None
        inner = parse(magic.body) if magic is not None and magic.cell else None
        if inner is not None:
            yield from statements_in(inner.body, parse)
        elif isinstance(node, ast.With):
            yield from (Statement(ast.Expr(each.context_expr), parse) for each in node.items)
            yield from statements_in(node.body, parse)
        elif isinstance(node, ast.For) and not _goes_through_layers(node):
            yield Statement(ast.Expr(node.iter), parse, node)
            yield from statements_in(node.body, parse)
        else:
            yield Statement(node, parse)


def _overwrites(node: ast.stmt, name: str) -> str | None:
    """Tell how a statement sets anew what a name holds; None where it does not, or reads it too."""
    if isinstance(node, ast.For):
        return LAYERS if _loop_overwrites(node, name) else None
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    if not isinstance(value, ast.Call):
        return None
    method = _method(value, name)
    if method is None:  # `reset_weights(model)`, of which nothing is kept
        alone = isinstance(node, ast.Expr) and [getattr(each, "id", "") for each in value.args] == [
            name
        ]
        return LAYERS if (alone and _initialises(value.func)) or _unpacks(value, name) else None
    given = [*value.args, *(each.value for each in value.keywords)]
    if any(name in names_in(each) for each in given) or any(
        each.arg == "strict" and not getattr(each.value, "value", False) for each in value.keywords
    ):
        return None
    if method in WHOLE_BY_METHOD:
        return WHOLE
    apply = method == "apply" and any(_initialises(each) for arg in given for each in nodes_in(arg))
    return LAYERS if apply or method == "reset_parameters" else None


def _loop_overwrites(node: ast.For, name: str) -> bool:
    """Tell whether a loop over layers or parameters sets them anew."""
    item = _paired(node, name)
    if item:
        return _sets_each(node, {item})
    over = _method(node.iter, name) in _LAYERS
    own = over or getattr(node.iter, "id", "") == name
    anew = over and any(map(_initialises, nodes_in(node)))
    return anew or (own and _sets_each(node, names_in(node.target)))


def _unpacks(call: ast.Call, name: str) -> bool:
    """Tell whether a call is ``vector_to_parameters(theta, net.parameters())``."""
    given = call.args[-1:] if dotted_name(call.func).endswith("vector_to_parameters") else []
    again = sum(isinstance(each, ast.Name) and each.id == name for each in nodes_in(call)) > 1
    return any(_method(each, name) in _LAYERS for each in given) and not again


def _fills(node: ast.stmt, name: str) -> bool:
    """Tell whether a statement sets all items of what a name holds: ``sums[:] = 0``."""
    return (
        isinstance(node, ast.Assign)
        and any(
            is_every_item(each) and getattr(getattr(each, "value", None), "id", "") == name
            for each in node.targets
        )
        and name not in names_in(node.value)
    )


def is_every_item(node: ast.expr) -> bool:
    """Tell whether an expression is all items of something: ``sums[:]``, ``sums[...]``."""
    if not isinstance(node, ast.Subscript):
        return False
    part = node.slice
    if isinstance(part, ast.Slice):
        return part.lower is part.upper is part.step is None
    return isinstance(part, ast.Constant) and part.value is ...


def _goes_through_layers(node: ast.For) -> bool:
    called = node.iter.func if isinstance(node.iter, ast.Call) else None
    if isinstance(node.iter, ast.Name):
        return _sets_each(node, names_in(node.target))
    owners = names_in(node.iter) if getattr(called, "id", "") == "zip" else ()
    paired = {item for owner in owners if (item := _paired(node, owner))}
    return any(_sets_each(node, {item}) for item in paired) or (
        isinstance(called, ast.Attribute) and called.attr in _LAYERS
    )


def _paired(node: ast.For, name: str) -> str:
    """Return ``p`` in ``for p, q in zip(net.parameters(), other.parameters())``, or nothing.

    Args:
        node: The loop.
        name: The model, which is named nowhere else in it.
    """
    over, names = node.iter, getattr(node.target, "elts", [])
    if not (isinstance(over, ast.Call) and dotted_name(over.func) == "zip"):
        return ""
    again = sum(isinstance(each, ast.Name) and each.id == name for each in nodes_in(node)) > 1
    found = [
        getattr(item, "id", "")
        for given, item in zip(over.args, names, strict=False)
        if _method(given, name) in _LAYERS
    ]
    return found[0] if found and not again else ""


def _sets_each(node: ast.For, names: Collection[str]) -> bool:
    """Tell whether a loop sets what it goes over: ``layer.reset_parameters()``, ``p.fill_(0)``.

    And does nothing else with it, but for asking of what class it is.

    Args:
        node: The loop.
        names: Those of what it goes over.
    """
    body = [each for part in node.body for each in nodes_in(part)]
    sets, asks = set[int](), set[int]()
    for each in body:
        called = each.func if isinstance(each, ast.Call) else None
        if isinstance(called, ast.Attribute):
            if called.attr == "reset_parameters" or called.attr in WHOLE_BY_METHOD:
                sets.add(id(_without_data(called.value)))
        elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            sets |= {id(each.value)} if each.attr == "data" else set()
        elif isinstance(each, ast.Call) and dotted_name(each.func) in {"hasattr", "isinstance"}:
            asks |= {id(given) for given in each.args}
    mentions = {id(each) for each in body if isinstance(each, ast.Name) and each.id in names}
    return not mentions.isdisjoint(sets) and mentions <= sets | asks


def _without_data(node: ast.expr) -> ast.expr:
    """Return the parameter whose ``data`` this is."""
    return node.value if isinstance(node, ast.Attribute) and node.attr == "data" else node


def _initialises(node: ast.AST) -> bool:
    """Tell whether a name in code is that of a function which initialises weights."""
    word = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return "init" in word.lower() or "reset" in word.lower()


def _method(node: ast.expr | None, name: str) -> str | None:
    """Return the method of what a name holds that an expression calls, if it is such a call."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        return called.attr if called.value.id == name else None
    return None
