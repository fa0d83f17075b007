"""The comparison of two traces as text and JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ipytorchseed.render.text import visible, width, wrap
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.trace.comparison import FirstDifference, Operation, Span
from ipytorchseed.why.words import many

if TYPE_CHECKING:
    from ipytorchseed.trace.comparing import Comparison  # imports numpy
    from ipytorchseed.trace.loading import Loaded  # imports numpy

# The maximum number of items in a list.
_MOST = 6

_MOST_JSON = 100


def write_comparison(found: Comparison) -> str:
    """Return the comparison of two traces as text for a terminal of 80 columns."""
    first, parts = found.first, [wrap(_title(found), first="")]
    if first is not None:
        place = first.shown.place
        if place.code:
            parts.append(visible(f"    {place.line}: {place.code}")[: width()].rstrip())
        parts += [wrap(each, first="    ") for each in _evidence(found, first)]
    listed = {
        "Settings that differ, A → B": [f"{name}: {a} → {b}" for name, a, b in found.settings],
        "Operations of one run only": stretches(found),
    }
    for heading, lines in listed.items():
        if lines:
            parts += ["", heading, *(wrap(line, first="  ") for line in lines)]
    parts += ["", *(wrap(each, first="") for each in _facts(found))]
    parts += [wrap(each, first="Note: ") for each in (*found.a.notes, *found.b.notes)]
    return "\n".join(parts)


def _title(found: Comparison) -> str:
    """Return the answer in a sentence."""
    if found.first is not None:
        return sentence(found.first, found.rtol)
    pairs = many(found.aligned, "operation")
    if found.rtol is None:
        return f"Both runs computed the same, bit for bit: {pairs}."
    rounded = many(found.differing, "differs", "differ")
    return f"Both runs agree within {found.rtol:g}: of {pairs}, {rounded} in rounding."


def _evidence(found: Comparison, first: FirstDifference) -> Iterator[str]:
    """Yield sentences about the first difference."""
    if first.difference is not None:
        yield f"Its results are {apart(first.difference)} apart."
    sides = {"A": first.a, "B": first.b}.items()
    at = [f"operation {each.index:,} of {name}" for name, each in sides if each is not None]
    yield f"It is {' and '.join(at)}."
    if found.operation is not None and first.kind != "operation":
        yield f"After that: {sentence(found.operation, found.rtol)}"


def stretches(found: Comparison) -> list[str]:
    """Return sentences about operations of one run only, the relevant ones first."""
    told = [each for each in found.spans if not (each.fused and each.accounted)]
    spans = sorted(told, key=lambda each: each.accounted)
    said = [stretch(each) for each in spans[:_MOST]]
    return [*said, f"and {len(spans) - _MOST:,} more stretches"] if len(spans) > _MOST else said


def _facts(found: Comparison) -> Iterator[str]:
    """Yield sentences about the traces."""
    for name, each in (("A", found.a), ("B", found.b)):
        rank = "" if each.header.rank is None else f", rank {each.header.rank}"
        yield f"{name} is {each.path}: {many(len(each), 'operation')}{rank}."
    yield f"{many(found.aligned, 'operation is', 'operations are')} in both."
    spans, said = [each for each in found.spans if each.fused and each.accounted], []
    for side, name in enumerate("AB"):
        counts = sum((each.counts[side] for each in spans), Counter[str]())
        said += [f"{counts.total():,} of {name}, such as {_frequent(counts)}"] if counts else []
    if said:
        same = "" if found.first else ", with no difference"
        yield f"Fused in compiled code{same}: {'; '.join(said)}."


def comparison_json(found: Comparison) -> str:
    """Return the comparison of two traces as one line of JSON."""
    return write_json(
        **pick(found, "equal", "rtol", "aligned", "differing"),
        a=_trace_json(found.a),
        b=_trace_json(found.b),
        first_divergence=_parting_json(found.first, found.rtol),
        first_operation=_parting_json(found.operation, found.rtol),
        stretches=[
            {
                "operations_a": each.counts[0].total(),
                "operations_b": each.counts[1].total(),
                "a": _side_json(each.a),
                "b": _side_json(each.b),
                **pick(each, "accounted", "fused"),
            }
            for each in found.spans[:_MOST_JSON]
        ],
        settings=[{"name": name, "a": a, "b": b} for name, a, b in found.settings],
    )


def _trace_json(trace: Loaded) -> dict[str, Any]:
    return {**pick(trace, "path", "notes"), "operations": len(trace), "rank": trace.header.rank}


def _place_json(operation: Operation) -> dict[str, Any]:
    place = operation.place._asdict() | {"line": operation.place.line or None}
    return {"operation": operation.name, **pick(operation, "index", "thread"), **place}


def _side_json(operation: Operation | None) -> dict[str, Any] | None:
    return None if operation is None else {**_place_json(operation), "given": operation.given}


def _parting_json(parting: FirstDifference | None, rtol: float | None) -> dict[str, Any] | None:
    if parting is None:
        return None
    apart = parting.difference
    return {
        "kind": parting.kind,
        **_place_json(parting.shown),
        "inputs_equal": parting.kind == "operation",
        "difference": apart if apart is not None and math.isfinite(apart) else None,
        "message": sentence(parting, rtol),
        "a": _side_json(parting.a),
        "b": _side_json(parting.b),
    }


# --------------------------------------------------------------------------------------------------
# Sentences


def sentence(parting: FirstDifference, rtol: float | None) -> str:
    """Describe where and how two runs first differ."""
    shown, span = parting.shown, parting.span
    if span is not None:
        return _span_sentence(parting, span)
    which = f"{shown.name}, {where(shown)},"
    within = "" if rtol is None else f" (within {rtol:g})"
    given = " → ".join(each.given for each in (parting.a, parting.b) if each is not None)
    said = {
        "operation": f"has the same inputs in both runs{within} and different results.",
        "argument": f"is the first operation with different arguments: {given}.",
        "draw": "drew from a generator that was in a different state: another seed, or other draws"
        " before it.",
        "fused": "has different inputs, which compiled code computed.",
        "input": "is the first operation with different inputs. They came from outside"
        " torch's operations (data, weights, random numbers of numpy or Python), or from"
        " operations in another order.",
    }
    return f"{which} {said[parting.kind]}"


def _span_sentence(parting: FirstDifference, span: Span) -> str:
    """Describe operations of only one run that cause a difference."""
    if parting.kind == "fused":
        one, other, side = ("A", "B", 0) if parting.shown is span.a else ("B", "A", 1)
        has = f"{one} has {_counted(span.counts[side])}, {where(parting.shown)},"
        compiled = "" if parting.shown.compiled else f" where {other} runs compiled code,"
        return f"{has}{compiled} and the results differ."
    return f"{stretch(span)}{', and the results differ' if span.a and span.b else ''}."


def _counted(counts: Counter[str]) -> str:
    """Describe the number and names of one side's operations."""
    return f"{many(counts.total(), 'operation')} ({_frequent(counts)})"


def _frequent(counts: Counter[str]) -> str:
    return ", ".join(name for name, _ in counts.most_common(3))


def stretch(span: Span) -> str:
    """Describe the operations that only one run has."""
    one, other = map(_counted, span.counts)
    told, shown = f"A has {one} where B has {other}", span.b
    if span.a is None:
        told = f"Only B has {other}"
    elif span.b is None:
        told, shown = f"Only A has {one}", span.a
    place = "" if shown is None else f", {where(shown)}"
    return f"{told}{place}{', which made no difference' if span.accounted else ''}"


def where(operation: Operation) -> str:
    """Describe the place of an operation in the user's code."""
    place = operation.place
    file = f" of {place.file}" if place.file else ""
    line = f"line {place.line}{file}" if place.line else "no line of yours"
    line = f"in the backward pass of {line}" if place.backward else line
    return f"{line} ({place.module})" if place.module else line


def apart(difference: float) -> str:
    """Describe the difference of two results."""
    if difference == 0:
        return "less than summaries show"
    return f"{difference:.1e}" if math.isfinite(difference) else "more than can be measured"
