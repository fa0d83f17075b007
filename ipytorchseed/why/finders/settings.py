"""A flag, an environment variable, a version or the hardware differs."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ipytorchseed.why.explanation import Blame, Cause, Cleared

if TYPE_CHECKING:
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.why.case import Case

_FACTS = frozenset({"torch", "numpy", "python", "cpu", "gpu", "cuda", "cudnn"})
_ON_GPU = ("cudnn", "cuda", "CUBLAS", "FLASH_ATTENTION")
_NEVER = frozenset({"CUDA_LAUNCH_BLOCKING", "torch.use_deterministic_algorithms.warn_only"})
_THREADS = frozenset({"OMP_NUM_THREADS", "MKL_NUM_THREADS"})
_FOLLOWS = {  # set along with another flag, which is the one to name
    "torch.backends.cuda.matmul.allow_tf32": "torch.float32_matmul_precision",
    "torch.backends.cuda.matmul.fp32_precision": "torch.float32_matmul_precision",
    "torch.backends.mkldnn.matmul.fp32_precision": "torch.float32_matmul_precision",
    "torch._inductor.config.deterministic": "torch.use_deterministic_algorithms",
    "OMP_NUM_THREADS": "torch.num_threads",
    "MKL_NUM_THREADS": "torch.num_threads",
}
_STATEMENTS = {
    "torch.default_dtype": "torch.set_default_dtype({})",
    "torch.default_device": "torch.set_default_device({!r})",
    "torch.grad_enabled": "torch.set_grad_enabled({})",
    "torch.num_threads": "torch.set_num_threads({})",
    "torch.float32_matmul_precision": "torch.set_float32_matmul_precision({!r})",
    "torch.use_deterministic_algorithms": "torch.use_deterministic_algorithms({})",
    "torch.autocast.cpu.enabled": 'torch.set_autocast_enabled("cpu", {})',
    "torch.autocast.cuda.enabled": 'torch.set_autocast_enabled("cuda", {})',
}


def find_settings(case: Case) -> tuple[list[Cause], list[Cleared]]:
    """Find the settings that differ and can act on what the cell did."""
    causes: list[Cause] = []
    cleared: list[Cleared] = []
    before, after = dict(case.against.settings), dict(case.run.settings)
    for name in before.keys() ^ after.keys():
        if name.isupper():  # a variable that the cell names, set in one of the two kernels only
            before.setdefault(name, None)
            after.setdefault(name, None)
    moved = {
        name
        for name in before.keys() & after.keys()
        if before[name] != after[name] and not _only_learned(name, before[name])
    }
    for name in sorted(moved):
        kind = "flag" if name.startswith("torch.") else "environment"
        reason = _harmless(case, name, moved)
        if reason:
            cleared.append(Cleared(kind, name, reason))
        else:
            causes.append(_cause(case, kind, name, before[name], after[name]))
    return causes, cleared


def _only_learned(name: str, before: object) -> bool:
    """Tell whether a fact was merely unknown earlier, such as cuDNN's version before CUDA began."""
    return name in _FACTS and before is None


def _harmless(case: Case, name: str, moved: set[str]) -> str:  # noqa: PLR0911 -- one reason each
    """Say why a setting cannot account for the change, or return nothing."""
    leader = _FOLLOWS.get(name)
    if name.isupper() and name in case.run.source:
        return ""
    if leader in moved:
        return f"goes with {leader}"
    if name in _NEVER:
        return "does not change results"
    torch = case.uses("torch")
    if name == "PYTHONHASHSEED":
        return "" if _hangs_on_hashes(case) else "the cell's results do not hang on hash order"
    if name in ("python", "cpu"):
        return ""
    if name == "numpy" or name in _THREADS or name == "MKL_CBWR":
        return "" if torch or case.uses("numpy") else "not used by this cell"
    if not torch:
        return "torch is not used by this cell"
    if any(part in name for part in _ON_GPU) and case.run.settings.get("gpu") in (None, "none"):
        return "acts on GPUs only, and there is none"
    if name.startswith("torch._inductor"):
        return "acts on compiled code only"
    return ""


def _hangs_on_hashes(case: Case) -> bool:
    return (
        "hash" in case.run.nondeterministic_calls or "hash" in case.against.nondeterministic_calls
    )


def _cause(case: Case, kind: str, name: str, before: Any, after: Any) -> Cause:  # noqa: ANN401
    blame = [] if kind == "environment" else _blame(case, name)
    noun = "version" if name in ("torch", "numpy", "python", "cuda", "cudnn") else ""
    message = f"{name}{' ' + noun if noun else ''} was {before}, now it is {after}"
    if blame and blame[0].run is not None:
        message += f"; {case.name(blame[0].run)} changed it"
    return Cause(
        kind=kind,
        name=name,
        message=message,
        fix=_fix(name, before),
        blame=tuple(blame),
    )


def _blame(case: Case, name: str) -> list[Blame]:
    """Find the run during which a flag changed: the one before the first that began with it."""
    wanted = case.run.settings[name]
    culprit: Run | None = None
    runs = [*case.history, case.run]
    for earlier, later in pairwise(runs):
        if later.settings.get(name) == wanted and earlier.settings.get(name) != wanted:
            culprit = earlier if earlier.kernel == later.kernel else None
    return [] if culprit is None else [Blame(culprit, f"set it to {wanted}")]


def _fix(name: str, value: Any) -> str:  # noqa: ANN401 -- a JSON value
    if name in _FACTS:
        return f"use {name} {value} again" if name not in ("cpu", "gpu") else ""
    if not name.startswith("torch."):
        return f"restart the kernel with {name}={value}" if value is not None else f"unset {name}"
    statement = _STATEMENTS.get(name)
    if statement is not None:
        return statement.format(value)
    return f"{name} = {value!r}"
