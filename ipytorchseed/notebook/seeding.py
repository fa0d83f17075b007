"""The rule that ``%seed each`` applies to later cells."""

from __future__ import annotations

import tokenize
from contextlib import suppress
from io import StringIO

from ipytorchseed.rng.seeds import check_seed, derive_seed


def text_of(source: str) -> str:
    """Return a cell's text without comments, blank lines and cell magics."""
    lines = source.splitlines()
    with suppress(tokenize.TokenError, SyntaxError):  # not Python: keep comments
        for token in tokenize.generate_tokens(StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column]
    kept = [line.rstrip() for line in lines if line.strip()]
    while kept and kept[0].startswith("%%"):
        del kept[0]
    return "\n".join(kept)


class Seeding:
    """The rule for seeding in a shell.

    Attributes:
        each: The common seed from which every cell is seeded; None for no rule.
        same: Whether every cell gets the common seed itself, not a derived one.
    """

    def __init__(self) -> None:
        self.each: int | None = None
        self.same = False
        self._alike: dict[str, list[str | None]] = {}

    @property
    def rule(self) -> str:
        """The rule in words; empty if there is none."""
        if self.each is None:
            return ""
        if self.same:
            return f"Before every cell, every source is seeded with {self.each}"
        return (
            f"Each cell now starts from its own seed, derived from {self.each} and the cell's text"
        )

    def apply(self, seed: int) -> None:
        """Seed every source now, and torch at its import if it is not imported yet.

        Raises:
            SeedError: ``seed`` is not a valid seed; no source was changed.
        """
        from ipytorchseed.rng.table import seed_all

        seed_all(check_seed(seed), wait=True)

    def for_cell(self, ident: str | None, source: str) -> int | None:
        """Return the seed that the rule gives a cell, if there is a rule.

        Args:
            ident: The front end's id of the cell, or None. Cells with equal text but different ids
                get different seeds, by the order of their first runs.
            source: The cell's text.
        """
        if self.each is None or self.same:
            return self.each
        text = text_of(source)
        alike = self._alike.setdefault(text, [])
        if ident not in alike:
            alike.append(ident)
        place = alike.index(ident)
        return derive_seed(self.each, f"{text}\n# {place}" if place else text)
