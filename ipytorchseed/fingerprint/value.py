"""The fingerprint of a value: its digest, its parts, and whether it is exact."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

# The part that counts how often a list, dictionary or set occurs again inside a value. In the
# record of a run, it also names other variables that are the same object or share its memory.
SHARED = "shared"

# Kinds of values that can be mutated through one name and seen through another.
SHAREABLE = frozenset({"array", "deque", "dict", "frame", "list", "series", "set", "tensor"})

# The part for cached properties of objects inside a value, which the digest does not include. For
# example: ``Data.total=1f3a9c02; Data.rate=02b0c5d7``.
DERIVED = "derived"

# The part of an optimizer that names the models whose parameters it updates, and the part of a
# scheduler that names the optimizers whose rate it sets. They name only variables the run read.
BELONGS = "belongs"

# The part that names classes of objects inside a value, such as ``Square``, if the class was
# redefined since. For such an object, ``isinstance`` with the new class is False.
OUTDATED = "outdated"

# Parts that the digest does not include: the states of generators inside, the memory layout, the
# order of a set, repeated objects, and redefined classes. They are compared only if nothing else
# differs.
FORMS = ("random", "strides", "order", SHARED, OUTDATED)


# The kind of a connection to a database, whose content is not read.
DATABASE = "database"

# The kind of a value that was not read because a GPU was still computing.
PENDING = "pending"


class Fingerprint(Struct, frozen=True, omit_defaults=True):
    """A digest of a value's content, and a description of the value.

    Attributes:
        digest: 16 hex digits that represent all of the content, or a sample. Empty if there was no
            time to read the value. Compare two fingerprints with ``same``, not by digest.
        kind: The kind of the value, in a word: ``tensor``, ``module``, ``list``, ``function``,
            ``opaque``.
        summary: A line for people. It may show numbers, but no other content.
        exact: Whether the digest represents all of the visible content, rather than a sample. A
            large tensor need not be read again if ``Memo`` proves that it has not changed.
        opaque: Whether the content cannot be read. The digest then represents, for example, the
            type and the position.
        parts: Digests or short texts that describe one aspect each: a module's ``mode``, its
            parameters as ``p:<name>``, a dictionary's items as ``k:<key>``, a list's ``length``,
            and its ``items`` in any order if they are few. A part does not depend on the rest of
            the value. Some parts are not included in the digest: ``unseen`` lists types inside the
            value whose content cannot be read, ``random`` is a digest of the states of generators
            inside, ``kept`` is the number of results in a function's cache, and ``times`` is a
            digest of a printed text including its times.
        series: The numbers, if the value is a number or a series of at most 8,192 numbers.
        sample: The digest of a sample of a value that is too large to be read whole every time. It
            covers the length, the ends, and fixed places between. Empty for values that are
            always read whole.
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
        """Whether only a sample of a large value was read."""
        return bool(self.sample) and not self.exact


def forms(value: Fingerprint) -> tuple[str | None, ...]:
    """Return the parts listed in ``FORMS``, with None for missing parts."""
    return tuple(map(value.parts.get, FORMS))


def results(value: Fingerprint) -> dict[str, str]:
    """Return the digests of cached properties in the part ``DERIVED``, by name."""
    told = (each.rpartition("=") for each in value.parts.get(DERIVED, "").split("; "))
    return {name: digest for name, _, digest in told if name}


def same(one: Fingerprint, other: Fingerprint) -> bool | None:
    """Return whether two values have the same visible content.

    Returns:
        True if both are equal, False if they differ, None if too little was read to decide.
    """
    if not one.digest or not other.digest:
        return None
    if one.exact and other.exact:
        return one.digest == other.digest
    if one.sample and other.sample:
        if one.sample != other.sample:
            return False
        return True if one.digest == other.digest != other.sample else None
    if one.sample or other.sample:  # only one has a sample, so compare kind and size
        told = (one.kind, one.summary) != (other.kind, other.summary)
        return False if told and (other if one.sample else one).exact else None
    return False if one.exact == other.exact and one.digest != other.digest else None
