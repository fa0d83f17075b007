"""The result of a check, for each cell and for the whole notebook."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ipytorchseed.checking.edits import Edit
from ipytorchseed.checking.grading import Found, Grade
from ipytorchseed.checking.notebook import VARIES, Cell
from ipytorchseed.checking.prose import StaleNumber
from ipytorchseed.reads.seed_arguments import Lacking
from ipytorchseed.why.explanation import Cause, Change
from ipytorchseed.why.unknown import hides

# Kinds of changes that a cell leaves and does not show.
LEFT = frozenset({"variable", "source"})


class CellVerdict(Struct, frozen=True):
    """The result of a check for a cell.

    Attributes:
        cell: The cell.
        outputs: Whether its outputs were the same each time.
        state: Whether the variables and sources that it left were the same each time.
        changes: The differences: in outputs first, then in states.
        causes: The causes; none if nothing recorded differs.
        programs: Other programs that it runs, which are not recorded.
        wrote: The files that it wrote.
        connected: What it connected to.
        unseen: If no cause was found, values that it reads and that could only be sampled.
        lacking: Its calls that take a seed and are given none.
        repeats: Whether it was run again in one kernel, from the same state, and repeated.
        notes: With ``saved``, what was not compared, and why, in a clause each.
        saved_count: With ``saved``, its number in ``In[...]`` in the file; None if it has none.
    """

    cell: Cell
    outputs: Found
    state: Found
    changes: tuple[Change, ...] = ()
    causes: tuple[Cause, ...] = ()
    programs: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()
    connected: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    lacking: Sequence[Lacking] = ()
    repeats: bool = False
    notes: tuple[str, ...] = ()
    saved_count: int | None = None

    @property
    def grades(self) -> list[Grade]:
        """The differences that were graded: in outputs, and all those from a receipt."""
        return [each for each in self.changes if isinstance(each, Grade)]

    @property
    def rounding(self) -> bool:
        """Whether all differences are rounding: those in outputs, or else in variables."""
        shown = [each for each in self.grades if each.what not in LEFT] or self.grades
        return self.differs and {each.found for each in shown} == {Found.ROUNDING}

    @property
    def name(self) -> str:
        """Its number after *Run All*, and that in the file if it differs."""
        same = self.saved_count in (None, self.cell.count)
        return f"{self.cell.name}{'' if same else f' (In[{self.saved_count}] in the file)'}"

    @property
    def expected(self) -> bool:
        """Whether it has the tag for cells that may differ."""
        return VARIES in self.cell.tags

    @property
    def differs(self) -> bool:
        """Whether it differs, and was not expected to."""
        return not self.expected and Found.DIFFERENT in (self.outputs, self.state)

    @property
    def only_state(self) -> bool:
        """Whether its outputs are the same, but variables or sources that it left differ."""
        return self.differs and self.outputs is not Found.DIFFERENT

    @property
    def left(self) -> set[str]:
        """The names of the variables and sources that it left and that differ."""
        return {each.name for each in self.changes if each.what in LEFT}

    @property
    def does_not_repeat(self) -> bool:
        """Whether it differs and no cause was recorded."""
        return self.differs and not self.causes and self.state is not Found.UNKNOWN


class Unreached(Struct, frozen=True):
    """Cells that some run did not reach.

    Attributes:
        count: How many.
        of: How many cells should have run.
        reason: Why the run ended, in a line.
    """

    count: int
    of: int
    reason: str

    def __str__(self) -> str:
        were = "was" if self.count == 1 else "were"
        return f"{self.count} of {self.of} cells {were} not reached"


class Verdict(Struct, frozen=True):
    """The result of a check for a notebook.

    Outputs decide. Variables and sources that cells leave count only with ``strict`` or ``rerun``.

    Attributes:
        path: The notebook, as the user named it.
        cells: Its code cells, as far as they were compared.
        fault: Why it could not be checked to its end, in a line; None if it could.
        note: A further remark, in a line.
        line: The line of the file with the first cell that differs, or that the fault is about.
        rerun: Whether the second runs were in the same kernel.
        strict: Whether a cell with equal outputs but different variables counts as different.
        seconds: The time that all of it took.
        unreached: The cells that were not reached; None if all were.
        failed: The cell that raised in some run and may not, and its error in a line; None if none
            did.
        edits: The edits that make it repeat, cell by cell; None if none were requested.
        obstacles: What no edit fixes, each in a line that begins with the cell.
        written: Whether the edits are in the file.
        receipt: The content of its receipt's file; empty if none was requested.
        saved: Whether the outputs in the file were compared with those of one run.
        in_order: With ``saved``, whether each cell had run once, from first to last.
        stale: With ``saved``, numbers in the text that no output shows any more.
    """

    path: Path
    cells: Sequence[CellVerdict] = ()
    fault: str | None = None
    note: str = ""
    line: int = 1
    rerun: bool = False
    strict: bool = False
    seconds: float = 0.0
    unreached: Unreached | None = None
    failed: tuple[Cell, str] | None = None
    edits: Sequence[Edit] | None = None
    obstacles: Sequence[str] = ()
    written: bool = False
    receipt: bytes = b""
    saved: bool = False
    in_order: bool = True
    stale: Sequence[StaleNumber] = ()

    @property
    def differing(self) -> list[CellVerdict]:
        """The cells that count as different, in the order of the notebook."""
        states = self.strict or self.rerun
        return [each for each in self.cells if each.differs and (states or not each.only_state)]

    @property
    def silent(self) -> list[CellVerdict]:
        """The cells whose outputs are equal, but whose variables or sources differ."""
        return [each for each in self.cells if each.only_state]

    @property
    def unrecorded(self) -> list[CellVerdict]:
        """The cells for which only outputs are known."""
        return [each for each in self.cells if each.state is Found.UNKNOWN]

    @property
    def first(self) -> CellVerdict | None:
        """The first cell whose output differs, or else the first that counts, or None."""
        differing = self.differing
        if self.rerun:
            return next(iter(differing), None)
        shown = (each for each in differing if not each.only_state)
        return next(shown, next(iter(differing), None))

    @property
    def origin(self) -> CellVerdict | None:
        """The first cell that left what ``first`` shows, or ``first`` itself.

        If no output differs, the first cell that left different values, or None. Also None with
        ``saved``, as only the outputs of that run are known.
        """
        first = self.first
        if self.saved:
            return None
        if first is None:
            return next(iter(self.silent), None)
        if self.rerun or first.only_state:
            return first
        return self.find_origins(first)[-1][0]

    def find_origins(self, shown: CellVerdict) -> list[tuple[CellVerdict, list[Cause]]]:
        """Return the cells where a difference starts, each with its own causes.

        The last one is first. The search follows the names of causes, the variables and sources
        that cells left, and the cells that wrote files. A cell with its own cause is preferred to
        one without, for example one that created an object with an address in it.

        Args:
            shown: The cell whose output differs.
        """
        earlier = [each for each in self.cells[: self.cells.index(shown)] if each.differs]
        chain, names, writers = [shown], _names(shown), _writers(shown)
        for each in reversed(earlier):
            if each.cell.id in writers or names & (each.left | _names(each)):
                chain.append(each)
                names |= _names(each)
                writers |= _writers(each)
        found = [(each, _own_causes(each, earlier)) for each in chain]
        return [each for each in found if each[1]] or found[-1:]

    @property
    def reproducible(self) -> bool | None:
        """Whether it repeats; None if that is unknown."""
        if self.differing:
            return False
        looked = self.cells or not (self.receipt or self.saved)
        return True if looked and self.fault is None else None

    @property
    def exit_code(self) -> int:
        """0 if it repeats, 1 if it differs, 2 if it could not be checked."""
        if self.fault is not None:
            return 2
        return 1 if self.differing else 0


def _names(cell: CellVerdict) -> set[str]:
    """Return the names of causes, and of the inputs of causes that hide content."""
    names = {cause.name for cause in cell.causes}
    for cause in cell.causes:
        made = [each.run for each in cause.blame if each.run and cause.name in each.run.writes]
        names.update(*(run.reads for run in made if hides(run.writes[cause.name])))
    return names


def _writers(cell: CellVerdict) -> set[str]:
    """Return the cells that wrote the files that are causes."""
    blamed = (each for cause in cell.causes if cause.kind == "file" for each in cause.blame)
    return {each.run.cell for each in blamed if each.run is not None}


def _own_causes(cell: CellVerdict, earlier: Sequence[CellVerdict]) -> list[Cause]:
    """Return the causes of a cell's difference that no earlier cell left.

    A file that an earlier cell with causes wrote counts as left by that cell.
    """
    before = [each for each in earlier if each.cell.index < cell.cell.index]
    left: set[str] = set().union(*(each.left for each in before))
    left.update(*(each.wrote for each in before if each.causes))
    return [
        each
        for each in cell.causes
        if each.kind != "input" and left.isdisjoint({each.name, _holder(each)})
    ]


def _holder(cause: Cause) -> str:
    """Return the variable that holds a generator: ``model`` of ``model.rng``."""
    return re.split(r"[.\[]", cause.name)[0] if cause.kind == "rng" else cause.name
