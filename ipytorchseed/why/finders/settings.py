"""Finds flags, environment variables, versions and hardware that differ."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from ipytorchseed.determinism import environment
from ipytorchseed.determinism.libraries import BY_NAME as LIBRARIES
from ipytorchseed.determinism.machine import FACTS
from ipytorchseed.determinism.table import BY_NAME as FLAGS
from ipytorchseed.ledger.records import Run
from ipytorchseed.why.evidence import FOLDER, Evidence, does
from ipytorchseed.why.explanation import Blame, Cause, Cleared
from ipytorchseed.why.finders.changers import find_setter

# Environment variables in the table of flags. Every run records them.
_WATCHED = frozenset(flag.name for flag in environment.FLAGS)

_VERSIONS = frozenset({"torch", "numpy", "python", "cuda", "cudnn"})
_FACTS = frozenset(fact.name for fact in FACTS)
_ON_GPU = ("cudnn", "cuda", "CUBLAS", "FLASH_ATTENTION")
# Flags of attention that also choose the kernel on a CPU: ``select_sdp_backend_cpp`` in
# https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/transformers/sdp_utils_cpp.cpp
_ON_CPU_TOO = frozenset(f"torch.backends.cuda.{name}_sdp_enabled" for name in ("flash", "math"))
_NEVER = frozenset({"CUDA_LAUNCH_BLOCKING", "torch.use_deterministic_algorithms.warn_only"})
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
        and name not in LIBRARIES
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

    Runs of the given run's kernel are preferred. The two compared runs are excluded.
    """
    compared = {each.id for each in evidence.both}
    known = [it for it in evidence.latest if name in it.settings and it.id not in compared]
    here = [each for each in known if each.kernel == run.kernel] or known
    return here[-1].settings[name] if here and not evidence.elsewhere else None


def _uses_none(evidence: Evidence) -> bool:
    """Return whether the cell uses nothing that may read an environment variable."""
    used = any(run.packages or run.nondeterministic_calls for run in evidence.both)
    kinds = {value.kind for value in evidence.run.reads.values()}
    return not used and kinds.isdisjoint({"class", "function", "module"})


def _harmless(evidence: Evidence, name: str, moved: set[str]) -> str:
    """Return why a setting cannot explain the change, or "" if it can."""
    leader = FLAGS[name].changes_with if name in FLAGS else ""
    torch, numpy = evidence.uses("torch"), evidence.uses("numpy")
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
        "not used by this cell": name in _OF_NUMPY and not (torch or numpy),
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
    """Return the last run that set an environment variable, if of another cell."""
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
