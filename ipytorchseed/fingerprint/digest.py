"""A value's fingerprint: the way in."""

from __future__ import annotations

import time

from xxhash import xxh3_64_hexdigest

from ipytorchseed.fingerprint.budget import Budget, SpentError
from ipytorchseed.fingerprint.memo import Memo
from ipytorchseed.fingerprint.native import Unseen
from ipytorchseed.fingerprint.scalars import leaf
from ipytorchseed.fingerprint.table import writer_of
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.fingerprint.walk import Draft, Mode, Walk
from ipytorchseed.introspection.anatomy import anatomy

_NOTHING = "0" * 16  # the digest of what could not be looked at, at all


def fingerprint(
    value: object, *, memo: Memo | None = None, budget: Budget | None = None
) -> Fingerprint:
    """Name a value's content: equal values have equal fingerprints, in any process.

    No code of the user's runs for it, nothing is drawn, written, started or kept alive, and no
    error leaves it.

    Args:
        value: Anything.
        memo: What is known of earlier values, and is added to.
        budget: The time for this and other values. Where it is spent, short values are still
            read in full, of others a sample that does not depend on the time that was left.
            By default 0.2 seconds for this one.

    Returns:
        The fingerprint; an opaque one with a note in its summary where looking failed.
    """
    try:
        short = leaf(value)
        if short is not None:
            return short
        memo = Memo() if memo is None else memo
        budget = Budget() if budget is None else budget
        began = time.perf_counter()
        try:
            with Unseen():
                return _look(value, memo, budget)
        finally:
            budget.charge(began)
    except Exception as error:  # noqa: BLE001 -- the user's cell goes on, whatever happened here
        return Fingerprint(
            _NOTHING, "opaque", f"not looked at ({type(error).__name__})", exact=False, opaque=True
        )


def _look(value: object, memo: Memo, budget: Budget) -> Fingerprint:
    for mode in (Mode.KNOWN if budget.spent else Mode.FULL, Mode.SAMPLE):
        walk = Walk(memo, budget, mode, writer_of)
        try:
            return _finish(value, walk, walk.look(value))
        except SpentError:
            continue
    raise SpentError  # a sample is never refused


def _finish(value: object, walk: Walk, draft: Draft) -> Fingerprint:
    parts, summary, unseen_inside = draft.parts, draft.summary, walk.unseen
    if draft.opaque:
        unseen_inside = unseen_inside - {anatomy(type(value)).name}
    if unseen_inside:
        parts = {**parts, "unseen": ", ".join(sorted(unseen_inside))}
    if walk.random:
        parts = {**parts, "random": xxh3_64_hexdigest(b"".join(walk.random))}
    if walk.failed:
        summary = f"{summary or anatomy(type(value)).title}; not looked at: {walk.failed[0]}"
    return Fingerprint(
        draft.digest[:8].hex(), draft.kind, summary, walk.exact, draft.opaque, parts, draft.series
    )
