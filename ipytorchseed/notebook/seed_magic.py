"""``%seed``: its commands and options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

import click
from click.shell_completion import CompletionItem

from ipytorchseed.commands import Seed, Words, flag, says, without_dashes
from ipytorchseed.errors import LookupFailure, did_you_mean, quoted
from ipytorchseed.experiment.rewind import put_back, rewind
from ipytorchseed.ledger.records import Run
from ipytorchseed.notebook.lookup import TRACKING_OFF, find_run, recent_runs
from ipytorchseed.notebook.magic import as_word
from ipytorchseed.notebook.state import State
from ipytorchseed.render.seeding import SeedLog, SeedStatus, restored_text, seeded_text
from ipytorchseed.rng.seeds import LIMIT, fresh_seed, own_rank, seed_by_rank
from ipytorchseed.session.session import Session
from ipytorchseed.why.evidence import run_phrase

# The maximum number of seeds to show in the log.
_SHOWN = 50

NOW = ""  # the name of the command for ``%seed 42``, which has no word before the seed


class SeedValue(Seed):
    """A typed seed.

    Args:
        others: Words that may have been meant instead, with the suggestion for each.
    """

    def __init__(self, others: Mapping[str, str] | None = None) -> None:
        self._others = others or {}

    def convert(self, value: object, param: object, ctx: click.Context | None) -> int:
        """Return the seed, or raise an error that suggests what was meant."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            message = error.message
        text, meant = str(value), {**self._others}
        if ctx is not None:
            meant |= without_dashes(ctx.command)
            if ctx.info_name == NOW and not re.match(r"[+-]?[\d.]", text):
                known = {name: name for name in line.commands}
                among = f"(0 to {LIMIT - 1}) nor one of {', '.join(known)}"
                message, meant = f"{quoted(text)} is neither a seed {among}", meant | known
        raise click.UsageError(f"{message}{did_you_mean(text, meant)}", ctx)


class _SeedWords(Words):
    """The subcommands of ``%seed``, with options before or after.

    If the first word is not a subcommand, it is a seed.
    """

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _now if cmd_name == NOW else super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        first = next((at for at, word in enumerate(args) if not word.startswith("-")), 0)
        if args[first] in self.commands:
            return super().resolve_command(ctx, [args[first], *args[:first], *args[first + 1 :]])
        return NOW, _now, args

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # Options may come before a seed.
        return super().shell_complete(ctx, incomplete) + _now.shell_complete(ctx, incomplete)


class SeedCommand(click.Command):
    """A command in which a negative number is an invalid seed, not an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:  # noqa: D102 -- click's
        for word in args:
            if re.match(r"-\d", word):
                SeedValue().convert(word, None, ctx)  # raises a clear error
        return super().parse_args(ctx, args)


@click.group(
    cls=_SeedWords,
    invoke_without_command=True,
    subcommand_metavar="[SEED [--generators] [--by-rank] [-q] | COMMAND]",
    context_settings={"ignore_unknown_options": True},
)
@click.pass_context
def line(ctx: click.Context) -> SeedStatus | None:
    """Put every source of randomness in a known state.

    A SEED, an integer from 0 to 4294967295, seeds python, numpy, torch on every device and
    registered sources now. Without one, show what is in force.

    \b
    Examples:
      %seed 42               seed python, numpy and torch now
      %seed 42 --generators  and the generators that you created
      %seed 42 --by-rank     each rank of a training run with its own
      %seed 42 -q            print nothing
      %seed each 42          each later cell, until %seed off
      %seed rewind 5         go back to where In[5] began
      %seed save start       keep where every source stands
      %seed restore start    and come back to it, also after a restart
      %seed                  where every source stands
    """  # noqa: D301 -- click's mark for text that keeps its lines
    if ctx.invoked_subcommand is not None:
        return None
    return SeedStatus.read(ctx.obj.seeding.rule, ctx.obj.generators())


@click.command(cls=SeedCommand)  # not in the group: users do not type its name
@click.argument("seed", type=SeedValue())
@flag(
    "--generators",
    "Also reseed the generators of the namespace, each with a seed derived from SEED and its name.",
)
@flag("--by-rank", "Give each process its own seed, derived from SEED and its rank.")
@says
def _now(state: State, seed: int, *, generators: bool, by_rank: bool) -> str:
    """Seed every source now."""
    common, rank, typed, note = seed, own_rank(), "", ""
    if by_rank:
        seed, typed = seed_by_rank(common, rank), f"{common} --by-rank"
        whose = "rank 0, as this process has none" if rank is None else f"rank {rank}"
        note = f"\nThe seed is derived from {common} and {whose}."
    found = state.generators()
    state.apply(seed, "now")
    reseeded = [(each, each.reseed(seed)) for each in found] if generators else []
    return seeded_text(seed, reseeded, [] if generators else found, typed) + note


@line.command("each", cls=SeedCommand)
@click.argument("seed", type=SeedValue())
@flag("--same", "Give every cell SEED itself.")
@says
def _each(state: State, seed: int, *, same: bool) -> str:
    """Seed before every later cell, with the cell's own seed derived from SEED."""
    state.seeding.each, state.seeding.same = seed, same
    return f"{state.seeding.rule}.\n%seed off stops it."


@line.command("off")
@says
def _off(state: State) -> str:
    """Stop seeding before every cell."""
    was, state.seeding.each = state.seeding.each, None
    return "Cells are no longer seeded." if was is not None else "%seed each was not on."


@line.command("new")
@says
def _new(state: State) -> str:
    """Take a fresh seed from the system, apply it and print it."""
    seed = fresh_seed()
    state.apply(seed, "new")
    return seeded_text(seed, [], state.generators())


@line.command("stamp")
@click.pass_obj
def _stamp(state: State) -> str:
    """Print one line for a paper or a log: seed, states, settings, versions, hardware."""
    from ipytorchseed.render.seeding import stamp, stamp_text

    seed = state.seeding.each
    return stamp() if seed is None else stamp_text(f"each cell seeded from {seed}")


@line.command("log")
@click.pass_obj
def _log(state: State) -> SeedLog:
    """Show which seeds were applied when, across kernel restarts."""
    session = state.tracking.session
    entries = session.ledger.seeds(session.notebook, limit=_SHOWN + 1)
    shown, runs = entries[-_SHOWN:], dict[tuple[str, int | None], Run]()
    for kernel, count in {(each.kernel, each.execution_count) for each in shown}:
        run = None if count is None else session.ledger.find(session.history_key, count, kernel)
        if run is not None and run.kernel == kernel:
            runs[kernel, count] = run
    notes = [f"The last {_SHOWN} seeds, oldest first."] if len(entries) > _SHOWN else []
    notes += [] if session.config.tracking else [f"Seeds are not logged now: {TRACKING_OFF}"]
    return SeedLog(shown, runs, session.kernel, " ".join(notes))


def complete_saved(place: Callable[[Session], str], ctx: click.Context, *word: Any) -> list[str]:
    """Return the saved names as completions, quoted if needed."""
    names = ctx.obj.tracking.session.ledger.saves(place(ctx.obj.tracking.session))
    return [as_word(name) for name in names if name.startswith(word[-1].lstrip("\"'"))]


def find_saved(session: Session, place: str, name: str) -> dict[str, bytes]:
    """Return what is saved under a name.

    Args:
        session: The session of the notebook.
        place: The key of the notebook's saved states, or studies, in the ledger.
        name: The name.

    Raises:
        LookupFailure: Nothing is saved under this name; the message lists the names.
    """
    found, names = session.ledger.saved(place, name), [*session.ledger.saves(place)]
    if found is None:
        known = f"{', '.join(names) or 'nothing'}{did_you_mean(name, names)}"
        raise LookupFailure(f"nothing is saved as {name!r}; saved: {known}")
    return found


_completed = partial(complete_saved, attrgetter("history_key"))
_name = click.argument("words", metavar="NAME", nargs=-1, required=True, shell_complete=_completed)


@line.command("save")
@_name
@says
def _save(state: State, words: tuple[str, ...]) -> str:
    """Keep the full state of every source under NAME, across kernel restarts."""
    session, name = state.tracking.session, " ".join(words)
    word, states = as_word(name), state.states()
    session.ledger.save(session.history_key, name, states)
    return f"Saved {', '.join(states)} as {quoted(name)}. Back with: %seed restore {word}"


@line.command("restore")
@_name
@says
def _restore(state: State, words: tuple[str, ...]) -> str:
    """Put every source back to the state saved as NAME."""
    session, name = state.tracking.session, " ".join(words)
    done = put_back(find_saved(session, session.history_key, name), state.generators())
    return restored_text(done, f"to the state saved as {name!r}")


@line.command("rewind")
@click.argument("run", metavar="N", shell_complete=recent_runs)
@flag("--after", "Put back the states in which In[N] ended.")
@says
def _rewind(state: State, run: str, *, after: bool) -> str:
    """Put every source back where it stood when In[N] began.

    N is the number in In[N], in this kernel or else in the last kernel that ran an In[N]. #17 is
    run 17 of the ledger: %rng and %seed log show these numbers for runs of earlier kernels.
    """
    session = state.tracking.session
    found = find_run(session, run)
    name = run_phrase(found, session.kernel)
    done = rewind(session.ledger, found, state.generators(), name, after=after)
    return restored_text(done, f"to the {'end' if after else 'start'} of {name}")
