"""Finds names that only one run found, and functions that were replaced."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence

from ipytorchseed.determinism.libraries import BY_NAME
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.evidence import Evidence, does
from ipytorchseed.why.explanation import Blame, Cause, Cleared, unless_others
from ipytorchseed.why.finders.changers import NOT_RUN
from ipytorchseed.why.value_changes import how_far

_RESET = lazy_pattern(r"^%(?:reset|reset_selective|xdel)\b")


_CALLED = frozenset({"class", "function", "method"})


def find_names(evidence: Evidence) -> Iterator[Cause]:
    """Yield the names that only one of the runs found."""
    run, against = evidence.run, evidence.against
    for name in run.reads:
        if name in against.missing and name not in run.writes:
            yield _new(evidence, name)
    for name in against.reads:
        if name in run.missing:
            yield _gone(evidence, name)
    for name in sorted({*against.replaced} ^ {*run.replaced}):
        if {name, name.rpartition(".")[0]}.isdisjoint(BY_NAME):  # else it is a setting
            yield from _replaced(evidence, name)


def find_own_names(evidence: Evidence) -> Iterator[Cleared]:
    """Yield names that were missing in the earlier run and that the cell itself sets."""
    for name in evidence.run.reads:
        if name in evidence.against.missing and name in evidence.run.writes:
            yield unless_others(_new(evidence, name), "the cell sets it itself")


def find_replaced_names(evidence: Evidence) -> Iterator[Cause]:
    """Yield functions of packages that the user had replaced for only one of the runs.

    The other run found the package's own function, which is no input, so it did not record the
    name. Names that the cell's code does not contain are skipped: the cell reads them only through
    objects.
    """
    used = {part for run in evidence.both for each in run.actions for part in each.split(".")}
    for one, other in (evidence.both[::-1], evidence.both):
        for name, value in one.reads.items():
            known = name in other.reads or name in other.missing or name in one.writes
            makers = [run for run in evidence.since if name in run.writes]
            if makers and name in used and not known and value.kind in _CALLED:
                what = value.summary or value.kind
                did = f"replaced `{name}` by {what}; before, it was the package's own"
                if one is evidence.against:
                    did = f"restored the package's own `{name}`, which {what} had replaced"
                yield _cause(evidence, name, makers, "made it", did)


def _cause(  # noqa: PLR0913, PLR0917 -- all parts of the message
    evidence: Evidence, name: str, makers: Sequence[Run], how: str, did: str, fix: str = ""
) -> Cause:
    """Return the cause for a name that was created, deleted or replaced.

    Args:
        evidence: The evidence.
        name: The name.
        makers: The runs that may have changed the name. The last run is blamed.
        how: What that run did, for ``Blame.how``.
        did: What that run did, as the end of a sentence that begins with the run.
        fix: The command that undoes the change.
    """
    blame = tuple(Blame(run, how) for run in makers[-1:])
    message = f"{evidence.who(blame) or 'something between cells'} {did}"
    return Cause("input", name, message, fix=fix, blame=blame, prevents="." in name)


def _replaced(evidence: Evidence, name: str) -> Iterator[Cause]:
    """Yield a package's function that the user replaced or restored."""
    before, value = evidence.against.reads.get(name), evidence.run.reads.get(name)
    module, _, attribute = name.rpartition(".")
    sets = re.compile(rf"\b{re.escape(attribute)}=|setattr|patch|reload")
    setters = [run for run in evidence.history if name in run.writes]
    setters = setters or [run for run in evidence.history if does(run, sets)]
    if not setters and evidence.run.code != evidence.against.code:
        return  # after the edit, the cell may use another function
    runs = [*evidence.latest, evidence.run]
    if value is None:
        how, did = "restored it", f"restored the package's own `{name}`"
    elif before is not None and any(module in run.loaded for run in runs):  # the user's module
        how, did = "changed it", f"changed `{name}`: {how_far(before, value)}"
    else:
        how, did = "replaced it", f"replaced `{name}` with {value.summary}"
    yield _cause(evidence, name, setters, how, did)


def _new(evidence: Evidence, name: str) -> Cause:
    value = evidence.run.reads[name]
    was = "was Python's own" if hasattr(builtins, name) else "did not exist"
    makers = [run for run in evidence.here if name in run.writes]
    did = f"made `{name}` ({value.summary or value.kind}); before, it {was}"
    return _cause(evidence, name, makers, "made it", did, f"del {name}")


def _gone(evidence: Evidence, name: str) -> Cause:
    value = evidence.against.reads[name]
    was = value.summary or value.kind
    if evidence.same_kernel:
        makers = [run for run in evidence.history if _deletes(run, name)]
        return _cause(evidence, name, makers, "deleted it", f"deleted `{name}`, which was {was}")
    makers = [run for run in evidence.latest if name in run.writes][:1]
    did = f"made `{name}` ({was}), and has not been run since the restart"
    return _cause(evidence, name, makers, NOT_RUN, did)


def _deletes(run: Run, name: str) -> bool:
    return f"del {name}" in run.actions or does(run, _RESET)
