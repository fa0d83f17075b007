"""The records of the tables of sources and generators: a source, its library, a generator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.errors import StateError, in_brief
from ipytorchseed.rng.position import UNKNOWN, Position

Locate = Callable[[bytes, Sequence[int]], Position]


def nowhere(state: bytes, hints: Sequence[int]) -> Position:  # noqa: ARG001
    """Locate no state: for generators whose algorithm is not known."""
    return UNKNOWN


class Source(Struct, frozen=True):
    """One place that random numbers come from.

    Attributes:
        name: As the user sees it: ``python``, ``numpy``, ``torch.cpu``, ``torch.cuda:0``.
        seed: Begins its stream again from an integer from 0 to 2**32-1.
        read: Returns the full state as bytes, or None where the library cannot tell it. It
            neither draws nor starts a device.
        write: Puts back a state that ``read`` returned.
        locate: Finds the seed and the draws behind a state, given seeds that are likely.
        type: Empty: only generators of the user's have one.
    """

    name: str
    seed: Callable[[int], object]
    read: Callable[[], bytes | None]
    write: Callable[[bytes], object]
    locate: Locate = nowhere
    type: ClassVar[str] = ""

    def state(self) -> bytes | None:
        """Return the full state, or None where the library cannot tell it.

        Raises:
            StateError: It fails to, as of a GPU after an error.
        """
        try:
            return self.read()
        except Exception as error:
            raise StateError(f"{self.name} cannot be read: {in_brief(error)}") from error


class Kind(Struct, frozen=True):
    """A row of the table of generator types.

    Attributes:
        type: As users write it, ``torch.Generator``.
        module: The module that must have been imported for such objects to exist.
        read: Returns the full state of one.
        write: Puts a state back.
        seed: Begins its stream again.
        locate: Finds the seed of one and its draws since.
    """

    type: str
    module: str
    read: Callable[[Any], bytes]
    write: Callable[[Any, bytes], None]
    seed: Callable[[Any, int], None]
    locate: Callable[[Any, Sequence[int]], Position]

    def source(self, name: str, find: Callable[[], Any], locate: Locate) -> Source:
        """Return the source whose generator ``find`` returns; ``locate`` is given its state."""
        return Source(
            name,
            lambda value: self.seed(find(), value),
            lambda: self.read(find()),
            lambda state: self.write(find(), state),
            locate,
        )


class Waiting(Protocol):
    """What seeds a library at its import."""

    @property
    def sources(self) -> Sequence[Source]:
        """The library's source, if it waits to be seeded."""

    def can_wait(self) -> bool:
        """Return whether the library is not imported yet, and can be."""

    def seed(self, value: int) -> None:
        """Seed the library once it is imported."""


class Library(Struct, frozen=True):
    """A row of the table: one library and the sources it has.

    Attributes:
        name: What errors and tables call it.
        module: The module that must be in ``sys.modules`` for the sources to exist.
        seeder: Returns the function that seeds all its sources, also those of devices that have
            not started (queued); imports the library for it. Returned rather than called, since
            torch formats the whole call stack at each seeding: every frame between costs.
        sources: The sources that can be read now, without starting anything.
        essential: True where seeding imports the library, so that a later import finds it
            seeded; False where only a library already imported is seeded.
        awaited: What seeds it at its import, if that may come later.
    """

    name: str
    module: str
    seeder: Callable[[], Callable[[int], object]]
    sources: Callable[[], Sequence[Source]]
    essential: bool = False
    awaited: Waiting | None = None


def digest(state: bytes) -> str:
    """Return the digest of a state: 16 hex digits, the XXH3 hash of all its bytes."""
    return xxh3_64_hexdigest(state)


class StateHolder(Protocol):
    """A source, or a generator of the user's: its state can be read and put back."""

    def read(self) -> bytes | None:
        """Return its full state, or None if unknown."""

    def write(self, state: bytes, /) -> object:
        """Put back a state that ``read`` returned."""


def put_all(states: Iterable[tuple[StateHolder, bytes]]) -> None:
    """Put states back: all of them, or none.

    Args:
        states: Each with the source or generator that it is for.

    Raises:
        StateError: One does not fit; nothing stays moved.
    """
    before: list[tuple[StateHolder, bytes | None]] = []
    try:
        for holder, state in states:
            before.append((holder, holder.read()))
            holder.write(state)
    except BaseException as error:
        for holder, was in before:  # the one that failed too: it may have moved
            if was is not None:
                holder.write(was)
        if isinstance(error, StateError) or not isinstance(error, Exception):
            raise
        raise StateError(f"a state does not fit: {in_brief(error)}") from error
