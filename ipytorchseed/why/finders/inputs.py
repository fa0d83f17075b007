"""Finds inputs whose content changed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from ipytorchseed.fingerprint.value import BELONGS, DATABASE, SHAREABLE, Fingerprint, same
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.dependencies import is_result
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause, Cleared
from ipytorchseed.why.finders.changers import (
    AS_IT_CHANGED,
    LEFT_OUT,
    MADE,
    MOST_TOLD,
    NOT_RUN,
    REDEFINED,
    RELOADED,
    SET,
    continues,
    find_changers,
    front_end_id,
    is_created_by,
)
from ipytorchseed.why.unread import say_unread
from ipytorchseed.why.value_changes import (
    has_other_name,
    how_far,
    owners_lost,
    say_parts,
)
from ipytorchseed.why.words import listed

# For a variable whose whole content is a time or an address.
READING = "holds a time or an address, which is different every time"


def find_inputs(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Yield the inputs whose content differed when the two runs began."""
    against, run = evidence.both
    imported = tuple(f"{module}." for module in run.loaded.keys() & against.loaded.keys())
    # Other finders report the states of generators, and replaced functions of packages.
    others = {*against.replaced} ^ {*run.replaced} | run.generators.keys()
    for name, after in run.reads.items():
        before = against.reads.get(name)
        if name.startswith(imported) or name in others or after.kind == "rng":
            continue
        if before is not None and same(before, after) is False:  # no before: the cell made it
            if unread := say_unread(evidence, name, before, after):
                yield Cleared("input", name, unread, is_tested=False)
            else:
                yield _cause(evidence, name, before, after)


def _made_owners(evidence: Evidence, owners: Iterable[str]) -> Iterator[Blame]:
    """Yield the runs that created the former owners of a value again.

    Args:
        evidence: The evidence.
        owners: The objects that the value no longer belongs to, such as an optimizer's model.
    """
    for owner in owners:
        makers = [
            run for run in evidence.since if owner in run.writes and is_created_by(run, owner)
        ]
        yield from (Blame(run, f"made {owner} again") for run in makers[-1:])


def _cause(evidence: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> Cause:
    blame = _find_shower(evidence, name) if is_result(name) else find_changers(evidence, name)
    makers = [run for run in evidence.history if name in run.writes]
    owners = owners_lost(before.parts.get(BELONGS), after.parts.get(BELONGS))
    cut_off = [*_made_owners(evidence, owners)]
    left_out = _find_left_out(evidence, name, blame)
    blame = cut_off or [*_find_module_writers(evidence, name), *blame, *left_out]
    state = ""
    if cut_off:
        state = f"no longer belongs to {listed(owners)}"
    elif any(name in run.timed for run in makers[-1:]):
        state = READING
    elif after.opaque and after.kind != DATABASE:
        state = "was in a different state"
    if state:
        message = f"`{name}` {state}{evidence.doings(blame)}"
    elif has_other_name(before, after):
        was, now = (each.summary.partition(",")[0] for each in (before, after))
        message = _say_changed(evidence, name, blame, f"{was} → {now}")
    elif after.kind in ("class", "function"):
        message = _say_changed(evidence, name, blame, say_parts(before, after))
    else:
        message = _say_changed(evidence, name, blame, how_far(before, after))
    prevents = after.kind == DATABASE
    keep = _say_keep(evidence, name, blame)
    return Cause("input", name, message, keep=keep, blame=tuple(blame), prevents=prevents)


def _find_shower(evidence: Evidence, name: str) -> list[Blame]:
    """Return the run whose output IPython stored as ``_``, ``_5`` or ``Out``."""
    mine = [run for run in evidence.here if run.outputs.result is not None]
    number = name.lstrip("_")
    if number.isdigit():
        mine = [run for run in mine if str(run.execution_count) == number]
    back = len(name) if set(name) == {"_"} else 1
    return [Blame(run, "showed it") for run in mine[-back:][:1]]


def _find_module_writers(evidence: Evidence, name: str) -> list[Blame]:
    """Return the last run that wrote the file of the module in a dotted name."""
    module, _, last = name.rpartition(".")
    if not module:
        imports = re.compile(rf"import (.*)\.{re.escape(last)}")
        found = (imports.fullmatch(each) for run in evidence.latest for each in run.actions)
        module = next((match[1] for match in found if match), "")
    file = f"{module.replace('.', '/')}.py"
    wrote = [
        run
        for run in evidence.history
        if any(each.endswith(f"/{file}") for each in run.outside.wrote)
    ]
    return [Blame(run, f"wrote {PurePath(file).name}") for run in wrote[-1:]]


def _find_left_out(evidence: Evidence, name: str, blame: Sequence[Blame]) -> Iterator[Blame]:
    """Yield runs that set the earlier value and were not repeated.

    After a restart, these are all runs that created or changed it. In one kernel, these are the
    runs that changed it before another run created it again.
    """
    again, here = evidence.same_kernel, [*evidence.here, evidence.run]
    if again:
        maker = blame[0].run if blame else None
        if maker is None or not is_created_by(maker, name):
            return
        here = here[here.index(maker) :]
    rerun = {run.cell for run in here}
    edited = {front_end_id(run) for run in here if name in run.writes}
    left_out: dict[str, Run] = {}
    for run in evidence.latest:
        before = run.kernel == evidence.against.kernel and run.started < evidence.against.started
        if before and name in run.writes:
            is_maker = is_created_by(run, name)
            new = run.cell not in rerun and front_end_id(run) not in edited
            if new and not (again and is_maker):
                left_out.setdefault(run.cell, run)
            if is_maker:
                break
    yield from (Blame(run, LEFT_OUT if again else NOT_RUN) for run in reversed(left_out.values()))


def _changed_unnamed(blame: Iterable[Blame], name: str) -> list[Run]:
    """Return the blamed runs that changed a value through another name."""
    runs = [each.run for each in blame if each.run is not None and name in each.run.in_place]
    return [run for run in runs if name not in run.reads and run.writes[name].kind in SHAREABLE]


def _say_keep(evidence: Evidence, name: str, blame: Sequence[Blame]) -> str:
    """Return the edit that keeps an input from changing again, or ""."""
    if missed := [each for each in blame if each.how == LEFT_OUT]:
        return f"put {evidence.who([blame[0], *missed])} into one cell"
    unnamed = _changed_unnamed(blame, name)
    if unnamed and not _is_parameter(name, unnamed[-1]):
        by = evidence.name(unnamed[-1])
        return f"make `{name}` a copy (`copy.deepcopy`): {by} changes the original"
    runs = [each.run for each in blame if each.run is not None]
    if runs and not evidence.is_own(blame) and continues(evidence, runs[-1], name):
        by = evidence.name(runs[-1])
        return f"make `{name}` in the cell of {by}: each run changes it further"
    return ""


def _is_parameter(name: str, run: Run) -> bool:
    """Return whether a tensor that a run changed may be a parameter of an optimizer."""
    updates = any(each.kind == "optimizer" for each in run.reads.values())
    return updates and run.writes[name].kind == "tensor"


def _say_changed(evidence: Evidence, name: str, blame: Sequence[Blame], far: str) -> str:
    """Return a sentence about who changed an input: ``In[4] changed `config`: rate``.

    Args:
        evidence: The evidence.
        name: The input.
        blame: The runs that changed it, oldest first.
        far: A phrase that says how the value changed.
    """
    by = [each for each in blame if each.how != LEFT_OUT][-MOST_TOLD:]
    if evidence.is_own(by):
        how = f": {far.removeprefix('changed ')}" if far else ""
        earlier = "earlier runs" if len(by) > 1 else "earlier run"
        return f"{evidence.who(by)}, this cell's {earlier}, changed `{name}`{how}"
    sentences = list[str]()
    for how, alike in itertools.groupby(by, key=lambda each: each.how):
        together = [*alike]
        runs = [each.run for each in together if each.run is not None]
        it = "it" if sentences else f"`{name}`"
        if runs and runs == _changed_unnamed(together, name):
            it += " through another name"
        elif runs and _is_change(how) and continues(evidence, runs[-1], name):
            it += " once more"
        sentences.append(_clause(evidence, runs, how, it))
    said = "; then ".join(sentences) or f"`{name}` changed"
    if left_out := [each for each in blame if each.how == LEFT_OUT]:
        have = "has" if len(left_out) == 1 else "have"
        return f"{said}; {evidence.who(left_out)}, which changed it, {have} not been run since"
    tells = bool(by) and by[-1].how not in _ACTS  # the sentence already says what changed
    return said if tells or not far else f"{said}: {far}"


def _is_change(how: str) -> bool:
    """Return whether a phrase about a run says that it changed the object."""
    return how == "changed it" or how not in {*_ACTS, NOT_RUN}


def _clause(evidence: Evidence, runs: Sequence[Run], how: str, it: str) -> str:
    """Return a clause about what runs did to an input.

    Args:
        evidence: The evidence.
        runs: The runs.
        how: What they did, as in ``Blame.how``.
        it: The word for the input: its name or "it".
    """
    if how == NOT_RUN:
        cells = listed(f"In[{run.execution_count}]" for run in runs)
        have = "has" if len(runs) == 1 else "have"
        return f"{cells} changed {it} and {have} not been run since the restart"
    who = listed(map(evidence.name, runs))
    if how in _ACTS:
        return f"{who} {_ACTS[how].format(it)}"
    if how.startswith("wrote "):
        return f"{who} {how}"
    of_model = " of " in how and "parameter" in how  # "changed 4 of 4 parameters"
    verb = "trained" if of_model and all(map(_trains, runs)) else "changed"
    return f"{who} {verb} {it}: {how.removeprefix('changed ')}"


def _trains(run: Run) -> bool:
    """Return whether a run changed a model, and made or changed an optimizer."""
    return {"module", "optimizer"} <= {value.kind for value in run.writes.values()}


# Verb phrases with a placeholder for the input's name.
_ACTS = {
    MADE: "made {} again",
    SET: "set {}",
    REDEFINED: "redefined {}",
    RELOADED: "reloaded the module of {}",
    AS_IT_CHANGED: "was running when {} changed",
    "changed it": "changed {}",
    "showed it": "showed {}",
}
