"""Runs the experiments of ``%why`` in the shell, and restores everything."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import click
from msgspec.structs import replace

from ipytorchseed.determinism.interrupts import TimeLimit
from ipytorchseed.errors import IPyTorchSeedError, LedgerError, ReplayError
from ipytorchseed.experiment.policy import (
    BYTES,
    DEADLINE,
    SECONDS,
    count_fitting,
    find_objection,
)
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.proving import Experiments
from ipytorchseed.experiment.search import Search
from ipytorchseed.fingerprint import Budget
from ipytorchseed.ledger.records import READING, Finding, Findings, Run, marked
from ipytorchseed.notebook.progress import Progress
from ipytorchseed.notebook.replay import Player
from ipytorchseed.notebook.rerun import left_as_before
from ipytorchseed.render.replay import say_outside
from ipytorchseed.render.text import bar
from ipytorchseed.session.asking import why
from ipytorchseed.session.present import LiveKernel
from ipytorchseed.why.experiments import UNTESTED, count_most
from ipytorchseed.why.explanation import Explanation
from ipytorchseed.why.tested import THE_CELL, with_findings

# Seconds that the cells took together, from which on progress is shown.
_LONG = 0.5

# The most pairs of earlier runs that are tested for one answer.
_MOST_MAKERS = 5

# Seconds to look at variables, for automatic experiments.
_UNASKED_LOOKS = 0.3


def prove_causes(
    player: Player, said: Explanation, *, asked: bool, yes: bool = False, silent: bool
) -> Explanation:
    """Test causes, and return the explanation with the findings.

    Args:
        player: Runs cells again.
        said: The explanation. If it names no cause, the test is whether the cell repeats.
        asked: Whether the user asked, so that it may take long. Otherwise the policy decides,
            and the explanation gives the reason if it refuses.
        yes: Whether to also run cells that write files, start programs or open connections.
        silent: Whether to show no progress.

    Raises:
        ReplayError: A cell would act outside the kernel, or the user who asked interrupted it.
            Everything is as before.
    """
    experiments = _experiments(player, said, asked=asked)
    if experiments is None:
        return said
    kernel = player.tracking.session.kernel
    objection = _objection(player, said, experiments, asked=asked)
    tested = said
    if objection and not (asked or experiments.blocked):  # there may be time to test some
        runs = [run for run in (said.run, said.against) if run is not None]
        tested = said.with_suspects(count_fitting(runs, experiments.plan))
        only = _experiments(player, tested, asked=asked) if tested.suspects else None
        if only is not None and not _objection(player, tested, only, asked=asked):
            experiments, objection = only, ""
    outside = "" if objection else say_outside(experiments.plan, kernel)
    if outside and not yes:
        msg = f"{outside}. Nothing was run; to run that again for a proof, add --yes"
        raise ReplayError(msg)
    try:
        if not objection:
            return _tested(player, said, tested, experiments, silent=silent, asked=asked)
    except ReplayError as error:  # interrupted, or raised by an experiment
        if asked:
            raise
        objection = str(error)
    return _told(player, said, _all_open(said, objection, experiments))


def prove_makers(player: Player, said: Explanation) -> bool:
    """Test the causes of changed inputs in the short cells that made them.

    Args:
        player: Runs cells again.
        said: The explanation, with the pairs of runs to test.

    Returns:
        Whether there are new findings.
    """
    session = player.tracking.session
    until, found = time.monotonic() + SECONDS, False
    for run, against in said.makers[:_MOST_MAKERS]:
        if time.monotonic() > until:
            break
        prove_causes(player, why(session, run, against, tested=False), asked=False, silent=True)
        found |= bool(run.id and against.id and session.ledger.findings(run.id, against.id))
    return found


def _objection(player: Player, said: Explanation, experiments: Experiments, *, asked: bool) -> str:
    """Return why no experiments may run; empty if they may."""
    if experiments.blocked or asked:
        return experiments.blocked
    runs = [run for run in (said.run, said.against) if run is not None]
    count, kernel = count_most(len(experiments.trials)), player.tracking.session.kernel
    return find_objection(runs, experiments.plan, count, kernel)


def _experiments(player: Player, said: Explanation, *, asked: bool) -> Experiments | None:
    """Plan the experiments without running; return None if there are none."""
    against, session = said.against, player.tracking.session
    comparable = against is not None and said.changed and said.run.cell == against.cell
    if against is None or not comparable or (said.unknown and not said.suspects):
        return None
    if said.tested and not asked:
        return None
    names, hidden = player.shell.user_ns, frozenset(player.shell.user_ns_hidden)
    present = LiveKernel(session, said.run, names, None if asked else _UNASKED_LOOKS)
    return Experiments(names, session.ledger, said.run, against, said.suspects, present, hidden)


def _tested(  # noqa: PLR0913 -- as for ``prove_causes``
    player: Player,
    said: Explanation,
    tested: Explanation,
    experiments: Experiments,
    *,
    silent: bool,
    asked: bool,
) -> Explanation:
    """Run the experiments; return the explanation with the findings.

    Args:
        player: Runs cells again.
        said: The explanation.
        tested: The same with only the first suspects, those that there is time to test.
        experiments: The experiments for these.
        silent: Whether to show no progress.
        asked: Whether the user asked.

    Raises:
        ReplayError: It was interrupted; the message says what was restored.
    """
    keep, moved = False, list[str]()
    limit = TimeLimit(None if asked else DEADLINE)
    try:
        with (
            left_as_before(player.shell, player.seeding, experiments.leave, moved),
            player.at_work("%why --prove"),
            player.tracking.isolated(),
            limit,
        ):
            try:
                found = _search(player, tested, experiments, silent=silent, asked=asked)
            except (IPyTorchSeedError, OSError) as error:
                found = _all_open(tested, str(error), experiments)
            else:
                keep = True
    except KeyboardInterrupt:
        reason = "it took longer than before · %why --prove" if limit.expired else "interrupted"
        if moved or not limit.expired:
            reason += f"; {say_restored('everything is', moved)}"
        raise ReplayError(reason) from None
    if moved:
        click.echo(f"After the experiments, {say_restored('everything is', moved)}.", err=True)
    untested = len(said.suspects) - len(tested.suspects)
    if untested:
        late = Finding(how=f"{UNTESTED}: there was no time for it · %why --prove")
        found |= {len(tested.suspects) + place: late for place in range(untested)}
    return _told(player, said, found, keep=keep)


def _told(
    player: Player, said: Explanation, found: Mapping[int, Finding], *, keep: bool = False
) -> Explanation:
    """Add findings to an explanation, and to the ledger if ``keep``."""
    session = player.tracking.session
    names = [(each.kind, each.name) for each in said.suspects] or [THE_CELL]
    findings = Findings(tuple((*name, found[place]) for place, name in enumerate(names)))
    if keep and said.against is not None and said.run.id and said.against.id:
        with suppress(LedgerError):  # they are tested again next time
            session.ledger.add_findings(said.run.id, said.against.id, findings)
    return with_findings(said, findings, session.kernel)


def _search(
    player: Player, said: Explanation, experiments: Experiments, *, silent: bool, asked: bool
) -> dict[int, Finding]:
    """Run the experiments; return the finding for each cause, by its index.

    Raises:
        IPyTorchSeedError: They cannot run, for example because a value cannot be copied.
        OSError: The working folder of one of the runs no longer exists.
    """
    until = math.inf if asked else time.monotonic() + DEADLINE
    seconds = sum(step.run.seconds for step in experiments.plan.steps)
    seconds += said.run.seconds * count_most(len(experiments.trials))

    def make(again: Run, begin: Callable[[], None]) -> None:
        player.run_whole(again, None, begin, quiet=True)

    def tell(made: int, most: int, what: str) -> None:
        progress.step(bar(made, most, what, most="at most"))

    with Progress(player.shell, silent=silent or seconds < _LONG, what="Proving") as progress:
        progress.step("making again what the cell found …")
        experiments.build(make, None if asked else BYTES)
        run = partial(_run, player, said)
        found = Search(said, experiments, run, tell, until).find()
        progress.clear()
    return _not_restored(experiments) | found


def _run(player: Player, said: Explanation, record: Run, begin: Callable[[], None]) -> Run:
    """Run the cell of a record; return the run, with other changed variables."""
    run = player.run(record, None, begin, quiet=True)
    if run is None:
        return record
    made, names = {*run.writes, *run.reads}, player.shell.user_ns
    looks = {
        each.name: player.tracking.session.variables.look(names[each.name], Budget(float("inf")))
        for each in said.changed
        if each.what == "variable" and each.name not in made and each.name in names
    }
    return replace(run, writes=marked({**run.writes, **looks}, {*said.run.timed}, READING))


def _not_restored(experiments: Experiments) -> dict[int, Finding]:
    stays = experiments.stays.items()
    return {place: Finding(how=f"{UNTESTED}: {how}") for place, how in stays}


def _all_open(said: Explanation, how: str, experiments: Experiments) -> dict[int, Finding]:
    """Mark all causes as untested for one reason, unless they have their own."""
    untested = Finding(how=f"{UNTESTED}: {how}")
    places = range(len(said.suspects) or 1)
    return dict.fromkeys(places, untested) | _not_restored(experiments)
