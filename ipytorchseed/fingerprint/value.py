"""What a look at a value gives."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 -- msgspec reads the fields' types

from msgspec import Struct


class Fingerprint(Struct, frozen=True, omit_defaults=True):
    """The name of a value's content, and what may be said of it without its content.

    Attributes:
        digest: 16 hex digits. Of two exact fingerprints, equal digests mean equal content; so of
            two that are both not exact, as far as the sample goes, which is the same positions
            whenever it is taken. An exact one and one that is not say nothing about each other.
        kind: What it is, in a word: ``tensor``, ``module``, ``list``, ``function``, ``opaque``.
        summary: What it is, in a line for people. Numbers stand in it, no other contents.
        exact: Whether the digest is of all the content that can be seen, rather than of a sample.
            A large tensor read in full before, and by ``Memo``'s proof not written to since,
            counts as read.
        opaque: True where the content cannot be seen; the digest is then of what can, such as the
            type and the position.
        parts: Digests or short words for aspects: a module's ``mode``, its parameters as
            ``p:<name>``, a dictionary's items as ``k:<key>``, a list's ``length``. What a part
            names does not depend on the rest of the value. ``unseen`` lists types inside the
            value whose content cannot be seen; ``random`` names the states of the generators of
            random numbers inside it, which its digest leaves out.
        series: Its numbers, where it is a number or a series of at most 8,192.
    """

    digest: str
    kind: str
    summary: str = ""
    exact: bool = True
    opaque: bool = False
    parts: Mapping[str, str] = {}
    series: tuple[float, ...] | None = None
