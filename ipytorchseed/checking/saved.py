"""``check --saved``: compares the outputs of a fresh run with those in the file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ipytorchseed.checking.causes import for_fresh_kernels
from ipytorchseed.checking.grading import Found, grade_cell, worst
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.outputs import (
    STREAMS,
    WIDGET,
    Outputs,
    joined,
    stream_text,
    without_ours,
)
from ipytorchseed.checking.passes import Pass, Runs, open_runs
from ipytorchseed.checking.prose import find_stale
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.checking.widgets import Views, states_of, views_of
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.entropy import (
    BY_HASH,
    CLOCKS,
    MEMORY,
    is_program,
    programs_of,
    sentence,
)
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.reads.shell import prints_no_result
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.finders.inputs import READING


def has_outputs(notebook: Notebook) -> bool:
    """Return whether the file has outputs; some tools remove them."""
    return any(notebook.node.cells[cell.index].outputs for cell in notebook.cells)


def compare_saved(notebook: Notebook, fresh: Pass, rtol: float | None) -> Verdict:
    """Compare a pass with the outputs in the notebook's file.

    Args:
        notebook: The notebook that was run.
        fresh: A pass through the notebook.
        rtol: As for ``compare_outputs``.
    """
    cells: list[CellVerdict] = []
    results: dict[int, tuple[Outputs, Outputs]] = {}
    with open_runs(fresh.ledger, notebook) as records:
        for cell in notebook.cells:
            pair = _shown(notebook, cell, fresh)
            if cell.count is None:
                cells.append(CellVerdict(cell, Found.SKIPPED, Found.SKIPPED))
            elif cell.index in fresh.outputs:
                cells.append(_compare(notebook, cell, *pair, records, rtol))
                if not is_inspection(cell.source) and not prints_no_result(cell.source):
                    results[cell.index] = pair
    ran = [count for cell in notebook.cells if (count := _count(notebook, cell)) is not None]
    return Verdict(
        notebook.path,
        cells,
        saved=True,
        in_order=ran == [*range(1, len(ran) + 1)],
        stale=find_stale(notebook, results),
    )


def _shown(notebook: Notebook, cell: Cell, fresh: Pass) -> tuple[Outputs, Outputs]:
    """Return a cell's outputs in the file and in a pass, with what widgets show.

    If the file does not contain the states of the widgets, both are returned without them.
    """
    pair = notebook.node.cells[cell.index].outputs, fresh.outputs.get(cell.index, ())
    states = states_of(notebook.node.metadata), fresh.widgets
    if not states[0] or not states[0].keys() >= {*views_of(pair[0])}:
        return pair
    saved, now = (
        [*each, *Views().changed(each, of)] for each, of in zip(pair, states, strict=True)
    )
    return saved, now


def _count(notebook: Notebook, cell: Cell) -> int | None:
    count = notebook.node.cells[cell.index].get("execution_count")
    return count if isinstance(count, int) else None


def _compare(  # noqa: PLR0913, PLR0917 -- two outputs, and how to compare them
    notebook: Notebook,
    cell: Cell,
    saved: Outputs,
    fresh: Outputs,
    records: Runs,
    rtol: float | None,
) -> CellVerdict:
    count = _count(notebook, cell)
    if count is None and not notebook.node.cells[cell.index].outputs:  # never run
        return CellVerdict(cell, Found.UNKNOWN, Found.UNKNOWN)
    run = next(iter(records.of(cell.id)), None)
    notes: list[str] = []
    grades = grade_cell(cell, *_without_front_ends(saved, fresh, notes), run, rtol)
    found = worst(grades).found if grades else Found.SAME
    asked = run.nondeterministic_calls if run and found is Found.DIFFERENT else ()
    return CellVerdict(
        cell,
        found,
        Found.UNKNOWN,
        grades,
        _causes(run, records.before(run)) if run and found is Found.DIFFERENT else (),
        programs_of(asked),
        notes=tuple(notes),
        saved_count=count,
    )


def _causes(run: Run, earlier: Sequence[Run]) -> tuple[Cause, ...]:
    """Return why a cell's output may differ in every run.

    Uninitialized memory, clocks and string hashes are named only if there is no other cause.

    Args:
        run: The cell's run.
        earlier: The runs before it, the oldest first.
    """
    calls = run.nondeterministic_calls
    asked = [name for name in calls if name != BY_HASH and not is_program(name)]
    for leaves_results_alone in (MEMORY, CLOCKS):
        asked = [name for name in asked if name not in leaves_results_alone] or asked
    causes = [Cause("entropy", name, sentence(name)) for name in asked]
    for name in run.reads:
        makers = [each for each in earlier if name in each.writes]
        if makers and name in makers[-1].timed:
            causes.append(Cause("input", name, f"{name} {READING}"))
    if not causes and BY_HASH in calls:
        causes.append(for_fresh_kernels(Cause("environment", "PYTHONHASHSEED", ""), ()))
    return tuple(causes)


# --------------------------------------------------------------------------------------------------
# The outputs of one cell


def _without_front_ends(
    saved: Outputs, fresh: Outputs, notes: list[str]
) -> tuple[Outputs, Outputs]:
    """Remove the parts of outputs that depend on front ends and versions of packages.

    Args:
        saved: The outputs in the file.
        fresh: The outputs of the fresh run.
        notes: Extended with notes on what is not compared.
    """
    saved, fresh = map(without_ours, (saved, fresh))
    before, after = (
        [each for each in outputs if each["output_type"] != "stream"] for outputs in (saved, fresh)
    )
    dropped = _DROPPED in stream_text(saved, "stderr", timed=False)
    if dropped:
        notes.append("its printed text is not compared: Jupyter dropped a part of it")
    for name in () if dropped else STREAMS:
        texts = (stream_text(each, name, timed=False) for each in (saved, fresh))
        if name == "stderr":
            texts = (_WARNING.sub("", each) for each in texts)
        for side, text in zip((before, after), _as_cut(*texts), strict=True):
            side.append({"output_type": "stream", "name": name, "text": text})
    shown = [[at for at, each in enumerate(side) if "data" in each] for side in (before, after)]
    for at, to in zip(*shown, strict=False):
        earlier, later = _common_kinds(before[at]["data"], after[to]["data"])
        before[at], after[to] = {**before[at], "data": earlier}, {**after[to], "data": later}
    return before, after


# Python's warnings, which depend on paths and on the versions of packages.
_WARNING = lazy_pattern(r"^\S.*:\d+: \w*Warning: .*\n?(?:[ \t].*\n?)*", re.MULTILINE)

_DROPPED = "IOPub data rate exceeded"
_LAST = lazy_pattern(r"Streaming output truncated to the last \d+ lines\.\n")  # Colab
_MIDDLE = lazy_pattern(r"Output exceeds the \[?size limit\]?.*\n")  # VS Code


def _as_cut(saved: str, fresh: str) -> tuple[str, str]:
    """Truncate a fresh text like the saved one, if its first line says it is cut."""
    begin = _LAST.match(saved) or _MIDDLE.match(saved)
    if begin is None or _LAST.match(fresh):
        return saved, fresh
    kept = saved[begin.end() :]
    lines = fresh.rstrip("\n").split("\n")
    head, gap, tail = kept.rstrip("\n").partition("\n...\n")
    if begin.re is _LAST or not gap:
        return kept, "\n".join(lines[-len(kept.rstrip("\n").split("\n")) :])
    counts = [part.count("\n") + 1 for part in (head, tail)]
    return kept, "\n".join([*lines[: counts[0]], "...", *lines[-counts[1] :]])


_OF_FRONT_ENDS = tuple(f"application/vnd.{name}." for name in ("google", "microsoft", "vscode"))
_RICH = ("application/", "image/", "video/", "audio/")
_NAMED_ONLY = lazy_pattern(r"<[^<>]*>")


def _common_kinds(
    saved: Mapping[str, Any], fresh: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Leave out MIME types of front ends, and types that only one side has.

    The latter are kept if the saved output shows more with them than its plain text.
    """
    before, after = (
        {
            kind: data
            for kind, data in each.items()
            if not kind.startswith((WIDGET, *_OF_FRONT_ENDS))
        }
        for each in (saved, fresh)
    )
    kinds = before.keys() & after.keys()
    if _counts(before, before.keys() - kinds) or (before and not kinds):
        return before, after
    return {kind: before[kind] for kind in kinds}, {kind: after[kind] for kind in kinds}


def _counts(bundle: Mapping[str, Any], lost: set[str]) -> bool:
    """Return whether lost MIME types showed more than the plain text."""
    plain = joined(bundle.get("text/plain", "<nothing>"))
    return bool(lost) and (
        any(kind.startswith(_RICH) for kind in lost)
        or _NAMED_ONLY.fullmatch(plain.strip()) is not None
    )
