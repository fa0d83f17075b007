"""Computes the fingerprint of a value."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial

from xxhash import xxh3_64_hexdigest

from ipytorchseed.fingerprint.memo import Memo
from ipytorchseed.fingerprint.meter import Budget, LateError, Mode, PendingError, SpentError
from ipytorchseed.fingerprint.native import Unseen
from ipytorchseed.fingerprint.scalars import leaf
from ipytorchseed.fingerprint.table import writer_of
from ipytorchseed.fingerprint.value import DERIVED, OUTDATED, PENDING, SHARED, Fingerprint
from ipytorchseed.fingerprint.walk import Draft, Walk
from ipytorchseed.introspection.anatomy import anatomy, full_name, module_of_class, own, per_object
from ipytorchseed.introspection.ownership import is_local_module, is_of_library
from ipytorchseed.introspection.values import imported, is_class

# The maximum number of cached properties to list.
_RESULTS = 16

# Kinds of values whose fingerprint counts the objects that occur in them more than once.
_CONTAINERS = frozenset({"dict", "list", "tuple"})


def fingerprint(
    value: object, *, memo: Memo | None = None, budget: Budget | None = None
) -> Fingerprint:
    """Return the fingerprint of a value.

    Equal values have equal fingerprints, in any process. Computing one runs no user code, draws no
    random numbers, starts no GPU, keeps no object alive, and raises no error.

    Args:
        value: Any value.
        memo: The cache of earlier results, which is updated. By default, there is no cache.
        budget: The time allowed, which several calls can share. Once most of it is used up, small
            values are still read whole, but larger values only as a fixed sample. Once all of it is
            used up, only short values without parts are read. By default, 0.2 seconds for this
            call.

    Returns:
        The fingerprint. If there was no time or reading failed, its digest is empty, and its
        summary says why.
    """
    try:
        short = leaf(value)
        if short is not None:
            return short
        memo = Memo() if memo is None else memo
        budget = Budget() if budget is None else budget
        if budget.used >= budget.seconds:
            raise SpentError  # noqa: TRY301 -- as a walk does
        began = time.thread_time()
        try:
            with Unseen():
                return _look(value, memo, budget, began)
        finally:
            budget.charge(began)
    except PendingError:
        kind, why = PENDING, "still computed"
    except SpentError:
        kind, why = "unread", "not looked at"
    except Exception as error:  # noqa: BLE001 -- the user's cell must go on
        why = f"not looked at ({type(error).__name__})"
        return Fingerprint("", "opaque", why, exact=False, opaque=True)
    return Fingerprint("", kind, f"{anatomy(type(value)).title}, {why}", exact=False)


def _look(value: object, memo: Memo, budget: Budget, began: float) -> Fingerprint:
    """Read a value whole if it is small or there is enough time; else read a sample."""
    walk_in, left = partial(Walk, memo, budget, writer_of, began), budget.left
    modes = [Mode.KNOWN] if left <= 0 or memo.is_too_slow(value, left) else [Mode.FULL, Mode.KNOWN]
    for mode in modes:
        walk = walk_in(mode)
        try:
            draft, digest = walk.look(value)
        except SpentError as end:
            if mode is Mode.FULL:
                memo.mark_too_slow(value, left)
            elif isinstance(end, LateError):
                raise  # a sample of a small value would look like a complete reading
            if walk.large:
                break
        else:
            # Later fingerprints that can only read a sample are compared with the sample.
            sample = memo.samples.get(digest, "")
            if walk.large and not sample:
                with suppress(PendingError, SpentError):
                    sample = walk_in(Mode.SAMPLE).look(value)[1][:8].hex()
                    memo.keep_sample(digest, sample)
            return _finish(value, walk, draft, digest[:8].hex(), sample)
    walk = walk_in(Mode.SAMPLE)
    draft, digest = walk.look(value)
    return _finish(value, walk, draft, digest[:8].hex(), digest[:8].hex())


def _finish(value: object, walk: Walk, draft: Draft, digest: str, sample: str) -> Fingerprint:
    summary, unseen = draft.summary, walk.unseen
    if draft.opaque:
        unseen = unseen - {anatomy(type(value)).name}
    results = [f"{name}={made[:8]}" for name, made in walk.derived.items() if made]
    may_be = [kind for kind in walk.kinds() if _may_be_users(kind)]
    outdated = sorted({anatomy(kind).title for kind in may_be if _is_outdated(kind)})
    told = {
        "unseen": ", ".join(sorted(unseen)),
        "random": walk.random and xxh3_64_hexdigest(b"".join(walk.random)),
        "strides": walk.strides and xxh3_64_hexdigest(repr(walk.strides).encode()),
        DERIVED: "; ".join(results[:_RESULTS]),
        SHARED: draft.kind in _CONTAINERS and walk.shared and str(walk.shared),
        OUTDATED: ", ".join(outdated),
    }
    parts = draft.parts | {part: str(value) for part, value in told.items() if value}
    if walk.failed:
        summary = f"{summary or anatomy(type(value)).title}; not looked at: {walk.failed[0]}"
    rest = walk.exact, draft.opaque, parts, draft.series, sample
    return Fingerprint(digest, draft.kind, summary, *rest)


@per_object
def _may_be_users(kind: type) -> bool:
    return not is_of_library(module_of_class(kind))


def _is_outdated(kind: type) -> bool:
    """Return whether a user's module now has another class with the same name."""
    module, full = module_of_class(kind), full_name(kind)
    outer, *inner = full.removeprefix(f"{module}.").split(".")
    found = imported(module, outer)
    for name in inner:
        found = own(found).get(name) if is_class(found) else None
    redefined = is_class(found) and found is not kind and full_name(found) == full
    return redefined and is_local_module(module)
