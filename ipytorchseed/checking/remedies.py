"""The table of remedies: for each kind of cause, the edits that may remove it."""

from __future__ import annotations

import ast
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from ipytorchseed.checking.edits import Edit, Splice
from ipytorchseed.checking.orders import makes_list, ordered_listings, ordered_sets
from ipytorchseed.checking.placing import after_import, at_top
from ipytorchseed.checking.seeds import (
    WITHOUT_SEED,
    fix_seed,
    give_seed,
    seed_maker,
    seed_next,
    seed_source,
    seeder,
)
from ipytorchseed.checking.signatures import name_seed
from ipytorchseed.reads.entropy import NONDETERMINISTIC, sentence
from ipytorchseed.render.timeline import label_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ipytorchseed.checking.placing import Site
    from ipytorchseed.checking.program import Code

    Edits = tuple[Edit, ...]


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
    """Return the edits that may remove a cause, the smallest first; one set of them at a time."""
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
        why = "fresh kernels give different output, and nothing that was recorded tells why"
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
    why = f"lets torch use algorithms that repeat, for {site.found.cell.name}"
    yield after_import(site, "torch.use_deterministic_algorithms(True)", "operation", why)


def _use_one_thread(site: Site) -> Iterator[Edits]:
    why = f"keeps torch to one thread from {site.found.cell.name} on"
    yield at_top(site, site.code, "torch.set_num_threads(1)", "threads", why)


def _remove_file(site: Site) -> Iterator[Edits]:
    """Remove a file that the notebook made in the run before, ahead of the first cell naming it."""
    path = PurePath(site.own_file(site.name))
    why = f"removes {path}, which the run before left behind"
    call = f"pathlib.Path({path.as_posix()!r}).unlink(missing_ok=True)"
    for code in site.until if path.name else ():
        texts = [node.value for node in ast.walk(code.tree) if isinstance(node, ast.Constant)]
        if any(isinstance(each, str) and PurePath(each).name == path.name for each in texts):
            yield at_top(site, code, call, "file", why)
            return


# --------------------------------------------------------------------------------------------------
# The table


def _is_source(site: Site) -> bool:
    return site.kind == "rng" and bool(seeder(site.name))


def _may_take_seed(site: Site) -> bool:
    """Tell whether a function of a library's, named or not, may be what takes a seed."""
    return site.cause is None or (site.kind == "entropy" and site.name not in NONDETERMINISTIC)


REMEDIES: tuple[Remedy, ...] = (
    Remedy(lambda site: site.kind in {"entropy", "input"}, fix_seed),
    Remedy(lambda site: site.name in WITHOUT_SEED, give_seed),
    Remedy(_is_source, seed_source),
    Remedy(lambda site: site.kind == "rng" and not _is_source(site), seed_maker),
    Remedy(lambda site: not _is_source(site), seed_next),
    Remedy(
        lambda site: site.kind == "environment" and site.name == "PYTHONHASHSEED",
        _sort_sets,
        "it hangs on the order of a set in a library's code; choose the kernel that `ipytorchseed"
        " kernel install` makes",
    ),
    Remedy(lambda site: site.cause is None, _sort_listings),
    Remedy(_may_take_seed, name_seed),
    Remedy(_uses_torch, _use_deterministic),
    Remedy(_uses_torch, _use_one_thread),
    Remedy(
        lambda site: site.kind == "file",
        _remove_file,
        "it reads a file that changes, and that was there before the notebook first ran here",
    ),
)
"""The smallest edit first, where several rows are for one kind."""
