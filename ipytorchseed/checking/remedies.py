"""The table of remedies: for each kind of cause, the edits that may mend it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ipytorchseed.checking.edits import Edit, Splice
from ipytorchseed.checking.orders import makes_list, ordered_listings, ordered_sets
from ipytorchseed.checking.program import imported
from ipytorchseed.reads.entropy import sentence
from ipytorchseed.render.timeline import label_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ipytorchseed.checking.program import Call, Code, Program
    from ipytorchseed.checking.verdict import CellVerdict
    from ipytorchseed.why.explanation import Cause

    Edits = tuple[Edit, ...]

SEEDS = {
    "python": "random.seed",
    "numpy": "numpy.random.seed",
    "torch": "torch.manual_seed",
    "cupy": "cupy.random.seed",
}
"""What seeds a source, by the first part of its name."""

DEFAULT_SEED = 42

_TAKE_A_SEED = frozenset({
    "numpy.random.MT19937", "numpy.random.PCG64", "numpy.random.PCG64DXSM", "numpy.random.Philox",
    "numpy.random.RandomState", "numpy.random.SFC64", "numpy.random.SeedSequence",
    "numpy.random.default_rng", "numpy.random.seed", "random.Random", "random.seed",
    "torch.cuda.manual_seed", "torch.cuda.manual_seed_all", "torch.manual_seed",
    "lightning.seed_everything", "pytorch_lightning.seed_everything", "transformers.set_seed",
})  # fmt: skip
"""Functions and classes whose first argument is a seed."""

_SEED_THEMSELVES = {
    "torch.seed": "manual_seed",
    "torch.cuda.seed": "manual_seed",
    "torch.cuda.seed_all": "manual_seed_all",
}
"""Functions that take a seed from the system, and those beside them that are given one."""

_SEED_METHODS = {
    "torch.Generator.seed": "manual_seed",
    "numpy.random.RandomState.seed": "seed",
    "random.Random.seed": "seed",
}
"""The same for methods."""

_WITHOUT_SEED = frozenset({*_TAKE_A_SEED, *_SEED_THEMSELVES, *_SEED_METHODS})
"""Calls of these that are given no seed take one from the system."""

_AGAIN = {"numpy": "numpy.random.randint(2**31)", "random": "random.getrandbits(32)"}
"""What gives each of several generators a seed of its own, by the library of their class."""


class Site(Struct, frozen=True):
    """A cell in which a difference begins, and one cause of it.

    Attributes:
        program: The notebook's code.
        found: What was found of the cell.
        cause: The cause; None where nothing that was recorded accounts for the difference.
        seed: The seed to give.
        was_there: Tells whether a file was there before the notebook ran for the first time.
    """

    program: Program
    found: CellVerdict
    cause: Cause | None
    seed: int
    was_there: Callable[[str], bool]

    @property
    def code(self) -> Code:
        """The cell's code."""
        return self.program.of(self.found.cell)

    @property
    def kind(self) -> str:
        """The kind of the cause; empty where there is none."""
        return "" if self.cause is None else self.cause.kind

    @property
    def name(self) -> str:
        """The name of the cause; empty where there is none."""
        return "" if self.cause is None else self.cause.name

    @property
    def until(self) -> list[Code]:
        """The code of the cells before it, and its own."""
        return [each for each in self.program.codes if each.cell.place <= self.found.cell.place]


class Remedy(NamedTuple):
    """A row of the table.

    Attributes:
        matches: Tells whether it is for this kind of cause.
        edits: Yields the edits to try, one set of them after the other.
        obstacle: Why it may find none, in a clause about the cell.
    """

    matches: Callable[[Site], bool]
    edits: Callable[[Site], Iterator[Edits]]
    obstacle: str = ""


def propose(site: Site) -> list[Edits]:
    """Return the edits that may mend a cause, the smallest first; one set of them at a time."""
    rows = [row for row in REMEDIES if row.matches(site)]
    return [edits for row in rows for edits in row.edits(site) if edits]


def obstacle(site: Site) -> str:
    """Say, in a line, which cell cannot be mended, where in it, and why."""
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
        why = "the cell itself does not repeat, for a cause that nothing recorded tells"
    return f"{place}: {why}"


# --------------------------------------------------------------------------------------------------
# Seeds


def chosen_seed(program: Program) -> int:
    """Return the number that a notebook seeds a source with somewhere; 42 where it does not."""
    for call in program.calls(program.codes):
        if call.path in SEEDS.values() and call.node.args:
            given = call.node.args[0]
            if isinstance(given, ast.Constant) and type(given.value) is int:
                return given.value
    return DEFAULT_SEED


def _function(site: Site) -> str:
    return SEEDS.get(site.name.partition(".")[0], "") if site.kind == "rng" else ""


def _seed_source(site: Site) -> Iterator[Edits]:
    """Seed a source once it is imported; or else where the cell begins that draws from it."""
    call = f"{_function(site)}({site.seed})"
    why = f"seeds {site.name}, which nothing had seeded before {site.found.cell.name}"
    after = _after_import(site, call)
    if after:
        yield (Edit(after[0].cell.index, "seed", why, (after[1],)),)
    yield from _at_top(site, site.code, call, "seed", why)


def _seed_next(site: Site) -> Iterator[Edits]:
    """Seed the sources that a cell leaves elsewhere in each kernel, where the next cell begins."""
    following = site.program.after(site.code)
    moved = [each.name for each in site.found.changes if each.what == "source"]
    if following is None:
        return
    for name in dict.fromkeys(SEEDS.get(name.partition(".")[0], "") for name in moved):
        why = f"seeds again what a library seeds at random in {site.found.cell.name}"
        if name:
            yield from _at_top(site, following, f"{name}({site.seed})", "seed", why)


def _after_import(site: Site, call: str) -> tuple[Code, Splice] | None:
    """Place a line after the imports among which its library is, or after the first imports.

    Args:
        site: Before whose end it has to stand.
        call: A call by its dotted name.
    """
    library = call.partition(".")[0]
    first = None
    for code in site.until:
        for place, statement in enumerate(code.tree.body):
            names = [path for node in _imports(statement) for _, path in imported(node)]
            if names and first is None:
                first = code, place
            if any(path.partition(".")[0] == library for path in names):
                return code, _insert_after(site.program, code, _last_import(code, place), call)
    if first is None:
        return None
    code, place = first
    return code, _insert_after(site.program, code, _last_import(code, place), call)


def _imports(statement: ast.stmt) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports that a statement runs, and not only defines."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    return [each for each in ast.walk(statement) if isinstance(each, (ast.Import, ast.ImportFrom))]


def _last_import(code: Code, place: int) -> ast.stmt:
    """Return the last statement of a run of imports, between which magics may stand."""
    last = code.tree.body[place]
    for statement in code.tree.body[place:]:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            last = statement
        elif not isinstance(statement, ast.Pass) and statement is not last:
            break
    return last


def _insert_after(program: Program, code: Code, statement: ast.stmt, call: str) -> Splice:
    lines = _spell(program, code, statement, call)
    if code.shares_line(statement):
        end = code.end(statement)
        return Splice(end, end, "".join(f"; {line}" for line in lines))
    end = code.line_end(statement)
    return Splice(end, end, "".join(f"\n{line}" for line in lines))


def _at_top(site: Site, code: Code, call: str, kind: str, why: str) -> Iterator[Edits]:
    """Yield the edit that puts a line where a cell begins, after its imports."""
    if code.tree.body and _imports(code.tree.body[0]):
        splice = _insert_after(site.program, code, _last_import(code, 0), call)
        yield (Edit(code.cell.index, kind, why, (splice,)),)
    elif code.tree.body:
        start = code.start(code.tree.body[0])
        lines = _spell(site.program, code, None, call)
        splice = Splice(start, start, "".join(f"{line}\n" for line in lines))
        yield (Edit(code.cell.index, kind, why, (splice,)),)


def _spell(program: Program, code: Code, after: ast.stmt | None, call: str) -> list[str]:
    """Return a call in the notebook's own names, below an import where it takes one.

    Args:
        program: The notebook's code.
        code: The cell in which it will stand.
        after: The statement after which it will stand; None at the cell's top.
        call: The call by its dotted name.
    """
    known: dict[str, str] = {}
    for each in program.codes:
        for statement in each.tree.body:
            here = each is code and (after is None or statement.lineno > after.lineno)
            if each.cell.place > code.cell.place or here:
                break
            known.update(pair for node in _imports(statement) for pair in imported(node))
    for name, path in known.items():
        if name not in program.bound and call.startswith((f"{path}.", f"{path}(")):
            return [f"{name}{call[len(path) :]}"]
    library = call.partition(".")[0]
    if library in program.bound or program.names.get(library, library) != library:
        return [f"import {library} as _{library}", f"_{call}"]
    return [f"import {library}", call]


# --------------------------------------------------------------------------------------------------
# Generators made without a seed, or with one that varies


def _give_seed(site: Site) -> Iterator[Edits]:
    """Give a seed to what is called without one: in the cell, or in a function that it calls."""
    for codes in ([site.code], [each for each in site.until if each is not site.code]):
        calls = [each for each in site.program.calls(codes) if _lacks_seed(each, site.name)]
        if calls:
            yield tuple(_seeded(site, call, site.name, n) for n, call in enumerate(calls))
            return


def _lacks_seed(call: Call, name: str) -> bool:
    """Tell whether a call is one of a function, class or method of this name, without a seed."""
    given = [*call.node.args, *(each.value for each in call.node.keywords)]
    empty = all(isinstance(each, ast.Constant) and each.value is None for each in given)
    if name in _SEED_METHODS:
        is_method = isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "seed"
        return is_method and not given and call.path not in {*SEEDS.values(), *_SEED_THEMSELVES}
    return call.path == name and empty


def _seed_maker(site: Site) -> Iterator[Edits]:
    """Seed the generator that began elsewhere: where it was made, or what that drew from."""
    makers = {each.run.cell for each in site.cause.blame if each.run} if site.cause else set()
    calls = [*site.program.calls([each for each in site.until if each.cell.id in makers])]
    lacking = [(call, name) for call in calls for name in _WITHOUT_SEED if _lacks_seed(call, name)]
    yield tuple(_seeded(site, call, name, n) for n, (call, name) in enumerate(lacking))
    why = f"seeds what {site.name} is made of"
    found: dict[str, Edit] = {}
    for call in calls:
        for seed in SEEDS.values():
            library = seed.rpartition(".")[0]
            after = _after_import(site, f"{seed}({site.seed})")
            if call.path.startswith(f"{library}.") and after:
                found[seed] = Edit(after[0].cell.index, "seed", why, (after[1],))
    yield tuple(found.values())


def _seeded(site: Site, call: Call, name: str, number: int) -> Edit:
    """Return the edit that gives a seed to a call.

    Args:
        site: Where its generator is a cause.
        call: The call.
        name: What it calls, as ``_lacks_seed`` knows it.
        number: How many calls before it are given one: no two are given the same.
    """
    code, node = call.code, call.node
    seed, library = str(site.seed + number), call.path.partition(".")[0]
    if call.repeated and library in _AGAIN and call.path not in SEEDS.values():
        within = [each for each in code.tree.body if each.lineno <= node.lineno][-1]
        lines = _spell(site.program, code, within, _AGAIN[library])
        seed = lines[0] if len(lines) == 1 else seed
    given = [*node.args, *(each.value for each in node.keywords)]
    if given:
        splices = [Splice(code.start(given[0]), code.end(given[0]), seed)]
    else:
        end = code.end(node) - 1
        splices = [Splice(end, end, seed)]
    renamed = {**_SEED_THEMSELVES, **_SEED_METHODS}.get(name)
    if renamed and isinstance(node.func, ast.Attribute):
        end = code.end(node.func)
        splices.insert(0, Splice(end - len(node.func.attr), end, renamed))
    why = f"gives {label_of(ast.unparse(node.func), 40)} a seed, which it took from the system"
    return Edit(code.cell.index, "generator", why, tuple(splices))


def _fix_seed(site: Site) -> Iterator[Edits]:
    """Replace a seed that is computed from a clock, or from what varies, by a number."""
    edits, varying = [], _made_of(site, site.name)
    for call in site.program.calls([site.code]):
        named = call.path in _TAKE_A_SEED or call.path.endswith(".manual_seed")
        if not named or not call.node.args:
            continue
        given = call.node.args[0]
        if not varying.isdisjoint(_named(site.program, given)):
            splice = Splice(site.code.start(given), site.code.end(given), str(site.seed))
            why = f"seeds with a number: {label_of(ast.unparse(given), 40)} varies"
            edits.append(Edit(site.code.cell.index, "seed", why, (splice,)))
    yield tuple(edits)


def _made_of(site: Site, name: str) -> set[str]:
    """Return a name, and the variables that the cell makes of what it stands for."""
    names = {name}
    for node in ast.walk(site.code.tree):
        if isinstance(node, ast.Assign) and not names.isdisjoint(_named(site.program, node.value)):
            names.update(map(ast.unparse, node.targets))
    return names


def _named(program: Program, node: ast.expr) -> set[str]:
    parts = [each for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute))]
    return {program.path(each) for each in parts}


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
        edits.append(Edit(code.cell.index, "order", why, splices))
    return tuple(edits)


def _sort_sets(site: Site) -> Iterator[Edits]:
    """Sort the sets over which a cell goes, or a function that it calls."""
    for codes in ([site.code], [each for each in site.until if each is not site.code]):
        found = [*ordered_sets(site.program, codes)]
        if found:
            yield _sort(site, found)
            yield _sort(site, found, ", key=str")  # of items that cannot be compared
            return


def _sort_listings(site: Site) -> Iterator[Edits]:
    """Sort what a cell lists of folders."""
    yield _sort(site, [*ordered_listings(site.program, site.code)])


# --------------------------------------------------------------------------------------------------
# Operations, threads and files


def _uses_torch(site: Site) -> bool:
    return site.cause is None and any(
        path.partition(".")[0] == "torch" for path in site.program.names.values()
    )


def _use_deterministic(site: Site) -> Iterator[Edits]:
    """Ask torch for its deterministic algorithms."""
    after = _after_import(site, "torch.use_deterministic_algorithms(True)")
    why = f"lets torch use algorithms that repeat, for {site.found.cell.name}"
    if after:
        yield (Edit(after[0].cell.index, "operation", why, (after[1],)),)


def _use_one_thread(site: Site) -> Iterator[Edits]:
    why = f"keeps torch to one thread from {site.found.cell.name} on"
    yield from _at_top(site, site.code, "torch.set_num_threads(1)", "threads", why)


def _remove_file(site: Site) -> Iterator[Edits]:
    """Remove a file that the notebook made in the run before, ahead of the first cell naming it."""
    if site.was_there(site.name):
        return
    base = site.name.rpartition("/")[2]
    for code in site.until:
        for node in ast.walk(code.tree):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and base and text.rpartition("/")[2] == base:
                why = f"removes {text}, which the run before left behind"
                call = f"pathlib.Path({text!r}).unlink(missing_ok=True)"
                yield from _at_top(site, code, call, "file", why)
                return


# --------------------------------------------------------------------------------------------------
# The table


REMEDIES: tuple[Remedy, ...] = (
    Remedy(lambda site: site.kind in {"entropy", "input"}, _fix_seed),
    Remedy(lambda site: site.name in _WITHOUT_SEED, _give_seed),
    Remedy(lambda site: bool(_function(site)), _seed_source),
    Remedy(lambda site: site.kind == "rng" and not _function(site), _seed_maker),
    Remedy(lambda site: not _function(site), _seed_next),
    Remedy(
        lambda site: site.kind == "environment" and site.name == "PYTHONHASHSEED",
        _sort_sets,
        "it hangs on the order of a set in a library's code; choose the kernel that `ipytorchseed"
        " kernel install` makes",
    ),
    Remedy(lambda site: site.cause is None, _sort_listings),
    Remedy(_uses_torch, _use_deterministic),
    Remedy(_uses_torch, _use_one_thread),
    Remedy(
        lambda site: site.kind == "file",
        _remove_file,
        "it reads a file that changes, and that was there before the notebook first ran here",
    ),
)
"""The smallest edit first, where several rows are for one kind."""
