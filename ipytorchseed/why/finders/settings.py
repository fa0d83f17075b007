"""Finds flags, environment variables, versions and hardware that differ."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ipytorchseed.determinism import environment
from ipytorchseed.determinism.libraries import BY_NAME as LIBRARIES
from ipytorchseed.determinism.machine import FACTS
from ipytorchseed.determinism.table import BY_NAME as FLAGS
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.draws import are_silent
from ipytorchseed.reads.parsing import dotted_name, nodes_in, parse_text
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause, Cleared
from ipytorchseed.why.finders.changers import find_setter
from ipytorchseed.why.finders.files import FOLDER

_WATCHED = frozenset(flag.name for flag in environment.FLAGS)
"""Environment variables that are on record of every run."""

_FACTS = frozenset(fact.name for fact in FACTS)
_ON_GPU = ("cudnn", "cuda", "CUBLAS", "FLASH_ATTENTION")
_NEVER = frozenset({"CUDA_LAUNCH_BLOCKING", "torch.use_deterministic_algorithms.warn_only"})
_NOT_COMPUTING = frozenset({*sys.stdlib_module_names, "IPython"})
_THREADS = frozenset({"OMP_NUM_THREADS", "MKL_NUM_THREADS"})
_ON_FLOATS = lazy_pattern(
    r"default_dtype|threads|THREADS|precision|tf32|autocast|reduced_precision"
)
_WHOLE = lazy_pattern(r"\bu?int\d+|\bbool")
_STAYS_WHOLE = frozenset(
    {"sum", "max", "min", "argmax", "argmin", "item", "tolist", "int", "len", "print", "range"}
    | {"randint", "randperm", "randrange", "getrandbits", "shuffle", "choice", "sample", "arange"}
    | {"unique", "bincount", "sort", "sorted", "argsort", "cumsum", "prod", "flip", "numel", "size"}
    | {"manual_seed", "seed", "append", "abs", "bool", "reshape", "view", "list", "set", "clone"}
)
"""Functions that make whole numbers of whole numbers."""

_BY_CUDNN = lazy_pattern(r"(?i)conv|rnn|lstm|gru|norm|ctc|attention|pool|nn\.|cudnn")
"""Text of code that may call what cuDNN computes."""

_BY_PRODUCTS = lazy_pattern(
    r"(?i)@|mm\b|mm_|mat_?mul|einsum|dot|\bmv\b|addmv|linear|conv|rnn|lstm|gru|attention|nn\."
    r"|linalg|cdist|outer|kron|\binv|solve|svd|eig|\bqr\b|corr|cov\b|lstsq|pca|compile|chain"
)
"""Text of code that may multiply matrices."""

_SETS = lazy_pattern(r"environ|putenv|%(?:set_)?env\b|dotenv")
"""Text of cells that set environment variables."""


def find_settings(case: Evidence) -> Iterator[Cause | Cleared]:
    """Find the settings that differ and can act on what the cell did."""
    before, after = dict(case.against.settings), dict(case.run.settings)
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
        reason = _harmless(case, name, moved)
        if reason:
            yield Cleared(kind, name, reason)
        else:
            yield _cause(case, kind, name, before[name], after[name])


def is_secret(name: str) -> bool:
    """Tell whether a setting is an environment variable that may hold anything.

    A receipt does not have its value.
    """
    return name.isupper() and name not in _WATCHED


def _harmless(case: Evidence, name: str, moved: set[str]) -> str:  # noqa: C901, PLR0911, PLR0912 -- one reason each
    """Say why a setting cannot account for the change, or return nothing."""
    leader = FLAGS[name].follows if name in FLAGS else ""
    if is_secret(name) or (name.isupper() and name in case.run.source):
        both = (case.run.source, case.against.source)
        anew = all(_sets_first(each, name) for each in both) or (
            all(map(_OVERRIDES.search, both)) and not _setters(case, name)
        )
        return _SET_ANEW if anew else ""  # the cell names it
    if leader in moved:
        return f"goes with {leader}"
    if name in _NEVER:
        return "does not change results"
    torch = case.uses("torch")
    if name == "PYTHONHASHSEED":
        calls = {*case.run.nondeterministic_calls, *case.against.nondeterministic_calls}
        return "" if "hash" in calls else "the cell's results do not hang on hash order"
    if name == "python":
        return ""
    if name == "cpu":
        packages = {*case.run.packages, *case.against.packages} - _NOT_COMPUTING
        return "" if packages else "the cell computes with no library"
    if name in _THREADS and torch and not case.uses("numpy") and _same_threads(case):
        return "torch has as many threads"
    if name == "numpy" or name in _THREADS or name == "MKL_CBWR":
        return "" if torch or case.uses("numpy") else "not used by this cell"
    if not torch:
        return "torch is not used by this cell"
    if any(part in name for part in _ON_GPU) and case.run.settings.get("gpu") in (None, "none"):
        return "acts on GPUs only, and there is none"
    if "cudnn" in name and not _may_reach(case, _BY_CUDNN):
        return "acts on convolutions, recurrent layers and the like only"
    if name == "torch.float32_matmul_precision" and not _may_reach(case, _BY_PRODUCTS):
        return "acts on products of matrices only"
    if name.startswith("torch._inductor"):
        return "" if _compiles(case) else "acts on compiled code only"
    if name == "torch.grad_enabled" and not case.heeds("grad") and _has_other_numbers(case):
        return "no gradient is used by this cell"
    if _ON_FLOATS.search(name) and _only_integers(case):
        return "acts on floating-point numbers only"
    return ""


def _sets_first(source: str, name: str) -> bool:
    """Tell whether a cell sets an environment variable before anything in it may ask for it."""
    tree = parse_text(source)
    for statement in tree.body if tree is not None else ():
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        nodes = nodes_in(statement)
        told = any(isinstance(each, ast.Constant) and each.value == name for each in nodes)
        if told and isinstance(target, ast.Subscript):
            return dotted_name(target.value) in _ENVIRONS and not _calls(nodes)
        if told or _calls(nodes):
            return False
    return False


def _calls(nodes: Iterable[ast.AST]) -> bool:
    """Tell whether anything is called but what makes a text of a number."""
    calls = [each.func for each in nodes if isinstance(each, ast.Call)]
    return any(dotted_name(each) not in {"repr", "str"} for each in calls)


_ENVIRONS = frozenset({"environ", "os.environ"})

_OVERRIDES = lazy_pattern(r"^(?:\w+\.)?load_dotenv\(.*\boverride\s*=\s*True", re.MULTILINE)
"""Text of cells that set what a file says, whatever was set before."""

_SET_ANEW = "set by the cell before it asks for it"


def _may_reach(case: Evidence, named: re.Pattern[str]) -> bool:
    """Tell whether the cell may call what a setting acts on: by a model, a library, or by name."""
    runs = (case.run, case.against)
    models = any(value.kind == "module" for run in runs for value in run.reads.values())
    silent = all(are_silent(run.packages) for run in runs)
    return models or not silent or any(map(named.search, case.texts()))


def _same_threads(case: Evidence) -> bool:
    counts = [run.settings.get("torch.num_threads") for run in (case.against, case.run)]
    return counts[0] is not None and counts[0] == counts[1]


def _compiles(case: Evidence) -> bool:
    """Tell whether either run compiled something, or called what was, as far as is seen."""
    runs = (case.run, case.against)
    read = [value.summary for run in runs for value in run.reads.values()]
    return any("compile(" in run.source for run in runs) or any(
        summary.startswith("compiled ") for summary in read
    )


def _has_other_numbers(case: Evidence) -> bool:
    """Tell whether results differ in numbers, and in nothing else that may come of gradients."""
    numbers = [change for change in case.changed if change.before or change.after]
    return bool(numbers) and all(change.before != change.after for change in numbers)


def _only_integers(case: Evidence) -> bool:
    """Tell whether no run read, made or computed anything but whole numbers, as far as is seen."""
    tree = parse_text(case.run.source)
    values = [
        value
        for run in (case.run, case.against)
        for value in (*run.reads.values(), *run.writes.values())
    ]
    return (
        tree is not None
        and all(map(_is_whole, values))
        and not any(map(_may_make_floats, ast.walk(tree)))
    )


def _is_whole(value: Fingerprint) -> bool:
    dtype = value.parts.get("dtype", "")
    if value.kind in ("tensor", "array"):
        return _WHOLE.search(dtype) is not None
    return value.kind in ("int", "bool", "str", "none", "range")


def _may_make_floats(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float | complex)
    if isinstance(node, ast.Call):
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name not in _STAYS_WHOLE
    return isinstance(node, ast.Div)


def _cause(case: Evidence, kind: str, name: str, before: Any, after: Any) -> Cause:  # noqa: ANN401
    setters = find_setter(case, name) if kind == "flag" else _setters(case, name)
    blame = [Blame(run, f"set it to {case.run.settings.get(name)}") for run in setters]
    noun = "version" if name in ("torch", "numpy", "python", "cuda", "cudnn") else ""
    if case.elsewhere and is_secret(name):
        return Cause(kind, name, f"{name} has another value than in {case.name(case.against)}")
    message = _step(case, f"{name}{' ' + noun if noun else ''}", before, after)
    message += "".join(f"; {case.name(run)} changed it" for run in setters)
    return Cause(kind=kind, name=name, message=message, fix=_fix(name, before), blame=tuple(blame))


def _step(case: Evidence, what: str, before: Any, after: Any) -> str:  # noqa: ANN401 -- JSON values
    """Say from what to what a setting changed; of what has several facts, those that differ."""
    facts = [("not set" if each is None else str(each)).split(", ") for each in (before, after)]
    if len(facts[0]) == len(facts[1]):
        differing = [pair for pair in zip(*facts, strict=True) if pair[0] != pair[1]]
        before, after = map(", ".join, zip(*differing, strict=True))
    before, after = ("not set" if each is None else each for each in (before, after))
    if case.elsewhere:
        return f"{what} was {before} there, here it is {after}"
    return f"{what} was {before}, now it is {after}"


def _setters(case: Evidence, name: str) -> list[Run]:
    """Find the run whose text sets an environment variable, by the name of it."""
    if name in _WATCHED or not case.same_kernel:
        return []
    word = re.compile(rf"\b{re.escape(name)}\b")
    found = [
        run
        for run in case.history
        if run.cell != case.run.cell and word.search(run.source) and _SETS.search(run.source)
    ]
    return found[-1:]


def _fix(name: str, value: Any) -> str:  # noqa: ANN401 -- a JSON value
    if value == "random":
        return ""  # the earlier order of hashes is lost
    if name in _FACTS:
        return f"use {name} {value} again" if name not in ("cpu", "gpu") else ""
    if is_secret(name):  # which the cell's own code asks for
        put = f"del os.environ[{name!r}]" if value is None else f"os.environ[{name!r}] = {value!r}"
        return f"import os; {put}"
    if not name.startswith("torch."):
        started = f"with {name}={value}" if value is not None else f"without {name}"
        return f"restart the kernel {started}"
    return FLAGS[name].statement_for(value) if name in FLAGS else f"{name} = {value!r}"
