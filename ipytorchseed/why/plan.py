"""The plan of a replay: which cells run again, and in which order."""

from __future__ import annotations

from pathlib import PurePath

from msgspec import Struct

from ipytorchseed.fingerprint.value import DATABASE, Fingerprint
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.entropy import is_program
from ipytorchseed.reads.writers import writing_calls
from ipytorchseed.why.evidence import Present

# The maximum number of files or hosts that a message mentions.
_MAX_NAMED = 3


class Step(Struct, frozen=True):
    """A cell to run again.

    Attributes:
        run: The run of the cell, with its text and states.
        makes: The variables of the run that later steps need; empty for the last step.
        outside: Its effects outside the kernel: programs, written files, connections.
    """

    run: Run
    makes: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


class Plan(Struct, frozen=True):
    """The way to an earlier result of a cell.

    Attributes:
        target: The run whose result is wanted.
        steps: The cells to run, the target's last; empty if there is no way.
        doubts: Reasons why the result may still differ, each as a clause.
        blocked: Why there is no way, and what to do; empty if there is a way.
    """

    target: Run
    steps: tuple[Step, ...] = ()
    doubts: tuple[str, ...] = ()
    blocked: str = ""


def outside_of(run: Run, present: Present) -> tuple[str, ...]:
    """Return the effects of a cell outside the kernel, each as a clause.

    Args:
        run: The run of the cell.
        present: This kernel.
    """
    programs = [f"runs {name}" for name in run.nondeterministic_calls if is_program(name)]
    files = [f"writes {PurePath(path).name}" for path in run.outside.wrote]
    effects = present.effects(run)
    files = files or [f"writes files: {name.lstrip(':')}" for name in writing_calls(effects)]
    opened = {name for name, value in run.reads.items() if _is_open(value)}
    files += [f"writes to {name}" for name in present.sends_to(run, opened)]
    hosts = [f"connects to {name}" for name in run.outside.connected]
    return (*programs, *files[:_MAX_NAMED], *hosts[:_MAX_NAMED])


def _is_open(value: Fingerprint) -> bool:
    """Return whether a value may be an open file, database, pipe or socket."""
    wraps = "_csv.writer" in value.parts.get("unseen", "")
    return wraps or (value.opaque and value.kind in (DATABASE, "file", "opaque"))
