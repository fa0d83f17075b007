"""Finds changed settings of libraries and of the process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from ipytorchseed.determinism import libraries
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause, Cleared, unless_others
from ipytorchseed.why.finders.calls import cells_used
from ipytorchseed.why.finders.changers import find_setter
from ipytorchseed.why.unknown import hides
from ipytorchseed.why.words import first_of

_TOLD = 3

# Packages whose import does not show that the cell uses the setting. For example, few cells that
# import ``sys`` read its arguments.
_NO_USERS = {"sys"}

# The setting with the content of figures. No other record shows that a figure changed.
_FIGURES = "matplotlib.pyplot.figure"


def find_libraries(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Find the changed settings of libraries that can affect the cell.

    If no other cause is found, any changed setting may be a cause, since the cell may read it.
    """
    before, after = evidence.against.settings, evidence.run.settings
    displayed = any(change.what == "display" for change in evidence.changed)
    looked_into = any(map(hides, evidence.run.reads.values()))
    acts = {libraries.NUMBERS} | ({libraries.FIGURES} if displayed else set())
    acts |= (
        {libraries.ERRORS}
        if evidence.against.outputs.error != evidence.run.outputs.error
        else set()
    )
    # Settings that only affect how numbers are shown are causes only if there is no other cause.
    alone = {libraries.TEXT, libraries.LOCAL_TIMES} if _shows_other_text(evidence) else set()
    alone |= {libraries.ERRORS} if _catches(evidence) else set()
    for name, setting in libraries.BY_NAME.items():
        if name not in before or name not in after or before[name] == after[name]:
            continue
        users = {setting.package, *setting.through} - _NO_USERS
        used = displayed or not setting.through or any(map(evidence.uses, users))
        cause = _cause(evidence, setting, before[name], after[name])
        if used and (setting.acts_on in acts or (looked_into and name == _FIGURES)):
            yield cause
        else:
            only = unless_others(cause, f"acts on {setting.acts_on} only", is_tested=True)
            yield replace(only, alone=used and setting.acts_on in alone)


def find_effects(evidence: Evidence) -> Iterator[Cause]:
    """Find the last attribute of a library that another cell set, if this cell uses the library."""
    for run in evidence.here[::-1]:
        for action in run.actions if run.cell != evidence.run.cell else ():
            name, package = action.removesuffix("="), action.partition(".")[0]
            is_set = name not in {action, package} and not name.endswith("]")
            if is_set and evidence.uses(package) and package not in sys.stdlib_module_names:
                who = evidence.name(run)
                message = f"{who} set `{name}`, and this cell also uses {package}"
                yield Cause("flag", name, message, blame=(Blame(run, "set it"),), prevents=True)
                return


def _catches(evidence: Evidence) -> bool:
    """Return whether the cell, or a function that it calls, catches errors."""
    return any(
        evidence.states.written(run).catches for run in cells_used(evidence.states, evidence.run)
    )


def _shows_other_text(evidence: Evidence) -> bool:
    """Return whether a text or an output differs."""
    texts = {name for name, value in evidence.run.writes.items() if value.kind in ("str", "text")}
    return any(change.what != "variable" or change.name in texts for change in evidence.changed)


def _cause(evidence: Evidence, setting: libraries.Setting, before: Any, after: Any) -> Cause:  # noqa: ANN401
    blame = tuple(Blame(run, "set it") for run in find_setter(evidence, setting.name))
    step = f"`{setting.name}`: {_step(before, after, setting.absent)}"
    if setting.digests and isinstance(before, dict) and isinstance(after, dict):
        moved = [f"`{n}`" for n in sorted(before | after) if before.get(n) != after.get(n)]
        step = f"{setting.digests}: {first_of(moved, _TOLD)}"
    fix = setting.statement(before, after) if setting.restore else ""
    message = evidence.did(blame, "changed", step)
    keep = f"put `{setting.clear}` at the top of this cell" if setting.clear else ""
    return Cause("flag", setting.name, message, fix=fix, blame=blame, keep=keep)


def _step(before: Any, after: Any, absent: str) -> str:  # noqa: ANN401 -- JSON values
    """Describe the change of a setting. Of several values, list the changed ones."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return f"{before} → {after}"
    pairs = {n: (before.get(n, absent), after.get(n, absent)) for n in sorted(before | after)}
    said = [_say(name, was, now) for name, (was, now) in pairs.items() if was != now]
    return first_of(said, _TOLD)


def _say(name: str, was: object, now: object) -> str:
    """Describe the change of one value, with a colon if words would run together."""
    step = f"{was} → {now}"
    return f"{name}: {step}" if " " in f"{name}{was}{now}" else f"{name} {step}"
