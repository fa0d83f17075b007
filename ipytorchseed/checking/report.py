"""Verdicts as text for a terminal, and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ipytorchseed.checking.verdict import Found
from ipytorchseed.reads.entropy import say_programs
from ipytorchseed.render.text import draw_table, visible, wrap
from ipytorchseed.render.timeline import label_of
from ipytorchseed.render.why import cause_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ipytorchseed.checking.verdict import CellVerdict, Verdict
    from ipytorchseed.why.explanation import Change

_MOST_CHANGES = 4
_LABEL = 68


def text(verdicts: Sequence[Verdict]) -> str:
    """Draw verdicts for a terminal of 80 columns: a table, then what there is to say of each.

    Args:
        verdicts: In the order in which the notebooks were named.
    """
    said = [part for part in map(explanation, verdicts) if part]
    return "\n\n".join([table(verdicts), *said])


def table(verdicts: Sequence[Verdict]) -> str:
    """Draw a line for each notebook."""
    columns: dict[str, dict[str, Any]] = {
        "Notebook": {"overflow": "fold"},
        "Found": {"no_wrap": True},
        "Cells": {"justify": "right"},
        "Took": {"justify": "right", "no_wrap": True},
    }
    rows = [
        [
            str(each.path),
            headline(each),
            str(sum(cell.outputs is not Found.SKIPPED for cell in each.cells))
            if each.cells
            else "",
            f"{each.seconds:.1f} s" if each.seconds else "",
        ]
        for each in verdicts
    ]
    return draw_table("", columns, rows)


def headline(verdict: Verdict) -> str:
    """Say in a word or two what was found."""
    if verdict.fault is not None:
        return "not checked" if verdict.first is None else "differs, not checked to its end"
    if verdict.first is None:
        return "safe to run again" if verdict.rerun else "repeats"
    return "not safe to run again" if verdict.rerun else "differs"


def summary(verdict: Verdict) -> str:
    """Say in one line what was found, and why."""
    if verdict.fault is not None and verdict.first is None:
        return visible(verdict.fault)
    first = verdict.first
    if first is None:
        return visible(verdict.note) or headline(verdict)
    causes = ", ".join(f"{cause.kind} {cause.name}" for cause in first.causes)
    if not causes:
        does = say_programs(first.programs) if first.programs else "itself does not repeat"
        causes = f"the cell {does}"
    return visible(f"{first.cell.name} {headline(verdict)}: {causes}")


def explanation(verdict: Verdict) -> str:
    """Say what a person has to know about a notebook; empty where it repeats."""
    return "\n".join(_parts(verdict))


def _parts(verdict: Verdict) -> Iterator[str]:
    """Yield lines; those that name the notebook are not broken, as logs are searched by lines."""
    path = visible(str(verdict.path))
    if verdict.note:
        yield f"{path}: {visible(verdict.note)}"
    if verdict.fault is not None:
        yield f"✗ {path}: {visible(verdict.fault)}"
    if verdict.unrecorded:
        names = ", ".join(each.cell.name for each in verdict.unrecorded)
        yield f"{path}: only outputs were compared, as nothing was recorded of {names}"
    if verdict.first is None:
        return
    if verdict.rerun:
        yield f"✗ {path}: not every cell is safe to run again"
        for each in verdict.differing:
            yield from _cell(each)
        return
    yield f"✗ {path}: {verdict.first.cell.name} is the first to differ"
    yield from _cell(verdict.first)
    yield from _others(verdict)


def _cell(verdict: CellVerdict) -> Iterator[str]:
    """Say of a cell in what it differs, why, and what mends it."""
    yield f"  {verdict.cell.name}  {label_of(verdict.cell.source, _LABEL)}"
    if verdict.later:
        yield "    shows the same, and will differ later"
    for change in verdict.changes[:_MOST_CHANGES]:
        yield wrap(_change(change), first="    ")
    more = len(verdict.changes) - _MOST_CHANGES
    if more > 0:
        yield f"    and {more} more"
    for cause in verdict.causes:
        yield wrap(cause.message, first="  ▲ ")
        yield from (f"    try: {visible(line)}" for line in cause.fix.splitlines())
    if verdict.does_not_repeat:
        yield wrap(_next_step(verdict), first="  ▲ ")


def _next_step(verdict: CellVerdict) -> str:
    """Say what to do about a cell whose difference nothing recorded accounts for."""
    if verdict.programs:
        return (
            f"the cell {say_programs(verdict.programs)}. If it is not that, put"
            " %%deterministic --check on top of it: that names the operation"
        )
    return (
        "the cell itself does not repeat: nothing that was recorded differs. Put"
        " %%deterministic --check on top of it: that names the operation"
    )


def _change(change: Change) -> str:
    name = change.name if change.what in ("variable", "source") else change.what
    return f"{name}: {change.detail}"


def _others(verdict: Verdict) -> Iterator[str]:
    others = verdict.differing[1:]
    shown = [each.cell.name for each in others if not each.later]
    later = [each.cell.name for each in others if each.later]
    if shown or later:
        yield ""
    if shown:
        yield wrap(f"differ too: {', '.join(shown)}", first="  ")
    if later:
        yield wrap(f"show the same, and will differ later: {', '.join(later)}", first="  ")


def as_json(verdicts: Sequence[Verdict]) -> str:
    """Write verdicts as one line of JSON."""
    return json.dumps({"schema": 1, "notebooks": [_notebook(each) for each in verdicts]})


def _notebook(verdict: Verdict) -> dict[str, object]:
    first = verdict.first
    told: dict[str, object] = {
        "path": str(verdict.path),
        "reproducible": verdict.reproducible,
        "first_divergence": None
        if first is None
        else {
            "index": first.cell.index,
            "id": first.cell.id,
            "message": summary(verdict),
            "causes": [cause_json(cause) for cause in first.causes],
        },
        "cells": [
            {
                "index": each.cell.index,
                "id": each.cell.id,
                "outputs": each.outputs.value,
                "state": each.state.value,
                "causes": [cause_json(cause) for cause in each.causes],
            }
            for each in verdict.cells
        ],
    }
    if verdict.fault is not None:
        told["error"] = verdict.fault
    return told
