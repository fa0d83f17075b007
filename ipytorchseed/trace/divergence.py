"""Compares two recordings of one cell: which operation differs first.

An operation is identified by its kind, its place and its inputs, not by its number in the run, so
runs may differ in length and threads may run in any order. ``comparing`` pairs the operations of
traces in files, whose code, library versions and devices may differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from ipytorchseed.trace.operations import Overload
from ipytorchseed.trace.places import Place
from ipytorchseed.trace.recording import DRAWS, UNSEEN, UNWRITTEN, VIEW, Recording, Thread

_SKIPPED = VIEW | UNWRITTEN | UNSEEN


class Point(Struct, frozen=True):
    """An operation of a recording.

    Attributes:
        number: The operation's number.
        place_number: Its place's number.
        index: Its number in the run of its thread, from 0.
        thread: Its thread, 0 for the cell's own.
        count: How many of the same kind were before it at the same place.
        inputs: The digest of its inputs.
        operation: The operation.
        place: Its place in the code.
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
    """What the comparison found; both are None if the recordings agree.

    Attributes:
        operation: The first operation with a different result for the same input.
        entered: The first operation with inputs that the other run did not have there: a
            difference from outside torch, or from such an operation.
    """

    operation: Point | None = None
    entered: Point | None = None

    @property
    def found(self) -> bool:
        """Whether the recordings differ."""
        return self.operation is not None or self.entered is not None

    @property
    def outside_first(self) -> bool:
        """Whether a difference came in before any operation caused one."""
        if self.entered is None or self.operation is None:
            return self.entered is not None
        one, other = self.entered, self.operation
        return (one.thread, one.index) < (other.thread, other.index)


def compare(before: Recording, after: Recording) -> Divergence:
    """Compare two recordings with common tables.

    Args:
        before: One run.
        after: Another; the operations in the result are of this one.
    """
    known = [_keys(thread) for thread in before.threads]
    keys, pairs = (
        np.concatenate([each[column][each[2]] for each in known] or [np.empty(0, np.uint64)])
        for column in (0, 1)
    )
    operation = entered = None
    for number, thread in enumerate(after.threads):
        key, pair, counted = _keys(thread)
        met = np.isin(key, keys)
        if operation is None:
            operation = _first(after, number, counted & met & ~np.isin(pair, pairs))
        if entered is None:
            entered = _first(after, number, counted & ~met)
    return Divergence(operation, entered)


def _first(recording: Recording, number: int, chosen: Any) -> Point | None:
    """Return the first operation of a thread that a mask selects."""
    places = np.flatnonzero(chosen)
    return point(recording, number, int(places[0])) if len(places) else None


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
    """Return the first operation with a number, and at a place if one is given."""
    for index, thread in enumerate(recording.threads):
        chosen = np.frombuffer(thread.operations, np.uint16) == number
        if place is not None:
            chosen &= np.frombuffer(thread.places, np.uint32) == place
        found = _first(recording, index, chosen)
        if found is not None:
            return found
    return None


def _keys(thread: Thread) -> tuple[Any, Any, Any]:
    """Return two keys for each operation of a thread.

    One is made of the operation and its inputs, the other also of its results.

    Returns:
        Both keys of each operation, and which operations are to be compared.
    """
    operations = np.frombuffer(thread.operations, np.uint16).astype(np.uint64)
    places = np.frombuffer(thread.places, np.uint32).astype(np.uint64)
    given, made = (np.frombuffer(column, np.uint64) for column in (thread.inputs, thread.outputs))
    key = mix(given ^ mix((operations << np.uint64(32)) | places))
    counted = (np.frombuffer(thread.marks, np.uint8) & _SKIPPED) == 0
    return key, mix(key ^ mix(made)), counted


def mix(words: Any) -> Any:
    """Mix the bits of each word with the finalizer of SplitMix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
