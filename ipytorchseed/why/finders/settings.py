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

# Environment variables that every run records.
_WATCHED = frozenset(flag.name for flag in environment.FLAGS)

_VERSIONS = frozenset({"torch", "numpy", "python", "cuda", "cudnn"})
_FACTS = frozenset(fact.name for fact in FACTS)
_ON_GPU = ("cudnn", "cuda", "CUBLAS", "FLASH_ATTENTION")
# Flags of attention that also choose the kernel on a CPU: ``select_sdp_backend_cpp`` in
# https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/transformers/sdp_utils_cpp.cpp
_ON_CPU_TOO = frozenset(f"torch.backends.cuda.{name}_sdp_enabled" for name in ("flash", "math"))
_NEVER = frozenset({"CUDA_LAUNCH_BLOCKING", "torch.use_deterministic_algorithms.warn_only"})
_NOT_COMPUTING = frozenset({*sys.stdlib_module_names, "IPython"})
_THREADS = frozenset({"OMP_NUM_THREADS", "MKL_NUM_THREADS"})


def find_settings(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Find the settings that differ and can affect the cell."""
    before, after = dict(evidence.against.settings), dict(evidence.run.settings)
    for name in before.keys() ^ after.keys():
        if is_secret(name):  # one that the cell names, set in one of the two kernels only
            before.setdefault(name, None)
            after.setdefault(name, None)
    moved = {
        name
        for name in before.keys() & after.keys()
        if before[name] != after[name]
        and not (name in _FACTS and None in (before[name], after[name]))  # not known yet
        and name not in LIBRARIES
        and name != FOLDER
    }
    for name in sorted(moved):
        kind = "flag" if name.startswith("torch.") else "environment"
        reason = _harmless(evidence, name, moved)
        if reason:
            yield Cleared(kind, name, reason)
        else:
            yield _cause(evidence, kind, name, before[name], after[name])


def is_secret(name: str) -> bool:
    """Return whether a setting is an environment variable that may hold a secret.

    Receipts leave out its value.
    """
    return name.isupper() and name not in _WATCHED


def _harmless(evidence: Evidence, name: str, moved: set[str]) -> str:  # noqa: C901, PLR0911 -- one reason each
    """Return why a setting cannot explain the change, or "" if it can."""
    leader = FLAGS[name].follows if name in FLAGS else ""
    if is_secret(name):  # the cell names it
        return ""
    if leader in moved:
        return f"goes with {leader}"
    if name in _NEVER:
        return "does not change results"
    torch = evidence.uses("torch")
    if name == "PYTHONHASHSEED":
        calls = {*evidence.run.nondeterministic_calls, *evidence.against.nondeterministic_calls}
        return "" if "hash" in calls else "the cell's results do not depend on hash order"
    if name == "python":
        return ""
    if name == "cpu":
        packages = {*evidence.run.packages, *evidence.against.packages} - _NOT_COMPUTING
        return "" if packages else "the cell computes with no library"
    if name in _THREADS and torch and not evidence.uses("numpy") and _same_threads(evidence):
        return "torch has the same number of threads"
    if name == "numpy" or name in _THREADS or name == "MKL_CBWR":
        return "" if torch or evidence.uses("numpy") else "not used by this cell"
    if not torch:
        return "torch is not used by this cell"
    on_gpu = name not in _ON_CPU_TOO and any(part in name for part in _ON_GPU)
    if on_gpu and evidence.run.settings.get("gpu") in (None, "none"):
        return "acts on GPUs only, and there is none"
    return ""


def _same_threads(evidence: Evidence) -> bool:
    counts = [run.settings.get("torch.num_threads") for run in (evidence.against, evidence.run)]
    return counts[0] is not None and counts[0] == counts[1]


def _cause(evidence: Evidence, kind: str, name: str, before: Any, after: Any) -> Cause:  # noqa: ANN401
    setters = find_setter(evidence, name) if kind == "flag" else _setters(evidence, name)
    blame = [Blame(run, f"set it to {evidence.run.settings.get(name)}") for run in setters]
    if evidence.elsewhere and is_secret(name):
        message = (
            f"{_called(kind, name)} has another value than in {evidence.name(evidence.against)}"
        )
        return Cause(kind, name, message)
    message = _say_changed(evidence, evidence.who(blame), _called(kind, name), before, after)
    return Cause(kind=kind, name=name, message=message, fix=_fix(name, before), blame=tuple(blame))


def _called(kind: str, name: str) -> str:
    """Return the name of a setting in a sentence."""
    if name in _VERSIONS:
        return f"the {name} version"
    if kind == "flag" or name in _FACTS:
        return f"`{name}`"
    return f"the environment variable `{name}`"


def _say_changed(evidence: Evidence, who: str, what: str, before: Any, after: Any) -> str:  # noqa: ANN401 -- JSON values
    """Return a sentence: which runs changed a setting, and how.

    Args:
        evidence: The evidence.
        who: The runs that changed it; empty if none is known.
        what: The name of the setting.
        before: Its earlier value.
        after: Its later value.
    """
    facts = [("not set" if each is None else str(each)).split(", ") for each in (before, after)]
    if len(facts[0]) == len(facts[1]):
        differing = [pair for pair in zip(*facts, strict=True) if pair[0] != pair[1]]
        before, after = map(", ".join, zip(*differing, strict=True))
    before, after = ("not set" if each is None else each for each in (before, after))
    if evidence.elsewhere:
        return f"{what} is {after} here, and was {before} there"
    return f"{who} changed {what}: {before} → {after}" if who else f"{what}: {before} → {after}"


def _setters(evidence: Evidence, name: str) -> list[Run]:
    """Find the run whose text sets an environment variable."""
    if name in _WATCHED or not evidence.same_kernel:
        return []
    word = re.compile(rf"\b{re.escape(name)}\b")
    found = [run for run in evidence.history if run.cell != evidence.run.cell and does(run, word)]
    return found[-1:]


def _fix(name: str, value: Any) -> str:  # noqa: ANN401 -- a JSON value
    if value == "random":
        return ""  # the earlier order of hashes is lost
    if name in _FACTS:
        return f"use {name} {value} again" if name not in ("cpu", "gpu") else ""
    if is_secret(name):  # which the cell's code reads
        put = f"del os.environ[{name!r}]" if value is None else f"os.environ[{name!r}] = {value!r}"
        return f"import os; {put}"
    if not name.startswith("torch."):
        started = f"with {name}={value}" if value is not None else f"without {name}"
        return f"restart the kernel {started}"
    return FLAGS[name].statement_for(value) if name in FLAGS else f"{name} = {value!r}"
