"""The records of a rank: a line of JSON for each look, and the state as read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Meta, Struct

FOLDER = "ipytorchseed-ranks"
"""The folder that ranks write to by default, in the working folder."""


Count = Annotated[int, Meta(ge=0, le=1 << 53)]


class Mark(Struct, frozen=True, array_like=True):
    """The state of a source, in short.

    Attributes:
        digest: The digest of its full state.
        position: Its position in the stream, as by ``distance.mark_of``.
    """

    digest: str
    position: tuple[str, Count] | None = None


class Site(Struct, frozen=True, array_like=True):
    """A line from which a function that draws was called.

    Attributes:
        what: The function, or the part of torch that drew.
        file: The file of the line.
        line: From 1.
    """

    what: str
    file: str
    line: Count

    def __str__(self) -> str:
        *folders, name = self.file.replace("\\", "/").split("/")
        cell = self.file.startswith("<") or any(each.startswith("ipykernel_") for each in folders)
        return f"{self.what}, {'the cell' if cell else name} line {self.line}"


class Rank(Struct, frozen=True, omit_defaults=True, tag="rank"):
    """One of several processes.

    Attributes:
        rank: Its number, from 0.
        world: How many there are; None where the process does not know.
        launch: A text that is the same in all processes started together.
        host: The machine's name.
        started: When it began to be watched, in seconds since the epoch.
        every: Steps between two looks at parameters; 0 for a single look.
        synchronised: Whether DistributedDataParallel gives all ranks the buffers of rank 0.
        masks: Whether the model has dropout layers that are active.
    """

    rank: Count
    world: Count | None = None
    launch: str = ""
    host: str = ""
    started: float = 0.0
    every: Count = 0
    synchronised: bool = False
    masks: bool = False


class Look(Struct, omit_defaults=True, tag="look"):
    """What was seen after a step; what is absent has not changed since the last step.

    Attributes:
        step: The optimizer's step, from 1; 0 before the first.
        marks: The sources that moved.
        sites: The lines that drew in this step, with the number of calls.
        states: Full states of sources.
        values: Digests by group (``parameters``, ``buffers``, ``optimizer``) and by name in the
            group; None if no digests were taken.
        settings: Flags, versions and hardware; None where they did not change.
    """

    step: Count
    marks: dict[str, Mark] = {}
    sites: list[tuple[Site, Count]] | None = None
    states: dict[str, bytes] = {}
    values: dict[str, dict[str, str]] | None = None
    settings: dict[str, Any] | None = None


class Track(Struct):
    """The state of a rank after a step, from its looks so far.

    Attributes:
        rank: The rank.
        looks: Its further looks.
        pending: The next look; None at the end.
        step: The step of the last look taken.
        marks: All its sources.
        states: The last two full states that were kept of each source, with their steps.
        sites: The lines that drew in the last step, with the number of calls.
        values: As in ``Look``.
        settings: As in ``Look``.
        looked: The last step with values.
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
        """Take the pending look, and fetch the next one."""
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
