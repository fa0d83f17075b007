"""``%%seeds``: runs a cell under several seeds, and keeps only the study."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click
import msgspec
from IPython.display import display

from ipytorchseed.commands import flag, in_json, option
from ipytorchseed.determinism.interrupts import let_through
from ipytorchseed.errors import LedgerError, LookupFailure, ReplayError
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.foreign import Format
from ipytorchseed.ledger.encoding import encode
from ipytorchseed.notebook.checks import Checks
from ipytorchseed.notebook.magic import as_word
from ipytorchseed.notebook.rerun import Progress, left_as_before, make_body
from ipytorchseed.notebook.seed_magic import SeedValue, complete_saved, find_saved
from ipytorchseed.notebook.state import State
from ipytorchseed.render.text import bar
from ipytorchseed.session.session import Session
from ipytorchseed.studies.record import Outcome, Record, choose_seeds, scipy_stats
from ipytorchseed.studies.study import Study, Versus, refuse_strangers
from ipytorchseed.why.words import say_effects, sentence

_FORMAT = Format("study", LookupFailure, "run it again with --keep", size=1 << 28)


def _place(session: Session) -> str:
    """Return the key of a notebook's studies in the ledger, apart from saved states."""
    return f"{session.notebook}\0studies"


@click.command(add_help_option=False)  # after --help, the body would not run
@click.argument("number", metavar="N", type=int)
@click.option("--from", "start", metavar="SEED", type=SeedValue(), default=0, help="First seed.")
@option("--keep", "NAME", "Keep the study under NAME.")
@option(
    "--versus",
    "NAME",
    "Compare with the study kept as NAME, seed by seed.",
    shell_complete=partial(complete_saved, _place),
)
@flag("--engines", "Spread the runs over the engines of the connected ipyparallel cluster.")
@in_json("the study")
@click.pass_obj
def cell(  # noqa: PLR0913 -- click passes each option by its name
    state: State,
    number: int,
    *,
    start: int,
    keep: str | None,
    versus: str | None,
    engines: bool,
    as_json: bool,
    typed: tuple[list[str], str],
) -> Study | None:
    """Run the cell under N seeds, each time on copies of what it reads.

    Shows each number that the cell makes: variables, the last expression, entries of dictionaries.
    Everything is restored afterwards, except _, which is the study.

    \b
    Examples:
      %%seeds 8                the numbers that the cell makes, under seeds 0 to 7
      %%seeds 8 --from 100     under seeds 100 to 107
      %%seeds 8 --keep base    keep the study, across kernel restarts
      %%seeds 8 --versus base  is the change more than the noise of seeds?
    """  # noqa: D301 -- click's mark for text that keeps its lines
    body, session = typed[1], state.tracking.session
    _refuse(state, body)
    seeds, against, compared = choose_seeds(number, start), None, None
    if keep is not None:
        as_word(keep)  # raises if it cannot be typed
    if versus is not None:
        against = _kept(session, versus)
        refuse_strangers(against, seeds, f"{versus!r}")
    scipy_stats()
    outcomes, notes = _run(state, body, seeds, engines=engines, silent=as_json)
    record = Record.of(outcomes, notes)
    try:
        if keep is not None:
            session.ledger.save(_place(session), keep, {"study": encode(record)})
        if against is not None:
            compared = Versus(against, record, f"{versus}")
    except (LedgerError, LookupFailure) as error:  # the runs are done: keep the study
        record = msgspec.structs.replace(record, notes=(*record.notes, f"{error}."))
    study = Study(record, compared)
    failed = all(each.error is not None for each in outcomes)
    if not (as_json or failed):
        return study
    click.echo(study.to_json()) if as_json else display(study)
    hook: Any = state.shell.displayhook
    hook.update_user_ns(study)  # as for a result that is not shown
    if failed:  # Run All must stop here
        raise ReplayError(f"no seed ran to its end: {outcomes[0].error}")
    return None


def _refuse(state: State, body: str) -> None:
    """Raise if the cell cannot run under several seeds."""
    if not (body or "").strip():
        raise LookupFailure("the cell has no code below this line")
    if body.lstrip().startswith("%%deterministic"):
        raise click.UsageError("put %%deterministic above %%seeds: it is then in force in each run")
    if state.part(Checks).under_way:
        raise click.UsageError("--check above %%seeds would compare studies: remove one of them")
    try:
        state.shell.compile.ast_parse(state.shell.transform_cell(body))
    except SyntaxError as error:
        line = "" if error.lineno is None else f" on line {error.lineno + 1}"
        raise ReplayError(f"the cell cannot run: {error.msg}{line}") from None


def _run(
    state: State, body: str, seeds: Sequence[int], *, engines: bool, silent: bool
) -> tuple[list[Outcome], list[str]]:
    """Run the cell under each seed; return the outcomes and notes.

    Raises:
        LookupFailure: No cluster is connected, or its engines lack what the cell needs.
        ReplayError: A value cannot be copied, or the user interrupted the runs.
    """
    outcomes, notes, moved = dict[int, Outcome](), list[str](), list[str]()
    shell, session, stays = state.shell, state.tracking.session, list[str]()
    shown = Progress(shell, silent=silent, what="Seeds")
    try:
        with left_as_before(state, lambda: stays, moved), shown as progress:

            def tell(where: str) -> None:
                progress.tell(bar(len(outcomes), len(seeds), where))

            if engines:
                from ipytorchseed.notebook.engines import run_on_engines

                run = partial(run_on_engines, shell, body, seeds, outcomes, tell)
                notes = let_through(run, once=True)
            else:
                made = make_body(shell, body, stays)
                for seed in seeds:
                    tell(f"seed {seed}")
                    outcomes[seed] = made.run(seed)
    except KeyboardInterrupt:
        msg = f"interrupted after {len(outcomes)} of {len(seeds)} seeds"
        raise ReplayError(f"{msg}; {say_restored('everything is', moved)}") from None
    if moved:
        notes.append(f"After the runs, {say_restored('everything is', moved)}.")
    if session.pending is not None:
        notes += map(sentence, say_effects(session.outside()))
    return [outcomes[seed] for seed in seeds], notes


def _kept(session: Session, name: str) -> Record:
    """Return the study that was kept under a name."""
    content = find_saved(session, _place(session), name)
    with _FORMAT.errors(name):
        return msgspec.msgpack.decode(content["study"], type=Record)
