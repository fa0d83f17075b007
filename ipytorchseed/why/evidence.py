"""The evidence: two runs of a cell and what is recorded about them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from ipytorchseed.fingerprint.value import Fingerprint, same
from ipytorchseed.ledger.records import Findings, Operation, Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.written import Written
from ipytorchseed.rng.position import Position
from ipytorchseed.why.explanation import Blame, Change
from ipytorchseed.why.words import listed

# The setting that holds the working folder.
FOLDER = "folder"

# An upper bound on the 32-bit numbers that one core draws per second. We measured 430 million for
# numpy.
_MAX_DRAWS_PER_SECOND = 1_000_000_000


class Texts(Protocol):
    """A lookup of runs, of the texts of their cells, and of fresh states."""

    def latest(self, run: Run) -> Sequence[Run]:
        """Return the latest runs of the notebook of a run, newest first."""

    def written(self, run: Run) -> Written:
        """Return the calls and imports in the text of a run's cell."""

    def is_fresh(self, digest: str) -> bool | None:
        """Return whether a state is the result of seeding; None if unknown."""


class HistoryLookup(Texts, Protocol):
    """A lookup of other runs, and of the positions of random states."""

    def position(self, name: str, digest: str) -> Position | None:
        """Return the seed and the draws that lead to a state of a source or generator.

        Args:
            name: The source or generator.
            digest: The state.
        """

    def draws(self, before: str, after: str) -> int | None:
        """Return how many draws lead from one state to another; None if unknown."""

    def leads(self, before: str, after: str, most: int = 0) -> bool:
        """Return whether draws may lead from one state to the other.

        Args:
            before: The earlier state.
            after: The later state.
            most: The maximum number of draws to try; if 0, only a few are tried.
        """

    def findings(self, run: Run, against: Run) -> Findings | None:
        """Return recorded findings of experiments about two runs, or None."""


class Present(Texts, Protocol):
    """The present state of this kernel, and its earlier runs."""

    # The name of the kernel's process: see ``Run.kernel``.
    kernel: str

    def settings_now(self, run: Run) -> Mapping[str, Any]:
        """Return the present values of the settings that matter to the code of a run."""

    def last(self, name: str) -> Fingerprint | None:
        """Return the fingerprint of a variable's present value; None if unknown."""

    def is_bound(self, name: str) -> bool:
        """Return whether a name is bound now, or is a builtin."""

    def effects(self, run: Run) -> Effects:
        """Return the effects of the code of a run."""

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

    def is_file(self, path: str) -> bool:
        """Return whether there is a file of this name."""

    def pruned(self, digests: Iterable[str]) -> set[str]:
        """Return the given states that are no longer stored."""

    def changed_files(self, run: Run) -> Sequence[str]:
        """Return the paths of files known to have changed since a run read them."""


class Evidence(Struct, frozen=True):
    """Everything that finders look at.

    Attributes:
        run: The later run.
        against: The earlier run.
        history: The runs from ``against`` to the one before ``run``, oldest first.
        states: Looks up positions of states and other runs.
        changed: The differences of the results.
        reader: The kernel whose user reads the answer. The names of runs depend on it.
        operations: Operations that gave different results in runs of the same text, each with the
            run in which this was seen.
    """

    run: Run
    against: Run
    history: Sequence[Run]
    states: HistoryLookup
    reader: str
    changed: tuple[Change, ...] = ()
    operations: tuple[tuple[Run, Operation], ...] = ()

    @property
    def both(self) -> tuple[Run, Run]:
        """The two runs, the earlier one first."""
        return self.against, self.run

    @property
    def latest(self) -> Sequence[Run]:
        """The latest runs of the notebook, the newest first."""
        return self.states.latest(self.run)

    @property
    def here(self) -> list[Run]:
        """The runs of the history in the later run's kernel."""
        return [run for run in self.history if run.kernel == self.run.kernel]

    @property
    def since(self) -> list[Run]:
        """The runs between the earlier and the later run."""
        return [run for run in self.history if run is not self.against]

    @property
    def same_kernel(self) -> bool:
        """Whether both runs happened in one kernel."""
        return self.run.kernel == self.against.kernel

    @property
    def elsewhere(self) -> bool:
        """Whether the earlier run is from a receipt, perhaps of another machine."""
        return bool(self.against.receipt)

    @property
    def two_cells(self) -> bool:
        """Whether the runs are of two different cells. Their texts are not compared."""
        return self.run.cell != self.against.cell

    def name(self, run: Run) -> str:
        """Return the name of a run in a sentence."""
        return run_phrase(run, self.reader)

    def word(self, run: Run) -> str:
        """Return the name of a run in a command."""
        return run_word(run, self.reader)

    def who(self, blame: Sequence[Blame]) -> str:
        """Return the names of the blamed runs, as the subject of a sentence, or ""."""
        names = [self.name(each.run) for each in blame if each.run]
        return listed(names) if names else ""

    def did(self, blame: Sequence[Blame], verb: str, what: str) -> str:
        """Return a clause about what the blamed runs did: ``In[4] changed `x```."""
        who = self.who(blame)
        return f"{who} {verb} {what}" if who else what

    def is_own(self, blame: Iterable[Blame]) -> bool:
        """Return whether earlier runs of the cell alone caused a difference."""
        cells = {each.run.cell for each in blame if each.run is not None}
        return cells == {self.run.cell} and not self.two_cells

    def path(self, path: str) -> str:
        """Return a path in backticks; inside the working folder, a relative one."""
        folder = str(self.run.settings.get(FOLDER) or "")
        return f"`{path.removeprefix(f'{folder}/') if folder else path}`"

    def doings(self, blame: Sequence[Blame]) -> str:
        """Return clauses about what the blamed runs did, each after a semicolon."""
        return "".join(f"; {self.name(each.run)} {each.how}" for each in blame if each.run)

    def uses(self, package: str) -> bool:
        """Return whether the cell's code reaches a package."""
        return package in self.run.packages or package in self.against.packages


def run_name(run: Run, kernel: str) -> str:
    """Return a run's name: ``In[5]`` in this kernel, else its number in the ledger.

    The number is written ``#17``. A run from a receipt has the name of the receipt's file, if that
    is printable.
    """
    if run.receipt:
        return run.receipt if run.receipt.isprintable() else "the receipt"
    word = run_word(run, kernel)
    return word if word.startswith("#") else f"In[{word}]"


def run_phrase(run: Run, kernel: str) -> str:
    """Return a run's name in a sentence: ``In[5]`` or ``In[5] before the restart``."""
    name = run_name(run, kernel)
    if not name.startswith("#") or run.execution_count is None:
        return name
    return f"In[{run.execution_count}] before the restart"


def run_word(run: Run, kernel: str) -> str:
    """Return a run's name in a command of a kernel: ``5`` or ``#17``."""
    here = run.kernel == kernel and run.execution_count is not None
    return str(run.execution_count) if here else f"#{run.id}"


# The magic of a cell that runs under deterministic flags.
_STRICT = lazy_pattern(r"%%deterministic(?![\w?])(?!.*--(?:check|warn))")


def does(run: Run, pattern: re.Pattern[str]) -> bool:
    """Return whether one of a run's actions matches a pattern."""
    return any(pattern.search(action) for action in run.actions)


_RELOAD = lazy_pattern(r"\breload$|^%autoreload\b")


def reloads(run: Run, name: str) -> bool:
    """Return whether a run reloaded the module of a dotted name."""
    return name.rpartition(".")[0] in run.loaded and does(run, _RELOAD)


def is_strict(run: Run) -> bool:
    """Return whether a run was restricted to deterministic algorithms."""
    flag = "torch.use_deterministic_algorithms"
    held = run.settings.get(flag) and not run.settings.get(f"{flag}.warn_only")
    return bool(held) or does(run, _STRICT)


def most_draws(run: Run) -> int:
    """Return an upper bound on the numbers that a run can have drawn."""
    return int(run.seconds * _MAX_DRAWS_PER_SECOND)


def differ(before: Fingerprint | None, after: Fingerprint | None) -> bool:
    """Return whether two values are known to differ."""
    if before is None or after is None:
        return (before is None) != (after is None)
    return same(before, after) is False
