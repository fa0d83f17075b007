"""The records in the tables of sources and generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.errors import StateError, in_brief
from ipytorchseed.rng.position import UNKNOWN, Position

Locate = Callable[[bytes, Sequence[int]], Position]


def nowhere(state: bytes, hints: Sequence[int]) -> Position:  # noqa: ARG001
    """Return an unknown position, for generators whose algorithm is unknown."""
    return UNKNOWN


class Source(Struct, frozen=True):
    """One source of random numbers.

    Attributes:
        name: As the user sees it: ``python``, ``numpy``, ``torch.cpu``, ``torch.cuda:0``.
        seed: Seeds its stream with an integer from 0 to 2**32-1.
        read: Returns the full state as bytes, or None if the library cannot read it. It neither
            draws nor starts a device.
        write: Restores a state that ``read`` returned.
        locate: Finds the seed and the draws of a state, given likely seeds.
        type: Empty: only the user's generators have one.
    """

    name: str
    seed: Callable[[int], object]
    read: Callable[[], bytes | None]
    write: Callable[[bytes], object]
    locate: Locate = nowhere
    type: ClassVar[str] = ""

    def state(self) -> bytes | None:
        """Return the full state, or None if the library cannot read it.

        Raises:
            StateError: Reading failed, for example of a GPU after an error.
        """
        try:
            return self.read()
        except Exception as error:
            raise StateError(f"{self.name} cannot be read: {in_brief(error)}") from error


class Kind(Struct, frozen=True):
    """A row in the table of generator types.

    Attributes:
        type: The type as users write it, ``torch.Generator``.
        module: The module that must have been imported for such objects to exist.
        read: Returns the full state of a generator.
        write: Restores a state.
        seed: Seeds a generator.
        locate: Finds the seed of a generator and its draws since.
    """

    type: str
    module: str
    read: Callable[[Any], bytes]
    write: Callable[[Any, bytes], None]
    seed: Callable[[Any, int], None]
    locate: Callable[[Any, Sequence[int]], Position]

    def source(self, name: str, find: Callable[[], Any], locate: Locate) -> Source:
        """Return the source of the generator that ``find`` returns.

        ``locate`` gets its state.
        """
        return Source(
            name,
            lambda value: self.seed(find(), value),
            lambda: self.read(find()),
            lambda state: self.write(find(), state),
            locate,
        )


class Waiting(Protocol):
    """An object that seeds a library at its import."""

    @property
    def sources(self) -> Sequence[Source]:
        """Return the library's source, if it waits to be seeded."""

    def can_wait(self) -> bool:
        """Return whether the library can still be imported."""

    def seed(self, value: int) -> None:
        """Seed the library once it is imported."""


class Library(Struct, frozen=True):
    """A row in the table of libraries.

    Attributes:
        name: Its name in errors and tables.
        module: The module that must be in ``sys.modules`` for the sources to exist.
        seeder: Imports the library and returns the function that seeds all its sources. Seeds of
            devices that have not started are queued. It is returned, not called, since torch
            formats the whole call stack at each seeding, so that every frame costs time.
        sources: Returns the sources that can be read now, without starting anything.
        essential: Whether seeding imports the library, so that a later import finds it seeded. Else
            it is seeded only if it is imported already.
        awaited: Seeds it at a later import, if that is possible.
    """

    name: str
    module: str
    seeder: Callable[[], Callable[[int], object]]
    sources: Callable[[], Sequence[Source]]
    essential: bool = False
    awaited: Waiting | None = None


def digest(state: bytes) -> str:
    """Return the XXH3 hash of a state as 16 hex digits."""
    return xxh3_64_hexdigest(state)


class StateHolder(Protocol):
    """A source or a generator of the user, whose state can be read and restored."""

    def read(self) -> bytes | None:
        """Return the full state, or None if unknown."""

    def write(self, state: bytes, /) -> object:
        """Restore a state that ``read`` returned."""


def put_all(states: Iterable[tuple[StateHolder, bytes]]) -> None:
    """Restore all of the states, or none.

    Args:
        states: Pairs of a source or generator and its state.

    Raises:
        StateError: A state does not fit. All previous states were restored.
    """
    before: list[tuple[StateHolder, bytes | None]] = []
    try:
        for holder, state in states:
            before.append((holder, holder.read()))
            holder.write(state)
    except BaseException as error:
        for holder, was in before:  # includes the one that failed, which may have moved
            if was is not None:
                holder.write(was)
        if isinstance(error, StateError) or not isinstance(error, Exception):
            raise
        raise StateError(f"a state does not fit: {in_brief(error)}") from error
