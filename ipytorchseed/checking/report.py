"""The verdicts of a check as text for a terminal, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any
from xml.etree import ElementTree as ET

from ipytorchseed.checking.causes import is_unseeded
from ipytorchseed.checking.grading import Found, Grade, worst
from ipytorchseed.checking.notebook import VARIES
from ipytorchseed.checking.program import Edit, diff
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.reads.entropy import say_programs
from ipytorchseed.render.labels import label_of
from ipytorchseed.render.text import draw_table, visible, wrap
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.render.why import cause_json
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.words import first_of, many

# The maximum number of characters of a cell's text in its title, and of differences to show.
_LABEL, _MOST = 68, 4

_SAVED = {
    Found.SAME: "as saved",
    Found.ROUNDING: "off by rounding",
    Found.DIFFERENT: "different",
    Found.UNKNOWN: "never run in the file",
    Found.SKIPPED: "left out",
}

_NO_REASON = "no cause was recorded"
_TRY = "run %load_ext ipytorchseed, and put %%deterministic --check at the top of the cell"


def text(verdicts: Sequence[Verdict]) -> str:
    """Return verdicts as text for 80 columns: a table, then an explanation of each.

    Args:
        verdicts: The verdicts, in the order in which the notebooks were named.
    """
    rows = [
        [str(it.path), headline(it), _count(it), f"{it.seconds:.1f} s" if it.seconds else ""]
        for it in verdicts
    ]
    left: dict[str, Any] = {"no_wrap": True}
    right = left | {"justify": "right"}
    columns = {"Notebook": {"overflow": "fold"}, "Found": left, "Cells": right, "Took": right}
    return "\n\n".join(filter(None, [draw_table("", columns, rows), *map(explanation, verdicts)]))


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
    if verdict.rerun:
        return "safe to run again" if first is None else "not safe to run again"
    rounded = any(each.outputs is Found.ROUNDING for each in verdict.cells)
    said = {
        "fixed": verdict.written,
        "differs by rounding": first is not None and first.rounding,
        "differs": first is not None,
        "receipt written": not verdict.cells and verdict.receipt,
        "nothing saved": not verdict.cells and verdict.saved,
        "still true up to rounding": verdict.saved and rounded,
        "still true": verdict.saved,
    }
    return next((words for words, holds in said.items() if holds), "repeats")


def summary(verdict: Verdict) -> str:
    """Return the result and its causes in one line."""
    first, origin = verdict.first, verdict.origin
    if verdict.saved and first is not None:
        change = worst(first.grades)
        shown = f"{change.what}, {change.detail}"
        return visible(f"{first.name} differs from what the file shows: {shown}")
    if verdict.fault is not None and first is None:
        return visible(verdict.fault)
    if origin is None:
        return visible(verdict.note) or headline(verdict)
    if first is None:
        return visible(f"{headline(verdict)}; {_left_behind(origin)}")
    why = _NO_REASON
    if origin.causes:
        why = ", ".join(f"{cause.kind} {cause.name}" for cause in origin.causes)
        why += "" if origin is first else f" in {origin.cell.name}"
    elif origin.programs:
        who = "the cell" if origin is first else origin.cell.name
        why = f"{who} {say_programs(origin.programs)}"
    return visible(f"{first.cell.name} {headline(verdict)}: {why}")


def _left_behind(verdict: CellVerdict) -> str:
    """Name the values that a cell with equal outputs left different, or the causes."""
    causes = [f"{each.name}{' (never seeded)' * is_unseeded(each)}" for each in verdict.causes]
    names = ", ".join(causes or sorted(verdict.left))
    return f"{verdict.cell.name} leaves different values in {names}"


def explanation(verdict: Verdict) -> str:
    """Return the explanation of a verdict; empty for a notebook that repeats."""
    if verdict.edits:
        return "\n".join(_edit_lines(verdict, verdict.edits))
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
        names = _names(verdict.unrecorded)
        yield f"{path}: only outputs were compared; nothing was recorded about {names}"
    first, origin = verdict.first, verdict.origin
    if origin is None:
        return
    if first is None:
        repeats = "repeats; " if verdict.reproducible else ""
        yield f"{path}: {repeats}{visible(_left_behind(origin))}"
        yield from _named("also {}", verdict.silent[1:])
        perhaps = f"The difference may be an address or a counter. If results depend on it, {_TRY}"
        unexplained = [each for each in verdict.silent if not each.causes]
        yield from _named(f"{_NO_REASON} for {{}}. {perhaps}", unexplained)
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
        yield "  The cause is in an earlier cell:"
        yield from _cell(origin)
    others = [each for each in verdict.cells if each.differs and each not in (first, origin)]
    yield from [""] if others else []
    shown = [each for each in others if not each.only_state]
    yield from _named("also different: {}", shown)
    left = [each for each in others if each.only_state]
    yield from _named("same output, different variables: {}", left)
    if verdict.obstacles:
        yield ""
        yield "  not fixed, and nothing was written:"
        yield from (wrap(each, first="  ▲ ") for each in verdict.obstacles)
        if verdict.fault is None and verdict.failed is None:
            yield f"    --tag adds the tag {VARIES} to the cells that show it, and fixes the others"


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
        yield "  When it was saved, not every cell had run exactly once, from top to bottom."
    yield from _named("No run is saved in the file, but it ran here: {}.", never)
    yield "  To check whether it repeats at all, run ipytorchseed check without --saved."


def _edit_lines(verdict: Verdict, made: Sequence[Edit]) -> Iterator[str]:
    """Yield the lines about the edits that make a notebook repeat."""
    mark, does = ("✓", "repeats") if verdict.written else ("✗", "does not repeat; it would")
    edits = many(len(made), "edit")
    yield f"{mark} {visible(str(verdict.path))}: {does} with {edits}, in fresh kernels"
    yield from (wrap(each.why, first=f"  {each.cell.name}  ") for each in made)


def diffs(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the lines of all edits, cell by cell, as a unified diff."""
    for verdict in verdicts:
        for cell, made in groupby(verdict.edits or (), key=lambda each: each.cell):
            told = diff(f"{visible(str(verdict.path))} {cell.name}", cell.source, [*made])
            yield from ("", *(line.rstrip() for line in visible(told, lines=True).split("\n")))


def _named(words: str, cells: Sequence[CellVerdict]) -> Iterator[str]:
    """Yield a line with the names of cells; none if there are no cells."""
    if cells:
        yield wrap(words.format(_names(cells)), first="  ")


def _names(cells: Sequence[CellVerdict]) -> str:
    return ", ".join(each.cell.name for each in cells)


def _cell(verdict: CellVerdict, *, saved: bool = False) -> Iterator[str]:
    """Yield the lines about a cell: its differences, their causes, and remedies.

    Args:
        verdict: The verdict on the cell.
        saved: Whether the cell was compared with the file.
    """
    yield f"  {verdict.name}  {label_of(verdict.cell.source, _LABEL)}"
    if verdict.only_state:
        yield "    same output, different variables"
    for change in verdict.changes[:_MOST]:
        yield wrap(f"{change.name or change.what}: {change.detail}", first="    ")
        if not (saved and isinstance(change, Grade) and change.found is Found.DIFFERENT):
            continue
        if change.saved or change.fresh:
            yield f"      file  {visible(change.saved) or '(nothing)'}"
            yield f"      now   {visible(change.fresh) or '(nothing)'}"
    more = len(verdict.changes) - _MOST
    if more > 0:
        yield f"    and {more} more"
    if verdict.expected and verdict.outputs is Found.DIFFERENT:
        yield f"    it may differ: it has the tag {VARIES}"
    yield from (wrap(note, first="    ") for note in verdict.notes)
    yield from _causes(verdict.causes)
    if verdict.does_not_repeat:
        yield wrap(_next_step(verdict), first="  ▲ ")


def _causes(causes: Sequence[Cause]) -> Iterator[str]:
    """Yield the lines about causes: messages, fixes, and results of experiments."""
    for at, cause in enumerate(causes):
        yield wrap(cause.message, first="  ▲ ")
        if cause.fix not in [each.fix for each in causes[at + 1 :]]:  # else it follows below
            yield from (f"    try: {visible(line)}" for line in cause.fix.splitlines())
        if cause.finding.how:
            yield wrap(cause.finding.how, first="    ")


def _next_step(verdict: CellVerdict) -> str:
    """Describe what to do about a cell that differs without a recorded cause."""
    if verdict.programs:
        said = f"the cell {say_programs(verdict.programs)}"
        return f"{said}. To see whether an operation differs as well, {_TRY}"
    said = "left different values" if verdict.only_state else "gave different output"
    said = f"two runs of the cell {said}, and no recorded input differs"
    if verdict.unseen:
        said += f", but {first_of(verdict.unseen, _MOST)} could be inspected only in part"
    if verdict.repeats:
        hashes = "the cause may be the order of a set of strings: try PYTHONHASHSEED=0"
        return f"{said}. Within one kernel the cell repeats, so {hashes}"
    return f"{said}. To find an operation that gives a different result each time, {_TRY}"


def as_json(verdicts: Sequence[Verdict]) -> str:
    """Return verdicts as one line of JSON."""
    return write_json(notebooks=[*map(_notebook, verdicts)])


def _notebook(verdict: Verdict) -> dict[str, Any]:
    first, origin, unreached = verdict.first, verdict.origin, verdict.unreached
    said = summary(verdict) if origin is first else origin and visible(_left_behind(origin))
    told: dict[str, object] = {
        "path": str(verdict.path),
        "reproducible": verdict.reproducible,
        "first_divergence": first and {**_identity(first), "message": summary(verdict)},
        "origin": origin and {**_identity(origin), "message": said},
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
            pick(each, "index", "number", "now", "message")
            | {"shown_by": pick(each.cell, "index", "id")}
            for each in verdict.stale
        ]
    if verdict.edits is not None:
        told["edits"] = [*map(_edit, verdict.edits)]
        told["obstacles"] = list(verdict.obstacles)
    return told


def _edit(edit: Edit) -> dict[str, Any]:
    made = diff(edit.cell.name, edit.cell.source, [edit])
    return pick(edit.cell, "index", "id") | {"kind": edit.kind, "diff": made, "message": edit.why}


def _identity(cell: CellVerdict) -> dict[str, Any]:
    return {**pick(cell.cell, "index", "id"), "causes": [*map(cause_json, cell.causes)]}


def _cell_json(cell: CellVerdict, *, saved: bool) -> dict[str, Any]:
    outputs = Found.ROUNDING if cell.rounding and not cell.only_state else cell.outputs
    told = {**_identity(cell), "outputs": outputs.value, "state": cell.state.value}
    if saved:
        told["changes"] = [
            {**pick(it, "what", "detail", "saved"), "outputs": it.found.value, "now": it.fresh}
            for it in cell.grades
        ]
        told["notes"] = list(cell.notes)
    return told


def as_junit(verdicts: Sequence[Verdict]) -> str:
    """Return verdicts as JUnit XML.

    A notebook that differs is a failure. A notebook that could not be checked is an error.

    Args:
        verdicts: The verdicts, in the order in which the notebooks were named.
    """
    codes = Counter(each.exit_code for each in verdicts)
    root = ET.Element("testsuites")
    suite = ET.SubElement(root, "testsuite", name="ipytorchseed check", tests=f"{len(verdicts)}")
    suite.attrib |= {"failures": f"{codes[1]}", "errors": f"{codes[2]}"}
    suite.set("time", f"{sum(each.seconds for each in verdicts):.3f}")
    for verdict in verdicts:
        path, seconds = verdict.path, f"{verdict.seconds:.3f}"
        case = ET.SubElement(suite, "testcase", file=visible(str(path)), time=seconds)
        case.set("classname", visible(".".join(path.parent.parts)) or ".")
        case.set("name", visible(path.name))
        if verdict.exit_code:
            kind = "failure" if verdict.fault is None else "error"
            told = ET.SubElement(case, kind, message=summary(verdict))
            told.text = explanation(verdict)
        elif said := explanation(verdict):
            ET.SubElement(case, "system-out").text = said
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def annotate(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Yield an annotation for each differing notebook; GitHub shows it at the file.

    Args:
        verdicts: The verdicts, in any order.
    """
    for verdict in verdicts:
        if not verdict.exit_code:
            continue
        title = _property(f"{visible(verdict.path.name)}: {headline(verdict)}")
        file = _property(visible(verdict.path.as_posix()))
        said = _data(explanation(verdict))
        yield f"::error file={file},line={verdict.line},title={title}::{said}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
