"""``%why``: explains a changed result, in a kernel or from the ledger alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from IPython.core.inputtransformer2 import TransformerManager
from IPython.display import display

from ipytorchseed.commands import flag, in_json, option
from ipytorchseed.errors import LookupFailure
from ipytorchseed.ledger.records import Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.notebook.lookup import find_run, own_run, recent_runs, run_named, run_of
from ipytorchseed.notebook.proving import Proof, prove_makers
from ipytorchseed.notebook.state import State
from ipytorchseed.questions import RUN, Why
from ipytorchseed.reads.own_lines import MARK, is_inspection
from ipytorchseed.receipts.privacy import Places
from ipytorchseed.receipts.receipt import read
from ipytorchseed.render.view import View
from ipytorchseed.render.why import WhyView
from ipytorchseed.render.why_all import NotebookView
from ipytorchseed.session.asking import last_repeated, why, why_all, why_elsewhere, with_seeds
from ipytorchseed.session.session import Session
from ipytorchseed.why.explanation import Explanation
from ipytorchseed.why.tested import with_newer

_LIVE = "application/vnd.jupyter.widget-view+json"

_ONLY_JSON = "`%why all` accepts no option except --json: it compares each cell's last two runs"


@click.command()
@click.argument(
    "what",
    required=False,
    metavar="[N | VARIABLE | CELL-ID | all | on | off]",
    shell_complete=recent_runs,
)
@option(
    "--against",
    "N|FILE",
    "Compare with In[N] instead of the run before, or with the receipt of a run elsewhere.",
    shell_complete=recent_runs,
)
@click.option(
    "--prove/--no-prove",
    default=None,
    help="Test the causes: run the cell again on copies, each time with one cause restored, and say"
    " which ones give the earlier result again. Short cells are tested anyway; --no-prove runs"
    " nothing.",
)
@flag("--yes", "With --prove: also run cells that write files, start programs or use connections.")
@in_json()
@click.pass_obj
def line(  # noqa: PLR0913 -- click passes each option by its name
    state: State,
    what: str | None,
    *,
    against: str | None,
    prove: bool | None,
    yes: bool,
    as_json: bool,
) -> View | str | None:
    """Explain why a cell gave a different result than the last time.

    Without an argument, explains the last run of a cell that had run before. An argument names
    another run: N means In[N], a variable means the run that last set it, and a cell's id means
    that cell's last run. `all` explains every cell of this kernel. After `on`, a line appears under
    every cell whose output changed, until `off`.

    \b
    Examples:
      %why                   why the last cell that ran again changed its result
      %why 9                 why In[9] did
      %why acc               why the run that last set acc did
      %why 9 --against 5     why In[9] and In[5] differ
      %why --against a.json  what differs from that receipt
      %why 9 --prove         test the causes of a cell that takes long
      %why all               which cells of the notebook changed, and why
      %why on                a line under each cell whose result changed
    """  # noqa: D301 -- click's mark for text that keeps its lines
    if yes and not prove:
        raise click.UsageError("--yes needs --prove")
    session = state.session
    if what in {"on", "off"}:
        state.options.explain_on_change = what == "on"
        if what == "on":
            state.open_viewer()  # its imports take long
        return None
    if what == "all":
        if against is not None or prove is not None:
            raise click.UsageError(_ONLY_JSON)
        notebook = NotebookView(*why_all(session), session.kernel)
        return notebook.to_json() if as_json else notebook
    said, prove = _compare(state, what, against, prove=prove)
    if prove or (prove is None and state.options.prove):
        said = Proof(state, said, asked=bool(prove), silent=as_json).prove(yes=yes)
        proved = bool(said.makers) and prove_makers(state, said)
        if proved or any(cause.finding.parts for cause in said.causes):
            said = with_newer(said, why(session, said.run, said.against, tested=False))
    view = WhyView(with_seeds(said, state.shell.user_ns), session.kernel)
    if as_json:
        return view.to_json(session.identity.ident_of(said.run.cell))
    display(view)
    if said.run.id and said.against is not None and said.against.id:
        show_live(state)
    return None


def _compare(
    state: State, what: str | None, against: str | None, *, prove: bool | None
) -> tuple[Explanation, bool | None]:
    """Compare the runs that the arguments name; also return whether to prove."""
    session = state.session
    if against is not None and _is_file(against):
        if prove:
            raise click.UsageError("--prove needs a run of this ledger after --against")
        receipt = read(against, Places.here(session.notebook))
        named = None if what is None else run_of(session, what)
        return why_elsewhere(session, receipt, named), False
    run = last_repeated(session) if what is None else run_of(session, what)
    other = None if against is None else find_run(session, against)
    said = why(session, run, other, tested=not prove)
    state.asked = said.against
    return said, prove


def show_live(state: State, metadata: Mapping[str, object] | None = None) -> None:
    """Display a live view, which replaces the static copy displayed just before.

    Front ends without widgets show nothing for it.
    """
    viewer = state.open_viewer() if state.allows_input else None
    if viewer is not None:
        display(viewer.shown(), include={_LIVE}, metadata=metadata)


def _is_file(word: str) -> bool:
    """Return whether a word is a receipt's path, existing or not, rather than a run."""
    return RUN.match(word) is None and (Path(word).exists() or Path(word).suffix != "")


def explain_change(state: State, run: Run) -> None:
    """Display one line if a run's output differs from the cell's previous run.

    Its metadata marks it as ours, so checks ignore it.
    """
    session, ours = state.tracking.session, {MARK: {"what": "why"}}
    if is_inspection(run.source):
        return
    view = WhyView(why(session, run), session.kernel)
    line = view.one_line
    if line:
        display({"text/plain": line, "text/html": view.line_html}, raw=True, metadata=ours)
        show_live(state, ours)


def why_by_ledger(notebook: str, question: Why) -> str:
    """Explain a run from the ledger alone; return the JSON of ``%why --json``.

    Args:
        notebook: The notebook's path, or its last parts.
        question: Which run to explain.

    Raises:
        LookupFailure: No such notebook or run is recorded.
        LedgerError: The ledger cannot be read.
    """
    with Ledger.open(read_only=True) as ledger:
        name = _known(notebook, ledger.notebooks())
        session = Session(name, ledger, TransformerManager().transform_cell)
        return explain_asked(session, question, {}).to_json()


def explain_asked(session: Session, question: Why, names: Mapping[str, Any]) -> WhyView:
    """Answer a question of an agent from records alone; no cell runs.

    Args:
        session: The notebook's session.
        question: The question.
        names: The user's namespace; empty if there is no kernel.

    Raises:
        LookupFailure: No such run of this notebook is recorded.
    """
    if question.run is not None:
        run = own_run(session, question.run)
    else:
        run = run_named(session, question.name) if question.name else last_repeated(session)
    against = None if question.against is None else own_run(session, question.against)
    return WhyView(with_seeds(why(session, run, against), names), session.kernel)


def is_same(path: str, other: str) -> bool:
    """Return whether two paths may be the same: equal, or one is the end of the other."""
    paths = (each.replace("\\", "/").strip("/") for each in (path, other))
    short, long = sorted(paths, key=len)
    return bool(short) and f"/{long}".endswith(f"/{short}")


def _known(notebook: str, known: Iterable[str]) -> str:
    """Return the recorded notebook that a path, or the end of one, names.

    Raises:
        LookupFailure: There is none, or there are several.
    """
    found = [each for each in known if is_same(each, notebook)]
    if len(found) == 1:
        return found[0]
    msg = f"no run of {notebook} is recorded; load the extension in it, and run its cells"
    if found:
        msg = f"{notebook} may be any of {', '.join(found)}: name more of its path"
    raise LookupFailure(msg)
