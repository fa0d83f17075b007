"""An input that cannot be seen into, and that a run used since: the last resort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.why.explanation import Blame, Cause, Cleared

if TYPE_CHECKING:
    from ipytorchseed.fingerprint.value import Fingerprint
    from ipytorchseed.why.case import Case

_NO_CONTENT = frozenset({"lock", "progress bar", "namespace", "function", "class", "method", "rng"})
"""Kinds of values in which nothing is kept that results hang on."""

_TOLD = 3


def find_unseen(case: Case, others: bool) -> tuple[list[Cause], list[Cleared]]:  # noqa: FBT001
    """Name inputs whose content cannot be seen, and who used them, where nothing else is a cause.

    Args:
        case: The evidence.
        others: Whether another cause was found.
    """
    if others:
        return [], []
    causes = []
    for name, after in case.run.reads.items():
        before = case.against.reads.get(name)
        if before is None or not (hides(before) and hides(after)):
            continue
        users = [run for run in case.history if name in run.reads or name in run.writes]
        blame = tuple(Blame(run, "used it") for run in users[-_TOLD:])
        if blame:
            doings = ", ".join(f"{case.name(each.run)} used it" for each in blame if each.run)
            message = f"{name} cannot be seen into; {doings}"
            causes.append(Cause("input", name, message, blame=blame, prevents=True))
    return causes, []


def hides(value: Fingerprint) -> bool:
    """Tell whether a value keeps content that cannot be seen."""
    return value.kind not in _NO_CONTENT and (value.opaque or "unseen" in value.parts)
