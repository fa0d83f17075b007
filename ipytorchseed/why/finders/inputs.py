"""Finds inputs with other content than before."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from ipytorchseed.fingerprint.value import BELONGS, DATABASE, Fingerprint, same
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.dependencies import is_result
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause, Cleared
from ipytorchseed.why.finders.changers import (
    AS_IT_CHANGED,
    MADE,
    MOST_TOLD,
    NOT_RUN,
    REDEFINED,
    SET,
    find_changers,
    find_left_out,
    find_module_writers,
    find_shower,
    is_created_by,
)
from ipytorchseed.why.unread import say_unread
from ipytorchseed.why.value_changes import (
    changed_parts,
    has_other_name,
    how_far,
    owners_lost,
    say_parts,
)
from ipytorchseed.why.words import listed

# For a variable that holds nothing else.
READING = "holds a time or an address, which is different every time"


def find_inputs(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Yield the values that differ when the two runs begin."""
    imported = tuple(
        f"{module}." for module in evidence.run.loaded.keys() & evidence.against.loaded.keys()
    )
    replaced = {*evidence.against.replaced} ^ {*evidence.run.replaced}
    for name, after in evidence.run.reads.items():
        before = evidence.against.reads.get(name)
        if name.startswith(imported):
            continue  # both imported it: the file finder reports it
        if name in replaced:
            continue  # reported with the package's function that it replaced
        if name in evidence.run.generators or after.kind == "rng":
            continue  # another finder reports its state
        if before is not None and same(before, after) is False:  # no before: the cell made it
            unread = say_unread(evidence, name, before, after)
            yield (
                Cleared("input", name, unread, is_tested=False)
                if unread
                else _cause(evidence, name, before, after)
            )


def _made_owners(evidence: Evidence, owners: Iterable[str]) -> Iterator[Blame]:
    """Yield the runs that made the objects again that a value belonged to."""
    since = [run for run in evidence.history if run.started > evidence.against.started]
    for owner in owners:
        makers = [run for run in since if owner in run.writes and is_created_by(run, owner)]
        yield from (Blame(run, f"made {owner} again") for run in makers[-1:])


def _cause(evidence: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> Cause:
    blame = find_shower(evidence, name) if is_result(name) else find_changers(evidence, name)
    makers = [run for run in evidence.history if name in run.writes]
    is_class = after.kind == "class"
    redefined = is_class and (not blame or any(each.how == REDEFINED for each in blame))
    owners = owners_lost(before.parts.get(BELONGS), after.parts.get(BELONGS))
    cut_off = [*_made_owners(evidence, owners)]
    blame = cut_off or [
        *find_module_writers(evidence, name), *blame, *find_left_out(evidence, name)
    ]  # fmt: skip
    if cut_off:
        message = f"`{name}` no longer belongs to {listed(owners)}{evidence.doings(blame)}"
    elif has_other_name(before, after):
        was, now = (each.summary.partition(",")[0] for each in (before, after))
        message = _say_changed(evidence, name, blame, f"{was} → {now}")
    elif redefined or "code" in changed_parts(before, after):
        said = say_parts(before, after) if is_class else ""
        defined = [Blame(each.run, _DEFINED.get(each.how, each.how)) for each in blame]
        otherwise = f"`{name}` was redefined"
        message = _say_changed(evidence, name, defined, said, otherwise)
    elif any(name in run.timed for run in makers[-1:]):
        message = f"`{name}` {READING}{evidence.doings(blame)}"
    elif after.opaque and after.kind != DATABASE:
        message = f"`{name}` had moved on{evidence.doings(blame)}"
    else:
        message = _say_changed(evidence, name, blame, how_far(before, after))
    return Cause(
        kind="input",
        name=name,
        message=message,
        proof=f"content {before.digest[:8]} → {after.digest[:8]}",
        blame=tuple(blame),
        prevents=after.kind == DATABASE,
    )


# Phrases for functions and classes.
_DEFINED = {MADE: REDEFINED, SET: REDEFINED, "changed it": REDEFINED}


def _say_changed(
    evidence: Evidence, name: str, blame: Sequence[Blame], far: str, otherwise: str = ""
) -> str:
    """Return who changed an input, and how: ``In[4] changed `config`: rate``.

    Args:
        evidence: The evidence.
        name: The input.
        blame: The runs that changed it, oldest first.
        far: How far it changed.
        otherwise: The message if no such run is known.
    """
    by = [each for each in blame[-MOST_TOLD:] if each.run is not None]
    own = [each.run.cell == evidence.run.cell for each in by if each.run is not None]
    if own and all(own) and not evidence.two_cells:
        how = f": {far.removeprefix('changed ')}" if far else ""
        return f"this cell changes `{name}`, which it also reads{how}"
    sentences = list[str]()
    for how, alike in itertools.groupby(by, key=lambda each: each.how):
        runs = [each.run for each in alike if each.run is not None]
        it = "it" if sentences else f"`{name}`"
        sentences.append(_clause(evidence, runs, how, it))
    said = "; then ".join(sentences) or otherwise or f"`{name}` changed"
    tells = bool(by) and by[-1].how not in _ACTS  # as in ``changed rate``
    return said if tells or not far else f"{said}: {far}"


def _clause(evidence: Evidence, runs: Sequence[Run], how: str, it: str) -> str:
    """Return a clause about what runs did to an input, which it calls ``it``."""
    if how == NOT_RUN:
        cells = listed(f"In[{run.execution_count}]" for run in runs)
        before = f"the cell that changed {it} before the restart ({cells} then)"
        return f"{before} has not been run since"
    who = listed(map(evidence.name, runs))
    if how in _ACTS:
        return f"{who} {_ACTS[how].format(it)}"
    if how.startswith("wrote "):
        return f"{who} {how}"
    return f"{who} changed {it}: {how.removeprefix('changed ')}"


# Phrases with a place for the input's name.
_ACTS = {
    MADE: "made {} again",
    SET: "set {}",
    REDEFINED: "redefined {}",
    AS_IT_CHANGED: "ran as {} changed",
    "changed it": "changed {}",
    "showed it": "showed {}",
}
