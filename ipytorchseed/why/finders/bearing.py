"""Whether what a cell draws, or hash order, can affect what changed."""

from __future__ import annotations

from collections.abc import Collection

from ipytorchseed.reads.drawn import find_drawn
from ipytorchseed.why.evidence import Evidence

PLAIN = frozenset({
    "array", "bool", "bytes", "complex", "deque", "dict", "float", "frame", "int", "list", "none",
    "number", "range", "rng", "series", "set", "str", "tensor", "tuple",
})  # fmt: skip
"""Kinds of values that draw nothing when they are read, added or gone through."""

SCALARS = frozenset({"bool", "bytes", "complex", "float", "int", "none", "number", "str"})
"""Kinds of values that nobody can change who holds them as well."""


def bears_on_nothing(case: Evidence, mixed: Collection[str] = ()) -> bool:
    """Tell whether nothing of what changed hangs on what the cell draws, as its text tells.

    Variables that are steps on its way do not count where what they go into changed as well.

    Args:
        case: The evidence.
        mixed: Names of inputs that hold the same items in another order: whether nothing hangs on
            that either.
    """
    kinds = {value.kind for value in case.run.reads.values()}
    if case.run.code != case.against.code or not kinds <= PLAIN:
        return False
    drawn = find_drawn(case.run.source, case.run.generators_before, mixed)
    if drawn is None:
        return False
    hangs, moved = [], {each.name if each.what == "variable" else "" for each in case.changed}
    for change in case.changed:
        if change.what == "variable" and moved.isdisjoint(drawn.used.get(change.name, ())):
            hangs.append(change.name in drawn.names)
        elif change.what != "variable":
            hangs.append({"result": drawn.result, "stdout": drawn.stdout}.get(change.what, True))
    return bool(hangs) and not any(hangs)
