"""What a rank writes down of itself: a line of JSON for its beginning, and for each look."""

from __future__ import annotations

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
        pid: The process's number.
        started: When it began to be watched, in seconds since the epoch.
        every: Steps between two looks at parameters; 0 for a single look.
        synchronised: Whether DistributedDataParallel gives all ranks the buffers of rank 0.
        masks: Whether the model has layers that drop by chance.
    """

    rank: int
    world: int | None = None
    launch: str = ""
    host: str = ""
    pid: int = 0
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
