"""The verdicts of a check as text for a terminal, and as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import PurePath
from typing import Any

from ipytorchseed.checking import saved_report
from ipytorchseed.checking.causes import is_unseeded, tell
from ipytorchseed.checking.edits import diff
from ipytorchseed.checking.notebook import VARIES
from ipytorchseed.checking.saved import SavedCell, SavedVerdict
from ipytorchseed.checking.saved_report import LABEL, MOST
from ipytorchseed.checking.verdict import CellVerdict, Found, Verdict, find_origins, own_causes
from ipytorchseed.reads.entropy import say_programs
from ipytorchseed.render.labels import label_of
from ipytorchseed.render.text import draw_table, escaped, visible, wrap
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.render.why import cause_json
from ipytorchseed.why.explanation import Cause, Change
from ipytorchseed.why.words import first_of, many

_WORDS = "repeats", "differs"
_RERUN = "safe to run again", "not safe to run again"

_OWN = frozenset({"code", "environment", "file", "flag"})

_NO_REASON = "no cause was recorded"
_TRY = "put %%deterministic --check on top of the cell, after %load_ext ipytorchseed"
_PERHAPS = (
    f"It may be an address, a handle or a counter in an object. If results depend on it, {_TRY}"
)


def text(verdicts: Sequence[Verdict]) -> str:
    """Return verdicts as text for 80 columns: a table, then an explanation of each.

    Args:
        verdicts: In the order in which the notebooks were named.
    """
    said = [part for part in map(explanation, verdicts) if part]
    return "\n\n".join([table(verdicts), *said])


def table(verdicts: Sequence[Verdict]) -> str:
    """Return a table with a line for each notebook."""
    rows = []
    for each in verdicts:
        took = f"{each.seconds:.1f} s" if each.seconds else ""
        rows.append([str(each.path), headline(each), _count(each), took])
    columns: dict[str, dict[str, Any]] = {
        "Notebook": {"overflow": "fold"},
        "Found": {"no_wrap": True},
        "Cells": {"justify": "right"},
        "Took": {"justify": "right", "no_wrap": True},
    }
    return draw_table("", columns, rows)


def _count(verdict: Verdict) -> str:
    """Return how many cells were compared, and out of how many."""
    if not verdict.cells:
        return ""
    count = sum(cell.outputs is not Found.SKIPPED for cell in verdict.cells)
    return str(count) if verdict.unreached is None else f"{count} of {verdict.unreached.of}"


def headline(verdict: Verdict) -> str:
    """Return the result in a word or two."""
    if verdict.first is not None and (verdict.fault is not None or verdict.unreached is not None):
        return "differs, not checked to its end"
    if verdict.fault is not None:
        # The cell that raised is one of the cells.
        some = verdict.failed is not None and len(verdict.cells) > 1
        return "not checked to its end" if some else "not checked"
    if verdict.written:
        return "fixed"
    words = _RERUN if verdict.rerun else _WORDS
    if isinstance(verdict, SavedVerdict):
        words = saved_report.words(verdict)
    if verdict.first is None:
        return "receipt written" if verdict.receipt and not verdict.cells else words[0]
    return f"{words[1]} by rounding" if verdict.first.rounding else words[1]


def summary(verdict: Verdict) -> str:
    """Return the result and its causes in one line."""
    first, origin = verdict.first, verdict.origin
    if isinstance(first, SavedCell):
        return saved_report.summary(first)
    if verdict.fault is not None and first is None:
        return visible(verdict.fault)
    if origin is None:
        return visible(verdict.note) or headline(verdict)
    if first is None:
        return visible(f"{headline(verdict)}; {_left_behind(origin)}")
    if not origin.causes:
        who = "the cell" if origin is first else origin.cell.name
        why = f"{who} {say_programs(origin.programs)}" if origin.programs else _NO_REASON
    else:
        why = ", ".join(f"{cause.kind} {cause.name}" for cause in origin.causes)
        why += "" if origin is first else f" in {origin.cell.name}"
    return visible(f"{first.cell.name} {headline(verdict)}: {why}")


def _left_behind(verdict: CellVerdict) -> str:
    """Describe briefly what a cell with equal outputs leaves different, and why."""
    left = ", ".join(sorted(verdict.left)) or "other digits than it shows"
    causes = ", ".join(map(_short, verdict.causes))
    return f"{verdict.cell.name} leaves other values behind: {causes or left}"


def _short(cause: Cause) -> str:
    return f"{cause.name}, never seeded" if is_unseeded(cause) else cause.name


def explanation(verdict: Verdict) -> str:
    """Return the explanation of a verdict; empty for a notebook that repeats."""
    if verdict.edits:
        return "\n".join(_mended(verdict))
    cells = saved_report.explain(verdict) if isinstance(verdict, SavedVerdict) else _cells(verdict)
    return "\n".join([*_whole(verdict), *cells])


def _whole(verdict: Verdict) -> Iterator[str]:
    """Yield the lines about the whole notebook.

    They are not wrapped, as in ``_cells``.
    """
    path = visible(str(verdict.path))
    if verdict.note:
        yield f"{path}: {visible(verdict.note)}"
    if verdict.fault is not None:
        yield f"✗ {path}: {visible(verdict.fault)}"
    if verdict.unreached is not None:
        why = "" if verdict.fault else f": {visible(verdict.unreached.reason)}"
        yield f"{path}: {verdict.unreached}{why}"
    elif verdict.failed is not None and verdict.fault is None:
        cell, error = verdict.failed
        yield f"{path}: {cell.name} raises {visible(error)}"


def _cells(verdict: Verdict) -> Iterator[str]:
    """Yield the lines about cells.

    Lines with the notebook's name are not wrapped, so that searches find them.
    """
    path = visible(str(verdict.path))
    if verdict.unrecorded:
        names = ", ".join(each.cell.name for each in verdict.unrecorded)
        yield f"{path}: only outputs were compared, as nothing was recorded of {names}"
    first, origin = verdict.first, verdict.origin
    if origin is None:
        return
    if first is None:
        repeats = "repeats; " if verdict.reproducible else ""
        yield f"{path}: {repeats}{visible(_left_behind(origin))}"
        yield from _silent(verdict)
        return
    if verdict.rerun:
        yield f"✗ {path}: not every cell is safe to run again"
        for each in verdict.differing:
            yield from _cell(each)
        return
    how = ", by rounding" if first.rounding else ""
    yield f"✗ {path}: {first.cell.name} is the first to differ{how}"
    yield from _cell(first)
    if origin is not first:
        yield "  The difference starts in an earlier cell:"
        yield from _cell(origin, shown=True)
    yield from _others(verdict)
    yield from _unmended(verdict)


def _mended(verdict: Verdict) -> Iterator[str]:
    """Yield the lines about the edits that make a notebook repeat."""
    made = verdict.edits or ()
    mark, does = ("✓", "repeats") if verdict.written else ("✗", "does not repeat; it would")
    edits = many(len(made), "edit")
    yield f"{mark} {visible(str(verdict.path))}: {does} with {edits}, in fresh kernels"
    yield from (wrap(each.why, first=f"  {each.cell.name}  ") for each in made)


def _unmended(verdict: Verdict) -> Iterator[str]:
    """Yield the lines about what no edit fixes."""
    if verdict.obstacles:
        yield ""
        yield "  not fixed, and nothing was written:"
        yield from (wrap(each, first="  ▲ ") for each in verdict.obstacles)
    if verdict.obstacles and verdict.fault is None and verdict.failed is None:
        yield f"    --tag marks the cells that show it as {VARIES}, and fixes the others"


def diffs(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the lines of all edits, cell by cell, as a unified diff."""
    for verdict in verdicts:
        for cell, made in groupby(verdict.edits or (), key=lambda each: each.cell):
            told = diff(f"{visible(str(verdict.path))} {cell.name}", cell.source, [*made])
            yield from ("", *(line.rstrip() for line in escaped(told, lines=True).split("\n")))


def _silent(verdict: Verdict) -> Iterator[str]:
    """Yield the lines about cells with equal outputs that leave other values."""
    more = [each.cell.name for each in verdict.silent[1:]]
    if more:
        yield wrap(f"also {', '.join(more)}", first="  ")
    unexplained = [each.cell.name for each in verdict.silent if not each.causes]
    if unexplained:
        yield wrap(f"{_NO_REASON}: {', '.join(unexplained)}. {_PERHAPS}", first="  ")


def _cell(verdict: CellVerdict, *, shown: bool = False) -> Iterator[str]:
    """Yield the lines about a cell: its differences, their causes, and remedies.

    Args:
        verdict: The verdict on it.
        shown: Whether a later cell shows the values that it left.
    """
    yield f"  {verdict.cell.name}  {label_of(verdict.cell.source, LABEL)}"
    if verdict.only_state:
        yield "    same output, other variables"
    for change in verdict.changes[:MOST]:
        yield wrap(_change(change), first="    ")
    more = len(verdict.changes) - MOST
    if more > 0:
        yield f"    and {more} more"
    yield from tell(verdict.causes)
    if verdict.does_not_repeat and verdict.only_state and not shown:
        yield wrap(f"{_NO_REASON}. {_PERHAPS}", first="  ▲ ")
    elif verdict.does_not_repeat:
        yield wrap(_next_step(verdict), first="  ▲ ")


_HASHES = "it may be the order of string sets: try PYTHONHASHSEED=0"


def _next_step(verdict: CellVerdict) -> str:
    """Describe what to do about a cell that differs without a recorded cause."""
    if verdict.programs:
        return (
            f"the cell {say_programs(verdict.programs)}. To see whether an operation differs as"
            f" well, {_TRY}"
        )
    gave = "left different values" if verdict.only_state else "gave different output"
    unseen = f", but {first_of(verdict.unseen, MOST)} could be inspected only in part"
    said = (
        f"two runs of the cell {gave}, and no recorded input differs"
        f"{unseen if verdict.unseen else ''}. "
    )
    hashes = os.environ.get("PYTHONHASHSEED", "random") == "random"
    if verdict.repeats:
        return f"{said}Within one kernel it repeats{f', so {_HASHES}' if hashes else ''}"
    return (
        f"{said}To find an operation that gives a different result each time, {_TRY}"
        f"{f'. If it repeats within one kernel, {_HASHES}' if hashes else ''}"
    )


def _change(change: Change) -> str:
    name = change.name if change.what in ("variable", "source", "file") else change.what
    return f"{name}: {change.detail}"


def _others(verdict: Verdict) -> Iterator[str]:
    told = (verdict.first, verdict.origin)
    others = [each for each in verdict.cells if each.differs and each not in told]
    known = {cause.name for each in told if each for cause in each.causes}
    differing = [each for each in verdict.cells if each.differs]
    shown = [
        f"{each.cell.name}{_also(each, known, differing)}" for each in others if not each.only_state
    ]
    silent = [each.cell.name for each in others if each.only_state]
    if shown or silent:
        yield ""
    if shown:
        yield wrap(f"also different: {', '.join(shown)}", first="  ")
    if silent:
        words = f"same output, other variables: {', '.join(silent)}"
        yield wrap(words, first="  ")


def _also(cell: CellVerdict, known: set[str], differing: Sequence[CellVerdict]) -> str:
    """Return a cell's causes that were not reported yet, and where they are.

    Args:
        cell: The cell.
        known: The names of the reported causes.
        differing: All cells that differ, in the order of the notebook.
    """
    earlier = differing[: differing.index(cell)]
    origin = find_origins(cell, earlier)[-1]
    own = [each for each in cell.causes if each.kind in _OWN]
    begun = own_causes(origin, earlier)
    begun = [each for each in begun if each.kind == "entropy" or is_unseeded(each)]
    for causes, where in ((own, cell), (begun, origin)):
        new = [each for each in causes if each.name not in known]
        names = ["the edit" if each.kind == "code" else PurePath(each.name).name for each in new]
        if names:
            place = "" if where is cell else f" in {where.cell.name}"
            return f" ({', '.join(names)}{place})"
    return ""


def as_json(verdicts: Sequence[Verdict]) -> str:
    """Return verdicts as one line of JSON."""
    return write_json(notebooks=[*map(_notebook, verdicts)])


def _notebook(verdict: Verdict) -> dict[str, object]:
    first, origin, unreached = verdict.first, verdict.origin, verdict.unreached
    told: dict[str, object] = {
        "path": str(verdict.path),
        "reproducible": verdict.reproducible,
        "first_divergence": first and {**_identity(first), "message": summary(verdict)},
        "origin": origin
        and {
            **_identity(origin),
            "message": summary(verdict) if origin is first else visible(_left_behind(origin)),
        },
        "cells": [_cell_json(each) for each in verdict.cells],
    }
    if unreached is not None:
        told["unreached"] = {"cells": unreached.count, **pick(unreached, "of", "reason")}
    if verdict.fault is not None:
        told["error"] = verdict.fault
    if verdict.note:
        told["note"] = verdict.note
    if isinstance(verdict, SavedVerdict):
        told["text"] = [
            {
                **pick(each, "index", "number", "now", "message"),
                "shown_by": pick(each.cell, "index", "id"),
            }
            for each in verdict.stale
        ]
    if verdict.edits is not None:
        told["edits"] = [
            {
                **pick(each.cell, "index", "id"),
                "kind": each.kind,
                "diff": diff(each.cell.name, each.cell.source, [each]),
                "message": each.why,
            }
            for each in verdict.edits
        ]
        told["obstacles"] = list(verdict.obstacles)
    return told


def _identity(cell: CellVerdict) -> dict[str, object]:
    return {**pick(cell.cell, "index", "id"), "causes": [*map(cause_json, cell.causes)]}


def _cell_json(cell: CellVerdict) -> dict[str, object]:
    outputs = Found.ROUNDING if cell.rounding and not cell.only_state else cell.outputs
    told = {**_identity(cell), "outputs": outputs.value, "state": cell.state.value}
    return told | saved_report.more_json(cell) if isinstance(cell, SavedCell) else told
