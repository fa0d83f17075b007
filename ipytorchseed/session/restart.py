"""What a kernel holds and shows that a restart and one run of all cells would not give."""

from __future__ import annotations

import builtins
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

from msgspec import Struct

from ipytorchseed.fingerprint.value import same
from ipytorchseed.ledger.records import UNDONE, Run
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import ENTROPY, sentence
from ipytorchseed.reads.magics import only_asks
from ipytorchseed.reads.seeding import may_set_state
from ipytorchseed.rng.position import Position
from ipytorchseed.rng.seeds import LIMIT
from ipytorchseed.session.named_files import with_scripts
from ipytorchseed.session.session import Session
from ipytorchseed.session.states import LedgerStates
from ipytorchseed.why.words import first_of, listed, owner_of

_NAMED = 4
"""Names that one remark lists."""

_LABEL = 40
"""Characters of the text of a cell that has no number in this kernel."""


class FileCell(Struct, frozen=True):
    """A code cell of the notebook's file.

    Attributes:
        id: Its id in the file.
        source: Its text.
    """

    id: str
    source: str


class Remark(Struct, frozen=True):
    """Something that a restart and one run of all cells would not give.

    Attributes:
        kind: ``only-here``, ``order``, ``unseeded``, ``stale``, ``repeated``, ``edited``,
            ``not-run`` or ``unused``; nothing breaks by the last one.
        message: A sentence.
        name: The variable, source or function; empty where it is about cells only.
        runs: The numbers in ``In[...]`` of the runs that it names.
    """

    kind: str
    message: str
    name: str = ""
    runs: tuple[int | None, ...] = ()


class _Cell(Struct, dict=True):
    """A code cell of the notebook, and its runs in this kernel, oldest first."""

    place: int
    source: str
    code: str
    effects: Effects
    runs: list[Run] = []

    @cached_property
    def name(self) -> str:
        label = self.source.strip().partition("\n")[0].replace("`", "'")[:_LABEL]
        return f"`In[{self.runs[-1].execution_count}]`" if self.runs else f"`{label}`"

    @property
    def is_open(self) -> bool:
        """Whether it may set names that do not stand in its text."""
        return not self.effects.complete or bool(self.effects.stars or self.effects.files)

    @property
    def is_current(self) -> bool:
        """Whether its text is that of its last run."""
        return bool(self.runs) and self.runs[-1].code == self.code

    @cached_property
    def reads(self) -> set[str]:
        """The names that it reads before it sets them, also in functions that it calls."""
        if not self.is_current:
            return {*self.effects.reads}
        run = self.runs[-1]
        return {*self.effects.reads, *run.reads}.difference(
            run.observed.set_first if run.observed else ()
        )


class Restart:
    """Compares a kernel with its notebook's file.

    Args:
        session: Whose ledger to ask.
        namespace: The user's names.
        file: The code cells of the file; None where it is not known: then the last text of each
            cell stands for it.
        saved: When the file was written, in seconds since 1970.

    Attributes:
        runs: The runs of this kernel, oldest first.
        unsaved: Those that began after the file was written, by text that is not in it.
    """

    def __init__(
        self,
        session: Session,
        namespace: Mapping[str, Any],
        file: Sequence[FileCell] | None,
        saved: float = 0.0,
    ) -> None:
        self._session, self._in_file = session, file is not None
        self._names = [
            name for name in [*namespace] if session.is_users(name) and not hasattr(builtins, name)
        ]
        runs = session.ledger.runs(session.notebook, kernel=session.kernel, rank=session.rank)
        self.runs = [run for run in [*runs][::-1] if run.status != UNDONE]
        if file is None:
            file = [FileCell(*pair) for pair in {run.cell: run.source for run in self.runs}.items()]
        self._cells = [
            _Cell(place, each.source, session.code_of(each.source), self._effects(each.source))
            for place, each in enumerate(file)
        ]
        self._of = self._match(file)
        self._strays = [run for run in self.runs if self._is_stray(run)]
        self.unsaved = [run for run in self._strays if self._in_file and run.started > saved]
        self._set = {name for cell in self._cells for name in cell.effects.writes}
        known = not any(cell.is_open for cell in self._cells)
        self._only_here = [name for name in self._names if known and name not in self._set]

    def _effects(self, source: str) -> Effects:
        return self._session.effects_of(with_scripts(source))

    def _match(self, file: Sequence[FileCell]) -> dict[int | None, _Cell]:
        """Find the cell of each run: by its id, or by its text if one cell alone has that."""
        by_id = {each.id: cell for each, cell in zip(file, self._cells, strict=True)}
        codes = [cell.code for cell in self._cells]
        by_code = {cell.code: cell for cell in self._cells if codes.count(cell.code) == 1}
        found = {}
        for run in self.runs:
            ident = self._session.identity.ident_of(run.cell)
            cell = by_id.get(ident) or by_id.get(run.cell) or by_code.get(run.code)
            if cell is not None:
                cell.runs.append(run)
                found[run.id] = cell
        return found

    def _is_stray(self, run: Run) -> bool:
        """Return whether a run was of a text that is not in the file."""
        return run.id not in self._of or run.code != self._of[run.id].code

    def remarks(self) -> list[Remark]:
        """Return all that is found, what breaks first."""
        parts = self._missing(), self._unseeded(), self._asked(), self._stale(), self._repeated()
        return [*chain(*parts, self._about_cells() if self._in_file else ())]

    def _missing(self) -> Iterator[Remark]:
        """Yield the names that a cell reads and that no cell sets, or only one below it."""
        for name in self._only_here:
            readers = [cell for cell in self._cells if name in cell.reads]
            if readers:
                setter = self._setter(name)
                no_cell = "no cell of the file sets it" if self._in_file else "no cell sets it now"
                message = f"`{name}` is read by {_listed(readers)}, and {no_cell}"
                yield _remark(
                    "only-here", message + self._say_setter(setter), readers, name, setter
                )
        known: set[str] = set()
        for cell in self._cells if self._in_file else ():
            for name in sorted(cell.reads.intersection(self._names) & self._set - known):
                below = next(each for each in self._cells if name in each.effects.writes)
                if below.place > cell.place:
                    message = (
                        f"`{name}` is read by {cell.name}, and only set below it, by {below.name}"
                    )
                    yield _remark("order", message, [cell, below], name)
            known |= cell.effects.writes | cell.reads
            if cell.is_open:
                return

    def _setter(self, name: str) -> Run | None:
        """Return the last run that set a name by a text that is not in the file."""
        runs = (
            run
            for run in self._strays[::-1]
            if name in run.writes or name in self._effects(run.source).writes
        )
        return next(runs, None)

    def _say_setter(self, run: Run | None) -> str:
        if run is None:
            return ""
        gone = "was deleted" if run.id not in self._of else "was edited since"
        what = "is not saved" if run in self.unsaved else gone
        return f"; `In[{run.execution_count}]` did, and that cell {what}"

    def _unseeded(self) -> Iterator[Remark]:
        """Yield the sources that cells draw from and that no cell above seeds."""
        states = LedgerStates(self._session.ledger)
        seeders: dict[str, list[Run]] = {}
        drawers: dict[str, list[_Cell]] = {}
        for run in self.runs:
            cell = self._of.get(run.id)
            for name in [name for name in run.after if run.before.get(name) != run.after[name]]:
                if _seeds(states, run, name):
                    seeders.setdefault(name, []).append(run)
                elif name not in run.imported and cell is not None and run is cell.runs[-1]:
                    drawers.setdefault(name, []).append(cell)
        for name, cells in drawers.items():
            cell = min(cells, key=lambda each: each.place)
            told = self._seeded_by(cell, seeders.get(name, []))
            if told:
                yield _remark("unseeded", f"{owner_of(name)} {told}", [cell], name)

    def _seeded_by(self, cell: _Cell, seeders: Sequence[Run]) -> str:
        """Say that no cell above seeds a source; empty if one does."""
        if not seeders:
            return f"is never seeded, and {cell.name} draws from it"
        homes = [None if self._is_stray(run) else self._of[run.id] for run in seeders]
        if any(home is not None and home.place <= cell.place for home in homes):
            return ""
        seeder = f"`In[{seeders[-1].execution_count}]`"
        if homes[-1] is None:
            return (
                f"was seeded by {seeder}, which is not in the file, and {cell.name} draws from it"
            )
        return f"is seeded by {seeder}, below {cell.name}, which draws from it"

    def _asked(self) -> Iterator[Remark]:
        """Yield the functions that draw from the system's entropy."""
        for cell in self._cells:
            for name in cell.runs[-1].nondeterministic_calls if cell.is_current else ():
                if name in ENTROPY:
                    yield _remark("unseeded", f"{cell.name}: {sentence(name)}", [cell], name)

    def _stale(self) -> Iterator[Remark]:
        """Yield the cells whose inputs were set again after they ran, from above or outside."""
        for cell in self._cells:
            after = self.runs[self.runs.index(cell.runs[-1]) + 1 :] if cell.runs else []
            for name, value in cell.runs[-1].reads.items() if after else ():
                setter = next((run for run in reversed(after) if name in run.writes), None)
                home = None if setter is None else self._of.get(setter.id)
                above = home is None or home.place < cell.place
                if setter is not None and above and same(value, setter.writes[name]) is False:
                    later = f"`In[{setter.execution_count}]` set it later"
                    message = f"{cell.name} used an earlier `{name}`: {later}"
                    yield _remark("stale", message, [cell], name, setter)

    def _repeated(self) -> Iterator[Remark]:
        """Yield the cells that ran again and went on from what they had left."""
        for cell in self._cells:
            for before, run in list(pairwise(cell.runs))[-1:]:
                for name in before.writes.keys() & run.reads.keys() & run.writes.keys():
                    left, made = before.writes[name], run.writes[name]
                    if same(left, run.reads[name]) is True and same(left, made) is False:
                        message = (
                            f"{cell.name} ran {len(cell.runs)} times and changed `{name}` each time"
                        )
                        yield _remark("repeated", message, [cell], name)

    def _about_cells(self) -> Iterator[Remark]:
        """Yield the cells that ran in another order or by another text, or not; unread names."""
        cells = [cell for cell in self._cells if not only_asks(cell.source)]
        ran = [cell for cell in cells if cell.runs]
        rising = _longest_rise([cell.runs[-1].id or 0 for cell in ran])
        for kind, what, some in (
            (
                "order",
                "not run in the order of the file",
                [c for c in ran if c not in map(ran.__getitem__, rising)],
            ),
            (
                "edited",
                "the file has another text than the one last run",
                [c for c in ran if not c.is_current],
            ),
            ("not-run", "not run in this kernel", [c for c in cells if not c.runs]),
        ):
            if some:
                yield _remark(kind, f"{_listed(some)}: {what}", some)
        read = {name for cell in self._cells for name in cell.reads}
        names = [f"`{name}`" for name in self._only_here if name not in read and self._setter(name)]
        if names:
            named = first_of(names, _NAMED)
            yield Remark("unused", f"{named}: only in this kernel, and read by no cell of the file")


def _remark(
    kind: str, message: str, cells: Sequence[_Cell], name: str = "", run: Run | None = None
) -> Remark:
    runs = [cell.runs[-1] for cell in cells if cell.runs] + ([] if run is None else [run])
    return Remark(kind, message, name, tuple(each.execution_count for each in runs))


def _listed(cells: Sequence[_Cell]) -> str:
    names = [cell.name for cell in cells]
    return listed(names) if len(names) <= _NAMED else first_of(names, _NAMED)


def _seeds(states: LedgerStates, run: Run, name: str) -> bool:
    """Return whether a run seeded a source, by its text or by where the source stands."""
    if run.seeds or may_set_state(run.source, name):
        return True
    began = run.before.get(name)
    was = None if began is None else _chosen(states.position(name, began))
    now = _chosen(states.position(name, run.after[name]))
    return now is not None and now != was


def _chosen(position: Position | None) -> int | None:
    """Return the seed that somebody chose; None where the system did, or nobody knows."""
    seed = None if position is None else position.seed
    return seed if seed is not None and seed < LIMIT else None


def _longest_rise(numbers: Sequence[int]) -> list[int]:
    """Return the places of the longest rising part of numbers, the last one first."""
    tails: list[int] = []
    heights = []
    for number in numbers:
        heights.append(bisect_left(tails, number))
        tails[heights[-1] : heights[-1] + 1] = [number]
    kept: list[int] = []
    for place in reversed(range(len(numbers))):
        if heights[place] == len(tails) - 1 - len(kept):
            kept.append(place)
    return kept
