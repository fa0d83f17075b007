"""Rewords the causes of ``%why`` for a check: a fix must work in the notebook."""

from __future__ import annotations

import ast
from collections.abc import Container

from msgspec.structs import replace

from ipytorchseed.checking.notebook import Notebook
from ipytorchseed.checking.program import FixTarget, Program
from ipytorchseed.checking.seeds import chosen_seed, say_seed, seeder
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.seed_arguments import takes_seed
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.finders.operations import MENDS

_LOADS = lazy_pattern(r"(?m)^[ \t]*%(?:re)?load_ext[ \t]+ipytorchseed\b")
_HERE = "  # at the top of this cell"
_UNSEEDED = "is not seeded before this cell"
_PAST = ("%seed rewind", "%replay", "%recall")

# The first words of the blame of a run that seeded a source or set its state.
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
    if cause.kind == "rng" and (cause.prevents or cause.name in unseeded):
        seeded = any(each.how.startswith(_SEEDED) for each in cause.blame)
        if not seeded:
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
        module = f"{seeder(target.cause.name).rpartition('.')[0]}."
        draws = any(each.path.startswith(module) for each in target.program.calls([target.code]))
        return "" if draws else say_seed(target)
    own = target.cause.kind == "input" and target.cause.name in target.found.left
    return _keep_input(target) if rerun and own else ""


def _keep_input(target: FixTarget) -> str:
    """Return code that does not change a cell's input: it uses a new name or a copy."""
    name, made = target.cause.name, ""
    for line in reversed(target.code.tree.body):
        if isinstance(line, ast.Assign) and [*map(ast.unparse, line.targets)] == [name]:
            made = ast.unparse(line.value)
        elif isinstance(line, ast.AugAssign) and ast.unparse(line.target) == name:
            made = ast.unparse(ast.BinOp(line.target, line.op, line.value))
    runs = [each.run for each in target.cause.blame if each.run]
    kinds = [run.writes[name].kind for run in runs if name in run.writes]
    made = made or _COPIES.get(kinds[-1] if kinds else "", "").format(name)
    if not made or not name.isidentifier():
        return f"create `{name}` in this cell"
    above = "import copy\n" if made.startswith("copy.") else ""
    return f"{above}{name}_new = {made}  # then use `{name}_new`"


# How to copy a value, by its kind.
_COPIES = (
    dict.fromkeys(("array", "frame", "series"), "{}.copy()")
    | dict.fromkeys(("dict", "list", "set"), "copy.deepcopy({})")
    | dict.fromkeys(("bool", "float", "int", "number", "str"), "{}")
    | {"tensor": "{}.clone()"}
)


def _plain(cause: Cause) -> str:
    """Return the fix of a cause for a notebook that does not load the extension."""
    magic, _, number = cause.fix.partition(" ")
    if number.isdecimal() and seeder(cause.name):
        here = _HERE if magic.startswith("%%") else ""
        return f"{seeder(cause.name)}({number}){here}"
    if cause.fix == MENDS:
        return "torch.use_deterministic_algorithms(True)"
    return f"%load_ext ipytorchseed\n{cause.fix}" if magic.startswith("%") else cause.fix
