"""The records that a rank writes as lines of JSON, and its state read from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Meta, Struct

FOLDER = "ipytorchseed-ranks"
"""The default folder for the ranks' files, relative to the working folder."""


Count = Annotated[int, Meta(ge=0, le=1 << 53)]


class Mark(Struct, frozen=True, array_like=True):
    """A short form of the state of a source.

    Attributes:
        digest: The digest of the full state.
        position: The position in the random stream, from ``distance.mark_of``.
    """

    digest: str
    position: tuple[str, Count] | None = None


class Site(Struct, frozen=True, array_like=True):
    """A line of code that called a function that draws.

    Attributes:
        what: The function, or the part of torch that drew.
        file: The file of the line.
        line: The number of the line, from 1.
    """

    what: str
    file: str
    line: Count

    def __str__(self) -> str:
        *folders, name = self.file.replace("\\", "/").split("/")
        cell = self.file.startswith("<") or any(each.startswith("ipykernel_") for each in folders)
        return f"{self.what}, {'the cell' if cell else name} line {self.line}"


class Rank(Struct, frozen=True, omit_defaults=True, tag="rank"):
    """One of the processes of a training run.

    Attributes:
        rank: The number of the process, from 0.
        world: The number of processes; None if unknown.
        launch: A text that is the same in all processes started together.
        host: The machine's name.
        started: When watching began, in seconds since 1970.
        every: The number of steps between two looks at parameters; 0 for a single look.
        synchronised: Whether DistributedDataParallel copies the buffers of rank 0 to all ranks.
        masks: Whether the model has active dropout layers.
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
    """The state of a rank after a step. Unchanged parts are left out.

    Attributes:
        step: The optimizer's step, from 1; 0 before the first step.
        marks: The short states of sources that changed.
        sites: The lines that drew in this step, each with its number of calls; None if they are the
            same as in the step before.
        states: Full states of sources, in some looks.
        values: Digests by group (``parameters``, ``buffers``, ``optimizer``) and by name in the
            group; None if no digests were taken.
        settings: Flags, versions and hardware; None if they are unchanged.
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
        looks: The looks after ``pending``.
        pending: The next look; None at the end.
        step: The step of the last look that was applied.
        marks: The short states of all sources.
        states: The last two recorded full states of each source, with their steps.
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
        """Apply the pending look, and read the next one."""
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
        """Return the last full state of a source recorded before a step, or None."""
        earlier = [state for step, state in self.states.get(name, []) if step < before]
        return earlier[-1] if earlier else None
