"""The result of a fingerprint: digest, parts, and whether it is exact."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

# The part that counts how often a value has a list, dictionary or set more than once. In the
# record of a run, also the variables that are that object or share its memory.
SHARED = "shared"

# Kinds of values that can be mutated through one name and seen through another.
SHAREABLE = frozenset({"array", "deque", "dict", "frame", "list", "series", "set", "tensor"})

# The part for cached properties of objects inside a value, such as ``Data.total=1f3a9c02;
# Data.rate=02b0c5d7``; they are not in its digest.
DERIVED = "derived"

# The part of a table that is the same for any order of its rows.
SUMS = "sums"

# The part with the models whose parameters an optimizer updates, and the optimizers whose rate a
# scheduler sets, if the run read them.
BELONGS = "belongs"

# The part with the classes inside a value that their module has redefined since, such as
# ``Square``: ``isinstance`` fails for these objects.
OUTDATED = "outdated"

# Aspects that are not in the digest: the states of generators inside, the memory layout, the
# order of a set, repeated objects, and redefined classes. They matter only if nothing else
# differs.
FORMS = ("random", "strides", "order", SHARED, OUTDATED)


# The kind of a connection to a database, whose content is not read.
DATABASE = "database"

# The kind of a value that was not read because a GPU was still computing.
PENDING = "pending"


class Fingerprint(Struct, frozen=True, omit_defaults=True):
    """The identity of a value's content, and a description without that content.

    Attributes:
        digest: 16 hex digits, of all the content or of a sample; empty if the time did not
            suffice. Compare two with ``same``.
        kind: The kind of the value, in a word: ``tensor``, ``module``, ``list``, ``function``,
            ``opaque``.
        summary: A line for people. It has numbers, but no other contents.
        exact: Whether the digest is of all the visible content and nothing else, not of a sample.
            A large tensor counts as read if it was read before, and ``Memo`` proves that it was not
            written to since.
        opaque: True if the content is not visible; the digest is then of the type, the position
            and so on.
        parts: Digests or short words for aspects: a module's ``mode``, its parameters as
            ``p:<name>``, a dictionary's items as ``k:<key>``, a list's ``length``, and its
            ``items`` in any order if they are few. What a part names does not depend on the rest
            of the value. ``unseen`` lists types inside the value whose content is not visible;
            ``random`` names the states of the generators of random numbers inside it, ``kept`` how
            many results a function's cache has, and ``times`` a printed text with its times; the
            digest leaves these out.
        series: Its numbers, if it is a number or a series of at most 8,192.
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
    """Return the aspects in ``FORMS``, each None if absent."""
    return tuple(map(value.parts.get, FORMS))


def results(value: Fingerprint) -> dict[str, str]:
    """Return digests of the properties that objects inside cache: see ``DERIVED``."""
    told = (each.rpartition("=") for each in value.parts.get(DERIVED, "").split("; "))
    return {name: digest for name, _, digest in told if name}


def same(one: Fingerprint, other: Fingerprint) -> bool | None:
    """Return whether two values have the same content, as far as it can be seen.

    Returns:
        True if both were read whole and are equal, False if they are known to differ, None if too
        little was read to decide.
    """
    if not one.digest or not other.digest:
        return None
    if one.exact and other.exact:
        return one.digest == other.digest
    if one.sample and other.sample:
        if one.sample != other.sample:
            return False
        return True if one.digest == other.digest != other.sample else None
    if one.sample or other.sample:  # only one is large: their sizes decide
        told = (one.kind, one.summary) != (other.kind, other.summary)
        return False if told and (other if one.sample else one).exact else None
    return False if one.exact == other.exact and one.digest != other.digest else None
