"""A rank on its way through its looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ipytorchseed.ranks.records import Look, Mark, Rank, Site


class Track(Struct):
    """A rank, as it stands after a step.

    Attributes:
        rank: Who it is.
        looks: What is left of its looks.
        pending: The next one; None at the end.
        step: The step of the last one.
        marks: Where its sources stand.
        states: The last two full states that were kept of each source, with their steps.
        sites: What drew in the last step, and how often.
        values: As in ``Look``.
        settings: As in ``Look``.
        looked: The step at which values were taken last.
    """

    rank: Rank
    looks: Iterator[Look]
    pending: Look | None = None
    step: int = -1
    marks: dict[str, Mark] = {}
    states: dict[str, list[tuple[int, bytes]]] = {}
    sites: dict[Site, int] = {}
    values: dict[str, dict[str, str]] = {}
    settings: dict[str, Any] = {}
    looked: int = -1

    def advance(self) -> None:
        """Take the pending look, and have the next one ready."""
        look = self.pending
        if look is not None:
            self.step = look.step
            self.marks = {**self.marks, **look.marks}
            for name, state in look.states.items():
                self.states[name] = [*self.states.get(name, [])[-1:], (look.step, state)]
            if look.sites is not None:
                self.sites = dict(look.sites)
            if look.values is not None:
                self.values, self.looked = look.values, look.step
            self.settings = look.settings or self.settings
        self.pending = next(self.looks, None)

    def origin(self, name: str, before: int) -> bytes | None:
        """Return the last full state of a source that was kept before a step."""
        earlier = [state for step, state in self.states.get(name, []) if step < before]
        return earlier[-1] if earlier else None
