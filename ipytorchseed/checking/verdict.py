"""The result of a check, for each cell and for the whole notebook."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ipytorchseed.checking.grading import Found, Grade
from ipytorchseed.checking.notebook import VARIES, Cell
from ipytorchseed.checking.program import Edit
from ipytorchseed.checking.stale import StaleNumber
from ipytorchseed.reads.seed_arguments import Lacking
from ipytorchseed.why.explanation import Cause, Change
from ipytorchseed.why.unknown import hides

# Kinds of changes that a cell leaves and does not show.
LEFT = frozenset({"variable", "source"})


class CellVerdict(Struct, frozen=True):
    """The result of a check for a cell.

    Attributes:
        cell: The cell.
        outputs: Whether the cell's outputs were the same each time.
        state: Whether the variables and sources that the cell left were the same each time.
        changes: The differences: in outputs first, then in states.
        causes: The causes; empty if no recorded input differs.
        programs: Other programs that the cell runs, which are not recorded.
        wrote: The files that the cell wrote.
        connected: The connections that the cell opened.
        unseen: If no cause was found, values that the cell reads and that could only be sampled.
        lacking: The cell's calls that accept a seed and do not set it.
        repeats: Whether the cell ran twice in one kernel, from the same state, and repeated.
        notes: With ``saved``, a clause for each thing that was not compared, with the reason.
        saved_count: With ``saved``, the cell's number in ``In[...]`` in the file, or None.
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
        """The graded differences: in outputs, or all if compared with a receipt."""
        return [each for each in self.changes if isinstance(each, Grade)]

    @property
    def rounding(self) -> bool:
        """Whether all differences in outputs, or else in variables, are rounding."""
        shown = [each for each in self.grades if each.what not in LEFT] or self.grades
        return self.differs and {each.found for each in shown} == {Found.ROUNDING}

    @property
    def name(self) -> str:
        """The cell's number after *Run All*, with its number in the file if it differs."""
        same = self.saved_count in (None, self.cell.count)
        return f"{self.cell.name}{'' if same else f' (In[{self.saved_count}] in the file)'}"

    @property
    def expected(self) -> bool:
        """Whether the cell has the tag for cells that may differ."""
        return VARIES in self.cell.tags

    @property
    def differs(self) -> bool:
        """Whether the cell differs, and has no tag that allows it."""
        return not self.expected and Found.DIFFERENT in (self.outputs, self.state)

    @property
    def only_state(self) -> bool:
        """Whether the outputs are the same, but variables or sources differ."""
        return self.differs and self.outputs is not Found.DIFFERENT

    @property
    def left(self) -> set[str]:
        """The names of the variables and sources that differ after the cell."""
        return {each.name for each in self.changes if each.what in LEFT}

    @property
    def does_not_repeat(self) -> bool:
        """Whether the cell differs and no cause was recorded."""
        return self.differs and not self.causes and self.state is not Found.UNKNOWN


class Unreached(Struct, frozen=True):
    """Cells that some run did not reach.

    Attributes:
        count: How many cells were not reached.
        of: How many cells should have run.
        reason: Why the run ended early, in one line.
    """

    count: int
    of: int
    reason: str

    def __str__(self) -> str:
        return f"{self.count} of {self.of} cells {'was' if self.count == 1 else 'were'} not reached"


class Verdict(Struct, frozen=True):
    """The result of a check for a notebook.

    Outputs decide. Variables and sources that cells leave count only with ``strict`` or ``rerun``.

    Attributes:
        path: The notebook, as the user named it.
        cells: The verdicts on the code cells that were compared.
        fault: Why the notebook could not be checked to its end, in one line; None if it could.
        note: A further remark, in one line.
        line: The line of the file with the first cell that differs, or that the fault is about.
        rerun: Whether the second runs were in the same kernel.
        strict: Whether a cell with equal outputs but different variables counts as different.
        seconds: How long the check took.
        unreached: The cells that were not reached; None if all were.
        failed: The cell that raised an error that it may not raise, and the error in one line; None
            if there is no such cell.
        edits: The edits that make the notebook repeat, cell by cell; None if none were requested.
        obstacles: A line for each difference that no edit fixes; it begins with the cell.
        written: Whether the edits were written to the file.
        receipt: The content of the receipt; empty if none was requested.
        saved: Whether the outputs in the file were compared with the outputs of one run.
        in_order: With ``saved``, whether each cell had run once, from first to last.
        stale: With ``saved``, numbers in the text that fresh outputs no longer show.
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
        """The cells whose variables and sources are not known."""
        return [each for each in self.cells if each.state is Found.UNKNOWN]

    @property
    def first(self) -> CellVerdict | None:
        """The first cell whose output differs, else the first that counts as different.

        With ``rerun``, it is always the first that counts as different.
        """
        differing = self.differing
        shown = [each for each in differing if self.rerun or not each.only_state]
        return next(iter(shown or differing), None)

    @property
    def origin(self) -> CellVerdict | None:
        """The cell where the difference in ``first`` starts, perhaps ``first`` itself.

        If no output differs, this is the first cell that left different values, or None. With
        ``saved`` it is None, because only the outputs of the saved run are known.
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

        The list begins with the last of these cells. The search follows the names of causes, the
        variables and sources that cells left, and the cells that wrote files. A cell is left out if
        it has no cause except differences that earlier cells left: it may just have created an
        object that contains an address. If this leaves out all cells, the earliest is returned.

        Args:
            shown: The cell whose output differs.
        """
        earlier = [each for each in self.cells[: self.cells.index(shown)] if each.differs]
        chain, names = [shown], _names(shown)
        for each in reversed(earlier):
            if names & {each.cell.id, *each.left, *_names(each)}:
                chain.append(each)
                names |= _names(each)
        found = [(each, _own_causes(each, earlier)) for each in chain]
        return [each for each in found if each[1]] or found[-1:]

    @property
    def reproducible(self) -> bool | None:
        """Whether the notebook repeats; None if that is unknown."""
        looked = self.cells or not (self.receipt or self.saved)
        return False if self.differing else True if looked and self.fault is None else None

    @property
    def exit_code(self) -> int:
        """0 if the notebook repeats, 1 if it differs, 2 if it could not be checked."""
        return 2 if self.fault is not None else int(bool(self.differing))


def _names(cell: CellVerdict) -> set[str]:
    """Return the names of causes, and what they lead to.

    These are the inputs of causes that hide content, and the ids of cells that wrote files.
    """
    names = {cause.name for cause in cell.causes}
    for cause in cell.causes:
        for run in [each.run for each in cause.blame if each.run is not None]:
            if cause.kind == "file":
                names.add(run.cell)
            elif cause.name in run.writes and hides(run.writes[cause.name]):
                names.update(run.reads)
    return names


def _own_causes(cell: CellVerdict, earlier: Sequence[CellVerdict]) -> list[Cause]:
    """Return the causes of a cell's difference that no earlier cell left.

    A file that an earlier cell with causes wrote counts as left by that cell.
    """
    left = set[str]()
    for each in earlier:
        if each.cell.index < cell.cell.index:
            left.update(each.left, each.wrote if each.causes else ())
    return [
        each
        for each in cell.causes
        if each.kind != "input"
        and each.name not in left
        and (each.kind != "rng" or re.split(r"[.\[]", each.name)[0] not in left)  # its variable
    ]
