"""Rewords the causes of ``%why`` for a check: a fix must work in the notebook."""

from __future__ import annotations

from collections.abc import Container

from msgspec.structs import replace

from ipytorchseed.checking.notebook import Notebook
from ipytorchseed.checking.remedies import seeder
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.seed_arguments import takes_seed
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.finders.operations import MENDS

_LOADS = lazy_pattern(r"(?m)^[ \t]*%(?:re)?load_ext[ \t]+ipytorchseed\b")
_HERE = "  # at the top of this cell"
_UNSEEDED = "is not seeded before this cell"
_PAST = ("%seed rewind", "%replay", "%recall")

# The first words with which a cause blames a run that seeded a source or set its state.
_SEEDED = ("made", "moved", "reseeded", "seeded")


def is_unseeded(cause: Cause) -> bool:
    """Return whether a reworded cause is a source that was never seeded."""
    return cause.kind == "rng" and cause.message.startswith(f"{cause.name} {_UNSEEDED}")


def for_rerun(cause: Cause) -> Cause:
    """Reword a cause for a cell that is not safe to run again.

    Args:
        cause: The cause, as ``%why`` reports it.
    """
    if cause.kind == "rng":
        return replace(cause, fix="%%deterministic 42")  # then every run starts from the same state
    return replace(cause, fix="") if cause.fix.startswith(_PAST) else cause


def for_fresh_kernels(cause: Cause, unseeded: Container[str]) -> Cause:
    """Reword a cause for a difference between two fresh kernels.

    Args:
        cause: The cause, as ``%why`` reports it.
        unseeded: The sources whose first states differed between the two kernels.
    """
    if cause.kind == "environment" and cause.name == "PYTHONHASHSEED":
        message = "string hashes, and so the order of sets of strings, are random in each kernel"
        return replace(cause, message=message, fix="ipytorchseed kernel install")
    seeded = any(each.how.startswith(_SEEDED) for each in cause.blame)
    if cause.kind == "rng" and (cause.prevents or cause.name in unseeded) and not seeded:
        message = f"{cause.name} {_UNSEEDED}, so it starts differently after every restart"
        fix = f"{seeder(cause.name)}(42)" if seeder(cause.name) else "%seed 42"
        return replace(cause, message=message, fix=fix, blame=())
    return replace(cause, fix="") if cause.fix.startswith(_PAST) else cause


def for_notebook(notebook: Notebook, verdict: Verdict) -> Verdict:
    """Reword the fixes in a verdict to suit the notebook's code.

    A fix names the seed argument of a call, if there is one. If the notebook does not load the
    extension, the fix is plain code.

    Args:
        notebook: The notebook.
        verdict: The verdict on the notebook.
    """
    loads = any(_LOADS.search(cell.source) for cell in notebook.runnable)

    def reword(cell: CellVerdict, cause: Cause) -> Cause:
        fix = _fix_cell(cell, cause, rerun=verdict.rerun)
        return replace(cause, fix=fix or (cause.fix if loads else _plain(cause)))

    cells = []
    for cell in verdict.cells:
        causes = tuple(reword(cell, cause) for cause in cell.causes)
        cells.append(replace(cell, causes=causes))
    return replace(verdict, cells=cells)


def _fix_cell(cell: CellVerdict, cause: Cause, *, rerun: bool) -> str:
    """Return what to change in a cell for a cause; empty if the cause's fix is better."""
    if takes_seed(cause.kind, cause.name):
        calls = {function: name for function, name, _ in cell.lacking}
        return "\n".join(f"pass `{name}=42` to `{call}()`" for call, name in calls.items())
    if rerun and cause.kind == "input" and cause.name in cell.left:
        return f"create `{cause.name}` in this cell, or give the changed value a new name"
    return ""


def _plain(cause: Cause) -> str:
    """Return the fix of a cause for a notebook that does not load the extension."""
    magic, _, number = cause.fix.partition(" ")
    if number.isdecimal() and seeder(cause.name):
        here = _HERE if magic.startswith("%%") else ""
        return f"{seeder(cause.name)}({number}){here}"
    if cause.fix == MENDS:
        return "torch.use_deterministic_algorithms(True)"
    return f"%load_ext ipytorchseed\n{cause.fix}" if magic.startswith("%") else cause.fix
