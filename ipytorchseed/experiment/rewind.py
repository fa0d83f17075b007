"""Restores sources and generators to states in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.errors import StateError
from ipytorchseed.ledger.records import Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.rng import torch_random
from ipytorchseed.rng.generators import Found
from ipytorchseed.rng.source import Source, put_all
from ipytorchseed.rng.table import import_lazy, sources


class Restored(Struct, frozen=True):
    """The sources and generators that were restored.

    Attributes:
        names: Sources and generators that were restored.
        missing: Those in the record that this kernel lacks, such as generators whose names now
            have another kind.
        left: Those that the record lacks: not changed.
        dropped: Those whose state was pruned.
    """

    names: tuple[str, ...]
    missing: tuple[str, ...]
    left: tuple[str, ...]
    dropped: tuple[str, ...] = ()


def put_back(states: Mapping[str, bytes], found: Sequence[Found]) -> Restored:
    """Restore sources, and generators of the namespace, to given states.

    Args:
        states: The full states, by name of the source or generator.
        found: The generators in the namespace now.

    Raises:
        StateError: A state does not fit a source; nothing was changed.
    """
    import_lazy()
    torch_random.start(states)
    known_now = (source for source in sources() if source.read() is not None)
    holders: dict[str, Source | Found] = {source.name: source for source in known_now}
    for each in found:
        known = (name for name in (each.name, *each.others) if name in states)
        name = next(known, each.name)
        if name not in states or _takes(each, states[name]):
            holders[name] = each
    chosen = [name for name in states if name in holders]
    put_all((holders[name], states[name]) for name in chosen)
    return Restored(
        names=tuple(chosen),
        missing=tuple(name for name in states if name not in holders),
        left=tuple(name for name in holders if name not in states),
    )


def _takes(generator: Found, state: bytes) -> bool:
    """Return whether a state fits a generator, without changing it."""
    before = generator.read()
    try:
        generator.write(state)
    except StateError:
        return False
    generator.write(before)
    return True


def rewind(ledger: Ledger, run: Run, found: Sequence[Found], what: str, *, after: bool) -> Restored:
    """Restore sources and generators to the start or the end of a run.

    Args:
        ledger: The ledger with the states.
        run: The run.
        found: The generators in the namespace now.
        what: The run's name, for the error.
        after: Use the states at its end.

    Raises:
        StateError: All states were pruned, or one does not fit; nothing was changed.
    """
    digests = run.after if after else run.before
    kept = ledger.states(digests.values())
    states = {name: kept[digest] for name, digest in digests.items() if digest in kept}
    if digests and not states:
        msg = f"the states of {what} are no longer in the ledger: states are pruned before runs"
        raise StateError(msg)
    done = put_back(states, found)
    dropped = tuple(name for name in digests if name not in states)
    left = tuple(name for name in done.left if name not in dropped)
    return replace(done, left=left, dropped=dropped)
