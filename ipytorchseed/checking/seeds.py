"""Remedies that seed a source, or pass a seed to calls that have none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ipytorchseed.checking.edits import Edit, Edits, Splice
from ipytorchseed.checking.program import (
    Call,
    FixTarget,
    Program,
    insert_after_import,
    insert_at_top,
    spell,
)
from ipytorchseed.reads.entropy import ENTROPY
from ipytorchseed.render.labels import label_of

# The function that seeds a source, by the first part of the source's name.
_SEEDS = {
    "python": "random.seed",
    "numpy": "numpy.random.seed",
    "torch": "torch.manual_seed",
    "cupy": "cupy.random.seed",
}

_DEFAULT = 42

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
        if call.path in _SEEDS.values() and call.node.args:
            given = call.node.args[0]
            if isinstance(given, ast.Constant) and type(given.value) is int:
                return given.value
    return _DEFAULT


def seeder(name: str) -> str:
    """Return the function that seeds a source; empty if none is known."""
    return _SEEDS.get(name.partition(".")[0], "")


def seed_source(target: FixTarget) -> Iterator[Edits]:
    """Seed a source after the import of its library, or in the cell that draws.

    In the cell, the new line is above imports that may draw.
    """
    call = f"{seeder(target.cause.name)}({target.seed})"
    name = target.cause.name
    why = f"seeds {name}, which {target.found.cell.name} draws from and nothing had seeded"
    yield insert_after_import(target, call, "seed", why)
    yield insert_at_top(target, target.code, call, "seed", why)


def give_seed(target: FixTarget) -> Iterator[Edits]:
    """Pass a seed to the calls that would take one from the system.

    If a function is the cause, only its calls get a seed; otherwise all such calls up to the cell
    do. Each call gets a different seed. A call that may run more than once draws its seeds from a
    source, which is then seeded too.
    """
    program, until, edits = target.program, target.until, list[Edit]()
    drawn = dict[str, None]()
    for place, call in enumerate(filter(_lacks_seed, program.calls(program.codes))):
        other = target.cause.kind == "entropy" and call.path != target.cause.name
        if other or call.code not in until:
            continue
        seed = str(target.seed + place)
        source, how = _DRAWN.get(call.path.partition(".")[0], ("", ""))
        if call.repeated and source and call.path not in _SEEDS.values():
            within = [each for each in call.code.tree.body if each.lineno <= call.node.lineno][-1]
            lines = spell(program, call.code, within, how)
            if len(lines) == 1:  # the call needs no import
                seed = lines[0]
                drawn[source] = None
        edits.append(_seeded(call, seed))
    for source in drawn:
        why = f"seeds {source}, because other seeds are drawn from it"
        edits += insert_after_import(target, f"{_SEEDS[source]}({target.seed})", "seed", why)
    yield tuple(edits)


def _lacks_seed(call: Call) -> bool:
    """Return whether a call would take its seed from the system."""
    given = [*call.node.args, *(each.value for each in call.node.keywords)]
    empty = all(isinstance(each, ast.Constant) and each.value is None for each in given)
    return empty and call.path in WITHOUT_SEED


def _seeded(call: Call, seed: str) -> Edit:
    """Return the edit that adds a seed to a call."""
    code, node = call.code, call.node
    given = [*node.args, *(each.value for each in node.keywords)]
    end = code.end(node) - 1
    splice = code.replace(given[0], seed) if given else Splice(end, end, seed)
    why = f"gives {label_of(ast.unparse(node.func), 40)} a fixed seed, not one from the system"
    return Edit(code.cell, "generator", why, (splice,))


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
                why = f"{_PASSES} `{name}={seed}` to `{label_of(function, 40)}()`"
                edits.append(Edit(call.code.cell, "generator", why, (splice,)))
        if edits:
            yield tuple(edits)
            return


_PASSES = "passes"


def say_seed(target: FixTarget) -> str:
    """Return which seeds to pass, and in which cell; empty if none is known.

    Args:
        target: The cell, and the cause.
    """
    edits = [edit for edits in name_seed(target) for edit in edits]
    places = ["" if each.cell is target.found.cell else f" in {each.cell.name}" for each in edits]
    said = (f"{each.why}{place}" for each, place in zip(edits, places, strict=True))
    return "\n".join(each.replace(_PASSES, "pass", 1) for each in said)


def _name(call: Call, name: str, place: int, seed: int) -> Splice | None:
    """Return the splice that adds a seed by keyword; None if the call may have one."""
    code, node = call.code, call.node
    for keyword in node.keywords:
        if keyword.arg == name:
            empty = isinstance(keyword.value, ast.Constant) and keyword.value.value is None
            return code.replace(keyword.value, str(seed)) if empty else None
    unpacked = [each for each in node.args if isinstance(each, ast.Starred)]
    if unpacked or None in {each.arg for each in node.keywords} or place < len(node.args):
        return None
    begin, end = code.end(node.func), code.end(node) - 1
    before = code.cell.source[begin:end].rstrip()
    lines = before.split("\n")
    if begin + len(before) < code.offset(node.end_lineno or 1, 0) and "#" not in lines[-1]:
        # the closing parenthesis is on a separate line, so the seed is too
        indent = lines[-1][: len(lines[-1]) - len(lines[-1].lstrip())]
        end, ends = begin + len(before), before.endswith(",")
        comma = "" if before.endswith(("(", ",")) else ","
        return Splice(end, end, f"{comma}\n{indent}{name}={seed}{',' * ends}")
    comma = "" if before.endswith(("(", ",")) else ", "
    return Splice(end, end, f"{comma}{name}={seed}")
