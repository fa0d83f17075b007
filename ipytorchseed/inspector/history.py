"""The timeline of a notebook's runs, read when rows become visible."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ipytorchseed.ledger.records import UNDONE, Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.render.timeline import MOST_EARLIER, Earlier, Line, last_moves
from ipytorchseed.session.session import Session

# Runs read at a time in a search.
_PIECE = 256

# Seconds after which a search stops and returns how far it got: cells wait for it.
_SEARCH_SECONDS = 0.05

# Runs read at a time to find what moved a source last.
_GLANCE = 32

# At most this many runs are searched for what moved a source last.
_LOOKED_BACK = 200


class Filter(Struct, frozen=True, rename={"everything": "all"}):
    """Which runs to show.

    Attributes:
        text: Part of the cell's first line or of the run's name; empty for any.
        source: A source or generator that the run moved; empty for any.
        changed: Whether to show only re-runs with a different initial state or result.
        everything: Whether to show also runs that only displayed something, or could not be
            parsed.
    """

    text: str = ""
    source: str = ""
    changed: bool = False
    everything: bool = False

    def fits(self, line: Line) -> bool:
        """Return whether to show a run."""
        text, source = self.text.casefold(), self.source
        if line.aside and not self.everything:
            return False
        if not (text in line.label.casefold() or text in line.name.casefold()):
            return False
        if self.changed and not (line.others or (line.outcome and not line.outcome.same)):
            return False
        return not source or source in line.between or line.field(source).moved


class History:
    """All runs of a session's notebook, the oldest first.

    Runs that were read are cached as lines of the timeline. The numbers of all runs are read at
    the start, so each line has a place before it is read.

    Args:
        session: The session of the notebook.

    Attributes:
        ids: The numbers of the runs in the ledger.
        columns: The sources and generators that have a column, from the runs read so far.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.ledger: Ledger = session.ledger
        self.ids = self.ledger.run_ids_between(session.history_key, 0)
        self._lines: dict[int, Line | None] = {}
        self.columns: list[str] = []

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, run: Run) -> Line:
        """Add a run that was just recorded, or update one that was undone."""
        line = self._draw(run, self._before(run))
        if run.status == UNDONE:
            self._lines[line.id] = line
        elif not self.ids or line.id > self.ids[-1]:
            self.ids.append(line.id)
            self._lines[line.id] = line
        return line

    def catch_up(self) -> None:
        """Add the runs that other kernels of the notebook recorded."""
        last = self.ids[-1] if self.ids else 0
        self.ids += self.ledger.run_ids_between(self._session.history_key, last)

    def lines(self, places: Sequence[int]) -> dict[int, Line | None]:
        """Return lines by their places; None if the ledger no longer has the run."""
        known = [place for place in places if 0 <= place < len(self.ids)]
        while missing := [place for place in known if self.ids[place] not in self._lines]:
            self._read(missing[0], max(p for p in missing if p < missing[0] + _PIECE))
        return {place: self._lines[self.ids[place]] for place in known}

    def find(self, wanted: Filter, low: int, high: int) -> tuple[list[int], int]:
        """Search from the newest run to the oldest, for a limited time.

        Args:
            wanted: The runs to find.
            low: The first place to search.
            high: The place after the last one.

        Returns:
            The places of these runs, in ascending order, and the lowest place that was searched.
        """
        deadline = time.perf_counter() + _SEARCH_SECONDS
        found: list[int] = []
        while high > low and time.perf_counter() < deadline:
            begin = max(low, high - _PIECE)
            lines = self.lines(range(begin, high))
            found[:0] = [place for place, line in lines.items() if line and wanted.fits(line)]
            high = begin
        return found, high

    def moves(self, now: Mapping[str, str]) -> dict[str, str]:
        """Return which run moved each source last, if it is among the latest runs."""
        return last_moves(self._latest(), now)

    def _latest(self) -> Iterator[Line]:
        """Yield the latest lines, the newest first, and read them as needed."""
        count = len(self.ids)
        for end in range(count, max(0, count - _LOOKED_BACK), -_GLANCE):
            read = self.lines(range(max(0, end - _GLANCE), end))
            yield from filter(None, reversed(read.values()))

    def _read(self, first: int, last: int) -> None:
        """Read the runs from one place to another, and earlier runs of their cells."""
        begin, end = self.ids[first], self.ids[last]
        for number in self.ids[first : last + 1]:
            self._lines.setdefault(number, None)
        earlier: dict[str, Earlier] = {}
        for run in self.ledger.runs_between(self._session.history_key, begin - 1, end):
            if run.cell not in earlier:
                earlier[run.cell] = self._before(run)
            if self._lines.get(run.id or 0) is None:
                self._lines[run.id or 0] = self._draw(run, earlier[run.cell])
            if run.status != UNDONE:
                earlier[run.cell].appendleft(run)

    def _draw(self, run: Run, before: Earlier) -> Line:
        line = Line(run, before, self._session.kernel)
        self.columns = [*dict.fromkeys([*self.columns, *line.between, *line.moved, *line.others])]
        return line

    def _before(self, run: Run) -> Earlier:
        runs, most = self.ledger.runs, MOST_EARLIER
        earlier = runs(run.notebook, run.cell, before_id=run.id, limit=most, undone=False)
        return deque(earlier, maxlen=most)
