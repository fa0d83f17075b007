"""The kernel at the time of the question, and the runs that it remembers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.written import Written


class Present(Protocol):
    """Looks up the present state of this kernel, and earlier runs."""

    # The kernel's name, as in runs.
    kernel: str

    def settings_now(self, run: Run) -> Mapping[str, Any]:
        """Return the present settings that matter to the code of a run."""

    def latest(self, run: Run) -> Sequence[Run]:
        """Return the latest runs, the newest first."""

    def last(self, name: str) -> Fingerprint | None:
        """Return the fingerprint of a variable's present value, or None without one."""

    def is_bound(self, name: str) -> bool:
        """Return whether a name is bound now, or is a builtin."""

    def effects(self, run: Run) -> Effects:
        """Return the effects of the code of a run."""

    def written(self, run: Run) -> Written:
        """Return the calls and imports that the text of a run's cell contains."""

    def sends_to(self, run: Run, opened: Collection[str]) -> Sequence[str]:
        """Return the open files and connections that the code of a run writes to."""

    def makers(self, name: str, digest: str) -> Sequence[Run]:
        """Return successful runs that gave a variable this digest, the newest first."""

    def setters(self, name: str, reader: Run | None) -> Iterable[Run]:
        """Return the runs that may have set a name, the newest first.

        Those before ``reader`` in its kernel; without it, those of this kernel until now.
        """

    def users(self, name: str, reader: Run | None) -> Sequence[Run]:
        """Return the runs that read a name since it was last set, as in ``setters``."""

    def writers(self, path: str, reader: Run) -> Iterable[Run]:
        """Return the runs of any kernel that wrote a file before ``reader``, newest first."""

    def met_before(self, run: Run) -> set[str]:
        """Return the packages that earlier runs in this kernel reached."""

    def pruned(self, digests: Iterable[str]) -> set[str]:
        """Return the given states that are no longer kept."""

    def is_fresh(self, digest: str) -> bool | None:
        """Return whether a state is the result of seeding; None if unknown."""

    def is_file(self, path: str) -> bool:
        """Return whether there is a file of this name."""

    def changed_files(self, run: Run) -> Sequence[str]:
        """Return the paths of files that are known to have changed since a run read them."""
