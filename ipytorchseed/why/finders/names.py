"""Finds names that only one run found, and functions that were replaced."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence

from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.evidence import Evidence, does
from ipytorchseed.why.explanation import Blame, Cause, Cleared
from ipytorchseed.why.finders.changers import SCALARS, SET, find_left_out
from ipytorchseed.why.value_changes import how_far

_RESET = lazy_pattern(r"^%(?:reset|reset_selective|xdel)\b")

_RELOAD = lazy_pattern(r"\breload$|^%autoreload\b")


def find_names(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Yield the names that only one of the runs found."""
    run, against = evidence.run, evidence.against
    new = [name for name in run.reads if name in against.missing and name not in run.writes]
    gone = [name for name in against.reads if name in run.missing]
    yield from (_new(evidence, name) for name in new)
    yield from (_gone(evidence, name) for name in gone)
    yield from _replaced(evidence)


def _replaced(evidence: Evidence) -> Iterator[Cause]:
    """Yield a package's functions that the user replaced or restored."""
    for name in sorted({*evidence.against.replaced} ^ {*evidence.run.replaced}):
        attribute = name.rpartition(".")[2]
        setting = re.compile(rf"\b{re.escape(attribute)}=|setattr|patch|reload")
        setters = [run for run in evidence.history if name in run.writes]
        setters = setters or [run for run in evidence.history if does(run, setting)]
        value = evidence.run.reads.get(name)
        comes_by = value is not None and name in evidence.against.reads
        if not (setters or comes_by) and evidence.run.code != evidence.against.code:
            continue  # only one of the texts uses it
        before = evidence.against.reads.get(name)
        how = "replaced it" if value else "put it back"
        own = value is not None and before is not None and _is_of_own_module(evidence, name)
        if own and value is not None:
            how = SET if value.kind in SCALARS else "changed it"
        reloaded = any(does(run, _RELOAD) for run in setters[-1:])
        how = "reloaded its module" if reloaded else how
        left_out = [*find_left_out(evidence, name)]
        blame = (*(Blame(run, how) for run in setters[-1:]), *left_out)
        if own and value is not None and before is not None:
            who, step = evidence.who(blame), how_far(before, value)
            verb = "reloaded the module of " if reloaded else how.removesuffix("it")
            message = f"`{name}`: {step}{evidence.doings(blame)}"
            if setters and not left_out:
                message = f"{who} {verb}`{name}`: {step}"
        else:
            message = _say_replaced(
                evidence, name, value.summary if value is not None else None, blame
            )
        yield Cause("input", name, message, blame=blame, prevents=True)


def _say_replaced(
    evidence: Evidence, name: str, summary: str | None, blame: Sequence[Blame]
) -> str:
    """Return a sentence about an attribute of a package that was replaced or restored."""
    who = evidence.who(blame[:1]) if [each.how for each in blame] in _PLAIN else ""
    if summary is None:
        again = f"`{name}` is the package's own again"
        return (
            f"{who} put back the package's own `{name}`" if who else again + evidence.doings(blame)
        )
    if who:
        return f"{who} replaced `{name}` with {summary}"
    return f"`{name}` is now {summary}, not the package's own{evidence.doings(blame)}"


_PLAIN = (["replaced it"], ["put it back"])


def _is_of_own_module(evidence: Evidence, name: str) -> bool:
    """Return whether a name is in a module of the user's that a run loaded."""
    module = name.rpartition(".")[0]
    return any(
        module in run.loaded for run in [*evidence.states.latest(evidence.run), evidence.run]
    )


def find_own_names(evidence: Evidence, others: bool) -> Iterator[Cause | Cleared]:  # noqa: FBT001
    """Yield missing names that the cell itself sets, if there is no other cause.

    Args:
        evidence: The evidence.
        others: Whether another cause was found.
    """
    run, against = evidence.run, evidence.against
    own = [name for name in run.reads if name in against.missing and name in run.writes]
    if others:
        yield from (Cleared("input", name, "the cell sets it itself") for name in own)
    else:
        yield from (_new(evidence, name) for name in own)
        yield from _replaced_in_one(evidence, run, against)
        yield from _replaced_in_one(evidence, against, run)


_CALLED = frozenset({"class", "function", "method"})


def _replaced_in_one(evidence: Evidence, one: Run, other: Run) -> Iterator[Cause]:
    """Yield names of a package's functions that only one run found to be replaced.

    A package's function under its own name is no input, so the other run did not record it. Classes
    that the code does not name were only reached through objects.
    """
    used = {part for run in (one, other) for each in run.actions for part in each.split(".")}
    for name, value in one.reads.items():
        known = name in other.reads or name in other.missing or name in one.writes
        makers = [
            run for run in evidence.history if run is not evidence.against and name in run.writes
        ]
        if known or "." in name or value.kind not in _CALLED or not makers:
            continue
        if name not in used:
            continue
        blame = (Blame(makers[-1], "made it"),)
        what = value.summary or value.kind
        if one is evidence.run:
            message = (
                f"{evidence.who(blame)} made `{name}` {what}; before, it was the package's own"
            )
        else:
            message = f"{evidence.who(blame)} made `{name}` the package's own again; it was {what}"
        yield Cause("input", name, message, blame=blame)


def _new(evidence: Evidence, name: str) -> Cause:
    value = evidence.run.reads[name]
    was = "was Python's own" if hasattr(builtins, name) else "did not exist"
    what = value.summary or value.kind
    makers = [
        run for run in evidence.history if run.kernel == evidence.run.kernel and name in run.writes
    ]
    blame = tuple(Blame(run, "made it") for run in makers[-1:])
    message = f"`{name}` {was} before, and is now {what}"
    if blame:
        message = f"{evidence.who(blame)} made `{name}` ({what}); before, it {was}"
    return Cause("input", name, message, fix=f"del {name}", blame=blame)


def _gone(evidence: Evidence, name: str) -> Cause:
    value = evidence.against.reads[name]
    now = "is Python's own again" if hasattr(builtins, name) else "no longer exists"
    blame: tuple[Blame, ...] = ()
    if evidence.same_kernel:
        blame = tuple(Blame(run, "deleted it") for run in evidence.history if _deletes(run, name))[
            -1:
        ]
    else:
        makers = [run for run in evidence.states.latest(evidence.run) if name in run.writes]
        blame = tuple(
            Blame(run, "made it, and has not been run since the restart")
            for run in makers[:1]
            if run.kernel != evidence.run.kernel
        )
    was = value.summary or value.kind
    if blame and evidence.same_kernel:
        message = f"{evidence.who(blame)} deleted `{name}`, which was {was}"
    else:
        message = f"`{name}` was {was} and {now}{evidence.doings(blame)}"
    return Cause("input", name, message, blame=blame)


def _deletes(run: Run, name: str) -> bool:
    return f"del {name}" in run.actions or does(run, _RESET)
