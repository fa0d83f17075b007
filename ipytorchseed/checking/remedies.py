"""The table of remedies: for each kind of cause, the edits that may remove it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from ipytorchseed.checking.edits import Edit, Edits, Splice
from ipytorchseed.checking.program import (
    Code,
    FixTarget,
    Program,
    insert_after_import,
    insert_at_top,
)
from ipytorchseed.checking.seeds import (
    WITHOUT_SEED,
    give_seed,
    name_seed,
    seed_source,
    seeder,
)
from ipytorchseed.reads.entropy import sentence
from ipytorchseed.reads.seed_arguments import takes_seed
from ipytorchseed.render.labels import label_of

# Functions that ignore the order of items in their arguments. The list need not be complete: an
# edit that sorts for another such function is dropped, because the notebook repeats without it.
_UNORDERED = frozenset({
    "all", "any", "bool", "frozenset", "isinstance", "len", "max", "min", "set", "sorted", "sum",
})  # fmt: skip

_SETS = frozenset({"frozenset", "set"})
_SET_METHODS = frozenset({"copy", "difference", "intersection", "symmetric_difference", "union"})
_SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)

_LISTINGS = frozenset({"glob.glob", "glob.iglob", "os.listdir"})
_LISTING_METHODS = frozenset({"glob", "iterdir", "rglob"})


def _find_sets(target: FixTarget) -> set[str]:
    """Return the variables and attributes that are known to hold sets."""
    names: set[str] = set()
    for code in target.program.codes:
        for node in ast.walk(code.tree):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            if _is_set(target.program, node.value, names):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names.update(map(ast.unparse, targets))
    return names


def _is_set(program: Program, node: ast.expr, names: set[str]) -> bool:
    """Return whether an expression is known to be a set, from the names of sets."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ast.unparse(node) in names
    if isinstance(node, ast.BinOp) and isinstance(node.op, _SET_OPERATORS):
        return any(_is_set(program, each, names) for each in (node.left, node.right))
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in _SET_METHODS:
        return _is_set(program, node.func.value, names)
    return program.path(node.func) in _SETS


def _is_listing(program: Program, node: ast.expr) -> bool:
    """Return whether an expression is a call that lists a folder."""
    if not isinstance(node, ast.Call):
        return False
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return method in _LISTING_METHODS or program.path(node.func) in _LISTINGS


def _is_ordered(program: Program, code: Code, node: ast.expr) -> bool:
    """Return whether an expression is used where the order of its items matters."""
    around = code.around[node]
    if isinstance(around, (ast.For, ast.AsyncFor, ast.comprehension)):
        return node is around.iter
    if isinstance(around, ast.Call):
        return node is not around.func and not _ignores_order(program, code, node)
    return isinstance(around, (ast.keyword, ast.Starred, ast.FormattedValue))


def _ignores_order(program: Program, code: Code, node: ast.AST) -> bool:
    """Return whether the call around an argument ignores the order of its items."""
    call = code.around[node]
    return isinstance(call, ast.Call) and program.path(call.func) in _UNORDERED


class Remedy(NamedTuple):
    """A row of the table.

    Attributes:
        matches: Returns whether the row applies to a target's cause.
        edits: Yields sets of edits to try in turn.
        obstacle: Why no edit may help, in a clause about the cell.
    """

    matches: Callable[[FixTarget], bool]
    edits: Callable[[FixTarget], Iterator[Edits]]
    obstacle: str = ""


def propose(target: FixTarget) -> list[Edits]:
    """Return the distinct sets of edits that may remove a cause, smallest first."""
    found: list[Edits] = []
    for row in REMEDIES:
        for edits in row.edits(target) if row.matches(target) else ():
            if edits and edits not in found:
                found.append(edits)
    return found


def obstacle(target: FixTarget) -> str:
    """Return a line on a cell that cannot be fixed: where, and why."""
    calls = target.program.calls([target.code])
    lines = [each.node.lineno for each in calls if each.path == target.cause.name]
    place = f"{target.found.cell.name}, line {lines[0]}" if lines else target.found.cell.name
    said = [row.obstacle for row in REMEDIES if row.obstacle and row.matches(target)]
    if target.cause.kind == "entropy":
        why = sentence(target.cause.name)
    elif said:
        why = said[0]
    elif target.found.programs and not target.cause.kind:
        why = sentence(target.found.programs[0])
    else:
        why = target.cause.message
    return f"{place}: {why}"


# --------------------------------------------------------------------------------------------------
# Orders


def _sort(
    target: FixTarget,
    codes: Sequence[Code],
    varies: Callable[[Code, ast.expr], bool],
    key: str = "",
) -> Edits:
    """Sort the expressions in cells whose order varies."""
    program, edits = target.program, []
    found = (
        (code, node)
        for code in codes
        for node in ast.walk(code.tree)
        if isinstance(node, ast.expr) and varies(code, node)
    )
    for code, node in found:
        call = code.around[node]
        in_list = isinstance(call, ast.Call) and program.path(call.func) == "list"
        whole = call if in_list and isinstance(call, ast.expr) else node
        start, end = code.start(whole), code.end(whole)
        splices = Splice(start, start, "sorted("), Splice(end, end, f"{key})")
        if in_list:
            splices = Splice(start, start + 4, "sorted"), Splice(end - 1, end - 1, key)
        why = f"sorts {label_of(ast.unparse(whole), 40)}, whose order varies"
        edits.append(Edit(code.cell, "order", why, splices))
    return tuple(edits)


def _sort_sets(target: FixTarget) -> Iterator[Edits]:
    """Sort the sets that a cell iterates over, or else the ones in earlier cells.

    Earlier cells may define functions that the cell calls.
    """
    program, names = target.program, _find_sets(target)

    def varies(code: Code, node: ast.expr) -> bool:
        return _is_set(program, node, names) and _is_ordered(program, code, node)

    codes = [target.code] if _sort(target, [target.code], varies) else target.before
    yield _sort(target, codes, varies)
    yield _sort(target, codes, varies, ", key=str")  # for items that cannot be compared


def _sort_listings(target: FixTarget) -> Iterator[Edits]:
    """Sort the folder listings of a cell."""
    program = target.program

    def varies(code: Code, node: ast.expr) -> bool:
        return _is_listing(program, node) and not _ignores_order(program, code, node)

    yield _sort(target, [target.code], varies)


# --------------------------------------------------------------------------------------------------
# Operations, threads and files


def _uses_torch(target: FixTarget) -> bool:
    return not target.cause.kind and any(
        path.partition(".")[0] == "torch" for path in target.program.names.values()
    )


def _use_deterministic(target: FixTarget) -> Iterator[Edits]:
    """Switch torch's deterministic algorithms on."""
    why = f"makes torch use deterministic algorithms, for {target.found.cell.name}"
    yield insert_after_import(target, "torch.use_deterministic_algorithms(True)", "operation", why)


def _use_one_thread(target: FixTarget) -> Iterator[Edits]:
    why = f"limits torch to one thread from {target.found.cell.name} on"
    yield insert_at_top(target, target.code, "torch.set_num_threads(1)", "threads", why)


def _remove_file(target: FixTarget) -> Iterator[Edits]:
    """Delete a file of the previous run before the first cell that uses it.

    The edit never deletes a file that a cell wrote in the same run.
    """
    path = PurePath(target.own_file(target.cause.name))
    why = f"removes {path}, which the previous run left behind"
    call = f"pathlib.Path({path.as_posix()!r}).unlink(missing_ok=True)"
    writers = target.writers
    for code in target.until if path.name else ():
        texts = [node.value for node in ast.walk(code.tree) if isinstance(node, ast.Constant)]
        named = any(isinstance(each, str) and PurePath(each).name == path.name for each in texts)
        if named or code in writers:
            yield insert_at_top(target, code, call, "file", why)
            return


# --------------------------------------------------------------------------------------------------
# The table


def _is_source(target: FixTarget) -> bool:
    return target.cause.kind == "rng" and bool(seeder(target.cause.name))


def _makes_generator(target: FixTarget) -> bool:
    is_generator = target.cause.kind == "rng" and not _is_source(target)
    return is_generator or target.cause.name in WITHOUT_SEED


def _takes_seed(target: FixTarget) -> bool:
    return not target.cause.kind or takes_seed(target.cause.kind, target.cause.name)


def _is_not_ours(target: FixTarget) -> bool:
    """Return whether the cause is a file that the notebook did not write."""
    own = target.writers or target.own_file(target.cause.name)
    return target.cause.kind == "file" and not own


# Rows for the same kind of cause are in the order of their edits' size, smallest first.
REMEDIES: tuple[Remedy, ...] = (
    Remedy(_makes_generator, give_seed),
    Remedy(_is_source, seed_source),
    Remedy(
        lambda target: target.cause.name == "PYTHONHASHSEED",
        _sort_sets,
        "it depends on the hashes of strings, through hash() or a library; choose the kernel that"
        " `ipytorchseed kernel install` creates",
    ),
    Remedy(lambda target: not target.cause.kind, _sort_listings),
    Remedy(_takes_seed, name_seed),
    Remedy(_uses_torch, _use_deterministic),
    Remedy(_uses_torch, _use_one_thread),
    Remedy(lambda target: target.cause.kind == "file", _remove_file),
    Remedy(
        _is_not_ours,
        lambda _: iter(()),
        "it reads a file that changes, and no recorded cell wrote that file",
    ),
)
