"""Sentences on the comparison of two traces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ipytorchseed.trace.comparison import Operation, Parting, Span
from ipytorchseed.why.words import many

if TYPE_CHECKING:
    from ipytorchseed.trace.loading import Loaded  # it brings numpy


def sentence(parting: Parting, rtol: float | None) -> str:
    """Say where and how runs part."""
    shown, span = parting.shown, parting.span
    if span is not None:
        return _span_sentence(parting, span)
    which = f"{shown.name}, {where(shown)},"
    within = "" if rtol is None else f" (within {rtol:g})"
    given = " → ".join(each.given for _, each in sides(parting))
    said = {
        "operation": f"was given the same in both runs{within} and gave something else.",
        "argument": f"is the first operation that was given other arguments: {given}.",
        "draw": "drew from a generator that stood elsewhere: another seed, or other draws"
        " before it.",
        "fused": "was given other values, which compiled code made.",
        "input": "is the first operation that was given other values. They came from outside"
        " torch's operations (data, weights, random numbers of numpy's or Python's), or from"
        " operations in another order.",
    }
    return f"{which} {said[parting.kind]}"


def _span_sentence(parting: Parting, span: Span) -> str:
    """Say how operations that only one run has make a difference."""
    if parting.kind == "fused":
        one, other = ("A", "B") if parting.shown is span.a else ("B", "A")
        has = f"{one} has {_counted(span, one)}, {where(parting.shown)},"
        beside = "" if parting.shown.compiled else f" where {other} runs compiled code,"
        return f"{has}{beside} and that gives something else."
    both = span.a is not None and span.b is not None
    return f"{stretch(span)}{', and it gives something else' if both else ''}."


def _counted(span: Span, side: str) -> str:
    """Say how many operations one side has, and which."""
    count, names = (span.count_a, span.names_a) if side == "A" else (span.count_b, span.names_b)
    return f"{many(count, 'operation')} ({', '.join(names)})"


def stretch(span: Span) -> str:
    """Say what only one run has."""
    one, other = _counted(span, "A"), _counted(span, "B")
    accounted = ", which made no difference" if span.accounted else ""
    if span.a is None and span.b is not None:
        return f"Only B has {other}, {where(span.b)}{accounted}"
    if span.b is None and span.a is not None:
        return f"Only A has {one}, {where(span.a)}{accounted}"
    place = "" if span.b is None else f", {where(span.b)}"
    return f"A has {one} where B has {other}{place}{accounted}"


def where(operation: Operation) -> str:
    """Say where an operation stands."""
    place = operation.place
    file = f" of {place.file}" if place.file else ""
    line = f"line {place.line}{file}" if place.line else "no line of yours"
    line = f"in the backward pass of {line}" if place.backward else line
    return f"{line} ({place.module})" if place.module else line


def sides(parting: Parting) -> list[tuple[str, Operation]]:
    """Return the operations at which runs part, each with its trace's name."""
    return [(name, each) for name, each in (("A", parting.a), ("B", parting.b)) if each is not None]


def named(name: str, trace: Loaded) -> str:
    """Say what a trace is."""
    rank = "" if trace.header.rank is None else f", rank {trace.header.rank}"
    return f"{name} is {trace.path}: {many(len(trace), 'operation')}{rank}"


def times(count: int) -> str:
    """Say how often."""
    return "once" if count == 1 else f"{count:,} times"


def apart(difference: float) -> str:
    """Say how far results are apart."""
    if difference == 0:
        return "less than summaries tell"
    return f"{difference:.1e}" if math.isfinite(difference) else "more than can be measured"
