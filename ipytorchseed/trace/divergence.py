"""Two recordings of one cell: the first operation that gave another result for the same input.

Operations are compared by what they are, where they stand and what they were given, not by their
number in the run: so runs of unequal length are compared too, and threads in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ipytorchseed.trace.recording import DRAWS, UNSEEN, UNWRITTEN, VIEW

if TYPE_CHECKING:
    from ipytorchseed.trace.operations import Operation
    from ipytorchseed.trace.places import Place
    from ipytorchseed.trace.recording import Recording, Thread

_SKIPPED = VIEW | UNWRITTEN | UNSEEN


@dataclass(frozen=True, slots=True)
class Point:
    """An operation of a recording.

    Attributes:
        number: The operation's number.
        place_number: Its place's number.
        index: Its number in the run of its thread, from 0.
        thread: Its thread, 0 for the cell's own.
        count: How many of the same kind came before it at the same place.
        inputs: The digest of what it was given.
        operation: What it is.
        place: Where it stands.
        draws: Whether it draws random numbers.
    """

    number: int
    place_number: int
    index: int
    thread: int
    count: int
    inputs: int
    operation: Operation
    place: Place
    draws: bool


@dataclass(frozen=True, slots=True)
class Divergence:
    """What the comparison found; both are None where the recordings agree.

    Attributes:
        operation: The first operation that gave another result for the same input.
        entered: The first operation that was given what no operation of the other run was given
            there: a difference that came from outside torch, or from such an operation.
    """

    operation: Point | None = None
    entered: Point | None = None

    @property
    def found(self) -> bool:
        """Whether the recordings differ."""
        return self.operation is not None or self.entered is not None

    @property
    def outside_first(self) -> bool:
        """Whether a difference came in before any operation made one."""
        if self.entered is None or self.operation is None:
            return self.entered is not None
        one, other = self.entered, self.operation
        return (one.thread, one.index) < (other.thread, other.index)


def compare(before: Recording, after: Recording) -> Divergence:
    """Compare two recordings with common tables.

    Args:
        before: One run.
        after: Another; what is found are operations of it.
    """
    import numpy as np

    keys, pairs = [], []
    for thread in before.threads:
        key, pair, counted = _keys(thread)
        keys.append(key[counted])
        pairs.append(pair[counted])
    known_keys = np.unique(np.concatenate(keys)) if keys else np.empty(0, np.uint64)
    known_pairs = np.unique(np.concatenate(pairs)) if pairs else np.empty(0, np.uint64)
    operation = entered = None
    for number, thread in enumerate(after.threads):
        key, pair, counted = _keys(thread)
        known = np.isin(key, known_keys)
        same = np.isin(pair, known_pairs)
        if operation is None:
            operation = _first(after, number, counted & known & ~same)
        if entered is None:
            entered = _first(after, number, counted & ~known)
    return Divergence(operation, entered)


def _first(recording: Recording, number: int, chosen: Any) -> Point | None:  # noqa: ANN401 -- a mask
    import numpy as np

    places = np.flatnonzero(chosen)
    return point(recording, number, int(places[0])) if len(places) else None


def point(recording: Recording, number: int, index: int) -> Point:
    """Return an operation of a recording, by its thread and its index in it."""
    import numpy as np

    thread, tables = recording.threads[number], recording.tables
    operations = np.frombuffer(thread.operations, np.uint16)[:index]
    places = np.frombuffer(thread.places, np.uint32)[:index]
    what, where = thread.operations[index], thread.places[index]
    return Point(
        number=what,
        place_number=where,
        index=index,
        thread=number,
        count=int(np.count_nonzero((operations == what) & (places == where))),
        inputs=thread.inputs[index],
        operation=tables.operations[what],
        place=tables.places.all[where],
        draws=bool(thread.marks[index] & DRAWS),
    )


def find_point(recording: Recording, number: int, place: int | None = None) -> Point | None:
    """Return the first operation of a number, and of a place where one is given."""
    for index, thread in enumerate(recording.threads):
        for at, what in enumerate(thread.operations):
            if what == number and place in (None, thread.places[at]):
                return point(recording, index, at)
    return None


def _keys(thread: Thread) -> tuple[Any, Any, Any]:
    """Return a number for what each operation is and was given, one with its result, and a mask."""
    import numpy as np

    if not len(thread):
        nothing = np.empty(0, np.uint64)
        return nothing, nothing, np.empty(0, bool)
    operations = np.frombuffer(thread.operations, np.uint16).astype(np.uint64)
    places = np.frombuffer(thread.places, np.uint32).astype(np.uint64)
    given = np.frombuffer(thread.inputs, np.int64).view(np.uint64)
    made = np.frombuffer(thread.outputs, np.int64).view(np.uint64)
    marks = np.frombuffer(thread.marks, np.uint8)
    key = _mix(given ^ _mix((operations << np.uint64(32)) | places))
    return key, _mix(key ^ _mix(made)), (marks & _SKIPPED) == 0


def _mix(words: Any) -> Any:  # noqa: ANN401 -- arrays of numpy's
    """Mix the bits of each word: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014)."""
    import numpy as np

    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
