"""A traced run in memory: 23 bytes for each operation, and each name once."""

from __future__ import annotations

from array import array
from typing import Generic, TypeVar

from msgspec import Struct, field

from ipytorchseed.trace.operations import Overload
from ipytorchseed.trace.places import Place

T = TypeVar("T")

# Marks, to be added: properties of an operation that matter for comparisons.
PLAIN, VIEW, UNWRITTEN, DRAWS, UNSEEN = 0, 1, 2, 4, 8

# Operations that compute no values.
SILENT = VIEW | UNWRITTEN


class Numbers(Generic[T]):
    """Numbers values from 0, in the order of their first occurrence.

    Attributes:
        all: The values, by number.
    """

    def __init__(self) -> None:
        self.all: list[T] = []
        self._known: dict[T, int] = {}

    def of(self, value: T) -> int:
        """Return the number of a value."""
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = len(self.all)
            self.all.append(value)
        return found


class Tables:
    """Numbers for operations and places, shared by recordings to compare."""

    def __init__(self) -> None:
        self.operations: Numbers[Overload] = Numbers()
        self.places: Numbers[Place] = Numbers()


class Thread(Struct):
    """The operations of one thread, in order, as columns of equal length.

    Attributes:
        operations: Numbers of operations.
        places: Numbers of places.
        inputs: Digests of inputs, 64 bits.
        outputs: Digests of what was returned or written.
        marks: Sums of marks.
    """

    operations: array[int] = field(default_factory=lambda: array("H"))
    places: array[int] = field(default_factory=lambda: array("I"))
    inputs: array[int] = field(default_factory=lambda: array("q"))
    outputs: array[int] = field(default_factory=lambda: array("q"))
    marks: array[int] = field(default_factory=lambda: array("B"))

    def __len__(self) -> int:
        return len(self.operations)

    def add(self, operation: int, place: int, given: int, made: int, marks: int) -> None:
        """Store an operation."""
        self.operations.append(operation)
        self.places.append(place)
        self.inputs.append(given)
        self.outputs.append(made)
        self.marks.append(marks)


class Drawn(Struct):
    """What one operation at one place drew from one source.

    Attributes:
        operation: torch's name, ``aten::bernoulli_``.
        place: Its place in the code.
        source: The source or generator.
        by: The part of torch that drew, if it was not a module of the user: ``DataLoader``.
        calls: The number of calls.
        numbers: The number of raw numbers in all; None if they cannot be counted.
    """

    operation: str
    place: Place
    source: str
    by: str = ""
    calls: int = 0
    numbers: int | None = 0

    def add(self, numbers: int | None) -> None:
        """Count one more draw of so many numbers."""
        self.calls += 1
        self.numbers = None if numbers is None or self.numbers is None else self.numbers + numbers


class Recording(Struct):
    """A traced run.

    Attributes:
        tables: The meaning of its numbers.
        threads: The threads in which operations were seen, that of the cell first.
        drawn: What was drawn, in the order of the first draws.
        notes: What could not be seen, in words.
    """

    tables: Tables
    threads: list[Thread] = []
    drawn: list[Drawn] = []
    notes: list[str] = []

    @property
    def count(self) -> int:
        """How many operations were seen."""
        return sum(map(len, self.threads))
