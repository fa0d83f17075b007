"""Adds the findings of experiments to an explanation."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from ipytorchseed.ledger.records import Finding, Findings
from ipytorchseed.why.evidence import run_name
from ipytorchseed.why.experiments import EARLIER, LATER, NO_EFFECT, PROVED
from ipytorchseed.why.explanation import Cause, Cleared, Explanation


def with_findings(said: Explanation, found: Findings, kernel: str) -> Explanation:
    """Return an explanation with findings: proved causes first, those without effect cleared.

    Args:
        said: The explanation.
        found: What experiments showed, perhaps of other causes too.
        kernel: The kernel that asks, for the names of runs.
    """
    known = {(kind, name): finding for kind, name, finding in found.causes}
    against = said.against or said.run
    names = {EARLIER: run_name(against, kernel), LATER: run_name(said.run, kernel)}
    causes = [
        replace(cause, finding=_named(known.get((cause.kind, cause.name), Finding()), names))
        for cause in said.causes
    ]
    cleared = [
        Cleared(cause.kind, cause.name, cause.finding.how)
        for cause in causes
        if cause.finding.level == NO_EFFECT
    ]
    causes = [cause for cause in causes if cause.finding.level != NO_EFFECT]
    return replace(
        said,
        causes=tuple(sorted(causes, key=_is_unproved)),
        cleared=(*cleared, *said.cleared),
        tested=all((cause.kind, cause.name) in known for cause in said.causes),
    )


def _named(finding: Finding, names: Mapping[str, str]) -> Finding:
    how = finding.how
    for token, name in names.items():
        how = how.replace(token, name)
    return replace(finding, how=how)


def _is_unproved(cause: Cause) -> bool:
    return cause.finding.level != PROVED
