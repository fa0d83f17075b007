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
    """A flag with its current value and the value that it should have.

    Attributes:
        flag: The flag.
        value: The current value, from ``Flag.read``.
        wanted: The value that repeatability needs on this machine, or ANY.
        late: Why it is too late to change the flag in this process, or None.
        standing: The verdict.
    """

    flag: Flag
    value: object
    wanted: object
    late: str | None
    standing: Standing

    @property
    def ok(self) -> bool:
        """Whether the flag needs no change."""
        return self.standing not in (Standing.WRONG, Standing.LATE)


class Assessment(Struct, frozen=True):
    """The judgement of every flag, and the versions and hardware.

    Attributes:
        flags: The flags in the order of the table, then the settings of loaded libraries.
        facts: The versions and hardware, each with its value; None if unknown.
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

    This imports torch, and starts no device.
    """
    machine = Machine.here()
    return Assessment(
        flags=tuple(judge(flag, machine) for flag in (*FLAGS, *library_flags())),
        facts=tuple((fact, fact.read()) for fact in FACTS),
    )
