"""Experiments of ``%why`` in the running shell. Afterwards everything is as before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache

import click
from msgspec.structs import replace

from ipytorchseed.determinism.interrupts import TimeLimit
from ipytorchseed.errors import IPyTorchSeedError, LedgerError, ReplayError
from ipytorchseed.experiment.policy import BYTES, DEADLINE, find_objection
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.proving import Experiments
from ipytorchseed.experiment.trials import UNREPEATED, Trial, compare, merged
from ipytorchseed.fingerprint import Budget
from ipytorchseed.ledger.records import Finding, Findings, Run
from ipytorchseed.notebook.progress import Progress, bar
from ipytorchseed.notebook.replay import Player
from ipytorchseed.notebook.rerun import left_as_before
from ipytorchseed.notebook.seeding import Seeding
from ipytorchseed.render.replay import say_outside
from ipytorchseed.render.why import suspect
from ipytorchseed.session.present import LiveKernel
from ipytorchseed.why.changes import find_changes
from ipytorchseed.why.experiments import (
    NO_EFFECT,
    PROVED,
    UNPROVED,
    UNTESTED,
    Result,
    count_most,
    judge,
    judge_unrepeated,
)
from ipytorchseed.why.explanation import Cause, Change, Explanation
from ipytorchseed.why.tested import with_findings
from ipytorchseed.why.words import listed

_LONG = 0.5
"""Seconds that the cells took together from which on progress is shown."""

_MOST = 6
"""Suspects that are tested one by one; those beyond are restored together."""

_UNASKED_LOOKS = 0.3
"""Seconds to look at variables for experiments that were not asked for."""


class Proofs:
    """The experiments of a shell.

    Args:
        player: Runs cells again in it.
        seeding: What ``%seed`` put in force, which cells may change.
    """

    def __init__(self, player: Player, seeding: Seeding) -> None:
        self._player = player
        self._shell = player.shell
        self._tracking = player.tracking
        self._seeding = seeding

    def test(
        self, said: Explanation, *, asked: bool, yes: bool = False, silent: bool
    ) -> Explanation:
        """Test causes, and return the explanation with what was found.

        Args:
            said: The explanation; if it names no cause, there is nothing to test.
            asked: Whether the user asked, so that it may take long; else the policy has to allow
                it, and the explanation says why it does not.
            yes: Also run cells that write files, start programs or open connections.
            silent: Show no progress.

        Raises:
            ReplayError: The user asked, and a cell would act outside the kernel, or it was
                interrupted: everything is as before.
        """
        experiments = self._experiments(said, asked=asked)
        if experiments is None:
            return said
        kernel, count = self._tracking.session.kernel, count_most(len(experiments.trials))
        runs = [run for run in (said.run, said.against) if run is not None]
        objection = experiments.blocked
        if not objection and not asked:
            objection = find_objection(runs, experiments.plan, count, kernel)
        outside = "" if objection else say_outside(experiments.plan, kernel)
        if outside and not yes:
            msg = f"{outside}. Nothing was run; to run that again for a proof, add --yes"
            raise ReplayError(msg)
        try:
            if not objection:
                return self._tested(said, experiments, silent=silent, asked=asked)
        except ReplayError as error:  # interrupted, or from inside of an experiment
            if asked:
                raise
            objection = str(error)
        return self._told(said, _all_open(said, objection, experiments))

    def _experiments(self, said: Explanation, *, asked: bool) -> Experiments | None:
        """Plan the experiments; nothing runs. None if there is nothing to test."""
        against, session = said.against, self._tracking.session
        comparable = against is not None and said.changed and said.run.cell == against.cell
        if against is None or not (said.suspects and comparable):
            return None
        if said.tested and not asked:
            return None
        names, hidden = self._shell.user_ns, frozenset(self._shell.user_ns_hidden)
        present = LiveKernel(session, said.run, names, None if asked else _UNASKED_LOOKS)
        return Experiments(names, session.ledger, said.run, against, said.suspects, present, hidden)

    def _tested(
        self, said: Explanation, experiments: Experiments, *, silent: bool, asked: bool
    ) -> Explanation:
        """Make the experiments; return the explanation with what they found.

        Raises:
            ReplayError: It was interrupted; the message says what is as before.
        """
        keep, moved = False, list[str]()
        limit = TimeLimit(None if asked else DEADLINE)
        try:
            with (
                left_as_before(self._shell, self._seeding, experiments.leave, moved),
                self._player.at_work("%why --prove"),
                self._tracking.apart(),
                limit,
            ):
                try:
                    found = self._judge(said, experiments, silent=silent, asked=asked)
                except (IPyTorchSeedError, OSError) as error:
                    found = _all_open(said, str(error), experiments)
                else:
                    keep = True
        except KeyboardInterrupt:
            reason = "it took longer than before · %why --prove" if limit.expired else "interrupted"
            if moved or not limit.expired:
                reason += f"; {say_restored('everything is', moved)}"
            raise ReplayError(reason) from None
        if moved:
            click.echo(f"After the experiments, {say_restored('everything is', moved)}.", err=True)
        return self._told(said, found, keep=keep)

    def _told(
        self, said: Explanation, found: Mapping[int, Finding], *, keep: bool = False
    ) -> Explanation:
        """Add findings, by the places of causes; ``keep`` them with the two runs."""
        session = self._tracking.session
        findings = Findings(
            tuple((c.kind, c.name, found[place]) for place, c in enumerate(said.suspects))
        )
        if keep and said.against is not None and said.run.id and said.against.id:
            with suppress(LedgerError):  # tested again the next time
                session.ledger.add_findings(said.run.id, said.against.id, findings)
        return with_findings(said, findings, session.kernel)

    def _judge(
        self, said: Explanation, experiments: Experiments, *, silent: bool, asked: bool
    ) -> dict[int, Finding]:
        """Make the experiments; return what they found for each cause, by its place.

        Raises:
            IPyTorchSeedError: They cannot be made: a value cannot be copied, for one.
            OSError: The working folder of one of the runs is gone.
        """
        against = said.against or said.run
        seconds = sum(step.run.seconds for step in experiments.plan.steps)
        seconds += said.run.seconds * count_most(len(experiments.trials))
        silent = silent or seconds < _LONG

        def make(again: Run, begin: Callable[[], None]) -> None:
            self._player.run_whole(again, None, begin, quiet=True)

        with Progress(self._shell, silent=silent, what="Proving") as progress:
            progress.step("making again what the cell found …")
            experiments.build(make, None if asked else BYTES)
            trials = _labelled(said.suspects, experiments.trials)
            extra = ", ".join(sorted(experiments.extra.values | experiments.extra.states))
            parts = {**trials, extra: experiments.extra}
            most, made = count_most(len(trials) + bool(extra)), 0

            def attempt(chosen: frozenset[str]) -> Run:
                return self._try(experiments, merged(parts[label] for label in chosen), said)

            progress.step(bar(1, most, "as it was …", most="at most"))
            first = attempt(frozenset())
            volatile, compared = _compared(said, first)
            passed_over = {*map(_key, said.changed), *_inputs(said)} - {*map(_key, compared)}

            touched: dict[frozenset[str], set[tuple[str, str]]] = {}

            @cache
            def experiment(chosen: frozenset[str]) -> Result:
                nonlocal made
                made += 1
                what = f"with {', '.join(sorted(chosen))} restored …"
                if chosen:
                    progress.step(bar(made, most, what, most="at most"))
                run = attempt(chosen) if chosen else first
                touched[chosen] = {*map(_key, find_changes(said.run, run))}
                return compare(said.run, against, run, compared, passed_over)

            found = judge([*trials], experiment, lambda: experiments.lost, extra) if trials else {}
            for label, finding in found.items():
                own = {("variable", name) for name in trials[label].values}
                also = touched.get(frozenset({label}), set()) & {*map(_key, said.changed)} - own
                if finding.level == NO_EFFECT and also:
                    what = listed(sorted(name or what for what, name in also))
                    found[label] = Finding(how=f"{UNPROVED}: restoring it changes {what}")
            repeats = experiment(frozenset())
            progress.clear()
        names = sorted(name or what for what, name in volatile)
        settled = any(each.level == PROVED for each in found.values())
        unrepeated = [place for place, each in enumerate(said.suspects) if each.kind in UNREPEATED]
        alone = len(unrepeated) == 1 and not experiments.lost
        of_itself = judge_unrepeated(repeats, names, settled=settled, alone=alone)
        return {
            **_not_restored(experiments),
            **(dict.fromkeys(unrepeated, of_itself) if of_itself else {}),
            **{
                place: _of_one(said.suspects, place, trials[label], finding)
                for label, finding in found.items()
                for place in trials[label].causes
            },
        }

    def _try(self, experiments: Experiments, trial: Trial, said: Explanation) -> Run:
        """Run the cell with what goes back in a trial; return what it made."""
        record, begin = experiments.prepare(trial)
        run = self._player.run(record, None, begin, quiet=True)
        if run is None:
            return record
        made, names = {*run.writes, *run.reads}, self._shell.user_ns
        looks = {
            each.name: self._tracking.session.variables.look(names[each.name], Budget(float("inf")))
            for each in said.changed
            if each.what == "variable" and each.name not in made and each.name in names
        }
        return replace(run, writes={**run.writes, **looks}, timed=(*run.timed, *said.run.timed))


def _compared(said: Explanation, first: Run) -> tuple[set[tuple[str, str]], list[Change]]:
    """Return what is different in each run, and the changes that experiments compare.

    What is itself a suspect, as a counter that the cell goes on with, is compared only if nothing
    else changed.

    Args:
        said: The explanation.
        first: What the cell gave when it ran again with nothing restored.
    """
    volatile = {*map(_key, find_changes(said.run, first))}
    stable = [each for each in said.changed if _key(each) not in volatile]
    if not stable or not volatile <= {*map(_key, said.changed)}:
        volatile, stable = set(), [*said.changed]
    suspects = _inputs(said)
    return volatile, [each for each in stable if _key(each) not in suspects] or stable


def _inputs(said: Explanation) -> set[tuple[str, str]]:
    """Return the variables that are suspects, as changes name them."""
    return {("variable", each.name) for each in said.suspects if each.kind == "input"}


def _key(change: Change) -> tuple[str, str]:
    return change.what, change.name


def _not_restored(experiments: Experiments) -> dict[int, Finding]:
    stays = experiments.stays.items()
    return {place: Finding(how=f"{UNTESTED}: {how}") for place, how in stays}


def _all_open(said: Explanation, how: str, experiments: Experiments) -> dict[int, Finding]:
    """Give all causes one reason why nothing is proved, but for those that have their own."""
    untested = Finding(how=f"{UNTESTED}: {how}")
    return dict.fromkeys(range(len(said.suspects)), untested) | _not_restored(experiments)


def _of_one(causes: Sequence[Cause], place: int, trial: Trial, finding: Finding) -> Finding:
    """Return the finding of a trial in the words for one cause: which others it restored too."""
    others = ", ".join(suspect(causes[other]) for other in sorted(trial.causes - {place}))
    if not others or "all of them" in finding.how:
        return finding
    if "together with" in finding.how:
        return replace(finding, how=finding.how.replace("with", f"with {others} and", 1))
    how = finding.how.replace("it alone", "it")
    return replace(finding, how=how.replace("it", f"it together with {others}", 1))


def _labelled(causes: Sequence[Cause], trials: Sequence[Trial]) -> dict[str, Trial]:
    """Name each trial by its causes; those beyond many are one."""
    if len(trials) > _MOST:
        trials = [*trials[: _MOST - 1], merged(trials[_MOST - 1 :])]
    labelled: dict[str, Trial] = {}
    for trial in trials:
        chosen = [causes[place] for place in sorted(trial.causes)]
        label = " and ".join(map(suspect, chosen))
        labelled[f"{chosen[0].kind} {label}" if label in labelled else label] = trial
    return labelled
