"""What a plan begins with: the kernel as it is, and the runs that it remembers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.effects import Effects


class Present(Protocol):
    """Knows this kernel as it stands, and the runs of the past."""

    kernel: str
    """The kernel's name, as runs have it."""

    def settings_now(self, run: Run) -> Mapping[str, Any]:
        """Return the settings now that matter to the code of a run."""

    def settings_of(self, run: Run) -> Mapping[str, Any]:
        """Return the settings that a run began with; those of torch, where it imported that."""

    def last(self, name: str) -> Fingerprint | None:
        """Return the fingerprint of a variable's value now; None if there is no such variable."""

    def is_bound(self, name: str) -> bool:
        """Return whether a name is bound now, or a builtin."""

    def effects(self, run: Run) -> Effects:
        """Return what the code of a run does with names."""

    def sends_to(self, run: Run, opened: Collection[str]) -> Sequence[str]:
        """Return those of some open files and connections that the code of a run writes to."""

    def makers(self, name: str, digest: str) -> Sequence[Run]:
        """Return the runs that left a variable so, and ended well, the newest first."""

    def setters(self, name: str, reader: Run | None) -> Iterable[Run]:
        """Return the runs that may have set a name, newest first.

        Those before a run, in its kernel; where there is none, those of this kernel until now.
        """

    def writers(self, path: str, reader: Run) -> Iterable[Run]:
        """Return the runs before a run that wrote a file, newest first, in any kernel."""

    def met_before(self, run: Run) -> set[str]:
        """Return the packages that earlier runs than this reached, in this kernel alone."""

    def pruned(self, digests: Iterable[str]) -> set[str]:
        """Return those states of the given ones that are no longer kept."""

    def is_fresh(self, digest: str) -> bool | None:
        """Return whether a state is one that seeding leaves; None where that cannot be told."""

    def is_file(self, path: str) -> bool:
        """Return whether there is a file of this name."""

    def changed_files(self, run: Run) -> Sequence[str]:
        """Return the paths of files that a run read, and that are known to be others now."""
