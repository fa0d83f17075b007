"""Rules out settings that only round, and names settings that are rivals of other causes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ipytorchseed.reads.unordered import takes_any_sequence
from ipytorchseed.why.changes import ROUNDING, find_distance
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Change, Cleared
from ipytorchseed.why.finders.inputs import find_cleared_inputs
from ipytorchseed.why.finders.settings import is_secret
from ipytorchseed.why.words import listed

_NOT_ROUNDED = frozenset({"bool", "bytes", "class", "function", "int", "none", "rng", "str"})
"""Kinds of values that hold no numbers that are rounded."""

_MORE = "only rounds otherwise, and the difference is more than rounding"

_KINDS = frozenset({"environment", "flag"})


_ORDERS = frozenset({
    "cpu", "torch.num_threads", "torch.num_interop_threads", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
    "MKL_CBWR", "torch.use_deterministic_algorithms",
})  # fmt: skip
"""Settings that decide in which order numbers are added, and so how they are rounded."""

_ROUNDS = dict.fromkeys(_ORDERS, ROUNDING) | {
    "torch.default_dtype": ROUNDING,
    "torch.float32_matmul_precision": 0.05,  # some steps of bfloat16, which has 8 bits
}
"""The largest relative difference that settings which only round make, for all one knows."""


def without_rounding(case: Evidence, causes: list[Cause]) -> tuple[list[Cause], list[Cleared]]:
    """Clear settings that only round, where more than rounding differs.

    They stay where no other cause than settings was found, but for environment variables that the
    user's code names: many steps make much of a little, but no numbers of another type.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    settings = all(each.kind in _KINDS and not is_secret(each.name) for each in causes)
    types = _types(case)
    cleared = [
        each
        for each in causes
        if (
            types[0] != types[1] and each.name in _ORDERS
            if settings
            else _only_rounds(case, each.name)
        )
    ]
    if len(cleared) == len(causes):
        return causes, []
    return (
        [each for each in causes if each not in cleared],
        [Cleared(each.kind, each.name, _MORE) for each in cleared],
    )


def without_form(case: Evidence, causes: list[Cause]) -> tuple[list[Cause], list[Cleared]]:
    """Clear lists that became tuples of the same numbers, and the other way, beside other causes.

    They stay where the cell may tell them apart, or hands them to code of the user's.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    same = [each for each in causes if each.kind == "input" and _is_of_same_items(case, each.name)]
    if len(same) == len(causes):
        return causes, []
    return (
        [each for each in causes if each not in same],
        [Cleared(each.kind, each.name, _SAME_ITEMS) for each in same],
    )


_SAME_ITEMS = "holds the same numbers, be it a list or a tuple"


def _is_of_same_items(case: Evidence, name: str) -> bool:
    """Tell whether a value is a list in one run and a tuple in the other, to the same effect."""
    before, after = case.against.reads.get(name), case.run.reads.get(name)
    if before is None or after is None or {before.kind, after.kind} != {"list", "tuple"}:
        return False
    if before.series is None or before.series != after.series:
        return False
    users = {
        each for each, value in case.run.reads.items() if {"bases", "code"} & value.parts.keys()
    }
    elsewhere = case.may_be_named_elsewhere(name)
    return not elsewhere and takes_any_sequence(case.run.source, name, users)


def without_bearing(case: Evidence, causes: list[Cause]) -> tuple[list[Cause], list[Cleared]]:
    """Clear all but a list, where nothing differs but that list, to which both runs added alike.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    names = {each.name for each in case.changed if _grew_alike(case, each)}
    if len(names) < max(1, len(case.changed)) or case.run.code != case.against.code:
        return causes, []
    again = [each for each in find_cleared_inputs(case) if each not in causes]
    left = [each for each in (*causes, *again) if each.kind == "input" and each.name in names]
    if not left:
        return causes, []
    rest = [each for each in causes if each not in left]
    return left, [
        Cleared(each.kind, each.name, _ADDED.format(listed(sorted(names)))) for each in rest
    ]


_ADDED = "bears on nothing: both runs added the same to {}"


def _grew_alike(case: Evidence, change: Change) -> bool:
    """Tell whether a variable is a list to which both runs only added, and the same items."""
    added = []
    for run in (case.against, case.run):
        before, after = run.reads.get(change.name), run.writes.get(change.name)
        if before is None or after is None or after.kind != "list" or change.what != "variable":
            return False
        if run.parts.get(change.name) != ():  # it looks at what is there
            return False
        more = int(after.parts["length"]) - int(before.parts["length"])
        added.append([after.parts.get(f"k:[{-place}]") for place in range(1, more + 1)])
    return None not in added[0] and added[0] == added[1]


def _only_rounds(case: Evidence, name: str) -> bool:
    """Tell whether a setting only rounds otherwise, and more than that differs."""
    most = _ROUNDS.get(name)
    types = _types(case)
    makes_others = case.heeds("type") or types[0] != types[1]
    if most is None or (name == "torch.default_dtype" and makes_others) or _asks(case, name):
        return False
    return {_is_more(case, each, most) for each in case.changed} - {None} == {True}


def _asks(case: Evidence, name: str) -> bool:
    """Tell whether code of the cell asks how a setting stands, and may compute with that."""
    word = f"get_{name.removeprefix('torch.')}" if name.startswith("torch.") else name
    return any(word in text for text in case.texts())


def _types(case: Evidence) -> list[list[str | None]]:
    """Return the types of numbers that each run left under the names of the results that differ."""
    names = [each.name for each in case.changed if each.what == "variable"]
    made = [[run.writes.get(name) for name in names] for run in (case.against, case.run)]
    return [[each.parts.get("dtype", "") if each else None for each in some] for some in made]


def _is_more(case: Evidence, change: Change, most: float) -> bool | None:
    """Tell whether a change is larger than ``most``; None where that is not known."""
    distance = find_distance(change)
    if distance is not None:
        return distance > most
    value = case.run.result if change.what == "result" else case.run.writes.get(change.name)
    return True if value is not None and value.kind in _NOT_ROUNDED else None


def with_rivals(case: Evidence, causes: Sequence[Cause]) -> list[Cause]:
    """Add to settings of another machine what else may be the cause, and how to tell them apart.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    rivals = [cause for cause in causes if cause.kind != "input"]  # which an earlier cell made
    if not case.elsewhere or len(rivals) == 1:
        return [*causes]
    return [_with_rivals(cause, rivals) if cause.kind in _KINDS else cause for cause in causes]


def _with_rivals(cause: Cause, rivals: Sequence[Cause]) -> Cause:
    others = [each for each in rivals if each is not cause]
    names = listed("the edit" if each.kind == "code" else each.name for each in others)
    message = f"{cause.message}; or it is {names}: put them back one at a time to tell"
    return replace(cause, message=message)
