"""Finds settings of the process and of libraries that differ, and versions."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from ipytorchseed.determinism import environment, libraries
from ipytorchseed.determinism.machine import FACTS
from ipytorchseed.determinism.table import BY_NAME as FLAGS
from ipytorchseed.ledger.records import Run
from ipytorchseed.why.evidence import FOLDER, Evidence, does
from ipytorchseed.why.explanation import Blame, Cause, Cleared, unless_others
from ipytorchseed.why.finders.changers import find_setter
from ipytorchseed.why.unknown import hides
from ipytorchseed.why.words import first_of

# Environment variables in the table of flags. Every run records them.
_WATCHED = frozenset(flag.name for flag in environment.FLAGS)

_VERSIONS = frozenset({"torch", "numpy", "python", "cuda", "cudnn"})
_FACTS = frozenset(fact.name for fact in FACTS)
_ON_GPU = ("cudnn", "cuda", "CUBLAS", "FLASH_ATTENTION")
# Flags of attention that also choose the kernel on a CPU: ``select_sdp_backend_cpp`` in
# https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/transformers/sdp_utils_cpp.cpp
_ON_CPU_TOO = frozenset(f"torch.backends.cuda.{name}_sdp_enabled" for name in ("flash", "math"))
_NEVER = frozenset({"CUDA_LAUNCH_BLOCKING", "torch.use_deterministic_algorithms.warn_only"})
# The maximum number of values that a message names.
_TOLD = 3

_NOT_COMPUTING = frozenset({*sys.stdlib_module_names, "IPython"})
_OF_NUMPY = frozenset({"numpy", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MKL_CBWR"})
_OF_ANY_CELL = frozenset({"PYTHONHASHSEED", "python", "cpu"})


def find_settings(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Find the changed settings, and clear those that cannot affect the cell."""
    before, after = dict(evidence.against.settings), dict(evidence.run.settings)
    for name in before.keys() ^ after.keys():
        if is_secret(name):
            before.setdefault(name, _value_at_start(evidence, evidence.against, name))
            after.setdefault(name, _value_at_start(evidence, evidence.run, name))
    moved = {
        name
        for name in before.keys() & after.keys()
        if before[name] != after[name]
        and not (name in _FACTS and None in (before[name], after[name]))  # None: not yet known
        and name not in libraries.BY_NAME
        and name != FOLDER
    }
    for name in sorted(moved):
        kind = "flag" if name.startswith("torch.") else "environment"
        unread = "the cell uses no library" if _uses_none(evidence) else ""
        reason = unread if is_secret(name) else _harmless(evidence, name, moved)
        if reason:
            yield Cleared(kind, name, reason)
        else:
            yield _cause(evidence, kind, name, before[name], after[name])


def is_secret(name: str) -> bool:
    """Return whether a setting is an environment variable that may contain a secret.

    Receipts do not contain the values of such variables.
    """
    return name.isupper() and name not in _WATCHED


def _has_password(value: object) -> bool:
    """Return whether a value is an address that may contain a password.

    No message may show such a value.
    """
    return "://" in (text := str(value)) and "@" in text


def _value_at_start(evidence: Evidence, run: Run, name: str) -> Any:  # noqa: ANN401 -- a JSON value
    """Return the value of a variable in the oldest recorded run, or None.

    Only runs of the given run's kernel count, except the two compared runs.
    """
    compared = {each.id for each in evidence.both}
    known = [
        each
        for each in evidence.latest
        if each.kernel == run.kernel and name in each.settings and each.id not in compared
    ]
    return known[-1].settings[name] if known and not evidence.elsewhere else None


def _uses_none(evidence: Evidence) -> bool:
    """Return whether the cell uses nothing that may read an environment variable."""
    used = any(run.packages or run.nondeterministic_calls for run in evidence.both)
    kinds = {value.kind for value in evidence.run.reads.values()}
    return not used and kinds.isdisjoint({"class", "function", "module"})


def _harmless(evidence: Evidence, name: str, moved: set[str]) -> str:
    """Return why a setting cannot explain the change, or "" if it can."""
    leader = FLAGS[name].changes_with if name in FLAGS else ""
    torch = evidence.uses("torch")
    calls = {call for run in evidence.both for call in run.nondeterministic_calls}
    computing = {each for run in evidence.both for each in run.packages} - _NOT_COMPUTING
    on_gpu = name not in _ON_CPU_TOO and any(part in name for part in _ON_GPU)
    reasons = {
        f"changes together with {leader}": leader in moved,
        "does not change results": name in _NEVER,
        "the cell's results do not depend on hash order": (
            name == "PYTHONHASHSEED" and "hash" not in calls
        ),
        "the cell computes with no library": name == "cpu" and not computing,
        "not used by this cell": name in _OF_NUMPY and not (torch or evidence.uses("numpy")),
        "torch is not used by this cell": not (torch or name in _OF_NUMPY | _OF_ANY_CELL),
        "acts on GPUs only, and there is none": (
            on_gpu and evidence.run.settings.get("gpu") in (None, "none")
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _cause(evidence: Evidence, kind: str, name: str, before: Any, after: Any) -> Cause:  # noqa: ANN401 -- JSON values
    setters = find_setter(evidence, name) if kind == "flag" else _setters(evidence, name)
    blame = tuple(Blame(run, f"set it to {evidence.run.settings.get(name)}") for run in setters)
    what = f"`{name}`" if kind == "flag" or name in _FACTS else f"the environment variable `{name}`"
    what = f"the {name} version" if name in _VERSIONS else what
    if any(map(_has_password, (before, after))):
        blame = tuple(Blame(each.run, "set it") for each in blame)
        return Cause(kind, name, evidence.did(blame, "changed", what), blame=blame)
    was, now = ("not set" if each is None else each for each in (before, after))
    if evidence.elsewhere and is_secret(name):
        message = f"{what} has a different value than in {evidence.name(evidence.against)}"
        return Cause(kind, name, message)
    if evidence.elsewhere:
        message = f"{what} is {now} here, and was {was} there"
    else:
        message = f"{evidence.did(blame, 'changed', what)}: {was} → {now}"
    return Cause(kind, name, message, fix=_fix(name, before), blame=blame)


def _setters(evidence: Evidence, name: str) -> list[Run]:
    """Return the last run that set an environment variable, unless of this cell."""
    if name in _WATCHED or not evidence.same_kernel:
        return []
    word = re.compile(rf"\b{re.escape(name)}\b")
    found = [run for run in evidence.history if does(run, word)][-1:]
    found = found or (find_setter(evidence, name) if name in evidence.run.settings else [])
    return [run for run in found if run.cell != evidence.run.cell]


def _fix(name: str, value: Any) -> str:  # noqa: ANN401 -- a JSON value
    if value == "random" or name in ("cpu", "gpu"):
        return ""  # the earlier order of hashes is lost
    if name in _FACTS:
        return f"use {name} {value} again"
    if is_secret(name):  # such a variable is recorded only if the cell's code reads it
        put = f"del os.environ[{name!r}]" if value is None else f"os.environ[{name!r}] = {value!r}"
        return f"import os; {put}"
    if not name.startswith("torch."):
        started = f"with {name}={value}" if value is not None else f"without {name}"
        return f"restart the kernel {started}"
    return FLAGS[name].statement_for(value) if name in FLAGS else f"{name} = {value!r}"


# --------------------------------------------------------------------------------------------------
# Libraries

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
    if evidence.against.outputs.error != evidence.run.outputs.error:
        acts.add(libraries.ERRORS)
    for name, setting in libraries.BY_NAME.items():
        if name not in before or name not in after or before[name] == after[name]:
            continue
        users = {setting.package, *setting.through} - _NO_USERS
        used = displayed or not setting.through or any(map(evidence.uses, users))
        cause = _cause_of(evidence, setting, before[name], after[name])
        if used and (setting.acts_on in acts or (looked_into and name == _FIGURES)):
            yield cause
        else:
            only = unless_others(cause, f"acts on {setting.acts_on} only", is_tested=True)
            yield replace(only, alone=used and setting.acts_on != libraries.FIGURES)


def find_effects(evidence: Evidence) -> Iterator[Cause]:
    """Find the last attribute that another cell set of a library that this one uses."""
    others = [run for run in evidence.here if run.cell != evidence.run.cell]
    acts = [(run, action) for run in others for action in run.actions]
    for run, action in reversed(acts):
        package, dot, _ = action.partition(".")
        is_set = dot and action.endswith("=") and not action.endswith("]=")
        if is_set and evidence.uses(package) and package not in sys.stdlib_module_names:
            name = action.removesuffix("=")
            message = f"{evidence.name(run)} set `{name}`, and this cell also uses {package}"
            yield Cause("flag", name, message, blame=(Blame(run, "set it"),), prevents=True)
            return


def _cause_of(
    evidence: Evidence,
    setting: libraries.Setting,
    before: Any,  # noqa: ANN401 -- a JSON value
    after: Any,  # noqa: ANN401
) -> Cause:
    blame, said = list[Blame](), list[str]()
    for runs, steps in _find_steps(evidence, setting, before, after):
        by = [Blame(run, "set it") for run in runs]
        what = "" if said else f"{setting.digests or f'`{setting.name}`'}: "
        said.append(evidence.did(by, "changed", what + first_of(steps, _TOLD)))
        blame += by
    fix = setting.statement(before, after) if setting.restore else ""
    keep = f"put `{setting.clear}` at the top of this cell" if setting.clear else ""
    message = "; then ".join(said)
    return Cause("flag", setting.name, message, fix=fix, blame=tuple(blame), keep=keep)


def _find_steps(
    evidence: Evidence,
    setting: libraries.Setting,
    before: Any,  # noqa: ANN401 -- a JSON value
    after: Any,  # noqa: ANN401
) -> list[tuple[list[Run], list[str]]]:
    """Return the runs that changed a setting, each with phrases for what it changed."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return [(find_setter(evidence, setting.name), [f"{before} → {after}"])]
    found: dict[tuple[int, ...], tuple[list[Run], list[str]]] = {}
    for name in sorted(before | after):
        was, now = (each.get(name, setting.absent) for each in (before, after))
        if was != now:
            runs = find_setter(evidence, setting.name, name)
            said = f"`{name}`" if setting.digests else _say(name, was, now)
            found.setdefault(tuple(run.id or 0 for run in runs), (runs, []))[1].append(said)
    return [found[key] for key in sorted(found)]


def _say(name: str, was: object, now: object) -> str:
    """Describe the change of one value, with a colon if words would run together."""
    step = f"{was} → {now}"
    return f"{name}: {step}" if " " in f"{name}{was}{now}" else f"{name} {step}"
