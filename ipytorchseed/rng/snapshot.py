"""The states of all sources at one moment, to restore them later."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec

from ipytorchseed.errors import SourceError, StateError
from ipytorchseed.foreign import Format, printable
from ipytorchseed.rng import torch_random
from ipytorchseed.rng.generators import FoundGenerator, find_generators
from ipytorchseed.rng.seeds import own_rank
from ipytorchseed.rng.source import digest, put_all
from ipytorchseed.rng.table import import_lazy, sources


@dataclass(frozen=True, slots=True)  # a Struct of msgspec compares all fields
class Snapshot:
    """The states of all sources at one moment.

    Attributes:
        states: The full state of each source, by name. Sources that had not started, or whose state
            cannot be read, are missing.
        queue: The seeds queued for devices that had not started. They are only valid in this
            process, so they are not pickled.
    """

    states: Mapping[str, bytes] = field(repr=False)
    queue: torch_random.Queue = field(repr=False, compare=False)

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each state: 16 hex digits, equal for equal states."""
        return {name: digest(state) for name, state in self.states.items()}

    def __str__(self) -> str:
        return ", ".join(f"{name} {short[:8]}" for name, short in self.digests.items())

    def __reduce__(self) -> tuple[Callable[[dict[str, bytes]], Snapshot], tuple[dict[str, bytes]]]:
        return _of_states, ({**self.states},)


def _of_states(states: dict[str, bytes]) -> Snapshot:
    """Create a snapshot from pickled states."""
    return Snapshot(MappingProxyType(states), torch_random.Queue({}))


def snapshot() -> Snapshot:
    """Return the states of all sources, to restore them later.

    No numbers are drawn, no device is started, and no new package is imported.

    Returns:
        A snapshot for ``restore``. It includes the states of GPUs only if CUDA has started.

    Raises:
        StateError: Reading a source failed.
    """
    import_lazy()
    read = {source.name: source.state() for source in sources()}
    states = {name: state for name, state in read.items() if state is not None}
    return Snapshot(MappingProxyType(states), torch_random.Queue.read())


def restore(snapshot: Snapshot) -> None:
    """Restore the states of a snapshot.

    Sources that are not in the snapshot do not change, except GPUs that started after the snapshot:
    if a seed was queued for them, they are seeded with it again.

    Args:
        snapshot: The return value of ``snapshot()``.

    Raises:
        StateError: A source rejects its state, a source no longer exists, or ``snapshot`` is not a
            snapshot. Nothing was changed.
    """
    if not isinstance(snapshot, Snapshot):
        got = type(snapshot).__name__  # type: ignore[unreachable]  # types are not always checked
        raise StateError(f"restore takes what its.snapshot() returned, not {got}")
    import_lazy()
    present = {source.name: source for source in sources()}
    gone = [name for name in snapshot.states if name not in present]
    if gone:
        msg = f"the snapshot holds {', '.join(gone)}, which this process does not have (yet)"
        raise StateError(msg)
    put_all((present[name], state) for name, state in snapshot.states.items())
    snapshot.queue.write()


_VERSION = 1

_HINT = "load what RandomState.state_dict() returned"
_FORMAT = Format("random state", StateError, _HINT, size=1 << 26)


class _States(msgspec.Struct, frozen=True):
    """The full states of sources and generators in one process, by name."""

    sources: dict[str, bytes]
    generators: dict[str, bytes]


class RandomState:
    """The states of all random sources and of given generators, for a checkpoint.

    It implements torch's ``Stateful`` protocol: ``state_dict`` returns bytes and integers, and
    ``load_state_dict`` restores them. States are stored by rank. In a job with several processes,
    each process should save its states (with ``torch.distributed.checkpoint``, or in one file per
    rank), and then restores its own.

    Args:
        generators: Generators, or objects that contain generators, such as a ``DataLoader``.

    Raises:
        SourceError: An argument is not a generator and does not contain one.

    Example:
        >>> random_state = its.RandomState(g=g, loader=loader)
        >>> torch.save({"model": model.state_dict(), "random": random_state.state_dict()}, path)
        >>> random_state.load_state_dict(torch.load(path)["random"])
    """

    def __init__(self, **generators: object) -> None:
        self._given = generators
        names = [name for each in self._found().values() for name in (each.name, *each.others)]
        held = {re.split(r"[.[]", name)[0] for name in names}
        for name, value in generators.items():
            if name not in held:
                raise SourceError(
                    f"{name} is {_describe(value)} and has no generator; without one"
                    " it draws from the sources, which are kept anyway: leave it out"
                )

    def state_dict(self) -> dict[str, Any]:
        """Return the current states, without drawing numbers or starting a device.

        Returns:
            The version of the format, and the states as bytes under ``rank0`` (``rank1``, ...).
            ``torch.load`` accepts it with ``weights_only=True``.
        """
        found = {name: each.read() for name, each in self._found().items()}
        states = _States(dict(snapshot().states), found)
        return {"format": _VERSION, _rank(): msgspec.msgpack.encode(states)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore the states of all sources and generators.

        Sources that are not in the checkpoint do not change. Sources that are not on this machine
        are skipped with a warning. If the checkpoint only contains the states of other ranks,
        nothing changes, and there is a warning too. A GPU that has not started gets its state when
        it starts.

        Args:
            state_dict: The return value of ``state_dict``.

        Raises:
            StateError: ``state_dict`` is not such a value, or its generators have other names than
                the generators of this object. Nothing was changed.
        """
        states = _unpack(state_dict)
        if states is None:
            return
        found = self._found()
        if found.keys() != states.generators.keys():
            lists = (", ".join(sorted(each)) or "none" for each in (states.generators, found))
            msg = (
                "the checkpoint holds the generators {}, this RandomState has {}: give it the same"
            )
            raise StateError(msg.format(*lists))
        import numpy.random  # noqa: F401 -- without it, there is no source to restore

        present = {source.name: source for source in sources()}
        waiting = {
            name: write
            for name in states.sources.keys() - present.keys()
            if (write := torch_random.queued_write(name, states.sources[name])) is not None
        }
        given = [(found[name], each) for name, each in states.generators.items()]
        known = [(present[name], it) for name, it in states.sources.items() if name in present]
        put_all([*given, *known])
        for write in waiting.values():
            write()
        absent = states.sources.keys() - present.keys() - waiting.keys()
        if absent:
            warnings.warn(
                f"the checkpoint holds the state of {printable(', '.join(sorted(absent)))}, which"
                " this process does not have: it is left out",
                stacklevel=3,
            )

    def _found(self) -> dict[str, FoundGenerator]:
        return {each.name: each for each in find_generators(self._given)}

    def __repr__(self) -> str:
        told = (f", {name} {each.digest[:8]}" for name, each in self._found().items())
        return f"RandomState({snapshot()}{''.join(told)})"


def _describe(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _rank() -> str:
    """Return the key of this process in a checkpoint."""
    return f"rank{own_rank() or 0}"


def _unpack(state_dict: Mapping[str, Any]) -> _States | None:
    """Return the states of this rank; if there are none, warn and return None.

    Raises:
        StateError: ``state_dict`` is not valid.
    """
    if not hasattr(state_dict, "keys") or "format" not in state_dict:
        msg = f"a RandomState loads what its state_dict() returned, not {_describe(state_dict)}"
        raise StateError(msg)
    if state_dict["format"] != _VERSION:
        raise StateError(
            f"the random state has format {state_dict['format']!r:.40}; this ipytorchseed reads"
            f" format {_VERSION}: load it with the version that saved it"
        )
    rank = _rank()
    if rank not in state_dict:
        kept = ", ".join(sorted(str(name) for name in state_dict if name != "format")) or "no rank"
        warnings.warn(
            f"the checkpoint holds the random states of {kept}, not of {rank}: its sources and"
            " generators stay where they are; have every rank save its own",
            stacklevel=3,
        )
        return None
    with _FORMAT.errors(rank):
        return msgspec.msgpack.decode(state_dict[rank], type=_States)
