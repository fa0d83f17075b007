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
        names: Sources and generators that stand where they stood.
        missing: Those that the record knows and this kernel does not have now, as generators whose
            names are bound to one of another kind.
        left: Those that this kernel has now and the record does not know: not moved.
        dropped: Those whose state the ledger no longer keeps.
    """

    names: tuple[str, ...]
    missing: tuple[str, ...]
    left: tuple[str, ...]
    dropped: tuple[str, ...] = ()


def put_back(states: Mapping[str, bytes], found: Sequence[Found]) -> Restored:
    """Put sources, and generators of the namespace, back to given states.

    Args:
        states: Full state by name of a source or generator.
        found: The generators that the namespace holds now.

    Raises:
        StateError: A state does not fit a source; then nothing stays moved.
    """
    import_lazy()
    torch_random.start(states)
    holders: dict[str, Source | Found] = {source.name: source for source in sources()}
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
    """Return whether a state is one of a generator's kind; it is left as it is."""
    before = generator.read()
    try:
        generator.write(state)
    except StateError:
        return False
    generator.write(before)
    return True


def rewind(ledger: Ledger, run: Run, found: Sequence[Found], what: str, *, after: bool) -> Restored:
    """Put sources and generators back where they stood when a run began, or ended.

    Args:
        ledger: Where the states are kept.
        run: The run.
        found: The generators that the namespace holds now.
        what: How the run is called, for the error.
        after: Where they stood when it ended.

    Raises:
        StateError: None of the states is kept any more, or one does not fit; nothing moved.
    """
    digests = run.ended if after else run.begun
    kept = ledger.states(digests.values())
    states = {name: kept[digest] for name, digest in digests.items() if digest in kept}
    if digests and not states:
        msg = f"the states of {what} are no longer in the ledger: states are pruned before runs"
        raise StateError(msg)
    done = put_back(states, found)
    dropped = tuple(name for name in digests if name not in states)
    left = tuple(name for name in done.left if name not in dropped)
    return replace(done, left=left, dropped=dropped)
