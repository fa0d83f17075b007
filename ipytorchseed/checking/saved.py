"""``check --saved``: compares the outputs of a fresh run with those in the file."""

from __future__ import annotations

import re

from msgspec.structs import replace

from ipytorchseed.checking.grading import Found, compare_shown, worst
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.outputs import Pair, Shown, Views, clean_cell, states_of, views_of
from ipytorchseed.checking.passes import Pass, Runs, open_runs
from ipytorchseed.checking.stale import find_stale
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.entropy import BY_HASH, sentence
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.reads.shell import prints_no_result
from ipytorchseed.why.explanation import Cause


def compare_saved(notebook: Notebook, fresh: Pass, rtol: float | None) -> Verdict:
    """Compare a pass with the outputs in the notebook's file.

    Args:
        notebook: The notebook that was run.
        fresh: A pass through the notebook.
        rtol: As for ``compare_shown``.
    """
    cells: list[CellVerdict] = []
    results: dict[int, Pair] = {}
    ran: list[int] = []  # the numbers of the cells in the file
    with open_runs(fresh.ledger, notebook) as records:
        for cell in notebook.cells:
            node = notebook.node.cells[cell.index]
            count = node.get("execution_count")
            count = count if isinstance(count, int) else None
            ran += [] if count is None else [count]
            if cell.count is None:
                cells.append(CellVerdict(cell, Found.SKIPPED, Found.SKIPPED))
            elif cell.index in fresh.outputs:
                pair = _shown(notebook, cell, fresh)
                if not is_inspection(cell.source) and not prints_no_result(cell.source):
                    results[cell.index] = pair
                said = CellVerdict(cell, Found.UNKNOWN, Found.UNKNOWN)
                if count is not None or node.outputs:  # else it was never run
                    said = _compare(cell, pair, records, rtol)
                cells.append(replace(said, saved_count=count))
    in_order, stale = ran == [*range(1, len(ran) + 1)], find_stale(notebook, results)
    return Verdict(notebook.path, cells, saved=True, in_order=in_order, stale=stale)


def _shown(notebook: Notebook, cell: Cell, fresh: Pass) -> Pair:
    """Return a cell's outputs in the file and in a pass, with what widgets show.

    If the file does not contain the states of the widgets, both are returned without them.
    """
    pair = notebook.node.cells[cell.index].outputs, fresh.outputs[cell.index]
    states = states_of(notebook.node.metadata), fresh.widgets
    if not states[0] or not states[0].keys() >= {*views_of(pair[0])}:
        return pair
    saved, now = (
        [*each, *Views().changed(each, of)] for each, of in zip(pair, states, strict=True)
    )
    return saved, now


def _compare(cell: Cell, shown: Pair, records: Runs, rtol: float | None) -> CellVerdict:
    run = next(iter(records.of(cell.id)), None)
    saved, fresh = (clean_cell(cell, each, run) for each in shown)
    notes = _leave_out_front_ends(saved, fresh)
    grades = compare_shown(saved, fresh, rtol)
    found = worst(grades).found if grades else Found.SAME
    calls = () if run is None or found is not Found.DIFFERENT else run.nondeterministic_calls
    causes = tuple(Cause("entropy", name, sentence(name)) for name in calls if name != BY_HASH)
    return CellVerdict(cell, found, Found.UNKNOWN, grades, causes, notes=notes)


def _leave_out_front_ends(saved: Shown, fresh: Shown) -> tuple[str, ...]:
    """Remove what depends on front ends and on versions of packages.

    Args:
        saved: What the file shows.
        fresh: What the fresh run shows.

    Returns:
        Notes on what is not compared.
    """
    cut = any(map(_CUT.search, saved.texts.values()))
    for each in (saved, fresh):
        each.texts["stderr"] = _WARNING.sub("", each.texts["stderr"])
        if cut:
            each.forget_printed()
    for (_, before), (_, after) in zip(saved.displays, fresh.displays, strict=False):
        _leave_out_kinds(before, after)
    return ("its printed text is not compared: a part of it is missing in the file",) * cut


# Python's warnings, which depend on paths and on the versions of packages.
_WARNING = lazy_pattern(r"^\S.*:\d+: \w*Warning: .*\n?(?:[ \t].*\n?)*", re.MULTILINE)

# What Jupyter, Colab and VS Code write in place of text that they drop.
_CUT = lazy_pattern(
    r"IOPub data rate exceeded|^(?:Streaming output truncated to|Output exceeds the \[?size limit)",
    re.MULTILINE,
)

_OF_FRONT_ENDS = tuple(f"application/vnd.{name}." for name in ("google", "microsoft", "vscode"))
_RICH = ("application/", "image/", "video/", "audio/")
_NAMED_ONLY = lazy_pattern(r"<[^<>]*>")


def _leave_out_kinds(saved: dict[str, object], fresh: dict[str, object]) -> None:
    """Leave out MIME types of front ends, and types that only one side has.

    The latter are kept if the fresh output lacks a rich type, or if otherwise at most the name of
    an object would be compared.
    """
    ours = {kind for kind in (*saved, *fresh) if not kind.startswith(_OF_FRONT_ENDS)}
    common = ours & saved.keys() & fresh.keys()
    lost = ours & saved.keys() - common
    named_only = _NAMED_ONLY.fullmatch(str(saved.get("text/plain", "<nothing>")).strip())
    if not (lost and (named_only or not common or any(kind.startswith(_RICH) for kind in lost))):
        ours = common
    for each in (saved, fresh):
        for kind in each.keys() - ours:
            del each[kind]
