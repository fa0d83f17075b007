"""The protocol for looking up the state of this kernel, and earlier runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.written import Written


class Present(Protocol):
    """Looks up the present state of this kernel, and earlier runs."""

    # The name of the kernel's process: see ``Run.kernel``.
    kernel: str

    def settings_now(self, run: Run) -> Mapping[str, Any]:
        """Return the present values of the settings that matter to the code of a run."""

    def latest(self, run: Run) -> Sequence[Run]:
        """Return the latest runs, the newest first."""

    def last(self, name: str) -> Fingerprint | None:
        """Return the fingerprint of a variable's present value; None if unknown."""

    def is_bound(self, name: str) -> bool:
        """Return whether a name is bound now, or is a builtin."""

    def effects(self, run: Run) -> Effects:
        """Return the effects of the code of a run."""

    def written(self, run: Run) -> Written:
        """Return the calls and imports that the text of a run's cell contains."""

    def sends_to(self, run: Run, opened: Collection[str]) -> Sequence[str]:
        """Return the open files and connections that the code of a run writes to."""

    def makers(self, name: str, digest: str) -> Sequence[Run]:
        """Return successful runs that left a variable with this digest, newest first."""

    def setters(self, name: str, reader: Run | None) -> Iterable[Run]:
        """Return the runs that may have set a name, the newest first.

        Args:
            name: The name.
            reader: Only runs before this one in its kernel are returned. If it is None, all runs of
                this kernel count.
        """

    def users(self, name: str, reader: Run | None) -> Sequence[Run]:
        """Return the runs that read a name after it was last set.

        Args:
            name: The name.
            reader: As for ``setters``.
        """

    def writers(self, path: str, reader: Run) -> Iterable[Run]:
        """Return the runs of any kernel that wrote a file before ``reader``, newest first."""

    def met_before(self, run: Run) -> set[str]:
        """Return the packages that the code of earlier runs in this kernel uses."""

    def pruned(self, digests: Iterable[str]) -> set[str]:
        """Return the given states that are no longer stored."""

    def is_fresh(self, digest: str) -> bool | None:
        """Return whether a state is the result of seeding; None if unknown."""

    def is_file(self, path: str) -> bool:
        """Return whether there is a file of this name."""

    def changed_files(self, run: Run) -> Sequence[str]:
        """Return the paths of files known to have changed since a run read them."""
