"""Finds results that Restart & Run All would not reproduce."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from msgspec import Struct

from ipytorchseed.fingerprint.value import same
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.actions import may_set_state
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import ENTROPY, sentence
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.rng.position import UNKNOWN
from ipytorchseed.session.identity import FileCell
from ipytorchseed.session.named_files import with_scripts
from ipytorchseed.session.session import Session
from ipytorchseed.session.states import LedgerStates
from ipytorchseed.why.words import first_of, listed, owner_of

# The maximum number of names in one remark.
_NAMED = 4

# The maximum length of the label of a cell that did not run in this kernel.
_LABEL = 40


class Remark(Struct, frozen=True):
    """A result that Restart & Run All would not reproduce.

    Attributes:
        kind: ``only-here``, ``order``, ``unseeded``, ``stale``, ``repeated``, ``edited`` or
            ``not-run``.
        message: A sentence.
        name: The name of the variable, source or function; empty if the remark is about cells.
        runs: The numbers in ``In[...]`` of the runs in the message.
    """

    kind: str
    message: str
    name: str = ""
    runs: tuple[int | None, ...] = ()


class _Cell(Struct, dict=True):
    """A code cell of the notebook, and its runs in this kernel, oldest first."""

    place: int
    file: FileCell
    code: str
    effects: Effects
    runs: list[Run] = []

    @cached_property
    def name(self) -> str:
        label = self.file.source.strip().partition("\n")[0].replace("`", "'")[:_LABEL]
        return f"`In[{self.runs[-1].execution_count}]`" if self.runs else f"`{label}`"

    @property
    def is_open(self) -> bool:
        """Whether the cell may set names that its text does not contain."""
        return not self.effects.complete or bool(self.effects.stars or self.effects.files)

    @property
    def is_current(self) -> bool:
        """Whether the text of the cell is that of its last run."""
        return bool(self.runs) and self.runs[-1].code == self.code

    @cached_property
    def reads(self) -> set[str]:
        """The names that the cell, or a function it calls, reads before they are set."""
        names = {*self.effects.reads}
        if self.is_current:
            run = self.runs[-1]
            names |= run.reads.keys()
            names.difference_update(run.observed.set_first if run.observed else ())
        return names


class Restart:
    """A comparison of a kernel with its notebook's file.

    Args:
        session: The session of this kernel.
        namespace: The user's namespace.
        file: The code cells of the file. If None, the last text of each cell is used instead.
        saved: The time at which the file was written, in seconds since 1970.
    """

    def __init__(
        self,
        session: Session,
        namespace: Mapping[str, Any],
        file: Sequence[FileCell] | None,
        saved: float = 0.0,
    ) -> None:
        self._session, self._in_file = session, file is not None
        self._inputs: Sequence[str] = namespace.get("In", ())  # including those before %load_ext
        self._names = [
            name for name in [*namespace] if session.is_users(name) and not hasattr(builtins, name)
        ]
        runs = session.ledger.runs(session.history_key, kernel=session.kernel, undone=False)
        self._runs = [*runs][::-1]
        if file is None:
            last = {run.cell: run.source for run in self._runs}
            file = [FileCell(*pair) for pair in last.items()]
        self._cells = [
            _Cell(place, each, session.code_of(each.source), self._effects(each.source))
            for place, each in enumerate(file)
        ]
        self._of = self._match()
        own = [run for run in self._runs if not is_inspection(run.source)]
        codes = {ident: cell.code for ident, cell in self._of.items()}
        self._strays = [run for run in own if codes.get(run.id) != run.code]  # not in the file
        self._last = {run.cell: run.id for run in self._runs}
        unsaved = (run for run in self._strays if self._in_file and run.started > saved)
        self._unsaved = [run for run in unsaved if run.id == self._last[run.cell]]
        self._set = {name for cell in self._cells for name in cell.effects.writes}
        known = not any(cell.is_open for cell in self._cells)
        self._only_here = [name for name in self._names if known and name not in self._set]

    def _effects(self, source: str) -> Effects:
        return self._session.effects_of(with_scripts(source))

    @property
    def last_runs(self) -> dict[str, Run]:
        """The last run of each cell, by id in the file; cells with our magics are skipped."""
        ran = [cell for cell in self._cells if cell.runs and not is_inspection(cell.file.source)]
        return {cell.file.id: cell.runs[-1] for cell in ran}

    def _match(self) -> dict[int | None, _Cell]:
        """Match each run to a cell: by id, or by text if no other cell has the same text."""
        by_id = {cell.file.id: cell for cell in self._cells}
        codes = [cell.code for cell in self._cells]
        by_code = {cell.code: cell for cell in self._cells if codes.count(cell.code) == 1}
        found = {}
        for run in self._runs:
            ident = self._session.identity.ident_of(run.cell)
            cell = by_id.get(ident) or by_id.get(run.cell) or by_code.get(run.code)
            if cell is not None:
                cell.runs.append(run)
                found[run.id] = cell
        return found

    def remarks(self) -> list[Remark]:
        """Return all remarks: unsaved cells first, then names that would cause an error."""
        found = [*self._missing(), *self._unseeded(), *self._stale(), *self._repeated()]
        if self._in_file:
            found += self._about_cells()
        if self._unsaved:
            named = first_of([f"`In[{run.execution_count}]`" for run in self._unsaved], _NAMED)
            runs = tuple(run.execution_count for run in self._unsaved)
            message = f"{named}: not in the file yet. Save it and ask again"
            found.insert(0, Remark("edited", message, "", runs))
        return found

    def _missing(self) -> Iterator[Remark]:
        """Yield remarks on names that a cell reads and that no cell above sets."""
        for name in self._only_here:
            readers = [cell for cell in self._cells if name in cell.reads]
            if not readers:
                continue
            setters = (run for run in reversed(self._strays) if self._sets(run, name))
            setter = next(setters, None)
            typed = (name in self._effects(text).writes for text in self._inputs)
            if setter is not None or any(typed):  # else the kernel defines it
                no_cell = "no cell of the file sets it" if self._in_file else "no cell sets it now"
                message = f"`{name}` is read by {_listed(readers)}, and {no_cell}"
                if setter is not None:
                    deleted = setter.id not in self._of and setter.id == self._last[setter.cell]
                    gone = "was deleted" if deleted else "was edited since"
                    gone = "is not saved" if setter in self._unsaved else gone
                    message += f"; `In[{setter.execution_count}]` did, and that cell {gone}"
                yield _remark("only-here", message, readers, name, setter)
        known: set[str] = set()
        for cell in self._cells if self._in_file else ():
            for name in sorted(cell.reads.intersection(self._names) & self._set - known):
                below = next(each for each in self._cells if name in each.effects.writes)
                if below.place > cell.place:
                    how = f"is read by {cell.name}, and only set below it, by {below.name}"
                    yield _remark("order", f"`{name}` {how}", [cell, below], name)
            known |= cell.effects.writes | cell.reads
            if cell.is_open:
                return

    def _sets(self, run: Run, name: str) -> bool:
        return name in run.writes or name in self._effects(run.source).writes

    def _unseeded(self) -> Iterator[Remark]:
        """Yield remarks on sources from which a cell drew before they were seeded.

        Remarks on calls that use the system's entropy follow.
        """
        states = LedgerStates(self._session.ledger)
        seen: set[str] = set()
        for run in (run for run in self._runs if run.id in self._of and not run.seeds):
            cell = self._of[run.id]
            above = [each.effects for each in self._cells[: cell.place + 1]]
            actions = [each.lstrip(":") for effects in above for each in effects.actions]
            moved = {name for name, _ in run.before.items() ^ run.after.items()}
            moved &= run.before.keys() & run.after.keys()
            for name in sorted(moved - {*run.imported, *run.generators, *seen}):
                seen.add(name)
                stood = (states.position(name, each[name]) for each in (run.before, run.after))
                chosen = any((each or UNKNOWN).is_chosen for each in stood)
                if not (chosen or may_set_state(actions, name)):
                    message = f"{owner_of(name)} is never seeded, and {cell.name} draws from it"
                    yield _remark("unseeded", message, [cell], name)
        for cell in self._cells:
            for name in cell.runs[-1].nondeterministic_calls if cell.is_current else ():
                if name in ENTROPY:
                    yield _remark("unseeded", f"{cell.name}: {sentence(name)}", [cell], name)

    def _stale(self) -> Iterator[Remark]:
        """Yield remarks on cells whose inputs have changed since the cell ran.

        Changes by a cell below do not count, because that cell also runs later after a restart.
        """
        for cell in self._cells:
            ended = cell.runs[-1].id if cell.runs else None
            after = [run for run in self._runs if ended and (run.id or 0) > ended]
            for name, value in cell.runs[-1].reads.items() if after else ():
                setter = next((run for run in reversed(after) if name in run.writes), None)
                home = None if setter is None else self._of.get(setter.id)
                above = home is None or home.place < cell.place
                if setter is not None and above and same(value, setter.writes[name]) is False:
                    later = f"`In[{setter.execution_count}]` set it later"
                    message = f"{cell.name} used an earlier `{name}`: {later}"
                    yield _remark("stale", message, [cell], name, setter)

    def _repeated(self) -> Iterator[Remark]:
        """Yield remarks on cells that ran again and continued from their own result."""
        for cell in self._cells:
            for before, run in list(pairwise(cell.runs))[-1:]:
                for name in before.writes.keys() & run.reads.keys() & run.writes.keys():
                    left, made = before.writes[name], run.writes[name]
                    if same(left, run.reads[name]) is True and same(left, made) is False:
                        message = f"ran {len(cell.runs)} times and changed `{name}` each time"
                        yield _remark("repeated", f"{cell.name} {message}", [cell], name)

    def _about_cells(self) -> Iterator[Remark]:
        """Yield remarks on cells that ran out of order, with another text, or not at all."""
        cells = [cell for cell in self._cells if not is_inspection(cell.file.source)]
        ran = [cell for cell in cells if cell.runs]
        began = [cell.runs[-1].id or 0 for cell in ran]
        late = [cell for at, cell in enumerate(ran) if min(began[at:]) < began[at]]
        other = [cell for cell in ran if not cell.is_current]
        edited = [cell for cell in other if cell.runs[-1] not in self._unsaved]
        told = {self._session.code_of(text) for text in self._inputs} if ran != cells else set()
        idle = [cell for cell in cells if not cell.runs and cell.code not in told]
        for kind, what, some in (
            ("order", " ran after a cell below", late),
            ("edited", ": the text in the file is not the one that ran last", edited),
            ("not-run", " did not run in this kernel", idle),
        ):
            if some:
                yield _remark(kind, f"{_listed(some)}{what}", some)


def _remark(
    kind: str, message: str, cells: Sequence[_Cell], name: str = "", run: Run | None = None
) -> Remark:
    runs = [cell.runs[-1] for cell in cells if cell.runs] + ([] if run is None else [run])
    return Remark(kind, message, name, tuple(each.execution_count for each in runs))


def _listed(cells: Sequence[_Cell]) -> str:
    names = [cell.name for cell in cells]
    return listed(names) if len(names) <= _NAMED else first_of(names, _NAMED)
