"""The table of random sources, and functions that seed them.

To add a library, add a row to ``BUILT_IN``. In another package, call ``register_source``, or define
an entry point in the group ``ipytorchseed.sources``: a ``Source``, or a function that returns one.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ipytorchseed.errors import SourceError, in_brief
from ipytorchseed.rng import library_random, numpy_random, python_random, torch_random
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.rng.seeds import check_seed, own_rank, seed_by_rank, tell_seed
from ipytorchseed.rng.source import Library, Source

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BUILT_IN: tuple[Library, ...] = (
    python_random.LIBRARY,
    numpy_random.LIBRARY,
    torch_random.LIBRARY,
    *library_random.LIBRARIES,
)

ENTRY_POINTS = "ipytorchseed.sources"

_registered: dict[str, Library] = {}

# Objects whose methods read and write a registered source, by ``id``.
holders: dict[int, object] = {}

_recent: deque[int] = deque(maxlen=8)


def libraries() -> list[Library]:
    """Return the rows of all libraries, including plugins and registered sources."""
    _load_plugins()
    return [*BUILT_IN, *_registered.values()]


def sources() -> list[Source]:
    """Return the sources that can be read now, without importing or starting any."""
    _load_plugins()
    return _present()


def import_lazy(packages: Collection[str] = ()) -> None:
    """Import modules with sources that imported packages load lazily, such as numpy's.

    Otherwise a snapshot would not contain such a source, and could not restore it.

    Args:
        packages: Packages whose sources are imported too.
    """
    for library in libraries():
        package = library.module.partition(".")[0]
        if (package in packages or package in sys.modules) and library.module not in sys.modules:
            with suppress(Exception):  # broken: drawing from it will raise
                check_folder(library.module)
                import_module(library.module)


def _present() -> list[Source]:
    found: list[Source] = []
    for library in (*BUILT_IN, *_registered.values()):
        if library.module in sys.modules:
            found += library.sources()
        elif library.awaited is not None:
            found += library.awaited.sources
    return found


def seed(value: int, *, rank: bool = False) -> None:
    """Seed every random source: python, numpy, torch and registered sources.

    Imports numpy and torch if necessary. Seeds torch on all devices. CUDA is not started: its seed
    is queued, as torch does.

    Args:
        value: An integer from 0 to 2**32-1.
        rank: Whether each of several processes (ranks) gets its own seed, derived from ``value``
            and its rank only. A process without a rank counts as rank 0.

    Raises:
        SeedError: ``value`` is not a valid seed; nothing was seeded.
        SourceError: A library failed to seed; all others were seeded. Or the working folder was
            removed before numpy or torch was imported; nothing was seeded.
    """
    number = check_seed(value)
    if rank:
        number = seed_by_rank(number, own_rank())
    seed_all(number)
    tell_seed(number, "call")


def seed_all(number: int, *, wait: bool = False) -> None:
    """Seed every source like ``seed``, without calling the listeners.

    Args:
        number: A valid seed.
        wait: Whether to seed torch only when the user imports it, instead of importing it now.

    Raises:
        SourceError: See ``seed``.
    """
    for library in BUILT_IN:
        if library.essential:
            check_folder(library.module)
    remember(number)
    failed = []
    for library in libraries():
        if library.essential or library.module in sys.modules:
            waits = wait and library.awaited is not None and library.awaited.can_wait()
            try:
                seed = library.awaited.seed if waits else library.seeder()
                seed(number)
            except Exception as error:  # noqa: BLE001 -- from registered sources, or a GPU
                failed.append(f"{library.name!r} ({in_brief(error)})")
    if failed:
        raise SourceError(f"could not seed {', '.join(failed)}; every other source was seeded")


def check_folder(module: str) -> None:
    """Raise an error if the folder is gone and the module is not imported yet.

    Importing torch in a removed folder would end the process.

    Raises:
        SourceError: The working folder was removed, and the module is not imported yet.
    """
    if module in sys.modules:
        return
    try:
        os.getcwd()  # noqa: PTH109 -- raises if it was removed
    except OSError:
        raise SourceError(
            f"the working folder was removed, and without one {module.partition('.')[0]} cannot be"
            " imported; change to another first: cd ~, in a notebook %cd ~"
        ) from None


def remember(value: int) -> None:
    """Record a seed that was applied, as a hint for finding positions."""
    if value in _recent:
        _recent.remove(value)
    _recent.appendleft(value)


@contextmanager
def hints_kept() -> Iterator[None]:
    """Restore the list of recent seeds after the block."""
    kept = [*_recent]
    try:
        yield
    finally:
        _recent.clear()
        _recent.extend(kept)


def recent_seeds() -> tuple[int, ...]:
    """Return the seeds that were last applied to all sources, newest first."""
    return tuple(_recent)


def locate(source: Source, state: bytes) -> Position:
    """Find the seed and draws of a state of a source."""
    return source.locate(state, recent_seeds())


def register_source(  # noqa: PLR0913 -- one for each operation of a source
    name: str,
    *,
    seed: Callable[[int], object],
    read: Callable[[], bytes | None],
    write: Callable[[bytes], object],
    draws: Callable[[bytes, bytes], int | None] | None = None,
    module: str = "sys",
) -> None:
    """Add a random source, which is then seeded, shown and restored like all sources.

    Args:
        name: The name of the source, which must be unique.
        seed: Seeds the source with an integer from 0 to 2**32-1.
        read: Returns the full state as bytes, without drawing. It may return None if the state
            cannot be read.
        write: Restores a state that ``read`` returned.
        draws: Counts the numbers drawn between two states, or returns None if they are unknown.
        module: A module. Until it is imported, the source is ignored.

    Raises:
        SourceError: The name is taken, or an argument is not callable.

    Example:
        >>> import ipytorchseed as its
        >>> its.register_source("dice", seed=dice.seed, read=dice.state, write=dice.set_state)
    """
    given = {"seed": seed, "read": read, "write": write}
    if draws is not None:
        given["draws"] = draws
    for argument, value in given.items():
        if not callable(value):
            raise SourceError(f"{argument} of the source {name!r} must be callable, not {value!r}")
    begun: dict[int, bytes] = {}

    def apply(value: int) -> None:
        seed(value)
        state = read()
        begun.clear()
        if state is not None:
            begun[value] = bytes(state)

    def locate(state: bytes, hints: Sequence[int]) -> Position:  # noqa: ARG001
        for value, begin in begun.items():
            count = draws(begin, state) if draws else 0 if state == begin else None
            if count is not None:
                return Position(value, count)
        return UNKNOWN

    _add(Source(name, apply, read, write, locate), module)
    owners = (getattr(each, "__self__", None) for each in (read, write))
    kept = [each for each in owners if not isinstance(each, type | ModuleType | None)]
    holders.update({id(each): each for each in kept})


def _add(made: Source | Callable[[], Source | None], module: str = "sys") -> None:
    source = made if isinstance(made, Source) else made()
    if source is None:  # the function of a plugin called `register_source`
        return
    name: object = source.name
    taken = {row.name for row in (*BUILT_IN, *_registered.values())}
    taken |= {each.name for each in _present()}
    if not isinstance(name, str) or not name or name in taken:
        msg = f"a source needs a unique name, and {name!r} is not: taken are "
        raise SourceError(msg + ", ".join(sorted(taken)))
    _registered[name] = Library(source.name, module, lambda: source.seed, lambda: (source,))


def entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of one of our groups, from a cache if possible."""
    return tuple(each for each in _search((*sys.path,)) if each.group == group)


@lru_cache(maxsize=1)
def _search(folders: tuple[str, ...]) -> list[EntryPoint]:
    """Return the entry points of our groups, in the packages on ``sys.path``.

    ``metadata.entry_points`` would parse those of all packages, which takes five times as long.
    """
    with suppress(Exception):  # another package is broken
        places = [
            f"{folder}/{name}"
            for folder in filter(os.path.isdir, folders)
            for name in os.listdir(folder)  # noqa: PTH208 -- fast, as below
            if name.endswith("-info")
        ]
        found = [Path(each) for each in places if b"[ipytorchseed." in _points(each)]
        if found:
            from importlib import metadata  # takes long

            # of several with one name, Python imports the first
            names = dict.fromkeys(metadata.Distribution.at(each).name for each in found)
            return [each for name in names for each in metadata.distribution(name).entry_points]
    return []


def _points(place: str) -> bytes:
    with suppress(OSError), open(f"{place}/entry_points.txt", "rb") as file:  # noqa: PTH123 -- fast
        return file.read()
    return b""


@lru_cache(maxsize=1)
def _load_plugins() -> None:
    """Add the sources of installed plugins once; warn about broken plugins."""
    load_each(entry_points(ENTRY_POINTS), _add, "source", "unseeded")


def load_each(
    points: Iterable[EntryPoint], add: Callable[[Any], object], what: str, left: str
) -> None:
    """Load and add entry points; warn about broken ones.

    Args:
        points: The entry points.
        add: Adds the object that an entry point refers to.
        what: The kind of the object, for the warning.
        left: A word for the consequence if loading fails, such as ``unseeded``, for the warning.
    """
    for point in points:
        try:
            add(point.load())
        except Exception as error:  # noqa: BLE001 -- another package is broken
            warnings.warn(
                f"the {what} {point.name!r} ({point.value}) could not be loaded, and is left "
                f"{left}: {type(error).__name__}: {error}",
                stacklevel=2,
            )
