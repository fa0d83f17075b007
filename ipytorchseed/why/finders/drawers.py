"""Finds the calls that drew from a source, also inside other libraries."""

from __future__ import annotations

from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.actions import is_name, may_draw
from ipytorchseed.why.words import first_of

# Libraries that draw only from their own sources, or not at all.
_DRAW_FROM_THEIR_OWN = frozenset({"numpy", "pyarrow", "torch"})

# How many calls are named.
_MAX_NAMED = 2

# Kinds of values whose methods are calls of a library.
_OBJECTS = frozenset({"dataloader", "dataset", "module", "object", "opaque", "scheduler"})


def drawing_calls(run: Run, source: str) -> str:
    """Return the calls of a run that were observed to draw from a source.

    For example, "`torch.randn`, `Linear` and 2 more"; "" if none was observed.
    """
    calls = () if run.observed is None else run.observed.drew.get(source, ())
    return first_of([f"`{call}`" for call in calls], _MAX_NAMED) if calls else ""


def say_inside(run: Run, source: str) -> str:
    """Return a clause about the library that drew from a source; "" if unknown.

    For example, ", inside `ds.shuffle()` of datasets". It is known if the code draws from the
    source nowhere itself, calls none of the user's functions, and uses only one other library.
    """
    # It is named by the object that holds it, or by the calls that drew.
    if source in run.generators or drawing_calls(run, source):
        return ""
    names = [name for name in run.actions if is_name(name) and "()" not in name]
    own = source.partition(".")[0]
    packages = {*run.packages} - _DRAW_FROM_THEIR_OWN
    users = any(value.kind in ("class", "function", "method") for value in run.reads.values())
    if users or len(packages) != 1 or any(may_draw(name, own) for name in names):
        return ""
    (package,) = packages
    calls = [name for name in dict.fromkeys(names) if _is_of(run, name, package)]
    if len(calls) != 1:
        return f", inside {package}" if calls else ""
    return f", inside `{calls[0]}()` of {package}"


def _is_of(run: Run, name: str, package: str) -> bool:
    root = name.partition(".")[0]
    held = run.reads.get(root)
    return root == package or (held is not None and held.kind in _OBJECTS)
