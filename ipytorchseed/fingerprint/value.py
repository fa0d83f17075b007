"""The result of a fingerprint: digest, parts, and whether it is exact."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

SHARED = "shared"
"""The part that tells how often a value holds a list, dictionary or set that it holds already, and
in the record of a run which other variables are that object, or share its memory."""

DERIVED = "derived"
"""The part that names results which objects inside a value keep of their own properties, such as
``Data.total=1f3a9c02; Data.rate=02b0c5d7``; they are not in its digest."""

CLASSES = "classes"
"""The part that names the classes of the objects in a short list, tuple or dictionary, such as
``Lasso Ridge``, also of those in pairs with a name; not arrays, tensors and what is builtin."""

BELONGS = "belongs"
"""The part that names, in the record of a run, the models read there whose parameters an optimizer
moves, and the optimizers whose rate a scheduler sets."""

OUTDATED = "outdated"
"""The part that names classes of objects inside a value which their module has redefined since,
such as ``Square``: for ``isinstance`` these objects are of another class."""

FORMS = ("random", "strides", "order", SHARED, OUTDATED)
"""Aspects that are not in the digest: where generators inside stand, how numbers lie in memory, the
order of a set, which places hold one object, and which classes are no longer what their module
calls so. They matter only where nothing else differs."""


PENDING = "pending"
"""The kind of a value of which nothing was looked at, as a GPU was still computing it."""


class Fingerprint(Struct, frozen=True, omit_defaults=True):
    """The name of a value's content, and what may be said of it without its content.

    Attributes:
        digest: 16 hex digits, of all the content or of a sample; empty where the time did not
            suffice for either. Hold two against each other with ``same``.
        kind: What it is, in a word: ``tensor``, ``module``, ``list``, ``function``, ``opaque``.
        summary: What it is, in a line for people. Numbers stand in it, no other contents.
        exact: Whether the digest is of all the content that can be seen, rather than of a sample,
            and of nothing else: a long text's is of all of it, with what changes in every run.
            A large tensor read in full before, and by ``Memo``'s proof not written to since,
            counts as read.
        opaque: True where the content cannot be seen; the digest is then of what can, such as the
            type and the position.
        parts: Digests or short words for aspects: a module's ``mode``, its parameters as
            ``p:<name>``, a dictionary's items as ``k:<key>``, a list's ``length``, and its
            ``items`` in any order where they are few. What a part
            names does not depend on the rest of the value. ``unseen`` lists types inside the
            value whose content cannot be seen; ``random`` names the states of the generators of
            random numbers inside it, ``kept`` how many results a function caches, and ``times``
            a printed text with its times: its digest leaves them out.
        series: Its numbers, where it is a number or a series of at most 8,192.
        sample: The digest of a sample of a value too large to be read whole at every look, whether
            or not it was this time: its length, its ends, and the same places between whenever it
            is taken. Empty for values that are always read whole.
    """

    digest: str
    kind: str
    summary: str = ""
    exact: bool = True
    opaque: bool = False
    parts: Mapping[str, str] = {}
    series: tuple[float, ...] | None = None
    sample: str = ""

    @property
    def sampled(self) -> bool:
        """Whether no more than a sample of a large value was read."""
        return bool(self.sample) and not self.exact


def forms(value: Fingerprint) -> tuple[str | None, ...]:
    """Return aspects beside the content, each None where it has no such: see ``FORMS``."""
    return tuple(map(value.parts.get, FORMS))


def results(value: Fingerprint) -> dict[str, str]:
    """Return digests of what objects inside keep, by class and property: see ``DERIVED``."""
    told = (each.rpartition("=") for each in value.parts.get(DERIVED, "").split("; "))
    return {name: digest for name, _, digest in told if name}


def same(one: Fingerprint, other: Fingerprint) -> bool | None:
    """Return whether two values have the same content, as far as it can be seen.

    Returns:
        True where both were read whole and are equal, False where they are known to differ, None
        where too little of them was looked at to tell.
    """
    if not one.digest or not other.digest:
        return None
    if one.exact and other.exact:
        return one.digest == other.digest
    if one.sample and other.sample:
        if one.sample != other.sample:
            return False
        return True if one.digest == other.digest != other.sample else None
    if one.sample or other.sample:  # only one is large: they differ if that is seen in their sizes
        told = (one.kind, one.summary) != (other.kind, other.summary)
        return False if told and (other if one.sample else one).exact else None
    return False if one.exact == other.exact and one.digest != other.digest else None
