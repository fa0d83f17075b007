"""Finds the differences between the results of two runs, and their distance."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from ipytorchseed.fingerprint.value import Fingerprint, same
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.parsing import parse_text
from ipytorchseed.why.evidence import differ
from ipytorchseed.why.explanation import Change
from ipytorchseed.why.value_changes import changed_parts, how_far

SHOWN_OTHERWISE = "the same result, shown differently"

UNSEEN = "what its programs printed"
"""Of a cell in a terminal, where they print by themselves."""

ROUNDING = 1e-5
"""The largest relative difference of two numbers that is called rounding."""

_SMALLEST = 1e-9
"""Numbers below it are held against it: what is left of a zero has no digit that is right."""

COUNT = "count"
"""The part of a display that stands for several: how many."""


TIMES = "times"
"""The part of a printed text that names it with the times in it, which are no content."""


def say_same(against: Showing, run: Showing, other: str) -> str:
    """Say that two runs gave the same result, and whether all that they showed is the same.

    Args:
        against: The earlier run.
        run: The later run.
        other: What the earlier one is called.
    """
    times = {each.stdout and each.stdout.parts.get(TIMES) for each in (against, run)}
    if len(times) > 1:
        return f"same result as {other}, except for the time it shows"
    return f"same result, bit for bit, as {other}"


def find_changes(against: Run, run: Run) -> tuple[Change, ...]:
    """Compare everything that two runs made, showed and raised.

    Args:
        against: The earlier run.
        run: The later run.

    Returns:
        What differs. A name that only one of them made differs where its text was edited and they
        made and showed nothing else that can be compared.
    """
    changes, compared = list[Change](), False
    timed = {*against.timed} & {*run.timed}
    late = _left_by_loops(run.source)
    names = [name for name in dict.fromkeys([*against.writes, *run.writes]) if name not in timed]
    for name in sorted(names, key=lambda name: late.get(name, 0)):
        before = against.writes.get(name) or against.reads.get(name)
        after = run.writes.get(name) or run.reads.get(name)
        if before is None or after is None:
            continue
        compared = True
        hidden = before.opaque and after.opaque  # what cannot be seen proves nothing
        moved = changed_parts(before, after)
        idle = hidden or _only_found(against, run, name, moved) or _did_alike(against, run, name)
        if differ(before, after) and not idle:
            changes.append(_change("variable", name, before, after))
    compared |= bool(against.result and run.result) or bool(against.stdout and run.stdout)
    if not (compared or (against.displays and run.displays)) and against.code != run.code:
        changes += [
            Change("variable", name, "made now" if name in run.writes else "made before, not now")
            for name in names
        ]
    return (*changes, *find_output_changes(against, run))


def find_output_changes(before: Showing, after: Showing) -> tuple[Change, ...]:
    """Compare what two runs showed and raised."""
    changes = [
        _change(what, "", one, other)
        for what, one, other in (
            ("result", before.result, after.result),
            ("stdout", before.stdout, after.stdout),
        )
        if results_differ(one, other)
    ]
    if shown_otherwise(before, after):
        changes.append(Change("display", "", SHOWN_OTHERWISE))
    if displays_differ(before.displays, after.displays):
        changes.append(Change("display", "", _say_displays(before.displays, after.displays)))
    if before.error != after.error:
        said = [(each.error or "no error").removesuffix(": ") for each in (before, after)]
        changes.append(Change("error", "", " → ".join(said)))
    return tuple(changes)


def _did_alike(against: Run, run: Run, name: str) -> bool:
    """Return whether two runs left the same in all parts of an object that either changed.

    Parts that neither changed are no result, though they differ.
    """
    changed, left = set[str](), list[Fingerprint]()
    for each in (against, run):
        before = each.reads.get(name)
        after = each.writes.get(name, before)
        if before is None or after is None or before.kind != after.kind:
            return False
        moved = changed_parts(before, after).keys()
        if not (before.exact and after.exact and (moved or same(before, after))):
            return False
        changed |= moved
        left.append(after)
    told = changed - _SIZES
    return bool(told) and all(left[0].parts.get(part) == left[1].parts.get(part) for part in told)


_SIZES = frozenset({"columns", "items", "keys", "length", "shape"})
"""Parts that sum up what other parts tell one by one."""


def _only_found(against: Run, run: Run, name: str, moved: Mapping[str, object]) -> bool:
    """Return whether only one run filled something in, and the rest differs too."""
    filler, other = (against, run) if name in against.writes else (run, against)
    if name in other.writes or name not in filler.reads or not moved:
        return False
    values = filler.reads[name], filler.writes[name], other.reads[name]
    filled = changed_parts(*values[:2]).keys()
    return all(value.exact for value in values) and bool(filled) and filled.isdisjoint(moved)


@lru_cache(maxsize=64)
def _left_by_loops(source: str) -> Mapping[str, int]:
    """Rank names that only loops leave behind: what they go over after what they set inside."""
    tree = parse_text(source) if "for" in source or "while" in source else None
    if tree is None:
        return {}
    ranks: dict[str, int] = {}
    stack: list[tuple[ast.AST, int]] = [(statement, 0) for statement in tree.body]
    while stack:
        node, rank = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            ranks[node.id] = min(rank, ranks.get(node.id, rank))
        if isinstance(node, (ast.For, ast.AsyncFor)):
            stack.append((node.target, 2))
            stack += [(inner, 1) for inner in [*node.body, *node.orelse]]
        elif isinstance(node, ast.While):
            stack += [(inner, max(rank, 1)) for inner in ast.iter_child_nodes(node)]
        elif not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            stack += [(inner, rank) for inner in ast.iter_child_nodes(node)]
    return ranks


def results_differ(before: Fingerprint | None, after: Fingerprint | None) -> bool:
    """Return whether two results, or two texts that were printed, are known to differ."""
    opaque = before is not None and after is not None and before.opaque and after.opaque
    return not (opaque or _cut(before, after)) and differ(before, after)


def _cut(before: Fingerprint | None, after: Fingerprint | None) -> bool:
    """Return whether one text may lack what the other has: what prints by itself is seen late."""
    lines = {each and each.summary for each in (before, after)}
    return len(lines) > 1 and any(map(_seen_in_part, (before, after)))


def _seen_in_part(printed: Fingerprint | None) -> bool:
    """Return whether only a sample of what was printed is known."""
    return printed is not None and printed.kind == "text" and printed.digest == printed.sample


def shown_otherwise(before: Showing, after: Showing) -> bool:
    """Return whether two results that are not known to differ were shown differently.

    A class's own ``__repr__`` or ``_repr_html_`` may read other variables when it is shown, and how
    numbers are written hangs on options.
    """
    seen = [each.result for each in (before, after) if each.result and not each.result.opaque]
    if len(seen) < 2 or differ(*seen):  # noqa: PLR2004 -- of both
        return False
    return None not in (before.shown, after.shown) and differ(before.shown, after.shown)


def displays_differ(before: Sequence[Fingerprint], after: Sequence[Fingerprint]) -> bool:
    """Return whether what two runs displayed is known to differ."""
    if count_displays(before) != count_displays(after):
        return True
    return any(itertools.starmap(differ, zip(before, after, strict=False)))


def _say_displays(before: Sequence[Fingerprint], after: Sequence[Fingerprint]) -> str:
    """Say how many displays there were, or how many of as many have other content."""
    counts = count_displays(before), count_displays(after)
    if counts[0] != counts[1]:
        return f"{counts[0]:,} and {counts[1]:,} shown"
    apart = [now for then, now in zip(before, after, strict=False) if differ(then, now)]
    which = apart[0].summary.partition(",")[0] if counts[1] == 1 else ""  # the first MIME type
    return f"{which or f'{count_displays(apart):,} of {counts[1]:,}'} with other content"


def count_displays(displays: Sequence[Fingerprint]) -> int:
    """Count displays, of which one may stand for several."""
    return sum(int(each.parts.get(COUNT, 1)) for each in displays)


class Showing(Protocol):
    """A run, or what it ended with: what it showed."""

    @property
    def result(self) -> Fingerprint | None:
        """Its last expression."""

    @property
    def shown(self) -> Fingerprint | None:
        """How that was shown."""

    @property
    def stdout(self) -> Fingerprint | None:
        """What it printed."""

    @property
    def displays(self) -> Sequence[Fingerprint]:
        """What it displayed."""

    @property
    def error(self) -> str | None:
        """The error that ended it, as one line."""


def not_compared(against: Showing, run: Showing) -> tuple[str, ...]:
    """Name the outputs of two runs that could not be compared.

    Args:
        against: The earlier run.
        run: The later run.
    """
    shown = [*itertools.starmap(same, zip(against.displays, run.displays, strict=False))]
    if against.shown and run.shown:
        shown.append(same(against.shown, run.shown))
    unknown = {
        "the result": not (against.result and run.result) or same(against.result, run.result),
        "what was printed": not (against.stdout and run.stdout) or same(against.stdout, run.stdout),
        "what was displayed": None if None in shown else True,
    }
    if any(map(_seen_in_part, (against.stdout, run.stdout))):
        del unknown["what was printed"]
        unknown[UNSEEN] = None
    return tuple(what for what, known in unknown.items() if known is None)


def _change(what: str, name: str, before: Fingerprint | None, after: Fingerprint | None) -> Change:
    series = [None if value is None else value.series for value in (before, after)]
    return Change(what, name, how_far(before, after), *series)


def find_distance(change: Change) -> float | None:
    """Return how far two results are apart, relative to the largest of their numbers.

    Returns:
        None where that is not known; infinity where there are more or fewer numbers, or other whole
        ones: those are counted.
    """
    before, after = change.before, change.after
    if before is None or after is None or before == after:
        return None
    if len(before) != len(after):
        return math.inf
    apart = [(x, y) for x, y in zip(before, after, strict=True) if x != y and (x == x or y == y)]  # noqa: PLR0124 -- NaN
    largest = max(map(abs, (*before, *after, _SMALLEST)))
    if not math.isfinite(largest) or any(x.is_integer() and y.is_integer() for x, y in apart):
        return math.inf
    return max((abs(x - y) / largest for x, y in apart), default=0.0)
