"""Which cells to run again, so that a cell finds what it once found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.fingerprint.value import same
from ipytorchseed.reads.entropy import CLOCKS, is_program
from ipytorchseed.why.changes import changed_parts

if TYPE_CHECKING:
    from ipytorchseed.fingerprint.value import Fingerprint
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.why.case import Case

_DEEP = 12  # what a cell read was made by a cell that read what was made by ...
_TRIES = 100  # cells that may be the ones to run again


class Inputs:
    """The cells to run again so that a cell finds what it found.

    A cell is run again only once it finds what it found itself: what it read and is not as it was
    is made anew first. The variables are followed through the commands, as if these were run.

    Args:
        case: The evidence.

    Attributes:
        commands: What to do, in order.
        again: The runs whose cells are run again, as they were then.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._now: dict[str, Fingerprint] = {}
        self._tries = _TRIES
        self.commands: list[str] = []
        self.again: list[Run] = []

    def restore(self, name: str, reader: Run, deep: int = 0) -> bool:
        """Give a variable the content that a run found in it.

        Args:
            name: The variable.
            reader: The run.
            deep: How many cells are being followed back.

        Returns:
            Whether there is a way; where there is none, nothing is added.
        """
        wanted = reader.reads[name]
        if wanted.kind == "rng" or name in reader.generators_before:
            return True  # put back with the sources
        now = self._now.get(name) or self._case.states.last(name)
        if now is None or _is_as_good(now, wanted, reader):
            return True
        if not wanted.exact:
            return False  # nobody knows whether what a run made was that
        makers = [
            run
            for run in self._case.states.makers(name, wanted.digest)
            if _random(run.writes[name]) == _random(wanted)
        ]
        makers.sort(key=lambda run: name in run.reads)  # those that make it from nothing first
        return deep < _DEEP and any(self._try(maker, deep) for maker in makers)

    def _try(self, maker: Run, deep: int) -> bool:
        if self._tries == 0:
            return False
        self._tries -= 1
        begun = [*self.commands], [*self.again], dict(self._now)
        if self._run_again(maker, deep):
            return True
        self.commands, self.again, self._now = begun
        return False

    def _run_again(self, maker: Run, deep: int) -> bool:
        here = self._case.states.here(maker)
        if here is None or not self._repeats(maker):
            return False
        if not all(self.restore(name, maker, deep + 1) for name in maker.reads):
            return False
        if any(maker.after.get(name) != state for name, state in maker.before.items()):
            self.commands.append(f"%seed rewind {self._case.word(maker)}")
        self.commands.append(f"%rerun {here.execution_count}")
        self.again.append(maker)
        self._now.update(maker.writes)
        return True

    def _repeats(self, maker: Run) -> bool:
        same_hashes = maker.kernel == self._case.run.kernel
        return all(
            name in CLOCKS or is_program(name) or (name == "hash" and same_hashes)
            for name in maker.nondeterministic_calls
        )


def _random(value: Fingerprint) -> str | None:
    """Return the states of the generators inside a value; they are not part of its digest."""
    return value.parts.get("random")


def _is_as_good(now: Fingerprint, wanted: Fingerprint, reader: Run) -> bool:
    if same(now, wanted):
        return _random(now) == _random(wanted)
    moved = changed_parts(wanted, now).keys()
    return moved == {"grad"} and "zero_grad" in reader.source
