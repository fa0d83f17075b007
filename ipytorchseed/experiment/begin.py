"""Restores the process to the start of a recorded run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ipytorchseed.determinism.environment import set_variable
from ipytorchseed.determinism.flag import plain
from ipytorchseed.determinism.libraries import restore_libraries
from ipytorchseed.determinism.table import FLAGS, read_flags, restore_flags
from ipytorchseed.experiment.imports import import_sources
from ipytorchseed.experiment.rewind import rewind
from ipytorchseed.ledger.records import Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.rng.generators import Found
from ipytorchseed.rng.torch_random import has_torch
from ipytorchseed.why.evidence import FOLDER
from ipytorchseed.why.plan import Step


def begin_as(step: Step, name: str, ledger: Ledger, generators: Sequence[Found]) -> None:
    """Restore sources, generators, settings and the working folder to a run's start.

    Args:
        step: The run.
        name: Its name, for the error.
        ledger: The ledger with the states.
        generators: The generators in the namespace now.

    Raises:
        StateError: The states were pruned, or one does not fit; nothing changed.
    """
    import_sources(step.run.packages)
    _put_environment_back(step.run)
    _put_flags_back(step.run.settings)
    restore_libraries(step.run.settings)
    with suppress(OSError):  # the folder was removed
        os.chdir(str(step.run.settings.get(FOLDER, "")))
    rewind(ledger, step.run, generators, name, after=False)


def _put_flags_back(settings: Mapping[str, Any]) -> None:
    """Set the flags as a run found them; those that can no longer be set stay."""
    if has_torch():
        now = read_flags()
        then = {
            name: _from_plain(settings[name])
            for name, value in now.items()
            if not name.isupper() and name in settings and plain(value) != settings[name]
        }
        if then:
            restore_flags({**now, **then})


def _put_environment_back(run: Run) -> None:
    """Set the environment variables that a cell reads to their values at its run."""
    begun = {flag.name for flag in FLAGS}  # read by libraries at their start
    words = {*re.findall(r"\w+", run.source)}
    named = {name for name in os.environ if name in words and name.isupper()}
    asked = {name for name in run.settings if name.isupper()}
    for name in {*(named if words & {"environ", "getenv"} else ()), *asked} - begun:
        value = run.settings.get(name)
        set_variable(name, None if value is None else str(value))


def _from_plain(value: Any) -> Any:
    """Convert a stored flag value to torch's type."""
    if type(value) is str and value.startswith("torch."):
        return getattr(sys.modules["torch"], value.removeprefix("torch."), value)
    return tuple(value) if type(value) is list else value
