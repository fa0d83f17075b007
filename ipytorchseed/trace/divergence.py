"""Compares two recordings: the first operation that gave another result for the same input.

Operations are compared by what they are, where they stand and what they were given, not by their
number in the run: so runs of unequal length are compared too, and threads in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from ipytorchseed.trace.operations import Overload
from ipytorchseed.trace.places import Place
from ipytorchseed.trace.recording import DRAWS, UNSEEN, UNWRITTEN, VIEW, Recording, Thread

_SKIPPED = VIEW | UNWRITTEN | UNSEEN

_CHUNK = 1 << 16
"""Operations that are looked at together, so that a long run takes little memory."""


class Point(Struct, frozen=True):
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
    operation: Overload
    place: Place
    draws: bool


class Divergence(Struct, frozen=True):
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
    known_keys, known_pairs = _known(before)
    operation = entered = None
    for number, thread in enumerate(after.threads):
        for begin in range(0, len(thread), _CHUNK):
            key, pair, counted = _keys(thread, begin)
            known = _among(key, known_keys)
            if operation is None:
                chosen = counted & known & ~_among(pair, known_pairs)
                operation = _first(after, number, begin, chosen)
            if entered is None:
                entered = _first(after, number, begin, counted & ~known)
            if operation is not None and entered is not None:
                break
    return Divergence(operation, entered)


def _known(recording: Recording) -> tuple[Any, Any]:
    """Return the sorted keys of all operations: by their inputs, and by inputs and results."""
    keys, pairs = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
    for thread in recording.threads:
        for begin in range(0, len(thread), _CHUNK):
            key, pair, counted = _keys(thread, begin)
            keys.append(key[counted])
            pairs.append(pair[counted])
    known_keys, known_pairs = np.concatenate(keys), np.concatenate(pairs)
    known_keys.sort()
    known_pairs.sort()
    return known_keys, known_pairs


def _among(words: Any, known: Any) -> Any:
    if not len(known):
        return np.zeros(len(words), bool)
    places = np.searchsorted(known, words)
    return known[np.minimum(places, len(known) - 1)] == words


def _first(recording: Recording, number: int, begin: int, chosen: Any) -> Point | None:
    """Return the first operation from ``begin`` on that a mask chooses."""
    places = np.flatnonzero(chosen)
    return point(recording, number, begin + int(places[0])) if len(places) else None


def point(recording: Recording, number: int, index: int) -> Point:
    """Return an operation of a recording, by its thread and its index in it."""
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
        operation=tables.operations.all[what],
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


def _keys(thread: Thread, begin: int) -> tuple[Any, Any, Any]:
    """Return keys of some operations: by what they are and their inputs, and by results as well.

    Args:
        thread: Whose.
        begin: The first of them, of at most ``_CHUNK``.

    Returns:
        Both keys of each operation, and which operations are to be compared.
    """

    def some(column: Any, dtype: Any) -> Any:
        return np.frombuffer(column, dtype)[begin : begin + _CHUNK]

    operations = some(thread.operations, np.uint16).astype(np.uint64)
    places = some(thread.places, np.uint32).astype(np.uint64)
    given = some(thread.inputs, np.int64).view(np.uint64)
    made = some(thread.outputs, np.int64).view(np.uint64)
    key = mix(given ^ mix((operations << np.uint64(32)) | places))
    return key, mix(key ^ mix(made)), (some(thread.marks, np.uint8) & _SKIPPED) == 0


def mix(words: Any) -> Any:
    """Mix the bits of each word: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
