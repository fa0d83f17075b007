"""``check --saved``: compares the outputs of a fresh run with those in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ipytorchseed.checking.causes import for_fresh_kernels
from ipytorchseed.checking.grading import NUMBER, Found, grade_cell, worst
from ipytorchseed.checking.kernel import Pass, Runs, open_runs
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.outputs import (
    STREAMS,
    WIDGET,
    Outputs,
    Views,
    joined,
    read_html,
    states_of,
    stream_text,
    views_of,
    without_ours,
)
from ipytorchseed.checking.verdict import CellVerdict, StaleNumber, Verdict
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.entropy import BY_HASH, CLOCKS, MEMORY, is_program, programs_of, sentence
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.reads.shell import prints_no_result
from ipytorchseed.session.noise import without_noise
from ipytorchseed.why.changes import ROUNDING
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.finders.inputs import READING


def compare_saved(notebook: Notebook, fresh: Pass, rtol: float | None) -> Verdict:
    """Compare a pass with the outputs in the notebook's file.

    Args:
        notebook: The notebook that was run.
        fresh: A pass through the notebook.
        rtol: As for ``compare_outputs``.
    """
    cells: list[CellVerdict] = []
    results: dict[int, tuple[Outputs, Outputs]] = {}
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
    pair = notebook.node.cells[cell.index].outputs, fresh.outputs[cell.index]
    states = states_of(notebook.node.metadata), fresh.widgets
    if not states[0] or not states[0].keys() >= {*views_of(pair[0])}:
        return pair
    saved, now = (
        [*each, *Views().changed(each, of)] for each, of in zip(pair, states, strict=True)
    )
    return saved, now


def _compare(
    cell: Cell, shown: tuple[Outputs, Outputs], records: Runs, rtol: float | None
) -> CellVerdict:
    run = next(iter(records.of(cell.id)), None)
    notes: list[str] = []
    grades = grade_cell(cell, *_without_front_ends(*shown, notes), run, rtol)
    found = worst(grades).found if grades else Found.SAME
    said = CellVerdict(cell, found, Found.UNKNOWN, grades, notes=tuple(notes))
    if run is None or found is not Found.DIFFERENT:
        return said
    causes = _causes(run, records.before(run))
    return replace(said, causes=causes, programs=programs_of(run.nondeterministic_calls))


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
    texts = [[stream_text(each, name, timed=False) for name in STREAMS] for each in (saved, fresh)]
    if any(map(_CUT.search, texts[0])):
        notes.append("its printed text is not compared: a part of it is missing in the file")
    else:
        for side, (out, err) in zip((before, after), texts, strict=True):
            side.append({"output_type": "stream", "name": "stdout", "text": out})
            side.append({"output_type": "stream", "name": "stderr", "text": _WARNING.sub("", err)})
    shown = [[at for at, each in enumerate(side) if "data" in each] for side in (before, after)]
    for at, to in zip(*shown, strict=False):
        earlier, later = _common_kinds(before[at]["data"], after[to]["data"])
        before[at], after[to] = {**before[at], "data": earlier}, {**after[to], "data": later}
    return before, after


# Python's warnings, which depend on paths and on the versions of packages.
_WARNING = lazy_pattern(r"^\S.*:\d+: \w*Warning: .*\n?(?:[ \t].*\n?)*", re.MULTILINE)

# What Jupyter, Colab and VS Code write in place of text that they drop.
_CUT = lazy_pattern(
    r"IOPub data rate exceeded|^(?:Streaming output truncated to|Output exceeds the \[?size limit)",
    re.MULTILINE,
)

_OF_FRONT_ENDS = (
    WIDGET,
    *(f"application/vnd.{name}." for name in ("google", "microsoft", "vscode")),
)
_RICH = ("application/", "image/", "video/", "audio/")
_NAMED_ONLY = lazy_pattern(r"<[^<>]*>")


def _common_kinds(
    saved: Mapping[str, Any], fresh: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Leave out MIME types of front ends, and types that only one side has.

    The latter are kept if the fresh output lacks a rich type, or if otherwise at most the name of
    an object would be compared.
    """
    before, after = (
        {kind: data for kind, data in each.items() if not kind.startswith(_OF_FRONT_ENDS)}
        for each in (saved, fresh)
    )
    kinds = before.keys() & after.keys()
    lost = before.keys() - kinds
    named_only = _NAMED_ONLY.fullmatch(joined(before.get("text/plain", "<nothing>")).strip())
    if lost and (named_only or not kinds or any(kind.startswith(_RICH) for kind in lost)):
        return before, after
    return {kind: before[kind] for kind in kinds}, {kind: after[kind] for kind in kinds}


# The fewest significant digits of a number to look for: shorter ones occur by chance.
_DIGITS = 3

_YEARS = range(1900, 2100)
_NO_PROSE = lazy_pattern(
    r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)"  # fenced code
    r"|<!--(?:(?!-->|<!--).)*-->|<(a|code|pre|h[1-6]|script|style)\b(?:(?!</?\2\b).)*</\2>"
    r"|<[^<>]{1,999}>"
    r"|^ {0,3}#{1,6}[ \t][^\n]*|^[^\n|]+\n {0,3}(?:=+|-+)[ \t]*$"  # headings
    r"|(`+)(?!`)[^\n]{1,999}?\3"  # a code span
    r"|^ {0,3}\[[^\]\n]{1,999}\]:[^\n]*|!?\[[^\[\]\n]{0,999}\]\([^()\n]{0,999}\)"  # links
    r"|\b(?:https?://|www\.)\S+",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_BEFORE = lazy_pattern(r"([A-Za-z][\w-]*)\W{0,3}\Z")

# Characters before a number that are searched for the word before it.
_NEAR = 40

# Words before the number of a version.
_VERSIONED = frozenset({
    "cuda", "jax", "numpy", "pandas", "python", "pytorch", "release", "scikit-learn", "scipy",
    "tensorflow", "torch", "version",
})  # fmt: skip
_TEXTS = "text/plain", "text/html", "text/markdown", "text/latex"

Pairs = Mapping[int, tuple[Outputs, Outputs]]


def find_stale(notebook: Notebook, pairs: Pairs) -> list[StaleNumber]:
    """Return the numbers in the text that are out of date, in the order of the text.

    Args:
        notebook: The notebook, as it was saved.
        pairs: The saved and the fresh outputs of each cell that was compared, by its index.
    """
    spoken = [*_spoken(notebook)]
    if not spoken:
        return []
    saved: dict[float, tuple[Cell, str]] = {}
    shown: set[float] = set()
    for cell in notebook.cells:
        unchanged = (notebook.node.cells[cell.index].outputs,) * 2  # for a cell that was not run
        texts = [[*map(_numbers, _texts(each))] for each in pairs.get(cell.index, unchanged)]
        shown.update(float(each) for some in texts[1] for each in some)
        for place, some in enumerate(texts[0]):
            others = texts[1][place] if len(texts[0]) == len(texts[1]) else []
            there = others if len(others) == len(some) else [""] * len(some)
            for each, now in zip(some, there, strict=True):
                saved.setdefault(float(each), (cell, now))
    return [
        StaleNumber(number, place, index, *saved[value])
        for index, place, number, word in spoken
        for value in [float(number.replace(",", ""))]
        if value in saved and not _is_shown(number, value, shown) and word not in _VERSIONED
    ]


def _is_shown(number: str, value: float, shown: set[float]) -> bool:
    """Return whether an output shows a number, perhaps with more digits."""
    digits = len(number.partition(".")[2])
    limit = max(abs(value) * ROUNDING, 0 if "e" in number.lower() else 0.5 * 10**-digits)
    return any(abs(each - value) <= limit for each in shown)


def _spoken(notebook: Notebook) -> Iterator[tuple[int, str, str, str]]:
    """Yield each number in prose, with its cell's index, place, and preceding word."""
    for index, node in enumerate(notebook.node.cells):
        if node.cell_type != "markdown":
            continue
        prose = _NO_PROSE.sub(" ", node.source)
        for found in NUMBER.finditer(prose):
            word = _BEFORE.search(prose, max(0, found.start() - _NEAR), found.start())
            number = found.group().rstrip(".,")
            if _is_result(number):
                after = [cell.name for cell in notebook.runnable if cell.index > index]
                last = f"below {notebook.runnable[-1].name}"
                place = f"the text {f'above {after[0]}' if after else last}"
                yield index, place, number, word[1].lower() if word else ""


def _is_result(number: str) -> bool:
    digits = number.lstrip("+-").replace(",", "").lower().partition("e")[0]
    if digits.isdigit() and "," not in number:
        if len(digits) == 4 and int(digits) in _YEARS:  # noqa: PLR2004
            return False
        digits = digits.rstrip("0")
    return len(digits.replace(".", "").lstrip("0")) >= _DIGITS


def _texts(outputs: Outputs) -> Iterator[str]:
    yield from (stream_text(outputs, name, timed=True) for name in STREAMS)
    for each in outputs:
        data = each.get("data", {})
        for kind in _TEXTS:
            if kind in data:
                text = joined(data[kind])
                yield read_html(text) if kind == "text/html" else text


def _numbers(text: str) -> list[str]:
    """Return the numbers of an output, without times."""
    found = NUMBER.findall(without_noise(text, timed=True))
    return [each.replace(",", "") for each in found]
