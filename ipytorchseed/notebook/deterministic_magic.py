"""``%deterministic`` and ``%%deterministic``: their commands and options."""

from __future__ import annotations

import shlex
from functools import partial

import click
from IPython.display import display

from ipytorchseed.commands import RUNS, Words, flag, in_json, no_notebook, option, says
from ipytorchseed.determinism.scope import deterministic
from ipytorchseed.errors import LookupFailure
from ipytorchseed.notebook.checks import Checks
from ipytorchseed.notebook.scopes import Scopes, begin_trace, pick_place
from ipytorchseed.notebook.seed_magic import SeedCommand, SeedValue
from ipytorchseed.notebook.state import State
from ipytorchseed.render.report import Report, report
from ipytorchseed.render.scope import Receipt, receipt_json

_FOR_SESSION = {word: f"%deterministic {word}" for word in ("on", "off")}

_warn = flag("--warn", "List operations without a deterministic algorithm; stop no cell.")
_no_cudnn = flag("--no-cudnn", "Also switch cuDNN off.")


class _Settings(Words):
    """The subcommands of ``%deterministic``; a seed raises an error with advice."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0].isdecimal() and not ctx.resilient_parsing:
            later = f"for the rest of the session: %seed {args[0]}, then %deterministic on"
            ctx.fail(f"to seed one cell, put %%deterministic {args[0]}; {later}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Settings, invoke_without_command=True, subcommand_metavar="[on [--warn] | off]")
@in_json("the report")
@flag("--all everything", "Print every setting as text.")
@click.pass_context
def line(ctx: click.Context, *, as_json: bool, everything: bool) -> Report | str | None:
    """Show every setting that decides whether results repeat, and what it should be.

    \b
    Examples:
      %deterministic            what can still change results
      %deterministic --all      every setting, as text
      %deterministic on --warn  for all later cells; only list alerts
      %deterministic off        restore every setting
      %%deterministic 42        for one cell: first line of the cell
    """  # noqa: D301 -- click's mark for text that keeps its lines
    if ctx.invoked_subcommand is not None:
        return None
    view = report()
    return view.to_json() if as_json else view.full_text() if everything else view


def _session_scopes(state: State) -> Scopes:
    """Return the shell's scopes, to begin or end the scope of the session.

    Raises:
        UsageError: The running cell is under ``%%deterministic``.
    """
    scopes = state.part(Scopes)
    if scopes.ends:
        under = "this cell runs under %%deterministic, which ends with it; use a separate cell"
        raise click.UsageError(under)
    return scopes


@line.command("on")
@_warn
@_no_cudnn
@says
def _on(state: State, *, warn: bool, no_cudnn: bool) -> str:
    """Set the flags that repeatability needs, for the rest of the session."""
    _session_scopes(state).switch_on(deterministic(warn=warn, cudnn=not no_cudnn))
    return f"{report().headline}\n%deterministic off puts the settings back."


@line.command("off")
@says
def _off(state: State) -> str:
    """Put back exactly what was there before `on`."""
    if not _session_scopes(state).switch_off():
        raise click.UsageError("nothing to switch off: `%deterministic on` is not in force")
    return "Every setting is as it was before %deterministic on."


@click.command(cls=SeedCommand, add_help_option=False)  # after --help, the body would run
@click.argument("seed", type=SeedValue(_FOR_SESSION), required=False)
@_warn
@flag("--isolate", "Also restore every source after the cell.")
@_no_cudnn
@option(
    "--check runs",
    "[N]",
    "Run the cell N times (2) from the same state with the flags as they are, compare, and name the"
    " first operation that gives a different result.",
    RUNS,
    alone=2,
)
@option(
    "--trace",
    "[FILE]",
    "Record which operation draws how much: %rng who N; and every operation in FILE, for"
    " `ipytorchseed trace diff`.",
    callback=no_notebook,
    alone="",
)
@flag("--summaries", "With --trace FILE, also keep what `trace diff --rtol` compares.")
@in_json("the receipt, or the check's result,")
@click.pass_obj
def cell(  # noqa: C901, PLR0912, PLR0913 -- click passes each option by its name
    state: State,
    seed: int | None,
    *,
    warn: bool,
    isolate: bool,
    no_cudnn: bool,
    runs: int | None,
    trace: str | None,
    summaries: bool,
    as_json: bool,
    typed: tuple[list[str], str | None],
) -> None:
    """Run the cell so that the same input gives the same bits.

    Seeds every source with SEED, if one is given, sets the flags that repeatability needs, runs
    the cell, and puts every flag back, whatever happens in the cell. With --check, no flag is set:
    the cell is run several times as it is, and compared.

    \b
    Examples:
      %%deterministic 42               seed, set the flags, run, restore them
      %%deterministic --check          does it repeat? if not, why?
      %%deterministic --check 5        the same with five runs
      %%deterministic 42 --isolate     later cells do not see that it drew
      %%deterministic --trace          who draws how much: then %rng who N
      %%deterministic --trace a.trace  every operation, to compare runs
    """  # noqa: D301 -- click's mark for text that keeps its lines
    words, body = typed
    shell = state.shell
    if body is not None and not body.strip():
        later = f"{'' if seed is None else f'%seed {seed}, then '}%deterministic on"
        message = f"the cell has no code below this line. For the rest of the session: {later}"
        raise LookupFailure(message)
    if state.rerunning and body is None:  # a check reruns the cell; it sets no flags
        return
    if trace and trace.isdecimal() and seed is None:  # in ``--trace 42``, 42 is the seed
        seed, trace = SeedValue().convert(trace, None, click.get_current_context()), ""
    if summaries and not trace:
        raise click.UsageError("--summaries needs --trace FILE")
    if runs is not None:
        others = {"--warn": warn, "--no-cudnn": no_cudnn, "--trace": trace is not None}
        for word, given in others.items():
            if given:
                message = f"--check runs the cell with the flags as they are; leave out {word}"
                raise click.UsageError(message)
        if body is not None:  # code called the magic, and passed a body
            text = f"%%deterministic {shlex.join(words)}\n{body}"
            shell.run_cell(text, store_history=False).raise_error()
        elif not state.replaying:
            state.part(Checks).begin(seed, runs, isolate=isolate, as_json=as_json)
        elif seed is not None:  # a replay needs only the cell's result
            state.apply(seed, "scope")
        return
    scope = deterministic(seed, warn=warn, isolate=isolate, cudnn=not no_cudnn)
    if body is not None:  # as above
        scope.pick = partial(pick_place, state)
        with scope:
            shell.run_cell(body, store_history=False).raise_error()
        if as_json:
            click.echo(receipt_json(scope))
        return
    run = state.runs.current

    def show_receipt(scope: deterministic) -> None:
        if as_json:
            click.echo(receipt_json(scope))
        # a run may continue, as under %%timeit
        elif not state.replaying and (run is None or run is not state.runs.current):
            display(Receipt(scope))

    state.part(Scopes).begin_cell(scope, show_receipt)
    if seed is not None:
        state.tracking.note_seed(seed, "scope")
    if trace is not None:
        begin_trace(state, trace, summaries=summaries, quiet=as_json)
