"""Sorts causes: the most likely come first."""

from __future__ import annotations

from collections.abc import Sequence

from ipytorchseed.determinism.libraries import BY_NAME
from ipytorchseed.reads.actions import may_draw
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause

# The rank of each kind of cause; lower is more likely. The ranks of inputs are below.
_TIERS = {"code": 0, "file": 1, "entropy": 2, "operation": 2, "rng": 2, "environment": 4, "flag": 4}

# The ranks of inputs: a variable that the cell names itself, a variable that it reads through a
# function, and a model that it trains further. The last rank is for other objects and files that
# the cell changes, and for objects that changed although no recorded run changed them.
_NAMED, _REACHED, _TRAINED, _OWN = 1, 3, 1, 5

# The rank of Python's stream if only a library draws from it: most libraries draw names and ids.
_INCIDENTAL = 6

# The rank of an environment variable or library setting that another cell changed. Such a change
# is rare, so it is a likely cause.
_SET = 2

# The order within a rank. Settings that a run changed come after most causes, and streams from
# which only a library draws come last.
_DRAWN, _CHOSEN, _INSIDE = range(3)


def ranked(evidence: Evidence, causes: Sequence[Cause]) -> list[Cause]:
    """Return causes sorted by rank; within a rank, the most recently changed first.

    Objects and files that the cell itself changed in its earlier run, except models, rank low.

    Args:
        evidence: The evidence.
        causes: The causes that were found in the evidence.
    """
    return sorted(
        causes,
        key=lambda cause: (_tier(evidence, cause), _within(evidence, cause), -_latest(cause)),
    )


def _tier(evidence: Evidence, cause: Cause) -> int:
    if _is_chosen(cause):
        return _SET
    if cause.kind == "rng" and cause.name == "python" and not _draws(evidence, cause):
        return _INCIDENTAL
    if cause.kind == "file" and evidence.is_own(cause.blame):
        return _OWN  # such as a log
    return _input_tier(evidence, cause) if cause.kind == "input" else _TIERS[cause.kind]


def _input_tier(evidence: Evidence, cause: Cause) -> int:
    value, own = evidence.run.reads.get(cause.name), evidence.is_own(cause.blame)
    if own and value is not None and value.kind == "module":
        return _TRAINED
    if own or (evidence.same_kernel and not (cause.blame or cause.prevents)):
        return _OWN
    is_named = cause.name.partition(".")[0] in evidence.states.written(evidence.run).names
    return _NAMED if is_named else _REACHED


def is_carried_on(evidence: Evidence, cause: Cause) -> bool:
    """Return whether a cause is an object, not a model, that only the cell changed."""
    is_own = cause.kind == "input" and evidence.is_own(cause.blame)
    return is_own and _input_tier(evidence, cause) == _OWN


def _is_chosen(cause: Cause) -> bool:
    """Return whether a run changed this library setting or environment variable."""
    chosen = cause.kind == "environment" or (cause.kind == "flag" and cause.name in BY_NAME)
    return chosen and bool(cause.blame)


def _within(evidence: Evidence, cause: Cause) -> int:
    """Return the order of a cause within its rank."""
    if cause.kind != "rng":
        return _CHOSEN if _is_chosen(cause) else _DRAWN
    return _DRAWN if _draws(evidence, cause) else _INSIDE


def _draws(evidence: Evidence, cause: Cause) -> bool:
    """Return whether the cell's own code may draw from a source or generator."""
    library = cause.name.partition(".")[0]
    draws = any(may_draw(action, library) for action in evidence.run.actions)
    return draws or cause.name in evidence.run.generators


def _latest(cause: Cause) -> int:
    """Return the number of the latest run that contributed to a cause, or 0."""
    return max((each.run.id or 0 for each in cause.blame if each.run is not None), default=0)
