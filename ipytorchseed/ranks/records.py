"""What a rank writes of itself, a line of JSON for each look, and the rank that these make up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

FOLDER = "ipytorchseed-ranks"
"""Where ranks write unless told otherwise, in the working folder."""


class Mark(Struct, frozen=True, array_like=True):
    """Where a source stands.

    Attributes:
        digest: The name of its whole state.
        place: What ``distance.mark_of`` tells of it.
    """

    digest: str
    place: tuple[str, int] | None = None


class Site(Struct, frozen=True, array_like=True):
    """A line from which a function that draws was called.

    Attributes:
        what: The function, or what of torch's asked for the draw.
        file: The file of the line.
        line: From 1.
    """

    what: str
    file: str
    line: int

    def __str__(self) -> str:
        *folders, name = self.file.replace("\\", "/").split("/")
        cell = self.file.startswith("<") or any(each.startswith("ipykernel_") for each in folders)
        return f"{self.what}, {'the cell' if cell else name} line {self.line}"


class Rank(Struct, frozen=True, omit_defaults=True, tag="rank"):
    """Which process it is.

    Attributes:
        rank: From 0.
        world: How many there are; None where the process does not know.
        launch: What is the same in all processes started together.
        host: The machine's name.
        started: When it began to be watched, in seconds since the epoch.
        every: Steps between two looks at parameters; 0 for a single look.
        synchronised: Whether DistributedDataParallel gives all ranks the buffers of rank 0.
        masks: Whether the model has layers that drop by chance.
    """

    rank: int
    world: int | None = None
    launch: str = ""
    host: str = ""
    started: float = 0.0
    every: int = 0
    synchronised: bool = False
    masks: bool = False


class Look(Struct, omit_defaults=True, tag="look"):
    """What was seen after a step. What is left out is as it was after the step before.

    Attributes:
        step: The optimizer's, from 1; 0 before the first.
        marks: Where sources stand that moved.
        sites: What called for draws in this step, and how often.
        states: Full states of sources.
        values: Digests by the name of a group (``parameters``, ``buffers``, ``optimizer``) and the
            name in it; None where none were taken.
        settings: Flags, versions and hardware; None likewise.
    """

    step: int
    marks: dict[str, Mark] = {}
    sites: list[tuple[Site, int]] | None = None
    states: dict[str, bytes] = {}
    values: dict[str, dict[str, str]] | None = None
    settings: dict[str, Any] | None = None


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
