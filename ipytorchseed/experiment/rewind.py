"""Restores sources, generators and settings to the start or end of a recorded run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.environment import set_variable
from ipytorchseed.determinism.flag import plain
from ipytorchseed.determinism.libraries import restore_libraries
from ipytorchseed.determinism.table import FLAGS, read_flags, restore_flags
from ipytorchseed.errors import StateError
from ipytorchseed.ledger.records import Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.rng import torch_random
from ipytorchseed.rng.generators import FoundGenerator
from ipytorchseed.rng.source import Source, put_all
from ipytorchseed.rng.table import import_lazy, sources
from ipytorchseed.session.settings import CHANGED
from ipytorchseed.why.evidence import FOLDER
from ipytorchseed.why.plan import Step


class Restored(Struct, frozen=True):
    """The names of sources and generators, by whether they were restored.

    Attributes:
        names: Sources and generators that were restored.
        missing: Recorded sources and generators that this kernel does not have. A generator is also
            missing if its name now has a generator of another kind.
        left: Sources and generators that are not in the record, and were left unchanged.
        dropped: Sources and generators whose recorded state was pruned.
    """

    names: tuple[str, ...]
    missing: tuple[str, ...]
    left: tuple[str, ...]
    dropped: tuple[str, ...] = ()


def put_back(
    states: Mapping[str, bytes], found: Sequence[FoundGenerator], dropped: tuple[str, ...] = ()
) -> Restored:
    """Restore sources, and generators of the namespace, to given states.

    Args:
        states: The full states, by name of the source or generator.
        found: The generators in the namespace now.
        dropped: Sources and generators whose recorded state was pruned.

    Raises:
        StateError: A state does not fit a source. Nothing was changed.
    """
    import_lazy()
    torch_random.start(states)
    known_now = (source for source in sources() if source.read() is not None)
    holders: dict[str, Source | FoundGenerator] = {source.name: source for source in known_now}
    for each in found:
        known = (name for name in (each.name, *each.others) if name in states)
        name = next(known, each.name)
        if name not in states or _takes(each, states[name]):
            holders[name] = each
    chosen = [name for name in states if name in holders]
    put_all((holders[name], states[name]) for name in chosen)
    missing = tuple(name for name in states if name not in holders)
    left = tuple(name for name in holders if name not in states and name not in dropped)
    return Restored(tuple(chosen), missing, left, dropped)


def _takes(generator: FoundGenerator, state: bytes) -> bool:
    """Return whether a state fits a generator, without changing it."""
    before = generator.read()
    try:
        generator.write(state)
    except StateError:
        return False
    generator.write(before)
    return True


def rewind(
    ledger: Ledger, run: Run, found: Sequence[FoundGenerator], what: str, *, after: bool
) -> Restored:
    """Restore sources and generators to the start or the end of a run.

    Args:
        ledger: The ledger with the states.
        run: The run.
        found: The generators in the namespace now.
        what: The run's name, for the error message.
        after: Whether to restore the end of the run.

    Raises:
        StateError: All states were pruned, or one does not fit. Nothing was changed.
    """
    digests = run.after if after else run.before
    kept = ledger.states(digests.values())
    states = {name: kept[digest] for name, digest in digests.items() if digest in kept}
    if digests and not states:
        msg = f"the states of {what} are no longer in the ledger: states are pruned before runs"
        raise StateError(msg)
    return put_back(states, found, tuple(name for name in digests if name not in states))


def begin_as(step: Step, name: str, ledger: Ledger, generators: Sequence[FoundGenerator]) -> None:
    """Restore sources, generators, settings and the working folder to a run's start.

    Args:
        step: The step with the run.
        name: The run's name, for the error message.
        ledger: The ledger with the states.
        generators: The generators in the namespace now.

    Raises:
        StateError: The states were pruned, or one does not fit. No state was changed.
    """
    import_lazy(step.run.packages)
    _put_environment_back(step.run)
    _put_flags_back(step.run.settings)
    restore_libraries(step.run.settings)
    with suppress(OSError):  # the folder was removed
        os.chdir(str(step.run.settings.get(FOLDER, "")))
    rewind(ledger, step.run, generators, name, after=False)


def _put_flags_back(settings: Mapping[str, Any]) -> None:
    """Set torch's flags to their values at the start of a run.

    Flags that can no longer be changed in this process are left unchanged.
    """
    if torch_random.has_torch():
        now = read_flags()
        known = [name for name in now if not name.isupper() and name in settings]
        moved = [name for name in known if plain(now[name]) != settings[name]]
        restore_flags({**now, **{name: _from_plain(settings[name]) for name in moved}})


def _put_environment_back(run: Run) -> None:
    """Restore the environment variables that a cell may read to their recorded values."""
    begun = {flag.name for flag in FLAGS}  # libraries read these only when they start
    words, then = {*re.findall(r"\w+", run.source)}, {**CHANGED, **run.settings}
    named = words & os.environ.keys() if words & {"environ", "getenv"} else set()
    for name in {name for name in {*named, *then} if name.isupper()} - begun:
        value = then.get(name)
        set_variable(name, None if value is None else str(value))


def _from_plain(value: Any) -> Any:
    """Convert a stored flag value to torch's type."""
    if type(value) is str and value.startswith("torch."):
        return getattr(sys.modules["torch"], value.removeprefix("torch."), value)
    return tuple(value) if type(value) is list else value
