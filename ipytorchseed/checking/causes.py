"""Rewords the causes of ``%why`` for a check: a fix must work in the notebook."""

from __future__ import annotations

from collections.abc import Container

from msgspec.structs import replace

from ipytorchseed.checking.notebook import Notebook
from ipytorchseed.checking.program import Program
from ipytorchseed.checking.remedies import FixTarget, chosen_seed, say_seed, seeder
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
        return replace(
            cause,
            message="string hashes, and so the order of sets of strings, are random in each kernel",
            fix="ipytorchseed kernel install",
        )
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
    if not any(cell.causes for cell in verdict.cells):
        return verdict
    told = verdict.differing if verdict.rerun else [verdict.first, verdict.origin]
    loads = any(_LOADS.search(cell.source) for cell in notebook.runnable)
    program = Program(notebook)
    seed = chosen_seed(program)

    def reword(cell: CellVerdict, cause: Cause) -> Cause:
        target = FixTarget(program, cell, cause, seed, cells=verdict.cells)
        fix = _fix_cell(target, rerun=verdict.rerun) if cell in told else ""
        return replace(cause, fix=fix or (cause.fix if loads else _plain(cause)))

    cells = [
        replace(cell, causes=tuple(reword(cell, each) for each in cell.causes))
        for cell in verdict.cells
    ]
    return replace(verdict, cells=cells)


def _fix_cell(target: FixTarget, *, rerun: bool) -> str:
    """Return what to change in a cell for a cause; empty if the cause's fix is better."""
    if takes_seed(target.cause.kind, target.cause.name):
        return say_seed(target)
    if rerun and target.cause.kind == "rng" and target.cause.name in {"numpy", "python"}:
        module = seeder(target.cause.name).removesuffix("seed")
        draws = any(each.path.startswith(module) for each in target.program.calls([target.code]))
        return "" if draws else say_seed(target)
    if rerun and target.cause.kind == "input" and target.cause.name in target.found.left:
        return f"create `{target.cause.name}` in this cell, or give the changed value a new name"
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
