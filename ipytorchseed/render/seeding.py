"""What was seeded, and what is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ipytorchseed.render.text import draw_table, visible
from ipytorchseed.render.values import hue, pick, short_digest
from ipytorchseed.render.view import View
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import locate, recent_seeds, sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.rng.generators import Found


def seeded_text(seed: int, reseeded: Sequence[tuple[Found, int]], left: Sequence[Found]) -> str:
    """Say what a seed was given to.

    Args:
        seed: The seed.
        reseeded: Generators of the namespace that got a derived seed, with that seed.
        left: Generators of the namespace that were left alone.
    """
    lines = [f"Seeded {', '.join(source.name for source in sources())} with {seed}."]
    lines += [f"  {found.name} ({found.kind.type}): {derived}" for found, derived in reseeded]
    if left:
        names = ", ".join(found.name for found in left)
        lines.append(f"Left alone: {names}. To reseed them too: %seed {seed} --generators")
    return "\n".join(map(visible, lines))


class Row(Struct, frozen=True):
    """A source or generator as it stands.

    Attributes:
        name: How one reaches it.
        type: What it is; empty for a source.
        digest: Its state's name, or None where the state cannot be read.
        position: Its seed and draws.
    """

    name: str
    type: str
    digest: str | None
    position: Position

    @property
    def where(self) -> str:
        """Its seed and draws, in words."""
        return str(self.position)

    def to_json(self) -> dict[str, object]:
        """Return what other programs read."""
        kind = {"type": self.type} if self.type else {}
        return {
            "name": self.name,
            **kind,
            "digest": self.digest,
            **pick(self.position, "seed", "draws"),
        }

    @property
    def short(self) -> str:
        """The digest as people read it."""
        return short_digest(self.digest)

    @property
    def hue(self) -> int:
        """The colour of the digest's chip, in degrees: equal states, equal colours."""
        return hue(self.digest) if self.digest else 0


def read_rows(found: Sequence[Found]) -> list[Row]:
    """Look at every source, and at the given generators of the namespace; none of them moves."""
    rows = []
    for source in sources():
        state = source.read()
        rows.append(
            Row(source.name, "", None, UNKNOWN)
            if state is None
            else Row(source.name, "", digest(state), locate(source, state))
        )
    return rows + [Row(each.name, each.kind.type, each.digest, each.position) for each in found]


class SeedStatus(View):
    """What is in force.

    Args:
        title: The last seed and the rule for every cell, in words.
        rows: Sources, then generators.
    """

    template = "seeding"

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        self.title = title
        self.rows = rows

    @classmethod
    def read(cls, last: int | None, rule: str, found: Sequence[Found]) -> SeedStatus:
        """Look at every source and generator; none of them moves.

        Args:
            last: The seed last applied by a command, or None.
            rule: The rule for every cell, in words; empty where there is none.
            found: The generators of the namespace.
        """
        if last is None:
            last = next(iter(recent_seeds()), None)
        title = "No seed set yet." if last is None else f"Last seed: {last}."
        return cls(f"{title} {rule}." if rule else title, read_rows(found))

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        columns = {title: {"overflow": "fold"} for title in ("Source", "State", "Stands at")}
        rows = [
            (f"{row.name} ({row.type})" if row.type else row.name, row.short, row.where)
            for row in self.rows
        ]
        return draw_table(self.title, columns, rows)
