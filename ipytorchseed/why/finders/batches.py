"""Finds a batch of another size, with which results for the same rows differ by rounding only."""

from __future__ import annotations

import math
import re

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.changes import ROUNDING, find_distance
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.value_changes import changed_parts

_NAMED = lazy_pattern(r"batch|(?:\b|_)bs(?:\b|_)", re.IGNORECASE)
"""Names of numbers that are the size of a batch."""


def say_batch_size(case: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> str:
    """Say that a value differs in the size of a batch, if results differ in rounding only.

    Returns:
        A sentence; empty where it differs in something else, or results by more.
    """
    sizes = _sizes(name, before, after)
    if sizes is None:
        return ""
    apart = [each for each in map(find_distance, case.changed) if each is not None]
    largest = max(apart, default=math.inf)
    if largest > ROUNDING:
        return ""
    how = f" was {sizes[0]}, now it is {sizes[1]}" if sizes[0] else " changed"
    return (
        f"{name}: the batch size{how}; results differ by rounding only (at most {largest:.0e} of"
        " their size), as a batch of another size is added up in another order"
    )


def _sizes(name: str, before: Fingerprint, after: Fingerprint) -> tuple[str, str] | None:
    """Return the two sizes, empty where they are not on record; None where more differs."""
    parts = changed_parts(before, after)
    if before.kind != after.kind:
        return None
    if after.kind in ("tensor", "array") and parts.keys() <= {"shape", "content"}:
        (one, *rest), (other, *same) = (str(each).split(" x ") for each in parts.get("shape", "  "))
        return (one, other) if rest and rest == same and one != other else None
    if after.kind == "dataloader" and "a:batch_size" in parts:
        return ("", "") if parts.keys() <= {"a:batch_size", "a:batch_sampler"} else None
    if after.kind == "int" and _NAMED.search(name):
        return before.summary, after.summary
    return None
