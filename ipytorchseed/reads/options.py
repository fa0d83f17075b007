"""Parameters that decide on branches of a function, and what the calls that are known give them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from types import CodeType, FunctionType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.introspection.anatomy import mro, own
from ipytorchseed.reads.bindings import FUNCTIONS, bound_by
from ipytorchseed.reads.decisions import Decision, decision
from ipytorchseed.reads.parsing import nodes_in

_OPEN = object()
_SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
_PLAIN = frozenset({bool, int, float, str, type(None)})
"""Types of arguments that may decide on a branch."""


class Known(Struct, frozen=True):
    """A constant that a call gives.

    Attributes:
        text: Its source text, which tells ``1`` from ``True``.
        value: Its value.
    """

    text: str
    value: object


_Argument = Known | Decision | None


class CallShape(Struct, frozen=True):
    """How a function is called.

    Attributes:
        places: The arguments by place, as constants or what names alone decide on, else None.
        names: Those by name, likewise.
        complete: Whether these are all.
    """

    places: tuple[_Argument, ...] = ()
    names: tuple[tuple[str, _Argument], ...] = ()
    complete: bool = True


def shape_of(
    node: ast.Call, known: Mapping[str, object], taken: Iterable[Collection[str]] | None
) -> CallShape:
    """Return how a call calls.

    Args:
        node: The call.
        known: Arguments of the function around it.
        taken: Names that are not the namespace's there, in several sets; None where any may be.
    """
    named = [(word.arg, _known(word.value, known, taken)) for word in node.keywords if word.arg]
    spread = any(type(each) is ast.Starred for each in node.args)
    if spread or len(named) < len(node.keywords):
        return CallShape(complete=False)
    return CallShape(tuple([_known(each, known, taken) for each in node.args]), tuple(named))


def _known(
    node: ast.expr, known: Mapping[str, object], taken: Iterable[Collection[str]] | None
) -> _Argument:
    found = None if isinstance(node, ast.Constant) else decision(node)
    value = constant(node) if found is None else found.value(known)
    if type(value) in _PLAIN:
        return Known(repr(value), value)
    ours = found is not None and taken is not None and all(map(found.names.isdisjoint, taken))
    return found if ours else None


def constant(node: ast.expr) -> Any:  # noqa: ANN401
    """Return the value of a literal; of anything else, an object that is equal to none."""
    if isinstance(node, ast.Constant):
        return node.value
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _OPEN


def deciding(function: ast.AST) -> set[str]:
    """Return the parameters of a function that hold what the call gave, up to where they are set.

    They are set nowhere, or by plain assignments that run once: in no loop, and in a function
    without others inside, which might see the value of later.
    """
    if not isinstance(function, FUNCTIONS):
        return set()
    own = function.args
    names = {each.arg for each in (*own.posonlyargs, *own.args, *own.kwonlyargs)}
    nodes = [each for statement in function.body for each in nodes_in(statement)]
    bound = Counter(name for node in nodes for name in bound_by(node))
    straight = Counter(_straight(function.body))
    nested = any(isinstance(node, (*_SCOPES, ast.comprehension)) for node in nodes)
    inner = {node.arg for node in nodes if isinstance(node, ast.arg)}
    inner.update(*(node.names for node in nodes if isinstance(node, ast.Global | ast.Nonlocal)))
    return {
        name
        for name in names - inner
        if not bound[name] or (bound[name] == straight[name] and not nested)
    }


def _straight(statements: Iterable[ast.stmt]) -> list[str]:
    """Return the names that plain assignments outside of loops set."""
    found = []
    for each in statements:
        if isinstance(each, ast.Assign) and len(each.targets) == 1:
            found += [target.id for target in each.targets if isinstance(target, ast.Name)]
        elif isinstance(each, ast.If):
            found += [*_straight(each.body), *_straight(each.orelse)]
    return found


def arguments_given(
    function: FunctionType, values: Mapping[str, object], options: Iterable[str]
) -> dict[str, object]:
    """Return what parameters hold in a call that gives some of them these values, if known."""
    code = function.__code__
    places = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    held: dict[str, object] = dict(zip(places[::-1], defaults[::-1], strict=False))
    held |= {**(function.__kwdefaults__ or {}), **values}
    return {name: held[name] for name in options if type(held.get(name, _OPEN)) in _PLAIN}


def constants_given(function: FunctionType, shapes: Iterable[CallShape]) -> dict[str, set[object]]:
    """Return the constants that the arguments of a function are in some calls, where all are such.

    Args:
        function: The function.
        shapes: The calls.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found: dict[str, set[object]] = {name: set() for name in names}
    for shape in shapes:
        values = {
            name: each.value if isinstance(each, Known) else _OPEN
            for name, each in _bind(code, shape).items()
        }
        held = arguments_given(function, values, names) if shape.complete else {}
        found = {name: {*found[name], held[name]} for name in held if name in found}
    return {name: values for name, values in found.items() if values}


class Arguments:
    """What calls give to the functions of the user's that are followed, where all give the same.

    Attributes:
        decided: Arguments that decide on branches, where names of the namespace decide on them.
    """

    def __init__(self, names: Mapping[str, object]) -> None:
        self.decided: list[Decision] = []
        self._names = names
        self._known: dict[int, dict[str, object]] = {}
        self._given: dict[int, frozenset[str]] = {}

    def of(self, code: CodeType) -> Mapping[str, object]:
        """Return the arguments of a function that are known."""
        return self._known.get(id(code), {})

    def given(self, called: FunctionType | type) -> frozenset[str]:
        """Return the parameters that every call of a function or class gives an argument."""
        key = called.__code__ if type(called) is FunctionType else called
        return self._given.get(id(key), frozenset())

    def note(self, function: FunctionType, options: Collection[str], shape: CallShape) -> bool:
        """Note a call, and tell whether less is known than before.

        Args:
            function: The function.
            options: Those of its parameters that decide on branches.
            shape: How it is called.
        """
        key, bound = id(function.__code__), _bind(function.__code__, shape)
        values = {
            name: each.value(self._names)
            if isinstance(each, Decision)
            else each.value
            if each
            else _OPEN
            for name, each in bound.items()
        }
        for name in {*options} & bound.keys():
            each = bound[name]
            if isinstance(each, Decision) and type(values[name]) in _PLAIN:
                self.decided.append(each)
        given = arguments_given(function, values, options) if shape.complete else {}
        all_given = frozenset(bound)
        self._given[key] = self._given.get(key, all_given) & all_given
        before = self._known.setdefault(key, given)
        self._known[key] = {
            name: value
            for name, value in before.items()
            if name in given and _are_alike(value, given[name])
        }
        return len(self._known[key]) < len(before)

    def note_made(self, made: type, shape: CallShape | None) -> None:
        """Note a call of a class.

        Args:
            made: The class.
            shape: How it is called; None for in any way.
        """
        owner = next(base for base in mro(made) if "__init__" in own(base))
        init, given = own(owner)["__init__"], frozenset[str]()
        if shape is not None and type(init) is FunctionType:
            whole = replace(shape, places=(None, *shape.places))
            given = frozenset(_bind(init.__code__, whole))
        self._given[id(owner)] = self._given.get(id(owner), given) & given

    def forget(self, function: FunctionType) -> bool:
        """Note that anybody may call a function, and tell whether less is known than before."""
        before = self.of(function.__code__)
        self._known[id(function.__code__)] = {}
        self._given[id(function.__code__)] = frozenset()
        return bool(before)


def with_defaults(function: FunctionType) -> frozenset[str]:
    """Return the parameters of a function that have a default."""
    code, by_place = function.__code__, function.__defaults__ or ()
    places = code.co_varnames[: code.co_argcount]
    return frozenset(places[len(places) - len(by_place) :]).union(function.__kwdefaults__ or ())


def _bind(code: CodeType, shape: CallShape) -> dict[str, _Argument]:
    """Return the parameters that a call gives arguments, with these; nothing if any is unknown."""
    places = code.co_varnames[: code.co_argcount]
    placed = places[: code.co_posonlyargcount]  # a name that is one of these is another's
    named = [(name, each) for name, each in shape.names if name not in placed]
    found = dict(zip(places, shape.places, strict=False)) | dict(named)
    return found if shape.complete else {}


def _are_alike(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other
