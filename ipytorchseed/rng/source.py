"""The types of the rows in the tables of sources, generators and libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.errors import StateError, in_brief
from ipytorchseed.rng.position import UNKNOWN, Position

Locate = Callable[[bytes, Sequence[int]], Position]


class Source(Struct, frozen=True):
    """One source of random numbers.

    Attributes:
        name: The name that users see: ``python``, ``numpy``, ``torch.cpu``, ``torch.cuda:0``.
        seed: Seeds the source with an integer from 0 to 2**32-1.
        read: Returns the full state as bytes, or None if the library cannot return it. It must not
            draw or start a device.
        write: Restores a state that ``read`` returned.
        locate: Finds the seed and draws of a state, given likely seeds; by default, they are
            unknown.
        type: Always empty; see ``FoundGenerator.type``.
    """

    name: str
    seed: Callable[[int], object]
    read: Callable[[], bytes | None]
    write: Callable[[bytes], object]
    locate: Locate = lambda *_: UNKNOWN
    type: ClassVar[str] = ""

    def state(self) -> bytes | None:
        """Return the full state, or None if the library cannot return it.

        Raises:
            StateError: Reading failed, for example because of an earlier error on a GPU.
        """
        try:
            return self.read()
        except Exception as error:
            raise StateError(f"{self.name} cannot be read: {in_brief(error)}") from error


class Kind(Struct, frozen=True):
    """A row in the table of generator types.

    Attributes:
        type: The type as users write it, such as ``torch.Generator``.
        module: The module that defines the type. Until it is imported, there are no such objects.
        read: Returns the full state of a generator.
        write: Restores a state of a generator.
        seed: Seeds a generator.
        locate: Finds the seed of a generator, and its draws since.
    """

    type: str
    module: str
    read: Callable[[Any], bytes]
    write: Callable[[Any, bytes], None]
    seed: Callable[[Any, int], None]
    locate: Callable[[Any, Sequence[int]], Position]

    def source(self, name: str, find: Callable[[], Any], locate: Locate) -> Source:
        """Return a source whose numbers a generator of this type draws.

        Args:
            name: The name of the source.
            find: Returns the generator.
            locate: Finds the seed and draws of a state, given likely seeds.
        """
        return Source(
            name,
            lambda value: self.seed(find(), value),
            lambda: self.read(find()),
            lambda state: self.write(find(), state),
            locate,
        )


class Library(Struct, frozen=True):
    """A row in the table of libraries.

    Attributes:
        name: The name of the library in errors and tables.
        module: The module that must be in ``sys.modules`` for the sources to exist.
        seeder: Imports the library, and returns a function that seeds all its sources. It queues
            the seeds of devices that have not started. The function is called without a wrapper,
            because torch formats the whole call stack each time it is seeded.
        sources: Returns the sources that can be read now, without starting a device.
        essential: Whether seeding imports the library. Otherwise, the library is seeded only if it
            is already imported.
        awaited: The ``torch_random.Awaited`` that seeds the library at a later import, or None if
            that is impossible.
    """

    name: str
    module: str
    seeder: Callable[[], Callable[[int], object]]
    sources: Callable[[], Sequence[Source]]
    essential: bool = False
    awaited: Any = None


def digest(state: bytes) -> str:
    """Return the XXH3 hash of a state as 16 hex digits."""
    return xxh3_64_hexdigest(state)


def put_all(states: Iterable[tuple[Any, bytes]]) -> None:
    """Restore several states. If one cannot be restored, change nothing.

    Args:
        states: Pairs of a source or generator and its state.

    Raises:
        StateError: A source or generator rejects its state.
    """
    before: list[tuple[Any, bytes | None]] = []
    try:
        for holder, state in states:
            before.append((holder, holder.read()))
            holder.write(state)
    except BaseException as error:
        for holder, was in before:  # including the one that failed, which may have changed
            if was is not None:
                holder.write(was)
        if isinstance(error, StateError) or not isinstance(error, Exception):
            raise
        raise StateError(f"a state was rejected: {in_brief(error)}") from error
