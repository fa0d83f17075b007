"""Taint analysis of readings of clocks and of addresses of objects.

They may be printed, subtracted and kept. Any other use lets them escape.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec.structs import replace

from ipytorchseed.reads.abstract import NEUTRAL, UNKNOWN, AbstractValue
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import ADDRESS, ANY, BY_HASH, READING_TAILS

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
_NO_TAINT: frozenset[str] = frozenset()
_READS = READING_TAILS | {ADDRESS}
_EMPTY = frozenset({"list", "dict", "tuple", "set", "float", "int", "str"})


def record_call(
    effects: Effects, func: AbstractValue, args: Sequence[AbstractValue], *, more: bool = False
) -> AbstractValue:
    """Record a call and return the abstract value of its result.

    Args:
        effects: Where to record it.
        func: The callee.
        args: The positional and keyword arguments.
        more: Whether there are arguments that cannot be counted (``*args``).
    """
    paths, tail = func.paths, func.tail
    given = ANY if more else len(args)
    tainted = bool(func.taint)
    handed: tuple[str, ...] = ()
    for arg in args:
        if arg is UNKNOWN or arg is NEUTRAL:
            continue
        if arg.nothing and not more:
            given -= 1
        tainted |= bool(arg.taint)
        handed += arg.paths
    effects.actions |= dict.fromkeys(paths or (tail,))
    for path in paths:
        if path != BY_HASH or not all(arg.neutral for arg in args):
            effects.call(path, given)
    plain = paths[0] if len(paths) == 1 and "." not in paths[0] else ""
    if handed and plain not in _MENTIONS:
        effects.handed.update(handed)
    method = tail[1:] if tail[:1] == "." else ""
    last = method or (paths[0].rpartition(".")[2].lstrip(":") if paths else tail)
    taint, only_taint = _NO_TAINT, False
    if tainted or last in _READS:
        taint, only_taint = _readings(effects, plain, last, func, args)
    if not last and not taint:
        return UNKNOWN
    neutral = plain in _EMPTY and not args and not more
    results = tuple([f"{path}()" for path in paths])
    return AbstractValue(results, f"{last}()", (), taint, only_taint, neutral)


def _readings(
    effects: Effects, plain: str, last: str, func: AbstractValue, args: Sequence[AbstractValue]
) -> tuple[frozenset[str], bool]:
    """Record readings that a call uses; return its taint and whether that is all."""
    used = any(arg.taint for arg in args)
    reads = last in READING_TAILS or plain == ADDRESS
    if reads and func.paths and not used and not func.taint:
        return frozenset(f"{path}()" for path in func.paths), True
    if not used and not func.taint:
        return _NO_TAINT, False
    if plain in _RESHAPES or last in _RESHAPES_METHOD:
        taint = func.taint.union(*(arg.taint for arg in args))
        return taint, all(arg.only_taint or arg.neutral for arg in args)
    if plain not in _SHOWS and last not in _SHOWS:
        escape(effects, func, *args)
    return _NO_TAINT, False


def escape(effects: Effects, *abstracts: AbstractValue) -> None:
    """Record that the taint of these values is used in other ways."""
    for abstract in abstracts:
        if abstract.taint:
            effects.escaped |= abstract.taint


def combine(
    effects: Effects, left: AbstractValue, right: AbstractValue, operator: ast.operator
) -> AbstractValue:
    """Record an operation on two values and return the abstract value of its result.

    Args:
        effects: Where to record it.
        left: The value before the operator.
        right: The value after it.
        operator: An arithmetic operator; ``%`` also formats strings.
    """
    if not (left.taint or right.taint):
        return NEUTRAL if left.neutral and right.neutral else UNKNOWN
    sides = [_as_reading(side) for side in (left, right)]
    only_taint = all(side.only_taint or side.neutral for side in sides)
    if not only_taint and not isinstance(operator, ast.Mod):  # a string may also hold other things
        escape(effects, left, right)
    return AbstractValue(taint=sides[0].taint | sides[1].taint, only_taint=only_taint)


def _as_reading(side: AbstractValue) -> AbstractValue:
    """Treat a name of the namespace as a reading; this is checked later."""
    name = side.paths[0] if len(side.paths) == 1 else ""
    if side.taint or not name.isidentifier():
        return side
    return replace(side, taint=frozenset({name}), only_taint=True)
