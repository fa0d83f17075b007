"""The verdicts of a check as text for a terminal, and as JSON."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from pathlib import PurePath
from typing import Any

from ipytorchseed.checking.causes import is_unseeded
from ipytorchseed.checking.edits import diff
from ipytorchseed.checking.grading import Found, Grade, worst
from ipytorchseed.checking.notebook import VARIES
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.reads.entropy import say_programs
from ipytorchseed.render.labels import label_of
from ipytorchseed.render.text import draw_table, visible, wrap
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.render.why import cause_json
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.words import first_of, many

# The most characters of a cell's text in its title, and the most differences to show for it.
_LABEL, _MOST = 68, 4

_SAVED = {
    Found.SAME: "as saved",
    Found.ROUNDING: "off by rounding",
    Found.DIFFERENT: "different",
    Found.UNKNOWN: "never run in the file",
    Found.SKIPPED: "left out",
}

_OWN = frozenset({"code", "environment", "file", "flag"})

_NO_REASON = "no cause was recorded"
_TRY = "put %%deterministic --check at the top of the cell, after %load_ext ipytorchseed"
_PERHAPS = (
    "The difference may be a memory address, a handle or a counter in an object. If results depend"
    f" on it, {_TRY}"
)


def text(verdicts: Sequence[Verdict]) -> str:
    """Return verdicts as text for 80 columns: a table, then an explanation of each.

    Args:
        verdicts: The verdicts, in the order in which the notebooks were named.
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
    """Return how many cells were compared: ``8``, or ``5 of 8`` if some were not."""
    if not verdict.cells:
        return ""
    count = sum(cell.outputs is not Found.SKIPPED for cell in verdict.cells)
    return str(count) if verdict.unreached is None else f"{count} of {verdict.unreached.of}"


def headline(verdict: Verdict) -> str:
    """Return the result in a few words."""
    first, fault = verdict.first, verdict.fault
    if first is not None and (fault is not None or verdict.unreached is not None):
        return "differs, not checked to the end"
    if fault is not None:
        # The cell that raised is one of the cells.
        some = verdict.failed is not None and len(verdict.cells) > 1
        return "not checked to the end" if some else "not checked"
    if verdict.written:
        return "fixed"
    if verdict.rerun:
        return "safe to run again" if first is None else "not safe to run again"
    if first is not None:
        return "differs by rounding" if first.rounding else "differs"
    return _repeats(verdict)


def _repeats(verdict: Verdict) -> str:
    """Return the result in a few words, for a notebook without a cell that differs."""
    if not verdict.cells and (verdict.receipt or verdict.saved):
        return "receipt written" if verdict.receipt else "nothing saved"
    rounded = any(each.outputs is Found.ROUNDING for each in verdict.cells)
    still = "still true up to rounding" if rounded else "still true"
    return still if verdict.saved else "repeats"


def summary(verdict: Verdict) -> str:
    """Return the result and its causes in one line."""
    first, origin = verdict.first, verdict.origin
    if verdict.saved and first is not None:
        change = worst(first.grades)
        shows = f"differs from what the file shows: {change.what}, {change.detail}"
        return visible(f"{first.name} {shows}")
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
    """Describe briefly which values a cell with equal outputs left different, or why."""
    left = ", ".join(sorted(verdict.left)) or "digits that it does not show"
    causes = ", ".join(map(_short, verdict.causes))
    return f"{verdict.cell.name} leaves different values: {causes or left}"


def _short(cause: Cause) -> str:
    return f"{cause.name}, never seeded" if is_unseeded(cause) else cause.name


def explanation(verdict: Verdict) -> str:
    """Return the explanation of a verdict; empty for a notebook that repeats."""
    if verdict.edits:
        return "\n".join(_edit_lines(verdict))
    cells = _saved(verdict) if verdict.saved else _cells(verdict)
    return "\n".join([*_whole(verdict), *cells])


def _whole(verdict: Verdict) -> Iterator[str]:
    """Yield the lines about the whole notebook.

    The lines are not wrapped, so that searches find them.
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
        yield f"{path}: only outputs were compared; nothing was recorded about {names}"
    first, origin = verdict.first, verdict.origin
    if origin is None:
        return
    if first is None:
        repeats = "repeats; " if verdict.reproducible else ""
        yield f"{path}: {repeats}{visible(_left_behind(origin))}"
        yield from _named("also {}", verdict.silent[1:])
        unexplained = [each for each in verdict.silent if not each.causes]
        yield from _named(f"{_NO_REASON}: {{}}. {_PERHAPS}", unexplained)
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
    yield from _obstacle_lines(verdict)


def _saved(verdict: Verdict) -> Iterator[str]:
    """Yield the lines about cells and their saved outputs; none if all are still true."""
    never = [each for each in verdict.cells if each.outputs is Found.UNKNOWN]
    told = [each for each in verdict.cells if each.changes or each.notes]
    if not (told or never or verdict.stale):
        return
    counts = Counter(each.outputs for each in verdict.cells)
    said = ", ".join(f"{counts[found]} {word}" for found, word in _SAVED.items() if counts[found])
    yield f"{'✗ ' if verdict.first else ''}{visible(str(verdict.path))}"
    yield wrap(f"cells: {said}", first="  ")
    for each in told:
        yield from _cell(each, saved=True)
    yield from (wrap(visible(each.message), first="  ▲ ") for each in verdict.stale)
    if verdict.first is None:
        return
    if not verdict.in_order:
        said = "When it was saved, not every cell had run exactly once, from top to bottom."
        yield wrap(said, first="  ")
    yield from _named("No run is saved in the file, but it ran here: {}.", never)
    said = "To check whether it repeats at all, run ipytorchseed check without --saved."
    yield wrap(said, first="  ")


def _edit_lines(verdict: Verdict) -> Iterator[str]:
    """Yield the lines about the edits that make a notebook repeat."""
    made = verdict.edits or ()
    mark, does = ("✓", "repeats") if verdict.written else ("✗", "does not repeat; it would")
    edits = many(len(made), "edit")
    yield f"{mark} {visible(str(verdict.path))}: {does} with {edits}, in fresh kernels"
    yield from (wrap(each.why, first=f"  {each.cell.name}  ") for each in made)


def _obstacle_lines(verdict: Verdict) -> Iterator[str]:
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
            yield from ("", *(line.rstrip() for line in visible(told, lines=True).split("\n")))


def _named(words: str, cells: Sequence[CellVerdict]) -> Iterator[str]:
    """Yield a line with the names of cells; none if there are no cells."""
    if cells:
        names = ", ".join(each.cell.name for each in cells)
        yield wrap(words.format(names), first="  ")


def _cell(verdict: CellVerdict, *, shown: bool = False, saved: bool = False) -> Iterator[str]:
    """Yield the lines about a cell: its differences, their causes, and remedies.

    Args:
        verdict: The verdict on the cell.
        shown: Whether a later cell shows the values that this cell left.
        saved: Whether the cell was compared with the file.
    """
    yield f"  {verdict.name}  {label_of(verdict.cell.source, _LABEL)}"
    if verdict.only_state:
        yield "    same output, other variables"
    for change in verdict.changes[:_MOST]:
        yield wrap(f"{change.name or change.what}: {change.detail}", first="    ")
        yield from _lines(change) if saved and isinstance(change, Grade) else ()
    more = len(verdict.changes) - _MOST
    if more > 0:
        yield f"    and {more} more"
    if verdict.expected and verdict.outputs is Found.DIFFERENT:
        yield f"    it may differ: it has the tag {VARIES}"
    yield from (wrap(note, first="    ") for note in verdict.notes)
    yield from _causes(verdict.causes)
    if saved and verdict.programs:
        yield wrap(f"the cell {say_programs(verdict.programs)}", first="  ▲ ")
    elif verdict.does_not_repeat:
        perhaps = verdict.only_state and not shown
        said = f"{_NO_REASON}. {_PERHAPS}" if perhaps else _next_step(verdict)
        yield wrap(said, first="  ▲ ")


def _lines(grade: Grade) -> Iterator[str]:
    """Yield the first lines that differ, of the saved and of the fresh output."""
    if grade.found is Found.DIFFERENT and (grade.saved or grade.fresh):
        yield f"      file  {visible(grade.saved) or '(nothing)'}"
        yield f"      now   {visible(grade.fresh) or '(nothing)'}"


def _causes(causes: Sequence[Cause]) -> Iterator[str]:
    """Yield the lines about causes: messages, fixes, and results of experiments.

    A fix that several causes in a row share is shown once, below the last of them.
    """
    for cause, after in zip_longest(causes, causes[1:]):
        yield wrap(cause.message, first="  ▲ ")
        if after is None or after.fix != cause.fix:
            yield from (f"    try: {visible(line)}" for line in cause.fix.splitlines())
        if cause.finding.how:
            yield wrap(cause.finding.how, first="    ")


_HASHES = "the cause may be the order of a set of strings: try PYTHONHASHSEED=0"


def _next_step(verdict: CellVerdict) -> str:
    """Describe what to do about a cell that differs without a recorded cause."""
    if verdict.programs:
        return (
            f"the cell {say_programs(verdict.programs)}. To see whether an operation differs as"
            f" well, {_TRY}"
        )
    gave = "left different values" if verdict.only_state else "gave different output"
    unseen = f", but {first_of(verdict.unseen, _MOST)} could be inspected only in part"
    said = (
        f"two runs of the cell {gave}, and no recorded input differs"
        f"{unseen if verdict.unseen else ''}. "
    )
    hashes = os.environ.get("PYTHONHASHSEED", "random") == "random"
    if verdict.repeats:
        return f"{said}Within one kernel the cell repeats{f', so {_HASHES}' if hashes else ''}"
    return (
        f"{said}To find an operation that gives a different result each time, {_TRY}"
        f"{f'. If the cell repeats within one kernel, {_HASHES}' if hashes else ''}"
    )


def _others(verdict: Verdict) -> Iterator[str]:
    told = (verdict.first, verdict.origin)
    others = [each for each in verdict.cells if each.differs and each not in told]
    known = {cause.name for each in told if each for cause in each.causes}
    silent = [each for each in others if each.only_state]
    shown = [
        f"{each.cell.name}{_also(verdict, each, known)}" for each in others if each not in silent
    ]
    if others:
        yield ""
    if shown:
        yield wrap(f"also different: {', '.join(shown)}", first="  ")
    yield from _named("same output, other variables: {}", silent)


def _also(verdict: Verdict, cell: CellVerdict, known: set[str]) -> str:
    """Return a cell's causes that were not reported yet, and where they are."""
    origin, begun = verdict.find_origins(cell)[-1]
    own = [each for each in cell.causes if each.kind in _OWN]
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
        "cells": [_cell_json(each, saved=verdict.saved) for each in verdict.cells],
    }
    if unreached is not None:
        told["unreached"] = {"cells": unreached.count, **pick(unreached, "of", "reason")}
    if verdict.fault is not None:
        told["error"] = verdict.fault
    if verdict.note:
        told["note"] = verdict.note
    if verdict.saved:
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


def _cell_json(cell: CellVerdict, *, saved: bool) -> dict[str, object]:
    outputs = Found.ROUNDING if cell.rounding and not cell.only_state else cell.outputs
    told = {**_identity(cell), "outputs": outputs.value, "state": cell.state.value}
    if saved:
        told["changes"] = [
            {**pick(it, "what", "detail", "saved"), "outputs": it.found.value, "now": it.fresh}
            for it in cell.grades
        ]
        told["notes"] = list(cell.notes)
    return told
