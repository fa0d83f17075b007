"""Runs the experiments of ``%why`` in the shell, and restores everything."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import click
from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.determinism.interrupts import TimeLimit
from ipytorchseed.errors import IPyTorchSeedError, LedgerError, ReplayError
from ipytorchseed.experiment.policy import BYTES, DEADLINE, SECONDS, count_fitting, find_objection
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.proving import Experiments
from ipytorchseed.experiment.search import Search
from ipytorchseed.fingerprint import Budget
from ipytorchseed.ledger.records import READING, Finding, Findings, Run, marked
from ipytorchseed.notebook.rerun import Progress, left_as_before, rerun, rerun_successfully
from ipytorchseed.notebook.state import State
from ipytorchseed.render.replay import say_outside
from ipytorchseed.render.text import bar
from ipytorchseed.session.asking import why
from ipytorchseed.session.present import LiveKernel
from ipytorchseed.why.experiments import UNTESTED, count_most
from ipytorchseed.why.explanation import Explanation
from ipytorchseed.why.tested import THE_CELL, with_findings

# Progress is shown if all cells together take longer than this, in seconds.
_LONG = 0.5

# The maximum number of pairs of earlier runs to test for one answer.
_MOST_MAKERS = 5

# The time limit for inspecting variables in automatic experiments, in seconds.
_ASKED_LOOKS, _UNASKED_LOOKS = 20.0, 0.3


class Proof(Struct, eq=False):
    """The experiments for one explanation.

    Attributes:
        state: The state of the extension in the shell.
        said: The explanation. If it names no cause, the test is whether the cell repeats.
        asked: Whether the user asked for a proof, which then has no time limit. If not, the
            experiments run only if the policy allows them; else the explanation says why not.
        silent: Whether to show no progress.
    """

    state: State
    said: Explanation
    asked: bool
    silent: bool

    def prove(self, *, yes: bool = False) -> Explanation:
        """Test causes, and return the explanation with the findings.

        Args:
            yes: Whether to also run cells that write files, start programs or open connections.

        Raises:
            ReplayError: A cell would act outside the kernel, or the user interrupted a proof that
                they asked for. Everything is as before.
        """
        said, session = self.said, self.state.tracking.session
        experiments = self._plan(said)
        if experiments is None:
            return said
        objection = self._objection(experiments)
        tested = said
        if objection and not (self.asked or experiments.blocked):  # there may be time for some
            tested = said.with_suspects(count_fitting(self._runs, experiments.plan))
            only = self._plan(tested) if tested.suspects else None
            if only is not None and not self._objection(only):
                experiments, objection = only, ""
        if not objection:
            outside = say_outside(experiments.plan, session.kernel)
            if outside and not yes:
                msg = f"{outside}. Nothing was run; to run that again for a proof, add --yes"
                raise ReplayError(msg)
            try:
                return self._test(tested, experiments)
            except ReplayError as error:  # interrupted, or raised by an experiment
                if self.asked:
                    raise
                objection = str(error)
        return self._tell(_all_untested(said, objection, experiments))

    @property
    def _runs(self) -> list[Run]:
        return [run for run in (self.said.run, self.said.against) if run is not None]

    def _plan(self, said: Explanation) -> Experiments | None:
        """Plan the experiments without running them; return None if there are none."""
        against, shell, session = said.against, self.state.shell, self.state.tracking.session
        if against is None or not said.changed or said.run.cell != against.cell:
            return None
        if (said.unknown and not said.suspects) or (said.tested and not self.asked):
            return None
        names, hidden = shell.user_ns, frozenset(shell.user_ns_hidden)
        present = LiveKernel(
            session, said.run, names, _ASKED_LOOKS if self.asked else _UNASKED_LOOKS
        )
        return Experiments(names, session.ledger, said.run, against, said.suspects, present, hidden)

    def _objection(self, experiments: Experiments) -> str:
        """Return why no experiments may run; empty if they may."""
        if experiments.blocked or self.asked:
            return experiments.blocked
        count, kernel = count_most(len(experiments.trials)), self.state.tracking.session.kernel
        return find_objection(self._runs, experiments.plan, count, kernel)

    def _test(self, tested: Explanation, experiments: Experiments) -> Explanation:
        """Run the experiments; return the explanation with the findings.

        Args:
            tested: The explanation, with only the suspects that there is time to test.
            experiments: The experiments for these suspects.

        Raises:
            ReplayError: The experiments were interrupted; the message says what was restored.
        """
        keep, moved = False, list[str]()
        limit = TimeLimit(None if self.asked else DEADLINE)
        before = left_as_before(self.state, experiments.leave, moved, "%why --prove")
        try:
            with before, self.state.tracking.isolated(), limit:
                try:
                    found = self._search(tested, experiments)
                except (IPyTorchSeedError, OSError) as error:
                    found = _all_untested(tested, str(error), experiments)
                else:
                    keep = True
        except KeyboardInterrupt:
            reason = "interrupted"
            if limit.expired:
                reason = "it took longer than the recorded run · %why --prove"
            if moved or not limit.expired:
                reason += f"; {say_restored('everything is', moved)}"
            raise ReplayError(reason) from None
        if moved:
            click.echo(f"After the experiments, {say_restored('everything is', moved)}.", err=True)
        late = Finding(how=f"{UNTESTED}: there was no time for it · %why --prove")
        untested = range(len(tested.suspects), len(self.said.suspects))
        return self._tell(found | dict.fromkeys(untested, late), keep=keep)

    def _tell(self, found: Mapping[int, Finding], *, keep: bool = False) -> Explanation:
        """Add findings to the explanation, and to the ledger if ``keep``."""
        said, session = self.said, self.state.tracking.session
        names = [(each.kind, each.name) for each in said.suspects] or [THE_CELL]
        findings = Findings(tuple((*name, found[place]) for place, name in enumerate(names)))
        if keep and said.against is not None and said.run.id and said.against.id:
            with suppress(LedgerError):  # they are tested again next time
                session.ledger.add_findings(said.run.id, said.against.id, findings)
        return with_findings(said, findings, session.kernel)

    def _search(self, tested: Explanation, experiments: Experiments) -> dict[int, Finding]:
        """Run the experiments; return the finding for each cause, by its index.

        Raises:
            IPyTorchSeedError: The experiments cannot run, for example because a value cannot be
                copied.
            OSError: The working folder of one of the runs no longer exists.
        """
        until = math.inf if self.asked else time.monotonic() + DEADLINE
        seconds = sum(step.run.seconds_again for step in experiments.plan.steps)
        seconds += tested.run.seconds_again * count_most(len(experiments.trials))
        silent = self.silent or seconds < _LONG

        def make(again: Run, begin: Callable[[], None]) -> None:
            rerun_successfully(self.state, again, None, begin, quiet=True)

        def tell(made: int, most: int, what: str) -> None:
            progress.step(bar(made, most, what, most="at most"))

        with Progress(self.state.shell, silent=silent, what="Proving") as progress:
            progress.step("rebuilding what the cell found …")
            experiments.build(make, None if self.asked else BYTES)
            found = Search(tested, experiments, self._run, tell, until).find()
        return _not_restored(experiments) | found

    def _run(self, record: Run, begin: Callable[[], None]) -> Run:
        """Run the cell of a record again; return the new run.

        Variables in ``said.changed`` that the cell neither reads nor sets are added to the
        new run.
        """
        run = rerun(self.state, record, None, begin, quiet=True)
        names, variables = self.state.shell.user_ns, self.state.tracking.session.variables
        asked = {each.name for each in self.said.changed if each.what == "variable"}
        unknown = (asked & names.keys()) - run.writes.keys() - run.reads.keys()
        looks = {name: variables.look(names[name], Budget(float("inf"))) for name in unknown}
        return replace(run, writes=marked({**run.writes, **looks}, {*self.said.run.timed}, READING))


def prove_makers(state: State, said: Explanation) -> bool:
    """Test why the cell's inputs changed, by running the short cells that made them.

    Args:
        state: The state of the extension in the shell.
        said: The explanation, with the pairs of runs to test.

    Returns:
        Whether there are new findings.
    """
    session = state.tracking.session
    until, found = time.monotonic() + SECONDS, False
    for run, against in said.makers[:_MOST_MAKERS]:
        if time.monotonic() <= until:
            said_of_makers = why(session, run, against, tested=False)
            Proof(state, said_of_makers, asked=False, silent=True).prove()
            found |= bool(run.id and against.id and session.ledger.findings(run.id, against.id))
    return found


def _not_restored(experiments: Experiments) -> dict[int, Finding]:
    return {place: Finding(how=f"{UNTESTED}: {how}") for place, how in experiments.stays.items()}


def _all_untested(said: Explanation, how: str, experiments: Experiments) -> dict[int, Finding]:
    """Mark each cause as untested, with a specific reason or else with ``how``."""
    untested = Finding(how=f"{UNTESTED}: {how}")
    return dict.fromkeys(range(len(said.suspects) or 1), untested) | _not_restored(experiments)
