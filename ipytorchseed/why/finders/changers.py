"""Finds the runs that changed an input, and describes what they did."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TypeVar

from ipytorchseed.fingerprint.value import Fingerprint, same
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.evidence import Evidence, differ, does, reloads
from ipytorchseed.why.explanation import Blame
from ipytorchseed.why.value_changes import changed_parts, has_other_name, say_parts

T = TypeVar("T")

# Verbs at the beginning of a phrase about what a run did with a value.
_VERB = lazy_pattern(
    r"(?:added|appended|changed|froze|no longer|now|removed|switched|the|unfroze)\b"
)

_WORD = lazy_pattern(r"\w+")

# Actions that may redefine functions of modules.
_DEFINES = lazy_pattern(r"\b(?:import|reload|setattr|patch|exec)|^%|\.\w+=")

# For the only run between two inspections of a value, if the record does not show that this run
# changed the value.
AS_IT_CHANGED = "was running when it changed"

# Kinds of immutable values.
SCALARS = frozenset({"bool", "bytes", "complex", "float", "int", "none", "number", "str"})

# For a run that created the value again. ``SET`` is for numbers, strings and renamed objects.
MADE, SET = "made it again", "set it"

# For a run that redefined a class or function.
REDEFINED = "redefined it"

# For a run that reloaded the module of the value.
RELOADED = "reloaded its module"

# For a run that was not repeated: after a restart, or after another run created the value again.
NOT_RUN, LEFT_OUT = "has not been run since the restart", "has not been run since"

# The maximum number of runs, the latest ones, that a message names for a changed value.
MOST_TOLD = 4


def find_changers(evidence: Evidence, name: str) -> list[Blame]:
    """Return the runs that changed a value since it was last created.

    Args:
        evidence: The evidence.
        name: The value's name.
    """
    blame: list[Blame] = []
    known = evidence.against.reads[name]
    moved = _proved_parts(evidence, name, changed_parts(known, evidence.run.reads[name]))
    unwatched: list[Run] = []  # runs since the value was last inspected
    for run in [*evidence.history, evidence.run]:
        seen = run.reads.get(name)
        if seen is not None:
            by = _may_have_changed(unwatched, name, seen)
            if len(by) == 1 and differ(known, seen):
                is_new = is_created_by(by[0], name)
                how = _how(known, seen, is_new=is_new)
                heard = name in by[0].writes or _imported(by[0], name) or how not in (MADE, SET)
                blame.append(Blame(by[0], how if heard else AS_IT_CHANGED))
            known = seen
            unwatched.clear()
        made = run.writes.get(name)
        if run is evidence.run:
            break
        if made is None or not made.digest:
            # Functions and the values of modules are not inspected again when a run ends.
            unseen = seen is None or "." in name or seen.kind == "function" or not seen.exact
            if made is not None or unseen:
                unwatched.append(run)
            continue
        unwatched.clear()
        if same(known, made) is not False:
            continue
        reloaded = reloads(run, name)
        is_new = reloaded or is_created_by(run, name)
        if is_new:
            blame.clear()
        if is_new or _may_have_caused(moved, known, made):
            how = RELOADED if reloaded else _how(known, made, is_new=is_new)
            blame.append(Blame(run, how))
        known = made
    return blame


def _proved_parts(evidence: Evidence, name: str, moved: Mapping[str, T]) -> Mapping[str, T]:
    """Return the changed parts that experiments proved to matter; all if none did.

    Args:
        evidence: The evidence.
        name: The value's name.
        moved: The changed parts, by key: ``a:lr`` for the path ``.lr`` in a finding.
    """
    found = evidence.states.findings(evidence.run, evidence.against)
    proved = [it.parts for *key, it in found.causes if key == ["input", name]] if found else []
    paths = [_WORD.findall(part.path.removeprefix(name)) for parts in proved for part in parts]
    words = {key: _WORD.findall(key.partition(":")[2] or key) for key in moved}
    kept = {
        key: moved[key]
        for key, its in words.items()
        if any(its in (path[: len(its)], path[-len(its) :]) for path in paths)
    }
    return kept or moved


def _may_have_changed(unwatched: list[Run], name: str, seen: Fingerprint) -> list[Run]:
    """Return the runs that may have changed a value between two inspections.

    Args:
        unwatched: The runs between the two inspections.
        name: The value's name.
        seen: The value at the later inspection.

    Returns:
        One run if the record shows which run changed the value, else all runs that may have.
    """
    by = [run for run in unwatched if name in run.writes][-1:]
    by = by or [run for run in unwatched if _imported(run, name)][:1]
    # Calls do not change the functions and classes of a module.
    if not by and "." in name and seen.kind in ("class", "function"):
        return [run for run in unwatched if does(run, _DEFINES)]
    return by or unwatched


def find_setter(evidence: Evidence, name: str, member: str = "") -> list[Run]:
    """Return the run that set a setting to its present value, if the ledger shows it.

    Args:
        evidence: The evidence.
        name: The setting.
        member: The member that was set, if the value is a dictionary; "" for the whole value.
    """

    def value(run: Run) -> object:
        whole = run.settings[name]
        return whole.get(member) if member and isinstance(whole, dict) else whole

    wanted = value(evidence.run)
    known = [run for run in [*evidence.history, evidence.run] if name in run.settings]
    for later, earlier in pairwise(reversed(known)):
        if value(earlier) != wanted == value(later):
            starts = earlier.started, later.started
            between = [run for run in evidence.here if starts[0] <= run.started < starts[1]]
            words = (name, name.rpartition(".")[2], name.partition(".")[0])
            named = [run for word in words for run in between if word in " ".join(run.actions)]
            others = [run for run in named if run.cell != evidence.run.cell]
            return (others or between)[:1]
    return []


def front_end_id(run: Run) -> str:
    """Return the id that the front end gave to a run's cell.

    Cells of two kernels of an unsaved notebook can have the same id. If both set a variable, they
    count as one cell that was edited: a user could not distinguish them either.
    """
    return run.cell.partition(" ")[0]


def _imported(run: Run, name: str) -> bool:
    """Return whether a run loaded the user's module that a dotted name begins with."""
    return any(name.startswith(f"{module}.") for module in run.loaded)


def is_created_by(run: Run, name: str) -> bool:
    """Return whether a run that set a value created it, without reading the old value."""
    return name not in run.reads and name not in run.in_place


def continues(evidence: Evidence, run: Run, name: str) -> bool:
    """Return whether a run changed a value that the same cell had changed before."""
    if name not in run.reads or name not in run.writes:
        return False
    return any(
        (each.cell, each.code, each.kernel) == (run.cell, run.code, run.kernel)
        and (each.id or 0) < (run.id or 0)
        and name in each.writes
        for each in evidence.latest
    )


def _may_have_caused(moved: Mapping[str, object], before: Fingerprint, after: Fingerprint) -> bool:
    """Return whether a change of a value may have caused any of the differing parts.

    Args:
        moved: The parts that differ between the two compared runs.
        before: The value before the change.
        after: The value after the change.
    """
    parts = changed_parts(before, after)
    return not moved or not parts or not moved.keys().isdisjoint(parts)


def _how(before: Fingerprint, after: Fingerprint, *, is_new: bool) -> str:
    if is_new and (after.kind in SCALARS or has_other_name(before, after)):
        return SET
    if is_new:
        return REDEFINED if after.kind in ("class", "function") else MADE
    said = say_parts(before, after) or "it"
    return said if _VERB.match(said) else f"changed {said}"
