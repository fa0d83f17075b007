"""Compares the results of two runs, and measures how far apart they are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ipytorchseed.fingerprint.value import Fingerprint, same
from ipytorchseed.ledger.records import Outputs, Run
from ipytorchseed.why.evidence import differ
from ipytorchseed.why.explanation import Change
from ipytorchseed.why.value_changes import changed_parts, how_far

SHOWN_OTHERWISE = "the same result, shown differently"

# In a terminal, programs print directly, so their output is not recorded.
UNSEEN = "what its programs printed"

# The largest relative difference of two numbers that counts as rounding.
ROUNDING = 1e-5

# The smallest scale for relative differences: the digits of a near-zero remainder are noise.
_MIN_SCALE = 1e-9

# The part of a printed text's fingerprint that includes the times in it.
TIMES = "times"


def say_same(against: Outputs, run: Outputs, other: str) -> str:
    """Return a clause that says that two runs gave the same result.

    Args:
        against: The earlier run.
        run: The later run.
        other: The name of the earlier run.
    """
    times = {each.stdout and each.stdout.parts.get(TIMES) for each in (against, run)}
    if len(times) > 1:
        return f"same result as {other}, except for the time it shows"
    return f"same result, bit for bit, as {other}"


def find_changes(against: Run, run: Run) -> tuple[Change, ...]:
    """Compare the variables, outputs and errors of two runs.

    Args:
        against: The earlier run.
        run: The later run.

    Returns:
        The differences. A variable that only one run created is included only if the cell was
        edited and no other variable or output can be compared.
    """
    changes, compared = list[Change](), False
    timed = {*against.timed} & {*run.timed}
    names = [name for name in dict.fromkeys([*against.writes, *run.writes]) if name not in timed]
    for name in sorted(names, key=lambda name: not _is_number(run.writes.get(name))):
        before = against.writes.get(name) or against.reads.get(name)
        after = run.writes.get(name) or run.reads.get(name)
        if before is None or after is None:
            continue
        compared = True
        hidden = before.opaque and after.opaque  # their digests do not cover the content
        idle = hidden or _left_equal_parts(against, run, name)
        if differ(before, after) and not idle:
            changes.append(_change("variable", name, before, after))
    then, now = against.outputs, run.outputs
    compared |= bool(then.result and now.result) or bool(then.stdout and now.stdout)
    if not (compared or (then.displays and now.displays)) and against.code != run.code:
        changes += [
            Change(
                "variable",
                name,
                "only in the later run" if name in run.writes else "only in the earlier run",
            )
            for name in names
        ]
    return (*changes, *find_output_changes(then, now))


def _is_number(value: Fingerprint | None) -> bool:
    """Return whether a value is one number. Numbers are listed before other values."""
    return value is not None and value.series is not None and len(value.series) == 1


def find_output_changes(before: Outputs, after: Outputs) -> tuple[Change, ...]:
    """Compare the outputs and errors of two runs."""
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
        changes.append(Change("display", "", _describe_displays(before.displays, after.displays)))
    if before.error != after.error:
        said = [(each.error or "no error").removesuffix(": ") for each in (before, after)]
        changes.append(Change("error", "", " → ".join(said)))
    return tuple(changes)


def _left_equal_parts(against: Run, run: Run, name: str) -> bool:
    """Return whether all parts that the runs changed in an object became equal.

    A part that neither run changed is not a result, so it may differ.
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
    told = changed - _SUMMARY_PARTS
    return bool(told) and all(left[0].parts.get(part) == left[1].parts.get(part) for part in told)


# Parts that summarize other parts.
_SUMMARY_PARTS = frozenset({"columns", "items", "keys", "length", "shape"})


def results_differ(before: Fingerprint | None, after: Fingerprint | None) -> bool:
    """Return whether two results, or two printed texts, are known to differ."""
    opaque = before is not None and after is not None and before.opaque and after.opaque
    return not (opaque or _may_be_incomplete(before, after)) and differ(before, after)


def _may_be_incomplete(before: Fingerprint | None, after: Fingerprint | None) -> bool:
    """Return whether one of two printed texts may be incomplete.

    The output of a program can arrive after the cell has ended.
    """
    lines = {each and each.summary for each in (before, after)}
    return len(lines) > 1 and any(map(_is_sampled, (before, after)))


def _is_sampled(printed: Fingerprint | None) -> bool:
    """Return whether only a sample of the output is known."""
    return printed is not None and printed.kind == "text" and printed.digest == printed.sample


def shown_otherwise(before: Outputs, after: Outputs) -> bool:
    """Return whether two results are shown differently but not known to differ.

    For example, the ``__repr__`` of a class may read other variables, or an option may change the
    format of numbers.
    """
    seen = [each.result for each in (before, after) if each.result and not each.result.opaque]
    if len(seen) < 2 or differ(*seen):  # noqa: PLR2004 -- both runs
        return False
    return None not in (before.shown, after.shown) and differ(before.shown, after.shown)


def displays_differ(before: Sequence[Fingerprint], after: Sequence[Fingerprint]) -> bool:
    """Return whether the displays of two runs are known to differ."""
    if len(before) != len(after):
        return True
    return any(itertools.starmap(differ, zip(before, after, strict=False)))


def _describe_displays(before: Sequence[Fingerprint], after: Sequence[Fingerprint]) -> str:
    """Return both counts of displays or, if these are equal, how many displays differ."""
    counts = len(before), len(after)
    if counts[0] != counts[1]:
        return f"{counts[0]:,} and {counts[1]:,} shown"
    apart = [now for then, now in zip(before, after, strict=False) if differ(then, now)]
    which = apart[0].summary.partition(",")[0] if counts[1] == 1 else ""  # the first MIME type
    return f"{which or f'{len(apart):,} of {counts[1]:,}'} with different content"


def not_compared(against: Outputs, run: Outputs) -> tuple[str, ...]:
    """Return the outputs of two runs that could not be compared, in words.

    Args:
        against: The earlier run.
        run: The later run.
    """
    shown = [*itertools.starmap(same, zip(against.displays, run.displays, strict=False))]
    then, now = against.stdout, run.stdout
    unknown = {
        "the result": not (against.result and run.result) or same(against.result, run.result),
        "the printed output": not (then and now) or same(then, now),
        "what was displayed": None if None in shown else True,
    }
    if any(map(_is_sampled, (then, now))):
        del unknown["the printed output"]
        unknown[UNSEEN] = None
    return tuple(what for what, known in unknown.items() if known is None)


def _change(what: str, name: str, before: Fingerprint | None, after: Fingerprint | None) -> Change:
    series = [None if value is None else value.series for value in (before, after)]
    return Change(what, name, how_far(before, after), *series)


def find_distance(change: Change) -> float | None:
    """Return the distance between two results, relative to their largest number.

    Returns:
        None if the distance is unknown. Infinity if the results have different counts of numbers,
        if a number is infinite, or if a whole number differs: whole numbers are counts, so rounding
        cannot change them.
    """
    before, after = change.before, change.after
    if before is None or after is None or before == after:
        return None
    if len(before) != len(after):
        return math.inf
    apart = [(x, y) for x, y in zip(before, after, strict=True) if x != y and (x == x or y == y)]  # noqa: PLR0124 -- NaN
    largest = max(map(abs, (*before, *after, _MIN_SCALE)))
    if not math.isfinite(largest) or any(x.is_integer() and y.is_integer() for x, y in apart):
        return math.inf
    return max((abs(x - y) / largest for x, y in apart), default=0.0)
