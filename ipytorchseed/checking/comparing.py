"""Compares passes through a notebook by cell: outputs, variables and sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import PurePath

from msgspec.structs import replace

from ipytorchseed.checking.causes import for_fresh_kernels, for_rerun
from ipytorchseed.checking.grading import Found, grade_cell
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.passes import Pass, Runs, open_runs
from ipytorchseed.checking.verdict import LEFT, CellVerdict
from ipytorchseed.fingerprint.value import Fingerprint, same
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.entropy import CLOCKS, programs_of
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.session.states import EitherStates
from ipytorchseed.why.changes import find_changes
from ipytorchseed.why.evidence import HistoryLookup, most_draws
from ipytorchseed.why.explain import explain
from ipytorchseed.why.explanation import Cause, Change
from ipytorchseed.why.finders.changers import is_created_by
from ipytorchseed.why.finders.movers import has_seeded, never_seeded
from ipytorchseed.why.unknown import unseen
from ipytorchseed.why.value_changes import changed_parts

_CODE = frozenset({"class", "function"})


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
        records = {
            path: stack.enter_context(open_runs(path, notebook))
            for path in {each.ledger for each in passes}
        }
        for other in others:
            pair = Pair(records[first.ledger], records[other.ledger])
            for cell in notebook.cells:
                known = verdicts.get(cell.index)
                found = None if known and known.differs else pair.judge(cell, first, other)
                if found is not None:
                    made = [*pair.makers(found, [*verdicts.values()]), found]
                    verdicts |= {each.cell.index: each for each in made}
    lacking = first.lacking
    return [replace(verdicts[at], lacking=lacking.get(at, ())) for at in sorted(verdicts)]


class Pair:
    """Compares two passes, cell by cell.

    Args:
        before: The records of the first pass's kernel.
        after: The records of the other pass's kernel; the same object if one kernel ran both.

    Attributes:
        unseeded: The sources whose first states differed between the two kernels.
    """

    def __init__(self, before: Runs, after: Runs) -> None:
        self._before, self._after = before, after
        self._timed: set[str] = set()  # variables that hold only readings of a clock
        begins = before.begins(), after.begins()
        self.unseeded = {
            name for name, state in begins[1].items() if begins[0].get(name, state) != state
        }

    def judge(self, cell: Cell, first: Pass, other: Pass) -> CellVerdict | None:
        """Compare the runs of a cell; return None if only one pass reached it."""
        if cell.count is None:
            return CellVerdict(cell, Found.SKIPPED, Found.SKIPPED)
        if cell.index not in first.outputs or cell.index not in other.outputs:
            return None
        runs = self.runs(cell)
        run, code = (None, "") if runs is None else (runs[1], self._code(runs[1]))
        outputs = first.outputs[cell.index], other.outputs[cell.index]
        shown = grade_cell(cell, *outputs, run, code=code)
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
        outputs = Found.DIFFERENT if shown else Found.SAME
        states = self._states()
        kept = _differing_variables(against, run, shown) + _differing_sources(against, run, states)
        left = any(change.what == "variable" for change in kept)  # %why finds these by itself
        later = _with_mark(run) if shown or not left else run
        causes = self._causes(against, later, states) if shown or kept else ()
        seeded = {change.name for change in kept if change.what == "source"}
        causes = _without(causes, seeded) or self._never_seeded(against, run, seeded)
        if not shown and self._only_clocks(kept, against, run, causes):
            kept, causes = (), ()
        state = Found.DIFFERENT if kept else Found.SAME
        programs = programs_of(run.nondeterministic_calls)
        changes = (*shown, *kept)
        return CellVerdict(
            cell,
            outputs,
            state,
            changes,
            causes,
            programs,
            run.outside.wrote,
            connected=run.outside.connected,
            unseen=() if causes else _unseen(against, run),
        )

    def makers(self, shown: CellVerdict, earlier: Sequence[CellVerdict]) -> Iterator[CellVerdict]:
        """Yield new verdicts on cells whose module or file differs in a later cell.

        The content of a user's module or of a file is recorded for the cells that read it, not for
        the cell that imported or wrote it.

        Args:
            shown: The verdict on the later cell.
            earlier: The verdicts on the cells before the later cell.
        """
        if self._one_kernel or not shown.causes:
            return
        readers = self.runs(shown.cell)
        files = {cause.name for cause in shown.causes if cause.kind == "file"}
        for known in earlier:
            runs = self.runs(known.cell)
            names = set() if runs is None else _imported_causes(runs[1], shown.causes)
            wrote = () if known.differs else tuple(filter(files.__contains__, known.wrote))
            if runs is None or readers is None or not (names or wrote):
                continue
            against, run = (
                replace(
                    each, writes={**each.writes, **{name: reader.reads[name] for name in names}}
                )
                for each, reader in zip(runs, readers, strict=True)
            )
            outputs = [each for each in known.changes if each.what not in LEFT]
            outputs += [Change("file", PurePath(each).name, "other content") for each in wrote]
            found = self.weigh(known.cell, against, run, tuple(outputs))
            if not wrote:
                others = [each for each in known.changes if each not in found.changes]
                yield replace(found, changes=(*found.changes, *others))
            elif found.causes:  # else nothing explains why the content differs
                yield replace(found, outputs=known.outputs, state=Found.DIFFERENT)

    def _code(self, run: Run) -> str:
        """Return the text of the cells that defined the functions that a run used."""
        read = {name for name, value in run.reads.items() if value.kind in _CODE}
        earlier = self._after.before(run) if read else ()
        return "\n".join(each.source for each in earlier if not read.isdisjoint(each.writes))

    @property
    def _one_kernel(self) -> bool:
        return self._before is self._after

    def runs(self, cell: Cell) -> tuple[Run, Run] | None:
        """Return the runs of a cell in both passes, or None if they were not recorded."""
        before, after = self._before.of(cell.id), self._after.of(cell.id)
        if not before or not after or (self._one_kernel and len(before) < 2):  # noqa: PLR2004
            return None
        return before[0], after[-1]

    def _states(self) -> HistoryLookup:
        states = self._after.find_states()
        if self._one_kernel and states is not None:
            return states
        return EitherStates(self._before.find_states(), states)

    def _causes(self, against: Run, run: Run, states: HistoryLookup) -> tuple[Cause, ...]:
        """Return the causes that ``%why`` finds."""
        since = against if self._one_kernel else None
        history = self._after.before(run, since)
        said = explain(run, against, history, states)
        if self._one_kernel:
            return tuple(map(for_rerun, said.causes))
        return tuple(for_fresh_kernels(cause, self.unseeded) for cause in said.causes)

    def _never_seeded(self, against: Run, run: Run, left: set[str]) -> tuple[Cause, ...]:
        """Return a cause for each source in ``left`` that was never seeded."""
        found = (
            never_seeded(name, run)
            for name in sorted(left)
            if name not in run.before
            or (name in self.unseeded and against.before.get(name) != run.before[name])
        )
        return tuple(for_fresh_kernels(each, self.unseeded) for each in found)

    def _only_clocks(
        self, changes: Sequence[Change], against: Run, run: Run, causes: Sequence[Cause]
    ) -> bool:
        """Return whether a cell differs only in readings of a clock.

        Args:
            changes: The variables and sources in which the cell differs.
            against: The earlier run.
            run: The later run.
            causes: The causes of the difference.
        """
        names = {change.name for change in changes if change.what == "variable"}
        numbers = all(_is_time(against, run, name) for name in names)
        clocks = all(
            (cause.kind == "entropy" and cause.name in CLOCKS)
            or (cause.kind == "input" and cause.name in self._timed)
            for cause in causes
        )
        if not causes or not clocks or not numbers or len(names) < len(changes):
            return False
        self._timed |= names
        return True


def _with_mark(run: Run) -> Run:
    """Return a run with one more display, so that ``%why`` sees a difference.

    ``%why`` compares records, which lack pixels, for example. A check compares the outputs.
    """
    mark = Fingerprint(f"{run.id} again", "display")
    return replace(run, outputs=replace(run.outputs, displays=(*run.outputs.displays, mark)))


def _imported_causes(run: Run, causes: Sequence[Cause]) -> set[str]:
    """Return the names that a run imported and that are causes for a later run."""
    return {
        cause.name
        for cause in causes
        if run.loaded and cause.kind == "input" and cause.name not in run.writes
        and any(each.run is not None and each.run.cell == run.cell for each in cause.blame)
    }  # fmt: skip


def _unseen(against: Run, run: Run) -> tuple[str, ...]:
    """Return the names that both runs read and whose values may differ."""
    hidden, before = unseen(against.reads, run.reads), against.reads
    return tuple(
        name
        for name, after in run.reads.items()
        if name in hidden or (name in before and same(before[name], after) is None)
    )


def _without(causes: tuple[Cause, ...], seeded: set[str]) -> tuple[Cause, ...]:
    """Leave out sources that the cell seeds itself, unless there is no other cause."""
    rest = tuple(each for each in causes if each.kind != "rng" or each.name not in seeded)
    return rest or causes


_KINDS = frozenset({"float", "int", "datetime", "date", "time", "timedelta"})

# Usual names for times.
_TIMES = lazy_pattern(
    r"times?\b|_times?\b|^t\d?$|date|stamp|elapsed|duration|seconds|took|began|start|stop|end\b",
    re.IGNORECASE,
)


def _is_time(against: Run, run: Run, name: str) -> bool:
    """Return whether a variable may be a time, or differs only in times inside it."""
    before, after = against.writes.get(name), run.writes.get(name)
    if before is None or after is None or after.kind in _KINDS:
        return True
    parts = changed_parts(before, after)
    return bool(parts) and all(_TIMES.search(part.partition(":")[2]) for part in parts)


_HOLDS = "holds a generator in a different state"

# Kinds of results whose text may be rounded.
_NUMBERS = frozenset({"float", "complex", "number", "tensor", "array", "frame", "series"})


def _differing_variables(against: Run, run: Run, shown: tuple[Change, ...]) -> tuple[Change, ...]:
    """Return the variables that differ, and a result that differs in hidden digits.

    Args:
        against: The earlier run.
        run: The later run.
        shown: The differences in the outputs.
    """
    result = against.outputs.result
    numbers = not shown and result is not None and result.kind in _NUMBERS
    kinds = {"variable", "result"} if numbers else {"variable"}
    return tuple(change for change in find_changes(against, run) if change.what in kinds)


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
    changes = []
    for name, ended in run.after.items():
        began, was, end_before = (
            each.get(name) for each in (run.before, against.before, against.after)
        )
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
    changes += [Change("source", name, _HOLDS) for name in _differing_generators(against, run)]
    return tuple(changes)


def _differing_generators(against: Run, run: Run) -> list[str]:
    """Return variables that both runs set to equal values with different generators."""
    made = (name for name in run.writes if name in against.writes and is_created_by(run, name))
    return [
        name
        for name in sorted(made)
        if same(against.writes[name], run.writes[name]) is True
        and against.writes[name].parts.get("random") != run.writes[name].parts.get("random")
    ]


def _state(states: HistoryLookup, name: str, digest: str) -> str:
    place = states.position(name, digest)
    return str(place) if place is not None and place.seed is not None else digest[:8]
