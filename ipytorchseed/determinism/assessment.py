"""Assesses every flag of this process for repeatability on this machine."""

from __future__ import annotations

import enum

from msgspec import Struct

from ipytorchseed.determinism.flag import ANY, Flag, Unreadable
from ipytorchseed.determinism.libraries import library_flags
from ipytorchseed.determinism.machine import FACTS, Fact, Machine
from ipytorchseed.determinism.table import FLAGS


class Standing(enum.IntEnum):
    """The verdict on a flag, worst first."""

    WRONG = 0
    LATE = 1
    UNKNOWN = 2
    RIGHT = 3
    FREE = 4
    ABSENT = 5


class Judged(Struct, frozen=True):
    """A flag with its value and the value it should have.

    Attributes:
        flag: Its row in the table.
        value: The result of ``Flag.read``.
        wanted: What repeatability needs here, or ANY.
        late: Why it cannot be changed in this process, or None.
        standing: The verdict.
    """

    flag: Flag
    value: object
    wanted: object
    late: str | None
    standing: Standing

    @property
    def ok(self) -> bool:
        """Whether nothing needs to be done about it."""
        return self.standing not in (Standing.WRONG, Standing.LATE)


class Assessment(Struct, frozen=True):
    """Every flag judged, and the versions and hardware.

    Attributes:
        flags: In the order of the table, then the settings of loaded libraries.
        facts: Rows of versions and hardware with their values; None where unknown.
    """

    flags: tuple[Judged, ...]
    facts: tuple[tuple[Fact, str | None], ...]

    @property
    def problems(self) -> list[Judged]:
        """The flags that prevent repeatability, worst first."""
        return sorted((each for each in self.flags if not each.ok), key=lambda each: each.standing)

    @property
    def repeats(self) -> bool:
        """Whether no flag is known to prevent repeatable results."""
        return not self.problems


def judge(flag: Flag, machine: Machine) -> Judged:
    """Read a flag and assess it for a machine."""
    value, wanted, late = flag.read(), flag.wanted(machine), flag.late(machine)
    if not flag.applies(machine):
        standing = Standing.ABSENT
    elif isinstance(value, Unreadable):
        standing = Standing.UNKNOWN
    elif wanted is ANY:
        standing = Standing.FREE
    elif flag.fits(value, wanted):
        standing = Standing.RIGHT
    else:
        standing = Standing.WRONG if late is None else Standing.LATE
    return Judged(flag, value, wanted, late, standing)


def assess() -> Assessment:
    """Judge every flag of this process.

    torch is imported if it was not; no device is started.
    """
    machine = Machine.here()
    return Assessment(
        flags=tuple(judge(flag, machine) for flag in (*FLAGS, *library_flags())),
        facts=tuple((fact, fact.read()) for fact in FACTS),
    )
