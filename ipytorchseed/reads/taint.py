"""Taint analysis of calls: how orders of sets and readings of clocks pass from arguments.

Two things are followed: the order of sets, which hangs on hashes and matters once something asks
for it, and readings of clocks and addresses of objects, which may be printed, subtracted and kept,
and anywhere else count as used.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec.structs import replace

from ipytorchseed.reads.abstract import NEUTRAL, UNKNOWN, UNKNOWN_ORDER, AbstractValue
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import ADDRESS, ANY, BY_HASH, READING_TAILS

SET_OPERATORS = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)
_MAKES_SETS = frozenset({"set", "frozenset"})
_ASKS_NO_ORDER = _MAKES_SETS | {
    *("all", "any", "bool", "id", "isinstance", "len", "max", "min", "sorted", "type"),
}
_KEEPS_ORDER = frozenset({"list", "tuple", "iter", "enumerate", "reversed", "map", "filter"})
_ITERATES = _KEEPS_ORDER | {"next", "zip", "sum", "str", "repr", "print", "format"}
_SET_MAKING = frozenset({"union", "intersection", "difference", "symmetric_difference", "copy"})
_SET_METHODS = _SET_MAKING | {
    *("add", "clear", "discard", "remove", "update", "issubset", "issuperset", "isdisjoint"),
    *("difference_update", "intersection_update", "symmetric_difference_update", "isin"),
}
_SHOWS = frozenset(
    {"print", "display", "debug", "info", "warning", "error", "critical", "log", "exception"}
    | {"write", "set_description", "set_postfix", "set_postfix_str", "pprint", "warn"}
)
_RESHAPES = frozenset({"abs", "float", "int", "max", "min", "round", "str", "repr", "format"})
_RESHAPES_METHOD = frozenset(
    {"astype", "format", "fromtimestamp", "isoformat", "item", "strftime", "timedelta"}
    | {"timestamp", "total_seconds"}
)
_MENTIONS = frozenset(
    {"isinstance", "issubclass", "type", "print", "repr", "id", "help", "callable"}
)
_NOT_HANDED = _MENTIONS | _ASKS_NO_ORDER
_TOUCHES_ORDER = _MAKES_SETS | _ITERATES | {"pop", "join"}
_NO_TAINT: frozenset[str] = frozenset()
_READS = READING_TAILS | {ADDRESS}
_EMPTY = frozenset({"list", "dict", "tuple", "set", "float", "int", "str"})


def note_call(  # noqa: C901 -- a hot path: each question is asked where it is cheapest
    effects: Effects, func: AbstractValue, args: Sequence[AbstractValue], *, more: bool = False
) -> AbstractValue:
    """Note a call and return what is known of its result.

    Args:
        effects: Where it is noted.
        func: What is called.
        args: The arguments, by position and by name.
        more: Whether there are others that cannot be counted (``*args``).
    """
    paths, tail = func.paths, func.tail
    given = ANY if more else len(args)
    special = bool(func.taint or func.order)
    handed: tuple[str, ...] = ()
    for arg in args:
        if arg is UNKNOWN or arg is NEUTRAL:
            continue
        if arg.nothing and not more:
            given -= 1
        if arg.taint or arg.order:
            special = True
        handed += arg.paths
    for path in paths:
        if path != BY_HASH or not all(arg.neutral for arg in args):
            effects.call(path, given)
    plain = paths[0] if len(paths) == 1 and "." not in paths[0] else ""
    method = tail[1:] if tail[:1] == "." else ""
    if handed and plain not in _NOT_HANDED and method not in _SET_METHODS:
        effects.handed.update(handed)
    last = method or (paths[0].rpartition(".")[2].lstrip(":") if paths else tail)
    taint, only_taint, order = _NO_TAINT, False, ""
    if special or last in _READS:
        taint, only_taint = _readings(effects, plain, last, func, args)
    if special or last in _TOUCHES_ORDER:
        order = _order(effects, plain, method, func, args)
    neutral = plain in _EMPTY and not args and not more
    if not last and not order and not taint:
        return UNKNOWN
    is_set = bool(order) and plain not in _KEEPS_ORDER
    results = tuple([f"{path}()" for path in paths])
    return AbstractValue(results, f"{last}()", (), order, is_set, taint, only_taint, neutral)


def _readings(
    effects: Effects, plain: str, last: str, func: AbstractValue, args: Sequence[AbstractValue]
) -> tuple[frozenset[str], bool]:
    """Note which readings of clocks a call uses; return those in its result, and nothing else?"""
    used = any(arg.taint for arg in args)
    reads = last in READING_TAILS or plain == ADDRESS
    if reads and func.paths and not used and not func.taint:
        return frozenset(f"{path}()" for path in func.paths), True
    if not used and not func.taint:
        return frozenset(), False
    if plain in _RESHAPES or last in _RESHAPES_METHOD:
        taint = func.taint.union(*(arg.taint for arg in args))
        return taint, all(arg.only_taint or arg.neutral for arg in args)
    if plain not in _SHOWS and last not in _SHOWS:
        escape(effects, func, *args)
    return frozenset(), False


def _order(
    effects: Effects, plain: str, method: str, func: AbstractValue, args: Sequence[AbstractValue]
) -> str:
    """Note whose order a call asks for, and return the order of its result."""
    receiver = func.order if method else ""
    if plain in _MAKES_SETS:
        return items_of(args[0]) if args else UNKNOWN_ORDER
    if method in _SET_MAKING and receiver:
        return receiver
    if method == "pop" and not args:
        order = f"is:{func.paths[0].rpartition('.')[0]}" if func.paths else ""
        ask_order(effects, receiver or order)
    if plain in _ASKS_NO_ORDER or method in _SET_METHODS:
        return ""
    if plain in _KEEPS_ORDER and args:
        return args[-1].own_order()
    for arg in args:
        ask_order(effects, arg.own_order() if plain in _ITERATES or method == "join" else arg.order)
    return ""


def items_of(abstract: AbstractValue) -> str:
    """Return the order of a set made of a value's items; empty where they are numbers."""
    if abstract.order:
        return UNKNOWN_ORDER if abstract.order.startswith("is:") else abstract.order
    if abstract.tail == "range()":
        return ""
    return f"items:{abstract.paths[0]}" if len(abstract.paths) == 1 else UNKNOWN_ORDER


def ask_order(effects: Effects, order: str) -> None:
    """Note that the order of something is asked for."""
    if order:
        effects.orders.add(order)


def escape(effects: Effects, *abstracts: AbstractValue) -> None:
    """Note that what these values are made of goes elsewhere."""
    for abstract in abstracts:
        if abstract.taint:
            effects.escaped |= abstract.taint


def combine(
    effects: Effects, left: AbstractValue, right: AbstractValue, operator: ast.operator
) -> AbstractValue:
    """Note an operation on two values and return what is known of its result.

    Args:
        effects: Where it is noted.
        left: The value before the operator.
        right: The value after it.
        operator: One of arithmetic or of sets; ``%`` formats texts as well.
    """
    taint = left.taint | right.taint
    if not taint:
        order = ""
        if isinstance(operator, SET_OPERATORS):
            sets = [side.order for side in (left, right) if side.is_set]
            order = sets[0] if sets else left.own_order()
        if order:
            return AbstractValue(order=order, is_set=True)
        lists = [side for side in (left, right) if side.order and not side.is_set]
        if lists and isinstance(operator, ast.Add):
            return AbstractValue(order=lists[0].order)
        return AbstractValue(neutral=True) if left.neutral and right.neutral else UNKNOWN
    sides = [_as_reading(side) for side in (left, right)]
    only_taint = all(side.only_taint or side.neutral for side in sides)
    if not only_taint and not isinstance(operator, ast.Mod):  # a text may tell other things too
        escape(effects, left, right)
    return AbstractValue(taint=sides[0].taint | sides[1].taint, only_taint=only_taint)


def _as_reading(side: AbstractValue) -> AbstractValue:
    """Suppose that a name of the namespace holds a reading: who knows what it holds may tell."""
    name = side.paths[0] if len(side.paths) == 1 else ""
    if side.taint or not name.isidentifier():
        return side
    return replace(side, taint=frozenset({name}), only_taint=True)
