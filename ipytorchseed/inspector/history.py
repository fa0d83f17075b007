"""The timeline of a notebook's runs, read when rows become visible."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from ipytorchseed.ledger.records import UNDONE, Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.render.timeline import MOST_EARLIER, Earlier, Line, draw_line, last_moves
from ipytorchseed.session.session import Session

# Runs read at a time in a search.
_PIECE = 256

# Seconds after which a search stops and returns how far it came: cells wait for it.
_SEARCH_SECONDS = 0.05

# The most cells whose latest runs are cached.
_CELLS = 512

# Runs read at a time to find what moved a source last.
_GLANCE = 32

# The most runs that are searched for what moved a source last.
_LOOKED_BACK = 200


class Filter(Struct, frozen=True, rename={"everything": "all"}):
    """Which runs to show.

    Attributes:
        text: Part of the cell's first line or of the run's name; empty for any.
        source: A source or generator that the run moved; empty for any.
        changed: Whether to show only re-runs with a different initial state or result.
        everything: Whether to show also runs that only looked, or could not be parsed.
    """

    text: str = ""
    source: str = ""
    changed: bool = False
    everything: bool = False

    def fits(self, line: Line) -> bool:
        """Return whether to show a run."""
        text = self.text.casefold()
        return (
            (self.everything or not line.aside)
            and (not text or text in line.label.casefold() or text in line.name.casefold())
            and (not self.source or self.source in line.between or line.field(self.source).moved)
            and (
                not self.changed
                or bool(line.others)
                or bool(line.outcome and not line.outcome.same)
            )
        )


class History:
    """All runs of a session's notebook, the oldest first.

    Runs that were read are cached as lines of the timeline. The numbers of all runs are read at
    the start, so each line has a place before it is read.

    Args:
        session: The session of the notebook.

    Attributes:
        ids: The numbers of the runs in the ledger.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.ledger: Ledger = session.ledger
        self.ids = self.ledger.run_ids_between(session.history_key, 0)
        self._lines: dict[int, Line | None] = {}
        self._latest: dict[str, Earlier] = {}
        self._moved: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, run: Run) -> Line:
        """Add a run that was just recorded, or update one that was undone."""
        before = self._before(run)
        line = self._draw(run, before)
        self._latest.pop(run.cell, None)
        if run.status == UNDONE:
            self._lines[run.id or 0] = line
            return line
        before.appendleft(run)
        self._latest[run.cell] = before
        if len(self._latest) > _CELLS:
            del self._latest[next(iter(self._latest))]
        if run.id is not None and (not self.ids or run.id > self.ids[-1]):
            self._lines[run.id] = line
            self.ids.append(run.id)
        return line

    def catch_up(self) -> None:
        """Add the runs that other kernels of the notebook recorded."""
        last = self.ids[-1] if self.ids else 0
        session = self._session
        self.ids += self.ledger.run_ids_between(session.history_key, last)

    def lines(self, places: Sequence[int]) -> dict[int, Line | None]:
        """Return lines by their places; None if the ledger no longer has the run."""
        known = [place for place in places if 0 <= place < len(self.ids)]
        missing = [place for place in known if self.ids[place] not in self._lines]
        while missing:
            first = missing[0]
            piece = [place for place in missing if place < first + _PIECE]
            self._read(first, piece[-1])
            missing = missing[len(piece) :]
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

    @property
    def columns(self) -> list[str]:
        """The sources and generators that have a column, from the runs read so far."""
        return [*self._moved]

    def moves(self, now: Mapping[str, str]) -> dict[str, str]:
        """Return which run moved each source last, if it is among the latest runs."""
        count = len(self.ids)
        return last_moves(self._back(count, max(0, count - _LOOKED_BACK)), now)

    def _back(self, high: int, low: int) -> Iterator[Line]:
        """Yield lines from the newest to older ones, and read them as needed."""
        while high > low:
            begin = max(low, high - _GLANCE)
            yield from (line for line in reversed(self.lines(range(begin, high)).values()) if line)
            high = begin

    def _read(self, first: int, last: int) -> None:
        """Read the runs from one place to another, and earlier runs of their cells."""
        begin, end = self.ids[first], self.ids[last]
        for number in self.ids[first : last + 1]:
            self._lines.setdefault(number, None)
        earlier: dict[str, Earlier] = {}
        for run in self.ledger.runs_between(self._session.history_key, begin - 1, end):
            if run.id is None:
                continue
            if run.cell not in earlier:
                earlier[run.cell] = self._before(run)
            if self._lines.get(run.id) is None:
                self._lines[run.id] = self._draw(run, earlier[run.cell])
            if run.status != UNDONE:
                earlier[run.cell].appendleft(run)

    def _draw(self, run: Run, before: Earlier) -> Line:
        line = draw_line(run, before, self._session.kernel)
        self._moved.update(dict.fromkeys([*line.between, *line.moved, *line.others]))
        return line

    def _before(self, run: Run) -> Earlier:
        known: Iterable[Run] = self._latest.get(run.cell, ())
        if not any(run.id is None or (each.id or 0) < run.id for each in [*known][:1]):
            known = self.ledger.runs(
                run.notebook, run.cell, before_id=run.id, limit=MOST_EARLIER, undone=False
            )
        return deque(known, maxlen=MOST_EARLIER)
