"""Finds random sources and generators that started in a different state."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.actions import may_draw_first, may_set_state
from ipytorchseed.rng.position import UNKNOWN
from ipytorchseed.why.evidence import Evidence, most_draws
from ipytorchseed.why.explanation import Cause, Cleared
from ipytorchseed.why.finders.streams import never_seeded, rng_cause

_BY_ITSELF = "reseeded by the cell itself"

_NOT_USED = "not used by this cell"

_STARTS_WORKERS = ("multiprocessing", "concurrent")

# Sources that forked workers inherit. Python reseeds its own source in each worker.
_INHERITED = ("numpy", "torch.cpu")

# A state that is at most this many draws after a seed is certain to be found.
_FEW = 5_000_000

# The default seed of torch's generators: c10/core/GeneratorImpl.h.
_UNSEEDED_TORCH = 67_280_421_310_721


def find_rng(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Find sources and generators that started in a different state."""
    against, run = evidence.both
    for name, after in run.before.items():
        before = against.before.get(name)
        brought_in = name in against.after and name not in run.generators
        if before is not None or brought_in:
            yield from _judge(evidence, name, before, after)
    for name in sorted(run.after.keys() & against.after.keys() - run.before.keys()):
        before, after = against.after[name], run.after[name]
        idle = before in (after, against.before.get(name))
        if name not in run.generators and not idle:
            yield _brought_in(evidence, name, before, after)


def _judge(
    evidence: Evidence, name: str, before: str | None, after: str
) -> Iterator[Cause | Cleared]:
    """Yield the cause, or the cleared suspect, for a source that both runs may use."""
    same_code = evidence.run.code == evidence.against.code
    used = any(name in run.before and _moved(run, name) for run in evidence.both)
    # The earlier run imported the source. If the cell seeds it, its earlier state does not matter.
    seeded = before is None and may_set_state(evidence.against.actions, name)
    unused = "" if used else _BY_ITSELF if seeded else _NOT_USED
    reason = _only_imports(evidence, name) or unused
    if before == after and reason:
        return
    if before == after or reason:
        yield Cleared("rng", name, reason or "began in the same state")
    elif reason := _drawn_once(evidence, name):
        yield replace(_cleared(evidence, name, reason, before, after), is_tested=False)
    elif reason := _reseeded(evidence, name):
        yield replace(_cleared(evidence, name, reason, before, after), is_tested=same_code)
    else:
        yield rng_cause(evidence, name, before, after)


def _moved(run: Run, name: str) -> bool:
    return run.before.get(name) != run.after.get(name)


def _brought_in(evidence: Evidence, name: str, before: str, after: str) -> Cause | Cleared:
    """Return the cause or cleared suspect for a source that the later run imported.

    No earlier cell of the kernel can have seeded the source.
    """
    fresh = any(evidence.states.is_fresh(each) for each in (before, after))
    if reason := _only_imports(evidence, name) or (_NOT_USED if fresh else ""):
        return Cleared("rng", name, reason)
    ends = [evidence.states.position(name, each) or UNKNOWN for each in (before, after)]
    one_seed = ends[0].seed == ends[1].seed is not None
    if one_seed or any("seed" in each for each in evidence.run.actions):
        return Cleared("rng", name, _BY_ITSELF, never_seeded(name, evidence.run))
    was = evidence.states.position(name, evidence.against.before.get(name, "")) or UNKNOWN
    return never_seeded(name, evidence.run, since_restart=was.is_chosen)


def _cleared(evidence: Evidence, name: str, reason: str, before: str | None, after: str) -> Cleared:
    """Return a cleared suspect for a source that the cell reseeds.

    If the cell may have drawn from the source before it reseeded the source, the suspect becomes a
    cause when no other cause is found.
    """
    differ = evidence.against.after.get(name) != evidence.run.after.get(name)
    early = may_draw_first(evidence.run.actions, name)
    # A library may reseed the source after the cell has drawn from it.
    sets = evidence.run.seeds or may_set_state(evidence.run.actions, name)
    early |= reason == _BY_ITSELF and not sets
    if early or (differ and not drew_more(evidence, name)):
        return Cleared("rng", name, reason, rng_cause(evidence, name, before, after))
    return Cleared("rng", name, reason)


def _only_imports(evidence: Evidence, name: str) -> str:
    """Return a clause if, in both runs, only imports drew from a source; else ""."""
    moved = [run for run in evidence.both if _moved(run, name)]
    by_imports = moved and all(name in run.imported for run in moved)
    return "only the import of a module drew from it" if by_imports else ""


def _drawn_once(evidence: Evidence, name: str) -> str:
    """Return a clause if only one of the runs drew from a source, else "".

    The source is then no cause: something else made that run draw.
    """
    drew = [run for run in evidence.both if _moved(run, name)]
    known = all(name in run.before for run in evidence.both)
    if not known or len(drew) != 1:
        return ""
    alike = evidence.against.after.get(name) == evidence.run.after.get(name)
    if alike and _leaves(evidence, drew[0], name):
        return ""  # both runs may have seeded it, and one of them found it in that state
    return f"only {evidence.name(drew[0])} drew from it"


def _reseeded(evidence: Evidence, name: str) -> str:
    """Return a clause if the cell sets the state of a source itself, else "".

    It is enough that one run certainly did: either the code is the same in both, or the edit is the
    cause.
    """
    against, run = evidence.both
    if against.after.get(name) == run.after.get(name):  # only seeding makes states equal
        return _BY_ITSELF
    left = [each for each in evidence.both if _leaves(evidence, each, name)]
    if len(left) == 1 and name not in left[0].before:
        return f"first appeared in {evidence.name(left[0])}"
    return _BY_ITSELF if left else ""


def _leaves(evidence: Evidence, run: Run, name: str) -> bool:
    """Return whether a run certainly reseeded a source or set its state."""
    begin, end = run.before.get(name), run.after.get(name)
    if end is None or (begin is not None and evidence.states.draws(begin, end) is not None):
        return False
    now = evidence.states.position(name, end)
    if now is None or now.seed is None or now.draws is None:
        # If no draws lead to the state, the run must have reseeded the source.
        return begin is not None and not evidence.states.leads(begin, end, most_draws(run))
    if begin is None:  # the run imported it; torch then starts with its default seed
        return now.seed != _UNSEEDED_TORCH
    was = evidence.states.position(name, begin)
    # The state at the start is too many draws after its seed to be found. The state at the end may
    # follow it.
    if was is None:
        return now.draws < _FEW and not evidence.states.leads(begin, end)
    return was.seed != now.seed or (was.draws or 0) > now.draws


def drew_more(evidence: Evidence, name: str) -> bool:
    """Return whether both runs set the same seed, and one run drew more after it."""
    ends = [run.after.get(name, "") for run in evidence.both]
    if ends[0] == ends[1] or not all(_leaves(evidence, run, name) for run in evidence.both):
        return False
    was, now = (evidence.states.position(name, end) or UNKNOWN for end in ends)
    return was.seed == now.seed is not None


def find_inherited(evidence: Evidence) -> Iterator[Cause]:
    """Find sources that forked workers inherit. The kernel cannot see their draws."""
    for name in _INHERITED if any(map(evidence.uses, _STARTS_WORKERS)) else ():
        before, after = (run.before.get(name) for run in evidence.both)
        if before and after and before != after:
            yield rng_cause(evidence, name, before, after)
