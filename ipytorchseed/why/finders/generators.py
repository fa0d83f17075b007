"""Finds random sources and generators that started in another state."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.actions import may_draw_first, may_set_state
from ipytorchseed.reads.entropy import MEMORY, is_program
from ipytorchseed.why.evidence import Evidence, most_draws
from ipytorchseed.why.explanation import Cause, Cleared
from ipytorchseed.why.finders.movers import is_chosen, never_seeded, rng_cause

_BY_ITSELF = "reseeded by the cell itself"

_IMPORTS = "only the import of a module drew from it"

_STARTS_WORKERS = ("multiprocessing", "concurrent")

# Sources that workers inherit, and the packages that draw from them. Python reseeds its own.
_DRAWN_BY_WORKERS = {"numpy": "numpy", "torch.cpu": "torch"}

# Within so many draws from a seed, the search for a state is certain.
_FEW = 5_000_000


# The seed of torch's generators by default: c10/core/GeneratorImpl.h.
_UNSEEDED_TORCH = 67_280_421_310_721


def find_rng(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Find the sources that started in another state and were used before a reseeding."""
    begins = [run.begun for run in (evidence.against, evidence.run)]
    ends = [run.ended for run in (evidence.against, evidence.run)]
    for name in begins[1]:
        before, after = (begin.get(name) for begin in begins)
        if after is None or (before is None and name not in evidence.against.after):
            continue
        used = _is_used(name, begins, ends) and not _only_imports(evidence, name)
        if before == after:
            if used:
                yield Cleared("rng", name, "began in the same state")
        elif not used:
            yield _unused(evidence, name, before, after)
        elif reason := _drawn_once(evidence, name):
            yield replace(_cleared(evidence, name, reason, before, after), is_tested=False)
        elif reason := _reseeded(evidence, name, begins, ends):
            cleared = _cleared(evidence, name, reason, before, after)
            yield replace(cleared, is_tested=evidence.run.code == evidence.against.code)
        else:
            yield rng_cause(evidence, name, before, after)
    for name in sorted(ends[1].keys() & ends[0].keys() - begins[1].keys()):
        before, after = ends[0][name], ends[1][name]
        idle = before in (after, begins[0].get(name))
        if name not in evidence.run.generators_after and not idle:
            yield _brought_in(evidence, name, before, after)


def _brought_in(evidence: Evidence, name: str, before: str, after: str) -> Cause | Cleared:
    """Judge a source that the later run imported. Only the cell can have seeded it."""
    if _only_imports(evidence, name):
        return Cleared("rng", name, _IMPORTS)
    if any(evidence.states.is_fresh(each) for each in (before, after)):
        return Cleared("rng", name, "not used by this cell")
    ends = [evidence.states.position(name, each) for each in (before, after)]
    seeds = {None if end is None else end.seed for end in ends}
    one = len(seeds) == 1 and None not in seeds
    calls = {*evidence.run.nondeterministic_calls} - MEMORY.keys()
    asks = any(not is_program(each) for each in calls)
    if one or (any("seed" in each for each in evidence.run.actions) and asks):
        return Cleared("rng", name, _BY_ITSELF, never_seeded(name))
    begin = evidence.against.begun.get(name)
    was = None if begin is None else evidence.states.position(name, begin)
    left = was is not None and is_chosen(was)
    return never_seeded(name, since_restart=left)


def _is_used(name: str, begins: list[dict[str, str]], ends: list[dict[str, str]]) -> bool:
    """Return whether either run moved a source or generator that existed before."""
    return any(
        name in begin and begin[name] != end.get(name)
        for begin, end in zip(begins, ends, strict=True)
    )


def _unused(evidence: Evidence, name: str, before: str | None, after: str) -> Cleared:
    """Clear a source that neither run moved as far as we know."""
    if _only_imports(evidence, name):
        return Cleared("rng", name, _IMPORTS)
    if before is None and may_set_state(evidence.against.actions, name):
        # The earlier run imported it, and both left it in the state that the cell sets.
        return _cleared(evidence, name, _BY_ITSELF, before, after)
    return Cleared("rng", name, "not used by this cell")


def _cleared(evidence: Evidence, name: str, reason: str, before: str | None, after: str) -> Cleared:
    """Clear a source that a run used. It may still be the cause if there is no other.

    A cell may draw before it reseeds, and code that we cannot see may draw.
    """
    differ = evidence.against.ended.get(name) != evidence.run.ended.get(name)
    early = may_draw_first(evidence.run.actions, name)
    if early or (differ and not drew_more(evidence, name)):
        return Cleared("rng", name, reason, rng_cause(evidence, name, before, after))
    return Cleared("rng", name, reason)


def _only_imports(evidence: Evidence, name: str) -> bool:
    """Return whether only imports drew from a source, in each run that moved it."""
    moved = [
        run
        for run in (evidence.against, evidence.run)
        if run.before.get(name) != run.after.get(name)
    ]
    return bool(moved) and all(name in run.imported for run in moved)


def _drawn_once(evidence: Evidence, name: str) -> str:
    """Return a clause if only one of the runs drew from a source, else "".

    Another cause then made it draw.
    """
    drew = [
        run
        for run in (evidence.against, evidence.run)
        if run.begun.get(name) != run.ended.get(name)
    ]
    known = all(name in run.begun for run in (evidence.against, evidence.run))
    return f"only {evidence.name(drew[0])} drew from it" if known and len(drew) == 1 else ""


def _reseeded(
    evidence: Evidence, name: str, begins: list[dict[str, str]], ends: list[dict[str, str]]
) -> str:
    """Return a clause if the cell sets the state of a source itself, else "".

    If it certainly did so in one run, the same code did so in the other. If the code differs, the
    code is the cause.
    """
    same_code = evidence.run.code == evidence.against.code
    if ends[0].get(name) == ends[1].get(name):  # only seeding makes states equal
        runs = zip((evidence.against, evidence.run), begins, ends, strict=True)
        drew, *both = [run for run, begin, end in runs if begin.get(name) != end.get(name)]
        again = both or (same_code and _leaves(evidence, drew, name))
        return _BY_ITSELF if again else f"only {evidence.name(drew)} drew from it"
    left = [run for run in (evidence.against, evidence.run) if _leaves(evidence, run, name)]
    if not left or same_code or len(left) > 1:
        return _BY_ITSELF if left else ""
    how = _BY_ITSELF if name in left[0].begun else "it came"
    return f"{how} in {evidence.name(left[0])}"  # so its state before does not explain the other


def _leaves(evidence: Evidence, run: Run, name: str) -> bool:
    """Return whether a run certainly reseeded a source or set its state."""
    begin, end = run.begun.get(name), run.ended.get(name)
    if end is None or (begin is not None and evidence.states.draws(begin, end) is not None):
        return False
    now = evidence.states.position(name, end)
    if now is None or now.seed is None or now.draws is None:
        # If no draws lead there, it was seeded by an unknown number.
        return begin is not None and not evidence.states.leads(begin, end, most_draws(run))
    if begin is None:  # the run imported it, in its default state
        return now.seed != _UNSEEDED_TORCH
    was = evidence.states.position(name, begin)
    if was is None:  # too far from any seed to be found; is it shortly before the end?
        return now.draws < _FEW and not evidence.states.leads(begin, end)
    return was.seed != now.seed or (was.draws or 0) > now.draws


def drew_more(evidence: Evidence, name: str) -> bool:
    """Return whether both runs set the same seed, and one then drew more."""
    if evidence.run.ended.get(name) == evidence.against.ended.get(name) or not all(
        _leaves(evidence, run, name) for run in (evidence.against, evidence.run)
    ):
        return False
    ends = [
        evidence.states.position(name, run.ended[name]) for run in (evidence.against, evidence.run)
    ]
    seeds = {None if each is None else each.seed for each in ends}
    return len(seeds) == 1 and None not in seeds


def find_inherited(evidence: Evidence) -> Iterator[Cause]:
    """Find sources that forked workers inherit, whose draws the kernel does not see."""
    if not any(map(evidence.uses, _STARTS_WORKERS)):
        return
    begins = [run.begun for run in (evidence.against, evidence.run)]
    for name, package in _DRAWN_BY_WORKERS.items():
        known = evidence.uses(package) and all(name in begin for begin in begins)
        if known and begins[0][name] != begins[1][name]:
            yield rng_cause(evidence, name, begins[0][name], begins[1][name])
