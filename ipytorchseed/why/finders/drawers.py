"""Finds the library whose call drew from a source of another library."""

from __future__ import annotations

from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.actions import is_name, may_draw

# Libraries that draw only from their own sources, or not at all.
_DRAW_FROM_THEIR_OWN = frozenset({"numpy", "pyarrow", "torch"})

# Kinds of values whose methods are calls of a library.
_OBJECTS = frozenset({"dataloader", "dataset", "module", "object", "opaque", "scheduler"})


def say_inside(run: Run, source: str) -> str:
    """Return a clause about the library that drew from a source; "" if unknown.

    For example, ", inside `ds.shuffle()` of datasets". It is known if the code draws from the
    source nowhere itself, calls none of the user's functions, and uses only one other library.
    """
    if source in run.generators:  # it is named by the object that holds it
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
