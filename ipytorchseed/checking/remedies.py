"""The table of remedies: for each kind of cause, the edits that may remove it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from msgspec import Struct

from ipytorchseed.checking.inserting import insert_after_import, insert_at_top, spell
from ipytorchseed.checking.program import Call, Code, Edit, Edits, Program, Splice
from ipytorchseed.checking.verdict import CellVerdict
from ipytorchseed.reads.entropy import ENTROPY, sentence
from ipytorchseed.reads.seed_arguments import takes_seed
from ipytorchseed.render.labels import label_of
from ipytorchseed.why.explanation import Cause

# The cause of a difference that nothing recorded explains.
UNRECORDED = Cause("", "", "fresh kernels give different output, and no cause was recorded")


class FixTarget(Struct, frozen=True):
    """A cell where a difference starts, and one cause of it.

    Attributes:
        program: The notebook's code.
        found: The verdict on the cell.
        cause: The cause; ``UNRECORDED`` if nothing recorded explains the difference.
        seed: The seed to use in edits.
        own_file: Returns the path, relative to the notebook's folder, of a file that the notebook
            created since it first ran; an empty string for any other file.
        cells: The verdicts on all cells.
    """

    program: Program
    found: CellVerdict
    cause: Cause
    seed: int
    own_file: Callable[[str], str] = lambda _: ""
    cells: Sequence[CellVerdict] = ()

    @property
    def code(self) -> Code:
        """The code of the cell."""
        return self.program.of(self.found.cell)

    @property
    def writers(self) -> list[Code]:
        """The code of the cells up to this one that wrote the file that is the cause."""
        names = {each.cell.index for each in self.cells if self.cause.name in each.wrote}
        return [each for each in self.until if each.cell.index in names]

    @property
    def before(self) -> list[Code]:
        """The code of the cells before this one."""
        return [each for each in self.program.codes if each.cell.index < self.found.cell.index]

    @property
    def until(self) -> list[Code]:
        """The code of the cells up to this one."""
        return [*self.before, self.code]


# The function that seeds a source, by the first part of the source's name.
_SEEDS = {
    "python": "random.seed",
    "numpy": "numpy.random.seed",
    "torch": "torch.manual_seed",
    "cupy": "cupy.random.seed",
}

# Functions that take a seed from the system if none is passed.
WITHOUT_SEED = frozenset(name for name, count in ENTROPY.items() if not count)

# How to draw seeds for several generators, by the library of their class: the source of the seeds,
# and the call that draws one.
_DRAWN = {
    "numpy": ("numpy", "numpy.random.randint(2**31)"),
    "random": ("python", "random.getrandbits(32)"),
}


def chosen_seed(program: Program) -> int:
    """Return the first seed in the notebook's code, or 42 if there is none."""
    for call in program.calls(program.codes):
        given = call.given[0] if call.given and call.path in _SEEDS.values() else None
        if isinstance(given, ast.Constant) and type(given.value) is int:
            return given.value
    return 42


def seeder(name: str) -> str:
    """Return the function that seeds a source; empty if none is known."""
    return _SEEDS.get(name.partition(".")[0], "")


def seed_source(target: FixTarget) -> Iterator[Edits]:
    """Seed a source after the import of its library, or in the cell that draws.

    In the cell, the new line is above imports that may draw.
    """
    name = target.cause.name
    call = f"{seeder(name)}({target.seed})"
    why = f"seeds {name}, which was not seeded before {target.found.cell.name} draws from it"
    yield insert_after_import(target.program, target.until, call, "seed", why)
    yield insert_at_top(target.program, target.code, call, "seed", why)


def give_seed(target: FixTarget) -> Iterator[Edits]:
    """Pass a seed to the calls that would take one from the system.

    If a function is the cause, only its calls get a seed; otherwise all such calls up to the cell
    do. Each call gets a different seed. A call that may run more than once draws its seeds from a
    source, which is then seeded too.
    """
    program, edits, drawn = target.program, list[Edit](), dict[str, None]()
    for place, call in enumerate(filter(_lacks_seed, program.calls(program.codes))):
        other = target.cause.kind == "entropy" and call.path != target.cause.name
        if other or call.code not in target.until:
            continue
        seed = str(target.seed + place)
        source, how = _DRAWN.get(call.path.partition(".")[0], ("", ""))
        if call.repeated and source and call.path not in _SEEDS.values():
            within = [each for each in call.code.tree.body if each.lineno <= call.node.lineno][-1]
            *imports, drawing = spell(program, call.code, within, how)
            if not imports:
                seed = drawing
                drawn[source] = None
        edits.append(_seeded(call, seed))
    for source in drawn:
        why = f"seeds {source}, because other seeds are drawn from it"
        seeding = f"{_SEEDS[source]}({target.seed})"
        edits += insert_after_import(program, target.until, seeding, "seed", why)
    yield tuple(edits)


def _lacks_seed(call: Call) -> bool:
    """Return whether a call would take its seed from the system."""
    empty = all(isinstance(each, ast.Constant) and each.value is None for each in call.given)
    return empty and call.path in WITHOUT_SEED


def _seeded(call: Call, seed: str) -> Edit:
    """Return the edit that adds a seed to a call."""
    end = call.code.end(call.node) - 1
    splice = call.code.replace(call.given[0], seed) if call.given else Splice(end, end, seed)
    function = label_of(ast.unparse(call.node.func), 40)
    why = f"gives {function} a fixed seed, not one from the system"
    return Edit(call.code.cell, "generator", why, (splice,))


def name_seed(target: FixTarget) -> Iterator[Edits]:
    """Add the seed argument to the calls in a cell that accept one.

    If one of the functions is the cause, only its calls get a seed, in this and in earlier cells.
    """
    lacking = {(each.cell.index, it[0]): it for each in target.cells for it in each.lacking}
    named = [call for call in target.program.calls(target.until) if call.path == target.cause.name]
    for calls in (named, [*target.program.calls([target.code])]):
        edits: list[Edit] = []
        for call in calls:
            function, seed = ast.unparse(call.node.func), target.seed + len(edits)
            _, name, place = lacking.get((call.code.cell.index, function), ("", "", 0))
            splice = _name(call, name, place, seed) if name else None
            if splice:
                why = f"passes `{name}={seed}` to `{label_of(function, 40)}()`"
                edits.append(Edit(call.code.cell, "generator", why, (splice,)))
        if edits:
            yield tuple(edits)
            return


def _name(call: Call, name: str, place: int, seed: int) -> Splice | None:
    """Return the splice that adds a seed by keyword; None if the call may have one."""
    code, node = call.code, call.node
    given = {each.arg for each in node.keywords}
    unpacked = any(isinstance(each, ast.Starred) for each in node.args)
    if unpacked or given & {name, None} or place < len(node.args):
        return None
    begin, end = code.end(node.func), code.end(node) - 1
    before = code.cell.source[begin:end].rstrip()
    if "#" not in before.rpartition("\n")[2]:
        end = begin + len(before)
    lead = {"(": "", ",": " "}.get(before[-1], ", ")
    return Splice(end, end, f"{lead}{name}={seed}")


# Functions that ignore the order of items in their arguments. The list need not be complete: an
# edit that sorts for another such function is dropped, because the notebook repeats without it.
_UNORDERED = frozenset({
    "all", "any", "bool", "frozenset", "isinstance", "len", "max", "min", "set", "sorted", "sum",
})  # fmt: skip

_LISTINGS = frozenset({"glob.glob", "glob.iglob", "os.listdir"})
_LISTING_METHODS = frozenset({"glob", "iterdir", "rglob"})

_SETS = frozenset({"frozenset", "set"})
_SET_METHODS = frozenset({"copy", "difference", "intersection", "symmetric_difference", "union"})
_SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)


def _find_sets(program: Program) -> set[str]:
    """Return the variables and attributes that are known to hold sets."""
    names: set[str] = set()
    for code in program.codes:
        for node in ast.walk(code.tree):
            if isinstance(node, ast.Assign) and _is_set(program, node.value, names):
                names.update(map(ast.unparse, node.targets))
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


def _is_unordered(program: Program, node: ast.AST) -> bool:
    """Return whether a node is a call that ignores the order of its arguments' items."""
    return isinstance(node, ast.Call) and program.path(node.func) in _UNORDERED


def _is_ordered(program: Program, code: Code, node: ast.expr) -> bool:
    """Return whether an expression is used where the order of its items matters."""
    around = code.around[node]
    if isinstance(around, (ast.For, ast.AsyncFor, ast.comprehension)):
        return node is around.iter
    if isinstance(around, ast.Call):
        return node is not around.func and not _is_unordered(program, around)
    return isinstance(around, (ast.keyword, ast.Starred, ast.FormattedValue))


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
    cause, found = target.cause, target.found
    calls = target.program.calls([target.code])
    lines = [f", line {each.node.lineno}" for each in calls if each.path == cause.name]
    said = [row.obstacle for row in REMEDIES if row.obstacle and row.matches(target)]
    if cause.kind == "entropy":
        said = [sentence(cause.name)]
    elif found.programs and not cause.kind:
        said += [sentence(found.programs[0])]
    return f"{found.cell.name}{[*lines, ''][0]}: {[*said, cause.message][0]}"


# --------------------------------------------------------------------------------------------------
# Orders


def _sort(codes: Sequence[Code], varies: Callable[[Code, ast.expr], bool], key: str = "") -> Edits:
    """Sort the expressions in cells whose order varies."""
    edits = []
    for code in codes:
        for node in ast.walk(code.tree):
            if isinstance(node, ast.expr) and varies(code, node):
                start, end = code.start(node), code.end(node)
                splices = Splice(start, start, "sorted("), Splice(end, end, f"{key})")
                why = f"sorts {label_of(ast.unparse(node), 40)}, whose order varies"
                edits.append(Edit(code.cell, "order", why, splices))
    return tuple(edits)


def _sort_sets(target: FixTarget) -> Iterator[Edits]:
    """Sort the sets that a cell iterates over, or else the ones in earlier cells.

    Earlier cells may define functions that the cell calls.
    """
    program, names = target.program, _find_sets(target.program)

    def varies(code: Code, node: ast.expr) -> bool:
        return _is_set(program, node, names) and _is_ordered(program, code, node)

    codes = [target.code] if _sort([target.code], varies) else target.before
    yield _sort(codes, varies)
    yield _sort(codes, varies, ", key=str")  # for items that cannot be compared


def _sort_listings(target: FixTarget) -> Iterator[Edits]:
    """Sort the folder listings of a cell, unless a function ignores their order."""
    program = target.program

    def varies(code: Code, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call) or _is_unordered(program, code.around[node]):
            return False
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return method in _LISTING_METHODS or program.path(node.func) in _LISTINGS

    yield _sort([target.code], varies)


# --------------------------------------------------------------------------------------------------
# Operations, threads and files


def _uses_torch(target: FixTarget) -> bool:
    paths = target.program.names.values()
    return not target.cause.kind and any(path.split(".")[0] == "torch" for path in paths)


def _use_deterministic(target: FixTarget) -> Iterator[Edits]:
    """Switch torch's deterministic algorithms on."""
    why = f"makes torch use deterministic algorithms, for {target.found.cell.name}"
    call = "torch.use_deterministic_algorithms(True)"
    yield insert_after_import(target.program, target.until, call, "operation", why)


def _use_one_thread(target: FixTarget) -> Iterator[Edits]:
    why = f"limits torch to one thread from {target.found.cell.name} on"
    yield insert_at_top(target.program, target.code, "torch.set_num_threads(1)", "threads", why)


# --------------------------------------------------------------------------------------------------
# The table


def _remove_file(target: FixTarget) -> Iterator[Edits]:
    """Delete a file of the previous run before the first cell that uses it.

    The edit never deletes a file that a cell wrote in the same run.
    """
    path = PurePath(target.own_file(target.cause.name))
    why = f"removes {path}, which the previous run left behind"
    call = f"pathlib.Path({path.as_posix()!r}).unlink(missing_ok=True)"
    for code in target.until if path.name else ():
        texts = [node.value for node in ast.walk(code.tree) if isinstance(node, ast.Constant)]
        named = any(isinstance(each, str) and PurePath(each).name == path.name for each in texts)
        if named or code in target.writers:
            yield insert_at_top(target.program, code, call, "file", why)
            return


def _makes_generator(target: FixTarget) -> bool:
    cause = target.cause
    return (cause.kind == "rng" and not seeder(cause.name)) or cause.name in WITHOUT_SEED


def _takes_seed(target: FixTarget) -> bool:
    return not target.cause.kind or takes_seed(target.cause.kind, target.cause.name)


# Rows for the same kind of cause are in the order of their edits' size, smallest first.
REMEDIES: tuple[Remedy, ...] = (
    Remedy(_makes_generator, give_seed),
    Remedy(lambda to: to.cause.kind == "rng" and bool(seeder(to.cause.name)), seed_source),
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
        lambda to: to.cause.kind == "file" and not (to.writers or to.own_file(to.cause.name)),
        lambda _: iter(()),
        "it reads a file that changes, and no recorded cell wrote that file",
    ),
)
