"""A source or a generator began in another state, and the cell drew from it."""

from __future__ import annotations

import itertools
import operator
import re
from typing import TYPE_CHECKING

from ipytorchseed.reads.entropy import is_program
from ipytorchseed.rng.seeds import LIMIT
from ipytorchseed.why.explanation import Blame, Cause, Cleared
from ipytorchseed.why.words import listed

if TYPE_CHECKING:
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.rng.position import Position
    from ipytorchseed.why.evidence import Evidence


_BY_ITSELF = "reseeded by the cell itself"

_PASSES = "drawn by the DataLoader; no effect here"

_REPLACED = "drawn for first weights, which loaded ones replace"

_MAY_BE = frozenset({_BY_ITSELF, _PASSES, _REPLACED})
"""Why sources were cleared that are causes all the same where there is no other."""

_IMPORTS = "drawn from by what the cell imports, and not by the cell"

_STARTS_WORKERS = ("multiprocessing", "concurrent")

_DRAWN_BY_WORKERS = {"numpy": "numpy", "torch.cpu": "torch"}
"""Sources that workers inherit, and the packages through which they draw. Python seeds anew."""

_SEED = "%seed 42"
"""What makes a source that nobody seeded repeat, given before the cell."""

_A_PASS = 2
"""Numbers that each pass over a ``DataLoader`` takes from ``torch.cpu``: one of 64 bits."""

_TOLD = 20
"""Moves of which it is told what they were, the latest ones."""

_NAMED = 4
"""Of them, those that a message names."""

_SETS_STATE = re.compile("seed|set_?state|rng_state|bit_generator")
"""What the text of a cell has that may put a source elsewhere than draws do."""

_OF_32_BITS = frozenset(
    {"python", "numpy", "torch.cpu", "random.Random", "numpy.random.RandomState"}
)
"""Sources and types of generators whose numbers are of 32 bits."""

_UNSEEDED_TORCH = 67_280_421_310_721
"""The seed of torch's generators where nobody seeds: c10/core/GeneratorImpl.h."""


def states(run: Run, *, after: bool) -> dict[str, str]:
    """Return the states of sources and generators when a run began, or ended, by name."""
    sources = run.after if after else run.before
    generators = run.generators_after if after else run.generators_before
    return {**sources, **{name: state.digest for name, state in generators.items()}}


def find_rng(case: Evidence) -> tuple[list[Cause], list[Cleared]]:
    """Find the sources that began elsewhere and were drawn from, not reseeded first."""
    causes: list[Cause] = []
    cleared: list[Cleared] = []
    begins = [states(run, after=False) for run in (case.against, case.run)]
    ends = [states(run, after=True) for run in (case.against, case.run)]
    for name in begins[1]:
        before, after = (begin.get(name) for begin in begins)
        if after is None or (before is None and name not in case.against.after):
            continue
        used = _is_used(name, begins, ends) and not _only_imports(case, name)
        if before == after:
            if used:
                cleared.append(Cleared("rng", name, "began in the same state"))
        elif not used:
            drawn = _only_imports(case, name)
            cleared.append(Cleared("rng", name, _IMPORTS if drawn else "not used by this cell"))
        elif _reseeded(case, name, begins, ends):
            cleared.append(Cleared("rng", name, _BY_ITSELF))
        elif name == "torch.cpu" and _only_passes(case):
            cleared.append(Cleared("rng", name, _PASSES))
        elif name == "torch.cpu" and not case.heeds("draws"):
            cleared.append(Cleared("rng", name, _REPLACED))
        else:
            causes.append(_cause(case, name, before, after))
    for name in sorted(ends[1].keys() & ends[0].keys() - begins[1].keys() - begins[0].keys()):
        found, innocent = _brought_in(case, name, ends[0][name], ends[1][name])
        causes += found
        cleared += innocent
    return causes, cleared


def _brought_in(
    case: Evidence, name: str, before: str, after: str
) -> tuple[list[Cause], list[Cleared]]:
    """Judge a source that both runs imported: nobody seeded it, if the cell did not."""
    if name in case.run.generators_after or before == after:
        return [], []
    if _only_imports(case, name):
        return [], [Cleared("rng", name, _IMPORTS)]
    if any(case.states.is_fresh(each) for each in (before, after)):
        return [], [Cleared("rng", name, "not used by this cell")]
    ends = [case.states.position(name, each) for each in (before, after)]
    seeds = {None if end is None else end.seed for end in ends}
    one = len(seeds) == 1 and None not in seeds
    asks = any(not is_program(each) for each in case.run.nondeterministic_calls)
    if one or ("seed" in case.run.source and asks):
        return [], [Cleared("rng", name, _BY_ITSELF)]
    return [_never_seeded(name, before, after)], []


def _never_seeded(name: str, before: str, after: str) -> Cause:
    """Name a source that both runs brought in, and left in these states."""
    message = f"{name} was never seeded: it begins elsewhere in each kernel, and the cell drew"
    proof = f"state {before[:8]} → {after[:8]}"
    return Cause("rng", name, message, proof, _SEED, prevents=True)


def _is_used(name: str, begins: list[dict[str, str]], ends: list[dict[str, str]]) -> bool:
    """Tell whether either run moved a source or generator that it found."""
    return any(
        name in begin and begin[name] != end.get(name)
        for begin, end in zip(begins, ends, strict=True)
    )


def _only_imports(case: Evidence, name: str) -> bool:
    """Tell whether only what the runs import drew from a source, in each run that moved it."""
    moved = [run for run in (case.against, case.run) if run.before.get(name) != run.after.get(name)]
    return bool(moved) and all(name in run.imported for run in moved)


def _only_passes(case: Evidence) -> bool:
    """Tell whether both runs drew nothing from torch but what loaders draw to no effect.

    Either nothing else of their code can draw, or they drew no more than one pass over each loader
    takes: layers of the data's size would have drawn more.
    """
    for run in (case.against, case.run):
        begin, end = run.before.get("torch.cpu"), run.after.get("torch.cpu")
        draws = None if begin is None or end is None else case.states.draws(begin, end)
        if draws is None or draws % _A_PASS:
            return False
        if not run.only_loader_seed_draws and not 0 < draws <= _A_PASS * run.loaders:
            return False
    return True


def _reseeded(
    case: Evidence, name: str, begins: list[dict[str, str]], ends: list[dict[str, str]]
) -> bool:
    """Tell whether the cell puts the source in a state of its own making.

    Where it certainly did so in one run, the same code did so in the other as well.
    """
    if ends[0].get(name) == ends[1].get(name):  # other begins, one end: nothing else leads there
        return True
    sides = zip(begins, ends, strict=True)
    certain = (_leaves(case, name, begin.get(name), end.get(name)) for begin, end in sides)
    return any(certain) if case.run.code == case.against.code else all(certain)


def _leaves(case: Evidence, name: str, begin: str | None, end: str | None) -> bool:
    """Tell whether a run certainly left its source's stream, for one that a seed begins."""
    if end is None or (begin is not None and case.states.draws(begin, end) is not None):
        return False
    now = case.states.position(name, end)
    if now is None or now.seed is None or now.draws is None:
        return False
    if begin is None:  # the run brought it in, as new as it comes
        return now.seed != _UNSEEDED_TORCH
    was = case.states.position(name, begin)
    return was is not None and (was.seed != now.seed or (was.draws or 0) > now.draws)


def put_out_of_reach(case: Evidence) -> bool:
    """Tell whether both runs left a source where no draws lead: seeded there, it may be."""
    sides = [
        (states(run, after=False), states(run, after=True)) for run in (case.against, case.run)
    ]
    names = [name for name in sides[1][0] if all(name in side for both in sides for side in both)]
    return any(
        all(begin[name] != end[name] for begin, end in sides)
        and not any(case.states.leads(begin[name], end[name]) for begin, end in sides)
        for name in names
    )


def find_cleared_again(case: Evidence, others: bool) -> tuple[list[Cause], list[Cleared]]:  # noqa: FBT001
    """Come back to the sources that were cleared, where nothing else explains the change.

    A cell may draw first and reseed then; and what its code hides may draw.

    Args:
        case: The evidence.
        others: Whether another cause was found.
    """
    if others:
        return [], []
    suspects = [each.name for each in find_rng(case)[1] if each.message in _MAY_BE]
    before, after = states(case.against, after=False), states(case.run, after=False)
    ends = states(case.against, after=True), states(case.run, after=True)
    drew = [name for name in suspects if ends[0].get(name) != ends[1].get(name)]
    return [
        _cause(case, name, before.get(name), after[name])
        if name in after
        else _never_seeded(name, ends[0][name], ends[1][name])
        for name in drew
    ], []


def find_inherited(case: Evidence, others: bool) -> tuple[list[Cause], list[Cleared]]:  # noqa: FBT001
    """Name sources that forked workers begin with, where nothing else explains the change.

    Their draws move nothing in the kernel.

    Args:
        case: The evidence.
        others: Whether another cause was found.
    """
    if others or not any(map(case.uses, _STARTS_WORKERS)):
        return [], []
    begins = [states(run, after=False) for run in (case.against, case.run)]
    moved = [
        name
        for name, package in _DRAWN_BY_WORKERS.items()
        if case.uses(package)
        and all(name in begin for begin in begins)
        and begins[0][name] != begins[1][name]
    ]
    return [_cause(case, name, begins[0][name], begins[1][name]) for name in moved], []


def _cause(case: Evidence, name: str, before: str | None, after: str) -> Cause:
    was = None if before is None else case.states.position(name, before)
    now = case.states.position(name, after)
    blame = _blame(case, name)
    if before is None:
        message = f"{name} was never seeded: it began anew in {case.name(case.against)}, and"
        message += f" went on from {_where(now, after)} in {case.name(case.run)}"
        proof = f"state new → {after[:8]}"
        return Cause("rng", name, message, proof, _SEED, tuple(blame), prevents=True)
    proof = f"state {before[:8]} → {after[:8]}"
    if not case.same_kernel and name in case.run.before and _nobody_seeded(was, now, blame):
        message = f"{name} was never seeded: each kernel begins it elsewhere"
        return Cause("rng", name, message, proof, _SEED, prevents=True)
    stood = [_where(now, after), _where(was, before)]
    figures = "" if stood == [after[:8], before[:8]] else f" ({stood[0]}, not {stood[1]})"
    message = f"{name} {_how_it_moved(case, blame)}{figures}"
    return Cause(
        kind="rng",
        name=name,
        message=message,
        proof=proof,
        fix=_fix(case, was),
        blame=tuple(blame),
    )


def _fix(case: Evidence, was: Position | None) -> str:
    """Return the command that puts a source where it stood; a receipt has no states, but seeds."""
    if not case.elsewhere:
        return f"%seed rewind {case.word(case.against)}"
    seed = None if was is None or was.draws else was.seed
    return f"%seed {seed}" if seed is not None and seed < LIMIT else ""


def _how_it_moved(case: Evidence, blame: list[Blame]) -> str:
    """Say who moved a source, in one go those that did the same; how far is left to figures."""
    if not blame:
        restarted = not case.same_kernel and not case.elsewhere
        return "began elsewhere" + (": the kernel was restarted" if restarted else "")
    doings = [(_who(case, each), _in_brief(each.how)) for each in blame[-_NAMED:]]
    told = [
        f"{listed(who for who, _ in alike)} {how}"
        for how, alike in itertools.groupby(doings, key=operator.itemgetter(1))
    ]
    if doings[0][1].startswith("reseeded"):
        opening = "was reseeded"
    else:
        opening = "had moved on" if case.same_kernel else "began elsewhere"
    return f"{opening}: {', '.join(told)}"


def _in_brief(how: str) -> str:
    """Shorten what a run did to a source: without how many numbers it drew."""
    if how.startswith("drew "):
        return "drew from it"
    return how.partition(" and drew ")[0].replace("reseeded to", "reseeded it to")


def _nobody_seeded(was: Position | None, now: Position | None, blame: list[Blame]) -> bool:
    """Tell whether a source is in both kernels where the system's entropy and draws led it.

    Args:
        was: Where it stood in the earlier kernel.
        now: Where it stands in the later one.
        blame: What moved it there since that kernel began.
    """
    chosen = any(
        each is not None and each.seed is not None and each.seed < LIMIT for each in (was, now)
    )
    return not chosen and not any(map(_may_seed, blame))


def _may_seed(blame: Blame) -> bool:
    """Tell whether a move may have been a seeding, or the putting back of a state."""
    asked = blame.run is None or _SETS_STATE.search(blame.run.source) is not None
    return asked or blame.how.startswith("reseeded")


def _where(position: object, digest: str) -> str:
    said = "" if position is None else str(position)
    return digest[:8] if not said or said == "seed unknown" else said


def _who(case: Evidence, blame: Blame) -> str:
    return "something between cells" if blame.run is None else case.name(blame.run)


def _blame(case: Evidence, name: str) -> list[Blame]:
    """List the moves that lead from one begin to the other, from the last reseeding on."""
    blame: list[Blame] = []
    for run, begin, end in _moves(case, name)[::-1]:
        if begin is None:
            blame.append(Blame(run, _how_it_came(run, name)))
            break
        told, reseeded = (
            _move(case, run, name, begin, end)
            if len(blame) < _TOLD
            else (Blame(run, "moved it"), run is not None and bool(run.seeds))
        )
        blame.append(told)
        if reseeded:
            break
    return blame[::-1]


def _how_it_came(run: Run | None, name: str) -> str:
    """Say how a run brought in a source or generator that was not there before."""
    if run is None or name in run.generators_after:
        return "made it"
    if "seed" in run.source:
        return "seeded it"
    return "started it" if ":" in name else "imported it"


def _moves(case: Evidence, name: str) -> list[tuple[Run | None, str | None, str]]:
    """List what moved a source, oldest first: a run or something between runs, from, to."""
    moves: list[tuple[Run | None, str | None, str]] = []
    for run in [*case.history, case.run]:
        if run.kernel != case.run.kernel:  # what ran there led nowhere here
            continue
        moved = run.between.get(name)
        if moved is not None and run is not case.against:
            moves.append((None, *moved))
        if run is case.run:
            break
        begin, end = states(run, after=False).get(name), states(run, after=True).get(name)
        brought_in = name in run.after or run.writes
        if end is not None and begin != end and (begin is not None or brought_in):
            moves.append((run, begin, end))
    return moves


def _move(case: Evidence, run: Run | None, name: str, begin: str, end: str) -> tuple[Blame, bool]:
    """Say what a move was, and whether it was a reseeding."""
    draws = case.states.draws(begin, end)
    if draws is not None:
        return Blame(run, f"drew {_numbers(run, name, draws)}"), False
    now = case.states.position(name, end)
    if now is None or now.seed is None or now.draws is None:
        return Blame(run, "moved it"), False
    ours = run is not None and any(seed == now.seed for seed, _ in run.seeds)
    asked = ours or run is None or "seed" in run.source
    how = f"reseeded to {now.seed}" if asked else f"reseeded to {now.seed}, inside a library"
    if now.draws:
        how += f" and drew {_numbers(run, name, now.draws)}"
    return Blame(run, how), True


def _numbers(run: Run | None, name: str, draws: int) -> str:
    """Write how many numbers were drawn, and of what size: a call may take several."""
    made = None if run is None else run.generators_after.get(name)
    bits = " of 32 bits" if (name if made is None else made.type) in _OF_32_BITS else ""
    return f"{draws:,} {'number' if draws == 1 else 'numbers'}{bits}"
