"""Finds inputs with other content than before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ipytorchseed.fingerprint.value import BELONGS, Fingerprint, same
from ipytorchseed.reads.dependencies import is_result
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause
from ipytorchseed.why.finders.changers import (
    MOST_TOLD,
    REDEFINED,
    find_changers,
    find_left_out,
    find_module_writers,
    find_shower,
    makes_anew,
)
from ipytorchseed.why.value_changes import (
    changed_parts,
    how_far,
    is_another,
    owners_lost,
    say_parts,
)

READING = "is what a clock said, or an address: another each time"
"""Said of a variable that holds nothing else."""


def find_inputs(case: Evidence) -> Iterator[Cause]:
    """Find the values that differ between the begins of the two runs."""
    imported = tuple(f"{module}." for module in case.run.loaded.keys() & case.against.loaded.keys())
    replaced = {*case.against.replaced} ^ {*case.run.replaced}
    for name, after in case.run.reads.items():
        before = case.against.reads.get(name)
        if name.startswith(imported):
            continue  # the file that both imported it from is the business of another finder
        if name in replaced:
            continue  # what took the place of a package's own is told with that
        if name in case.run.generators_before or after.kind == "rng":
            continue  # its state is the business of another finder
        if before is not None and same(before, after) is False:
            yield _cause(case, name, before, after)  # else the cell had made it itself


def _made_owners(case: Evidence, owners: Iterable[str]) -> Iterator[Blame]:
    """Yield the runs that made what a value belonged to anew, so that it belongs to the old one."""
    since = [run for run in case.history if run.started > case.against.started]
    for owner in owners:
        makers = [run for run in since if owner in run.writes and makes_anew(run, owner)]
        yield from (Blame(run, f"made {owner} anew") for run in makers[-1:])


def _cause(case: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> Cause:
    blame = find_shower(case, name) if is_result(name) else find_changers(case, name)
    makers = [run for run in case.history if name in run.writes]
    anew = after.kind == "class" and (not blame or any(each.how == REDEFINED for each in blame))
    owners = owners_lost(before.parts.get(BELONGS), after.parts.get(BELONGS))
    cut_off = list(_made_owners(case, owners))
    if cut_off:
        message = f"{name} had changed: no longer belongs to {' and '.join(owners)}"
        blame = cut_off
    elif is_another(before, after):
        was, now = (each.summary.partition(",")[0] for each in (before, after))
        message = f"{name} had changed: {was} → {now}"
    elif anew or "code" in changed_parts(before, after):
        said = say_parts(before, after) if after.kind == "class" else ""
        message = f"{name} was redefined{f': {said}' if said else ''}"
    elif any(name in run.timed for run in makers[-1:]):
        message = f"{name} {READING}"
    elif after.opaque:
        message = f"{name} has moved on"
    else:
        far = how_far(before, after)
        told = any(each.how == f"changed {far}" or each.how.endswith(far) for each in blame)
        message = f"{name} had changed" + ("" if told else f": {far}")
    blame = [*find_module_writers(case, name), *blame, *find_left_out(case, name)]
    doings = [
        f"{case.name(each.run)}{':' * each.how.startswith('the ')} {each.how}"
        for each in blame[-MOST_TOLD:]
        if each.run
    ]
    if doings:
        message += f"{';' if ': ' in message else ':'} {', '.join(doings)}"
    return Cause(
        kind="input",
        name=name,
        message=message,
        proof=f"content {before.digest[:8]} → {after.digest[:8]}",
        blame=tuple(blame),
    )
