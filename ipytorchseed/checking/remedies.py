"""The table of remedies: for each kind of cause, the edits that may remove it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from ipytorchseed.checking.edits import Edit, Edits, Splice
from ipytorchseed.checking.program import Code, Program, Site, after_import, at_top
from ipytorchseed.checking.seeds import (
    WITHOUT_SEED,
    fix_seed,
    give_seed,
    name_seed,
    seed_maker,
    seed_next,
    seed_source,
    seeder,
)
from ipytorchseed.reads.entropy import sentence
from ipytorchseed.reads.seed_arguments import takes_seed
from ipytorchseed.render.labels import label_of

# Functions that ignore the order of items in their arguments.
_CALM = frozenset({
    "all", "any", "bool", "frozenset", "isinstance", "len", "max", "min", "set", "sorted", "sum",
    "collections.Counter",
})  # fmt: skip

_CALM_METHODS = frozenset({
    "add", "difference", "difference_update", "discard", "intersection", "intersection_update",
    "isdisjoint", "isin", "issubset", "issuperset", "remove", "symmetric_difference", "union",
    "update",
})  # fmt: skip

# Functions whose result keeps the order of the argument.
_LISTED = frozenset({"iter", "list", "tuple"})

_SETS = frozenset({"frozenset", "set"})
_SET_METHODS = frozenset({"copy", "difference", "intersection", "symmetric_difference", "union"})
_SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)

_LISTINGS = frozenset({"glob.glob", "glob.iglob", "os.listdir"})
_LISTING_METHODS = frozenset({"glob", "iterdir", "rglob"})


def ordered_sets(
    program: Program, codes: Sequence[Code], known: Sequence[str] = ()
) -> Iterator[tuple[Code, ast.expr]]:
    """Yield the sets that are iterated over where order matters, with their cells.

    Args:
        program: The notebook's code.
        codes: The cells to search.
        known: Variables that hold sets.
    """
    names = set(known)
    for code in program.codes:
        for node in ast.walk(code.tree):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            if _is_set(program, node.value, names):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names.update(map(ast.unparse, targets))
    for code in codes:
        lists = _listed(program, code)
        for node in _ordered(program, code.tree):
            if _is_set(program, node, names):
                yield code, lists.get(id(node), node)


def ordered_listings(program: Program, code: Code) -> Iterator[tuple[Code, ast.expr]]:
    """Yield the calls in a cell that list folders where the order matters."""
    calm = {id(each) for each in _unordered(program, code.tree)}
    lists = _listed(program, code)
    for call in program.calls([code]):
        method = call.path.rpartition(".")[2]
        is_one = call.path in _LISTINGS or (
            method in _LISTING_METHODS and isinstance(call.node.func, ast.Attribute)
        )
        if is_one and id(call.node) not in calm:
            yield code, lists.get(id(call.node), call.node)


def makes_list(program: Program, node: ast.expr) -> bool:
    """Return whether an expression is a call of ``list`` with one argument."""
    return isinstance(node, ast.Call) and program.path(node.func) == "list" and len(node.args) == 1


def _listed(program: Program, code: Code) -> dict[int, ast.expr]:
    """Return the calls of ``list``, by the identity of their argument."""
    return {
        id(node.args[0]): node
        for node in ast.walk(code.tree)
        if isinstance(node, ast.Call) and makes_list(program, node)
    }


def _is_set(program: Program, node: ast.expr, names: set[str]) -> bool:
    """Return whether the code alone shows that an expression is a set."""
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


def _ordered(program: Program, tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that are used where their order matters."""
    calm = {id(each) for each in _unordered(program, tree)}
    for node in ast.walk(tree):
        found: list[ast.expr] = []
        if isinstance(node, (ast.For, ast.AsyncFor)):
            found = [node.iter]
        elif isinstance(node, (ast.ListComp, ast.DictComp, ast.GeneratorExp)):
            if id(node) not in calm:
                found = [each.iter for each in node.generators]
        elif isinstance(node, ast.Call):
            found = [*node.args, *(each.value for each in node.keywords)]
        elif isinstance(node, (ast.Starred, ast.FormattedValue)):
            found = [node.value]
        yield from (each for each in found if id(each) not in calm)


def _unordered(program: Program, tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the arguments of calls that ignore order, also inside ``list(...)``."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if program.path(node.func) not in _CALM and method not in _CALM_METHODS:
            continue
        within = [*node.args]
        while within:
            each = within.pop()
            yield each
            if isinstance(each, ast.Call) and program.path(each.func) in _LISTED:
                within += each.args


class Remedy(NamedTuple):
    """A row of the table.

    Attributes:
        matches: Returns whether it applies to the cause at a site.
        edits: Yields sets of edits to try in turn.
        obstacle: Why no edit may help, in a clause about the cell.
    """

    matches: Callable[[Site], bool]
    edits: Callable[[Site], Iterator[Edits]]
    obstacle: str = ""


def propose(site: Site) -> list[Edits]:
    """Return the distinct sets of edits that may remove a cause, smallest first."""
    found: list[Edits] = []
    for row in REMEDIES:
        for edits in row.edits(site) if row.matches(site) else ():
            if edits and edits not in found:
                found.append(edits)
    return found


def obstacle(site: Site) -> str:
    """Return a line on a cell that cannot be fixed: where, and why."""
    calls = site.program.calls([site.code]) if site.code.tree.body else ()
    lines = [each.node.lineno for each in calls if each.path == site.name]
    place = f"{site.found.cell.name}, line {lines[0]}" if lines else site.found.cell.name
    said = [row.obstacle for row in REMEDIES if row.obstacle and row.matches(site)]
    if site.kind == "entropy":
        why = sentence(site.name)
    elif said:
        why = said[0]
    elif site.cause is not None:
        why = site.cause.message
    elif site.found.programs:
        why = sentence(site.found.programs[0])
    else:
        why = "fresh kernels give different output, and no cause was recorded"
    return f"{place}: {why}"


# --------------------------------------------------------------------------------------------------
# Orders


def _sort(site: Site, expressions: Sequence[tuple[Code, ast.expr]], key: str = "") -> Edits:
    edits = []
    for code, node in expressions:
        start, end = code.start(node), code.end(node)
        why = f"sorts {label_of(ast.unparse(node), 40)}, whose order varies"
        if makes_list(site.program, node):
            splices = Splice(start, start + 4, "sorted"), Splice(end - 1, end - 1, key)
        else:
            splices = Splice(start, start, "sorted("), Splice(end, end, f"{key})")
        edits.append(Edit(code.cell, "order", why, splices))
    return tuple(edits)


def _sort_sets(site: Site) -> Iterator[Edits]:
    """Sort the sets that a cell iterates over, or else those in earlier cells.

    The cell may call functions that earlier cells define.
    """
    for codes in ([site.code], site.before):
        found = [*ordered_sets(site.program, codes, site.found.sets)]
        if found:
            yield _sort(site, found)
            yield _sort(site, found, ", key=str")  # for items that cannot be compared
            return


def _sort_objects(site: Site) -> Iterator[Edits]:
    """Sort sets of objects, whose hashes may depend on those of strings."""
    yield _sort(site, [*ordered_sets(site.program, [site.code], site.found.sets)], ", key=str")


def _sort_listings(site: Site) -> Iterator[Edits]:
    """Sort the folder listings of a cell."""
    yield _sort(site, [*ordered_listings(site.program, site.code)])


# --------------------------------------------------------------------------------------------------
# Operations, threads and files


def _uses_torch(site: Site) -> bool:
    return site.cause is None and any(
        path.partition(".")[0] == "torch" for path in site.program.names.values()
    )


def _use_deterministic(site: Site) -> Iterator[Edits]:
    """Switch torch's deterministic algorithms on."""
    why = f"lets torch use algorithms that repeat, for {site.found.cell.name}"
    yield after_import(site, "torch.use_deterministic_algorithms(True)", "operation", why)


def _use_one_thread(site: Site) -> Iterator[Edits]:
    why = f"keeps torch to one thread from {site.found.cell.name} on"
    yield at_top(site, site.code, "torch.set_num_threads(1)", "threads", why)


def _remove_file(site: Site) -> Iterator[Edits]:
    """Delete a file of the previous run before the first cell that uses it.

    No file is deleted that a cell of this run wrote.
    """
    path = PurePath(site.own_file(site.name))
    why = f"removes {path}, which the previous run left behind"
    call = f"pathlib.Path({path.as_posix()!r}).unlink(missing_ok=True)"
    writers = site.writers
    for code in site.until if path.name else ():
        texts = [node.value for node in ast.walk(code.tree) if isinstance(node, ast.Constant)]
        named = any(isinstance(each, str) and PurePath(each).name == path.name for each in texts)
        if named or code in writers:
            yield at_top(site, code, call, "file", why)
            return


# --------------------------------------------------------------------------------------------------
# The table


def _is_source(site: Site) -> bool:
    return site.kind == "rng" and bool(seeder(site.name))


# Rows for the same kind of cause are in the order of their edits' size, smallest first.
REMEDIES: tuple[Remedy, ...] = (
    Remedy(lambda site: site.kind in {"entropy", "input"}, fix_seed),
    Remedy(lambda site: site.name in WITHOUT_SEED, give_seed),
    Remedy(_is_source, seed_source),
    Remedy(lambda site: site.kind == "rng" and not _is_source(site), seed_maker),
    Remedy(lambda site: not _is_source(site), seed_next),
    Remedy(
        lambda site: site.kind == "environment" and site.name == "PYTHONHASHSEED",
        _sort_sets,
        "it depends on hashes of texts, by hash() or in a library's code; choose the kernel that"
        " `ipytorchseed kernel install` makes",
    ),
    Remedy(lambda site: site.cause is None, _sort_objects),
    Remedy(lambda site: site.cause is None, _sort_listings),
    Remedy(lambda site: site.cause is None or takes_seed(site.kind, site.name), name_seed),
    Remedy(_uses_torch, _use_deterministic),
    Remedy(_uses_torch, _use_one_thread),
    Remedy(lambda site: site.kind == "file", _remove_file),
    Remedy(
        lambda site: site.kind == "file" and not (site.writers or site.own_file(site.name)),
        lambda _: iter(()),
        "it reads a file that changes, and that no cell was seen to write",
    ),
)
