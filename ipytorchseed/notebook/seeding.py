"""What ``%seed`` put in force for later cells."""

from __future__ import annotations

from typing import NamedTuple


class Each(NamedTuple):
    """A rule that seeds before every cell.

    Attributes:
        seed: The common seed.
        same: True where every cell gets the common seed itself, not one of its own.
    """

    seed: int
    same: bool

    def for_cell(self, key: str) -> int:
        """Return the seed of the cell known by ``key``."""
        from ipytorchseed.rng.seeds import derive_seed

        return self.seed if self.same else derive_seed(self.seed, key)


class Seeding:
    """The rule in force, and the seed last applied by a command.

    Attributes:
        each: The rule for every cell, or None.
        last: The seed last applied, or None.
    """

    def __init__(self) -> None:
        self.each: Each | None = None
        self.last: int | None = None

    @property
    def rule(self) -> str:
        """The rule in force, in words; empty where there is none."""
        if self.each is None:
            return ""
        if self.each.same:
            return f"Before every cell, every source is seeded with {self.each.seed}"
        return (
            "Before every cell, every source is seeded with what follows from"
            f" {self.each.seed} and the cell"
        )

    def apply(self, seed: int) -> None:
        """Seed every source now.

        Raises:
            SeedError: ``seed`` is none; nothing was moved.
        """
        from ipytorchseed.rng.table import seed as seed_all

        seed_all(seed)
        self.last = seed

    def for_cell(self, key: str) -> int | None:
        """Return the seed that the rule gives the cell known by ``key``, if there is a rule."""
        return None if self.each is None else self.each.for_cell(key)
