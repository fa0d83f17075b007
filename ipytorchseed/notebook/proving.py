"""``%why --prove``: experiments in the running shell that leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import click
from msgspec.structs import replace

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.errors import IPyTorchSeedError, ReplayError
from ipytorchseed.fingerprint import Budget
from ipytorchseed.ledger.records import Run
from ipytorchseed.notebook.progress import Progress, bar
from ipytorchseed.notebook.replay import Player
from ipytorchseed.notebook.rerun import moved_parts, restored_shell
from ipytorchseed.notebook.seeding import Seeding
from ipytorchseed.render.replay import say_outside
from ipytorchseed.render.why import suspect
from ipytorchseed.sandbox.process import say_restored
from ipytorchseed.sandbox.proving import Experiments
from ipytorchseed.sandbox.trials import Trial, compare, merged
from ipytorchseed.session.present import LiveKernel
from ipytorchseed.why.evidence import run_name
from ipytorchseed.why.experiments import (
    CLEARED,
    LIKELY,
    PROVED,
    Finding,
    Names,
    Result,
    count_most,
    judge,
)
from ipytorchseed.why.explanation import Cause, Cleared, Explanation

_LONG = 1.0
"""Seconds that the cells took together, from which on it is told how far it is."""

_MOST = 6
"""Suspects that are told apart; those beyond are put back together."""


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

    def prove(self, said: Explanation, *, yes: bool, silent: bool) -> Explanation:
        """Find out by experiment which causes of an explanation are causes.

        Args:
            said: The explanation; where it names no cause, there is nothing to find out.
            yes: Also run cells that write files, start programs or open connections.
            silent: Do not tell how far it is.

        Raises:
            ReplayError: A cell would act outside the kernel, or the user interrupted it: everything
                is as before.
        """
        against, session = said.against, self._tracking.session
        if against is None or not said.causes or not said.changed or said.run.cell != against.cell:
            return said
        scene = self._player.scene()
        present = LiveKernel(session, said.run, scene.namespace)
        hidden = self._shell.user_ns_hidden
        experiments = Experiments(scene, said.run, against, said.causes, present, hidden)
        if experiments.blocked:
            return _with_findings(said, _all_likely(said, experiments.blocked, experiments))
        outside = say_outside(experiments.plan, session.kernel)
        if outside and not yes:
            msg = f"{outside}. Nothing was run; to run that again for a proof, add --yes"
            raise ReplayError(msg)
        moved: list[str] = []
        try:
            with held_interrupts(), self._as_before(experiments, moved):
                try:
                    found = self._judge(said, experiments, silent=silent)
                except (IPyTorchSeedError, OSError) as error:
                    found = _all_likely(said, str(error), experiments)
        except KeyboardInterrupt:
            raise ReplayError(f"interrupted; {say_restored('everything is', moved)}") from None
        if moved:
            click.echo(f"After the experiments, {say_restored('everything is', moved)}.", err=True)
        return _with_findings(said, found)

    @contextmanager
    def _as_before(self, experiments: Experiments, moved: list[str]) -> Iterator[None]:
        """Put everything back after the block; add to ``moved`` what is not as before."""
        visited = self._shell.user_ns.get("_dh", [])
        with ExitStack() as undo:
            undo.callback(visited.__setitem__, slice(None), [*visited])  # where `%cd` was
            undo.callback(vars(self._seeding).update, dict(vars(self._seeding)))
            undo.callback(lambda: moved.extend([*experiments.leave(), *moved_parts(parts)]))
            undo.enter_context(self._player.at_work("%why --prove"))
            undo.enter_context(self._tracking.apart())
            parts = undo.enter_context(restored_shell(self._shell))
            yield

    def _judge(
        self, said: Explanation, experiments: Experiments, *, silent: bool
    ) -> dict[int, Finding]:
        """Make the experiments; return what they say of each cause, by its place.

        Raises:
            IPyTorchSeedError: They cannot be made: a value cannot be copied, for one.
            OSError: The working folder of one of the runs is gone.
        """
        kernel, against = self._tracking.session.kernel, said.against or said.run
        seconds = sum(step.run.seconds for step in experiments.plan.steps)
        seconds += said.run.seconds * count_most(len(experiments.trials))
        silent = silent or seconds < _LONG
        with Progress(self._shell, silent=silent, what="Proving") as progress:
            progress.step("making again what the cell found …")
            experiments.build(self._make)
            trials = _labelled(said.causes, experiments.trials)
            beside = ", ".join(sorted(experiments.beside.values))
            parts = {**trials, beside: experiments.beside}
            most, made = count_most(len(trials) + bool(beside)), 0

            def experiment(chosen: frozenset[str]) -> Result:
                nonlocal made
                made += 1
                what = f"with {', '.join(sorted(chosen))} put back" if chosen else "as it was"
                progress.step(bar(made, most, f"{what} …", most="at most"))
                run = self._try(experiments, merged(parts[label] for label in chosen), said)
                return compare(said.run, against, run, said.changed)

            names = Names(run_name(against, kernel), run_name(said.run, kernel))
            found = (
                judge([*trials], experiment, names, lambda: experiments.lost, beside)
                if trials
                else {}
            )
            progress.clear()
        return {
            **_likely(experiments),
            **{
                place: _of_one(said.causes, place, trials[label], finding)
                for label, finding in found.items()
                for place in trials[label].causes
            },
        }

    def _make(self, again: Run, begin: Callable[[], None]) -> None:
        """Run a cell that makes an input.

        Raises:
            ReplayError: It failed.
        """
        run = self._play(again, begin)
        if run is None or run.status != "ok":
            name = run_name(again, self._tracking.session.kernel)
            said = "it was not recorded" if run is None else run.error
            raise ReplayError(f"{name}, which makes an input, failed when it ran again ({said})")

    def _try(self, experiments: Experiments, trial: Trial, said: Explanation) -> Run:
        """Run the cell with what goes back in a trial; return what it made."""
        record, begin = experiments.prepare(trial)
        run = self._play(record, begin)
        if run is None:
            return record
        made, names = {*run.writes, *run.reads}, self._shell.user_ns
        looks = {
            each.name: self._tracking.session.variables.look(names[each.name], Budget(float("inf")))
            for each in said.changed
            if each.what == "variable" and each.name not in made and each.name in names
        }
        return replace(run, writes={**run.writes, **looks}, timed=(*run.timed, *said.run.timed))

    def _play(self, again: Run, begin: Callable[[], None]) -> Run | None:
        run = self._player.run(again, None, begin, quiet=True)
        if run is not None and run.status == "interrupted":
            raise KeyboardInterrupt
        return run


def _likely(experiments: Experiments) -> dict[int, Finding]:
    return {place: Finding(how=how) for place, how in experiments.stays.items()}


def _all_likely(said: Explanation, how: str, experiments: Experiments) -> dict[int, Finding]:
    """Give all causes one reason why nothing is proved, but for those that have their own."""
    return dict.fromkeys(range(len(said.causes)), Finding(how=how)) | _likely(experiments)


def _of_one(causes: Sequence[Cause], place: int, trial: Trial, finding: Finding) -> Finding:
    """Return what was found of a trial as it is told of one cause: with what it went back."""
    others = ", ".join(suspect(causes[other]) for other in sorted(trial.causes - {place}))
    if not others or "with all others" in finding.how:
        return finding
    if "together with" in finding.how:
        return replace(finding, how=finding.how.replace("with", f"with {others} and", 1))
    return replace(finding, how=finding.how.replace("put back", f"put back with {others}", 1))


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


def _with_findings(said: Explanation, found: Mapping[int, Finding]) -> Explanation:
    """Add what experiments say: what is proved is told first, what is cleared last."""
    causes = [replace(cause, finding=found[place]) for place, cause in enumerate(said.causes)]
    causes.sort(key=lambda cause: (PROVED, LIKELY, CLEARED).index(cause.finding.level))
    cleared = [
        Cleared(cause.kind, cause.name, f"{CLEARED}: {cause.finding.how}")
        for cause in causes
        if cause.finding.level == CLEARED
    ]
    return replace(said, causes=tuple(causes), cleared=(*said.cleared, *cleared))
