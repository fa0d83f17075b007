"""Compares passes through a notebook by cell: outputs, variables and sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import PurePath

from msgspec.structs import replace

from ipytorchseed.checking.causes import for_fresh_kernels, for_rerun
from ipytorchseed.checking.grading import Found, Grade, compare_shown, say_bound
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.outputs import clean_cell
from ipytorchseed.checking.passes import Pass, Runs, open_runs
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.fingerprint.value import Fingerprint, same
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.entropy import CLOCKS, programs_of
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.receipts.privacy import Places, reveal
from ipytorchseed.receipts.receipt import Receipt, match, write
from ipytorchseed.rng.seeds import LIMIT
from ipytorchseed.session.states import EitherStates
from ipytorchseed.why.changes import ROUNDING, find_changes, find_distance
from ipytorchseed.why.evidence import HistoryLookup, most_draws
from ipytorchseed.why.explain import explain
from ipytorchseed.why.explanation import Cause, Change
from ipytorchseed.why.finders.changers import is_created_by
from ipytorchseed.why.finders.movers import has_seeded
from ipytorchseed.why.finders.streams import never_seeded
from ipytorchseed.why.unknown import unseen
from ipytorchseed.why.words import listed


def compare(notebook: Notebook, passes: Sequence[Pass]) -> list[CellVerdict]:
    """Compare every pass with the first.

    Args:
        notebook: The notebook that was run.
        passes: The passes. Passes with the same ledger ran in the same kernel.

    Returns:
        A verdict for each code cell that is skipped, or that the first pass and a later one
        reached. Empty for a single pass.
    """
    first, *others = passes
    verdicts: dict[int, CellVerdict] = {}
    with ExitStack() as stack:
        ledgers = {each.ledger for each in passes}
        records = {it: stack.enter_context(open_runs(it, notebook)) for it in ledgers}
        for other in others:
            pair = Pair(records[first.ledger], records[other.ledger])
            for cell in notebook.cells:
                known = verdicts.get(cell.index)
                found = None if known and known.differs else pair.judge(cell, first, other)
                if found is not None:
                    made = [*pair.writers(found, [*verdicts.values()]), found]
                    verdicts |= {each.cell.index: each for each in made}
    lacking = first.lacking
    return [replace(verdicts[at], lacking=lacking.get(at, ())) for at in sorted(verdicts)]


class Pair:
    """Two passes, compared cell by cell.

    Args:
        before: The records of the first pass's kernel.
        after: The records of the other pass's kernel; the same object if one kernel ran both.

    Attributes:
        unseeded: The sources whose first states differed between the two kernels.
    """

    def __init__(self, before: Runs, after: Runs) -> None:
        self._before, self._after = before, after
        self._one_kernel = before is after
        self._timed: set[str] = set()  # variables that differ only because of a clock
        first, other = before.begins(), after.begins()
        self.unseeded = {name for name in first.keys() & other if first[name] != other[name]}

    def judge(self, cell: Cell, first: Pass, other: Pass) -> CellVerdict | None:
        """Compare the runs of a cell; return None if only one pass reached it."""
        if cell.count is None:
            return CellVerdict(cell, Found.SKIPPED, Found.SKIPPED)
        if cell.index not in first.outputs or cell.index not in other.outputs:
            return None
        runs = self.runs(cell)
        run = runs and runs[1]
        pair = [clean_cell(cell, each.outputs[cell.index], run) for each in (first, other)]
        shown = compare_shown(pair[0], pair[1])
        if runs is None:
            found = Found.DIFFERENT if shown else Found.SAME
            # The run of a %replay is recorded under the id of the replayed cell.
            state = Found.SAME if is_inspection(cell.source) else Found.UNKNOWN
            return CellVerdict(cell, found, state, shown)
        return self.weigh(cell, *runs, shown)

    def weigh(self, cell: Cell, against: Run, run: Run, shown: tuple[Change, ...]) -> CellVerdict:
        """Compare the variables and sources that two runs left, and find the causes.

        Args:
            cell: The cell.
            against: The earlier run.
            run: The later run.
            shown: The differences in their outputs.
        """
        states = self._after.find_states()
        if not self._one_kernel:
            states = EitherStates(self._before.find_states(), states)
        left = tuple(each for each in find_changes(against, run) if each.what == "variable")
        kept = left + _differing_sources(against, run, states)
        later = run
        if shown or not left:  # make %why see a difference: records lack pixels, for example
            displays = (*run.outputs.displays, Fingerprint(f"{run.id} again", "display"))
            later = replace(run, outputs=replace(run.outputs, displays=displays))
        causes = self._causes(against, later, states) if shown or kept else ()
        seeded = {change.name for change in kept if change.what == "source"}
        rest = tuple(each for each in causes if each.kind != "rng" or each.name not in seeded)
        causes = rest or causes or self._never_seeded(against, run, seeded)
        clocks = {"entropy": CLOCKS, "input": self._timed}
        by_clock = causes and all(each.name in clocks.get(each.kind, ()) for each in causes)
        if by_clock and not shown and {change.what for change in kept} == {"variable"}:
            self._timed.update(change.name for change in kept)
            kept, causes = (), ()
        outputs, state = (Found.DIFFERENT if each else Found.SAME for each in (shown, kept))
        programs, outside = programs_of(run.nondeterministic_calls), run.outside
        said = CellVerdict(cell, outputs, state, (*shown, *kept), causes, programs, outside.wrote)
        partly = () if causes else _unseen(against, run)
        return replace(said, connected=outside.connected, unseen=partly)

    def writers(self, shown: CellVerdict, earlier: Sequence[CellVerdict]) -> Iterator[CellVerdict]:
        """Yield new verdicts on cells that wrote a file that differs in a later cell.

        The content of a file is recorded for the cells that read it.

        Args:
            shown: The verdict on the later cell.
            earlier: The verdicts on the cells before the later cell.
        """
        files = {cause.name for cause in shown.causes if cause.kind == "file"}
        for known in earlier if files and not self._one_kernel else ():
            runs, wrote = self.runs(known.cell), files.intersection(known.wrote)
            if runs is not None and wrote and not known.differs:
                others = [Change("file", PurePath(each).name, "other content") for each in wrote]
                found = self.weigh(known.cell, *runs, (*known.changes, *others))
                if found.causes:  # else nothing explains why the content differs
                    yield replace(found, outputs=known.outputs, state=Found.DIFFERENT)

    def runs(self, cell: Cell) -> tuple[Run, Run] | None:
        """Return the runs of a cell in both passes, or None if they were not recorded."""
        before, after = self._before.of(cell.id), self._after.of(cell.id)
        if not before or not after or (self._one_kernel and len(before) < 2):  # noqa: PLR2004
            return None
        return before[0], after[-1]

    def _causes(self, against: Run, run: Run, states: HistoryLookup) -> tuple[Cause, ...]:
        """Return the causes that ``%why`` finds."""
        history = self._after.before(run, against if self._one_kernel else None)
        causes = explain(run, against, history, states).causes
        if self._one_kernel:
            return tuple(map(for_rerun, causes))
        return tuple(for_fresh_kernels(cause, self.unseeded) for cause in causes)

    def _never_seeded(self, against: Run, run: Run, left: set[str]) -> tuple[Cause, ...]:
        """Return a cause for each source in ``left`` that was never seeded."""
        found = (
            never_seeded(name, run)
            for name in sorted(left)
            if name not in run.before
            or (name in self.unseeded and against.before.get(name) != run.before[name])
        )
        return tuple(for_fresh_kernels(each, self.unseeded) for each in found)


def _unseen(against: Run, run: Run) -> tuple[str, ...]:
    """Return the names that both runs read and whose values may differ."""
    hidden, before, after = unseen(against.reads, run.reads), against.reads, run.reads
    partly = [name for name in after if name in before and same(before[name], after[name]) is None]
    return tuple(dict.fromkeys([*partly, *hidden]))


def _differing_sources(against: Run, run: Run, states: HistoryLookup) -> tuple[Change, ...]:
    """Return the sources that differ because of the cell itself.

    If a source started in different states and the cell only drew from it, it is left out: if the
    drawn numbers matter, variables or outputs differ. A generator in a variable that the cell
    created is included.

    Args:
        against: The earlier run.
        run: The later run.
        states: The lookup of states.
    """
    changes, ends = [], against.after
    for name, ended in run.after.items():
        began, was, end_before = run.before.get(name), against.before.get(name), ends.get(name)
        if end_before in (None, ended) or ended == began:
            continue
        if name in run.generators:
            moved = began is None and name not in run.writes
        elif began is None:  # the cell created it
            moved = has_seeded(states, run, name, ended)
        else:
            moved = began == was or not states.leads(began, ended, most_draws(run))
        if moved:
            stands = " → ".join(_state(states, name, each) for each in (end_before or "", ended))
            changes.append(Change("source", name, stands))
    for name in sorted(against.writes.keys() & run.writes.keys()):
        then, now = against.writes[name], run.writes[name]
        moved = then.parts.get("random") != now.parts.get("random")
        if moved and same(then, now) is True and is_created_by(run, name):
            changes.append(Change("source", name, "holds a generator in a different state"))
    return tuple(changes)


def _state(states: HistoryLookup, name: str, digest: str) -> str:
    place = states.position(name, digest)
    return str(place) if place is not None and place.seed is not None else digest[:8]


def compare_receipt(notebook: Notebook, fresh: Pass, receipt: Receipt) -> Verdict:
    """Compare a fresh run of the notebook with its receipt.

    Args:
        notebook: The notebook that was run.
        fresh: A pass through the notebook.
        receipt: The record of an earlier run, perhaps on another machine.
    """
    with open_runs(fresh.ledger, notebook) as records:
        here = {run.cell: run for run in records.runs}
        there = match([*here.values()], receipt.runs)
        if here and not there:
            fault = f"the receipt is for {receipt.notebook} and has no cell of this notebook"
            return Verdict(notebook.path, fault=fault)
        runs = [reveal(run, here[cell]) for cell, run in there.items()]
        pair = Pair(Runs(runs, lambda: receipt), records)
        pair.unseeded = {name for name in pair.unseeded if not _chosen(records, name)}
        ran = [each for each in notebook.cells if each.count is None or each.index in fresh.outputs]
        cells = [_compare(pair, cell) for cell in ran]
    new = [each.cell.name for each in cells if each.outputs is Found.UNKNOWN]
    notes = [f"not in the receipt: {listed(new)}"] if new else []
    gone = len(receipt.runs) - len(there)
    if gone and len(cells) == len(notebook.cells):
        notes.append(f"{gone} of {len(receipt.runs)} cells in the receipt are not in this notebook")
    return Verdict(notebook.path, cells, note="; ".join(notes))


def make_receipt(notebook: Notebook, fresh: Pass) -> bytes:
    """Return the receipt of a pass.

    Args:
        notebook: The notebook that was run.
        fresh: A pass through the notebook.
    """
    with open_runs(fresh.ledger, notebook) as records:
        places = Places.here(str(notebook.path))
        runs = [*{run.cell: run for run in records.runs}.values()]  # %replay runs a cell again
        return write(notebook.path.name, runs, records.find_states, places)


def _compare(pair: Pair, cell: Cell) -> CellVerdict:
    """Compare a cell's run with its run in the receipt, and find the causes."""
    if cell.count is None:
        return CellVerdict(cell, Found.SKIPPED, Found.SKIPPED)
    runs = pair.runs(cell)
    if runs is None:
        found = Found.SAME if is_inspection(cell.source) else Found.UNKNOWN
        return CellVerdict(cell, found, found)
    changes = () if is_inspection(cell.source) else find_changes(*runs)
    shown = tuple(each for each in changes if each.what != "variable")
    said = pair.weigh(cell, *runs, shown)
    grades = []
    for each in said.changes:
        distance, detail, found = find_distance(each), each.detail, Found.DIFFERENT
        if distance is not None and distance <= ROUNDING:
            detail += f"; rounding, at most {say_bound(distance)} of the value"
            found = Found.ROUNDING
        grades.append(Grade(each.what, each.name, detail, found=found))
    return replace(said, changes=tuple(grades))


def _chosen(records: Runs, name: str) -> bool:
    """Return whether a source started from a seed that a user can set: 0 to 2**32-1."""
    place = records.find_states().position(name, records.begins()[name])
    return place is not None and place.seed is not None and place.seed < LIMIT
