"""Finds calls of clocks and entropy, whose results differ every time."""

from __future__ import annotations

from collections.abc import Iterator

from ipytorchseed.reads.entropy import (
    ADDRESS,
    BY_HASH,
    BY_PLACE,
    MEMORY,
    PERSONS,
    QUERY_RANDOM,
    STANDS,
    is_program,
    sentence,
)
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Change, Cleared, unless_others
from ipytorchseed.why.finders.calls import find_seeder
from ipytorchseed.why.value_changes import are_reordered

_OF_THE_MOMENT = STANDS.keys() | PERSONS.keys() | {ADDRESS}

_FIX = {
    "numpy.random.default_rng": "numpy.random.default_rng(42)",
    "numpy.random.RandomState": "numpy.random.RandomState(42)",
    "numpy.random.seed": "numpy.random.seed(42)",
    "random.seed": "random.seed(42)",
    "random.Random": "random.Random(42)",
    "torch.seed": "torch.manual_seed(42)",
    BY_PLACE: "dict.fromkeys(objects)  # in place of set(objects)",
    QUERY_RANDOM: "run `SELECT setseed(0.42)` in this cell, in DuckDB or PostgreSQL",
    "numpy.empty": "numpy.zeros",
    "numpy.empty_like": "numpy.zeros_like",
    "torch.empty_like": "torch.zeros_like",
    "torch.Tensor.new_empty": "new_zeros",
}

_HASHES = Cause(
    "environment",
    "PYTHONHASHSEED",
    "string hashes are random in each kernel, and so is the order of sets of strings",
    fix="restart the kernel with PYTHONHASHSEED=0",
)


def find_entropy(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Find the nondeterministic calls of the cell that can explain the change.

    Some calls are a cause only if there is no other cause. First, clocks and random names whose
    results the cell only prints or stores: many cells measure their own time. Second, calls that
    return the state of the machine, ask the user, or return uninitialized memory: most cells write
    to such memory before they read it.
    """
    then, both = evidence.against.nondeterministic_calls, _calls_of_both(evidence)
    for name, is_used in evidence.run.nondeterministic_calls.items():
        if name == BY_HASH or name not in both or is_program(name):
            continue  # their results are not recorded
        fix = _FIX.get(name, "torch.zeros" if name in MEMORY else "")
        cause = Cause("entropy", name, sentence(name), fix=fix)
        cause = find_seeder(evidence, name) or cause
        measures = not (is_used or then[name])
        rarely = measures or name in _OF_THE_MOMENT or name in MEMORY
        yield unless_others(cause) if rarely else cause
    for name in sorted(then.keys() ^ evidence.run.nondeterministic_calls.keys()):
        seeder = find_seeder(evidence, name)  # a library may seed its generator at its first use
        if seeder is not None and evidence.run.code == evidence.against.code:
            yield seeder
    if BY_HASH in both and _has_random_hashes(evidence):
        yield _HASHES


def _calls_of_both(evidence: Evidence) -> set[str]:
    return {*evidence.run.nondeterministic_calls} & {*evidence.against.nondeterministic_calls}


def _has_random_hashes(evidence: Evidence) -> bool:
    """Return whether the runs are of two kernels, whose hashes of strings differ."""
    return evidence.run.settings.get("PYTHONHASHSEED") == "random" and not evidence.same_kernel


def find_places(evidence: Evidence) -> Iterator[Cause]:
    """Find hashes as the cause of a result with the same items in another order.

    Between kernels, the hashes of strings differ. Within a kernel, only hashes that depend on the
    addresses of objects do. Runs of two kernels that read files are skipped, because an operating
    system may list files in any order.
    """
    reordered = any(_is_reordered(evidence, each) for each in evidence.changed)
    if reordered and _has_random_hashes(evidence) and not evidence.run.files:
        yield _HASHES
    elif reordered and evidence.same_kernel and BY_HASH in _calls_of_both(evidence):
        yield Cause("entropy", BY_PLACE, sentence(BY_PLACE), fix=_FIX[BY_PLACE])


def _is_reordered(evidence: Evidence, change: Change) -> bool:
    """Return whether two results have the same items in another order."""
    values = [run.writes.get(change.name) for run in (evidence.against, evidence.run)]
    if change.what == "variable" and are_reordered(*values):
        return True
    before, after = change.before, change.after
    if before is None or after is None or before == after:
        return False
    return sorted(before) == sorted(after)
