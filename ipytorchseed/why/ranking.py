"""Ranks causes: those that most likely mattered come first."""

from __future__ import annotations

from collections.abc import Sequence

from ipytorchseed.determinism.libraries import BY_NAME
from ipytorchseed.reads.actions import may_draw
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause

# Ranks by kind, the first most likely. Inputs are ranked by how the cell reaches them.
_TIERS = {"code": 0, "file": 1, "entropy": 2, "operation": 2, "rng": 2, "environment": 4, "flag": 4}

# The ranks of variables that the cell names itself, and that it reaches through functions; of
# models that the cell trains further; and of other objects and files that it changes, objects of
# libraries that changed although no cell did that, and generators in such objects.
_NAMED, _REACHED, _TRAINED, _OWN = 1, 3, 1, 5

# The rank of Python's stream if only a library draws from it, which most do for names and ids.
_INCIDENTAL = 6

# The rank of an environment variable or library setting that another cell changed: few do that.
_SET = 2

# Orders within a rank: streams from which the cell's own code may draw come before settings, and
# those before streams from which only a library draws.
_DRAWN, _CHOSEN, _INSIDE = range(3)


def ranked(evidence: Evidence, causes: Sequence[Cause]) -> list[Cause]:
    """Return causes by rank, and within a rank by the latest run that caused them.

    What the cell itself changed in its earlier run comes last, unless it is a model.

    Args:
        evidence: The evidence.
        causes: What was found in it.
    """
    return sorted(
        causes,
        key=lambda cause: (_tier(evidence, cause), _within(evidence, cause), -_latest(cause)),
    )


def _tier(evidence: Evidence, cause: Cause) -> int:
    if _is_chosen(cause):
        return _SET
    if cause.kind == "file" and evidence.is_own(cause.blame):
        return _OWN  # such as a log
    if cause.kind == "rng" and cause.name == "python" and not _draws(evidence, cause):
        return _INCIDENTAL
    if cause.kind == "rng" and _is_inside(evidence, cause):
        return _OWN
    if cause.kind != "input":
        return _TIERS[cause.kind]
    if not cause.blame and not cause.prevents and evidence.same_kernel:
        return _OWN
    if evidence.is_own(cause.blame):
        value = evidence.run.reads.get(cause.name)
        return _TRAINED if value is not None and value.kind == "module" else _OWN
    return (
        _NAMED
        if cause.name.partition(".")[0] in evidence.states.written(evidence.run).names
        else _REACHED
    )


def _is_inside(evidence: Evidence, cause: Cause) -> bool:
    """Return whether a generator is inside a library's object, and only this cell drew from it."""
    librarys = " in " in evidence.run.generators.get(cause.name, "")
    return librarys and evidence.is_own(cause.blame)


def _is_chosen(cause: Cause) -> bool:
    """Return whether a cell changed it: a library's setting or a variable."""
    chosen = cause.kind == "environment" or (cause.kind == "flag" and cause.name in BY_NAME)
    return chosen and bool(cause.blame)


def _within(evidence: Evidence, cause: Cause) -> int:
    """Return the order of a cause within its rank."""
    if cause.kind != "rng":
        return _CHOSEN if _is_chosen(cause) else _DRAWN
    return _DRAWN if _draws(evidence, cause) and not _is_inside(evidence, cause) else _INSIDE


def _draws(evidence: Evidence, cause: Cause) -> bool:
    """Return whether the cell's own code may draw from a source or generator."""
    library = cause.name.partition(".")[0]
    draws = any(may_draw(action, library) for action in evidence.run.actions)
    return draws or cause.name in evidence.run.generators


def _latest(cause: Cause) -> int:
    """Return the number of the latest run that contributed to a cause, or 0."""
    return max((each.run.id or 0 for each in cause.blame if each.run is not None), default=0)
