"""Finds the calls that drew from a source, directly or inside a library."""

from __future__ import annotations

from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.actions import is_name, may_draw
from ipytorchseed.why.words import first_of

# Libraries that never draw from the sources of other libraries.
_DRAW_FROM_THEIR_OWN = frozenset({"numpy", "pyarrow", "torch"})

# The most calls that a message names.
_MAX_NAMED = 2

# Kinds of values whose methods belong to a library.
_OBJECTS = frozenset({"dataloader", "dataset", "module", "object", "opaque", "scheduler"})


def drawing_calls(run: Run, source: str) -> str:
    """Return the calls of a run that were observed to draw from a source.

    For example, "`torch.randn`, `Linear` and 2 more"; "" if none was observed.
    """
    calls = () if run.observed is None else run.observed.drew.get(source, ())
    return first_of([f"`{call}`" for call in calls], _MAX_NAMED) if calls else ""


def say_inside(run: Run, source: str) -> str:
    """Return a clause about the library that drew from a source; "" if unknown.

    For example, ", inside `ds.shuffle()` of datasets". The library is known if the cell does not
    draw from the source itself, calls no function of the user, and uses only one other library.
    """
    # The message already names the object with the generator, or the calls that drew.
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
