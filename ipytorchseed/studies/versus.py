"""Two studies, compared seed by seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.errors import LookupFailure
from ipytorchseed.render.html import fill
from ipytorchseed.render.text import wrap
from ipytorchseed.render.values import aligned
from ipytorchseed.render.view import View
from ipytorchseed.studies.record import listed
from ipytorchseed.studies.statistics import FEWEST, LEVEL, Paired, as_plain, compare_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.studies.record import Record


class Versus(View):
    """Two studies, compared seed by seed.

    Args:
        before: What is compared with.
        after: The other.
        name: Of ``before``.

    Raises:
        LookupFailure: They have no seed, or no number, in common; or scipy is not installed.
    """

    def __init__(self, before: Record, after: Record, name: str = "the other study") -> None:
        self.name = name
        refuse_strangers(before, after.seeds, name)
        both = [seed for seed in after.seeds if seed in before.seeds]
        self.pairs: dict[str, Paired] = {}
        self.before: dict[str, list[float]] = {}
        for number in after.numbers:
            if number in before.numbers:
                then, now = (
                    [each.value(number, seed) for seed in both] for each in (before, after)
                )
                paired = compare_pairs(then, now)
                if paired is not None:
                    self.pairs[number] = paired
                    self.before[number] = then
        if not self.pairs:
            msg = (
                f"{name} and this study have no number in common: {listed(before.numbers)} there,"
                f" {listed(after.numbers)} here"
            )
            raise LookupFailure(msg)

    @property
    def sentences(self) -> list[str]:
        """One for each number that both have."""
        pairs = self.pairs
        differing = {name: pairs[name] for name in pairs if _verdict(pairs[name]) != "same"}
        said = [_sentence(number, paired) for number, paired in (differing or pairs).items()]
        told = len(differing)
        if told > 1:
            rate = round(1 / (1 - LEVEL))
            said.append(f"{told} numbers are compared: one in {rate} stands out by chance alone.")
        return said

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        lines = [wrap(f"Against {self.name}, seed by seed:", first="")]
        return "\n".join(lines + [wrap(line, first="  ") for line in self.sentences])

    def html(self) -> str:
        """Draw it for a notebook, without script."""
        return fill("study", view=self, study=None, versus=self)

    def as_json(self) -> dict[str, object]:
        """Return it as plain values."""
        numbers = [
            {"name": name, **as_plain(paired), "verdict": _verdict(paired)}
            for name, paired in self.pairs.items()
        ]
        return {"name": self.name, "numbers": numbers}


def refuse_strangers(before: Record, seeds: Sequence[int], name: str) -> None:
    """Refuse to compare where no seed would be in common.

    Raises:
        LookupFailure: None is.
    """
    if not {*before.seeds} & {*seeds}:
        msg = (
            f"{name} ran with the seeds {before.seeds[0]} to {before.seeds[-1]}, this study with"
            f" {seeds[0]} to {seeds[-1]}: without a seed in common there is nothing to pair"
        )
        raise LookupFailure(msg)


def _sentence(name: str, paired: Paired) -> str:
    """Say of a number how it differs; which way is better, only its author knows."""
    ends = paired.interval
    if paired.higher == paired.lower == 0:
        return f"{name}: the same with each of {paired.pairs} seeds."
    down = paired.difference < 0
    write = aligned([paired.difference], None if ends is None else (ends[1] - ends[0]) / 2)
    around = "" if ends is None else f" ± {write((ends[1] - ends[0]) / 2)}"
    times = paired.lower if down else paired.higher
    begin = f"{name}: {'lower' if down else 'higher'} in {times} of {paired.pairs} seeds"
    difference = f"the difference of {write(paired.difference)}{around}"
    said = {
        "too few": f"cannot be told from the noise of so few seeds: run {FEWEST} or more",
        "noise": f"is within the noise of seeds (p = {_probability(paired.p)})",
        "more": f"is more than the noise of seeds (p = {_probability(paired.p)})",
    }
    return f"{begin}; {difference} {said[_verdict(paired)]}."


def _verdict(paired: Paired) -> str:
    if paired.higher == paired.lower == 0:
        return "same"
    if paired.p is None or paired.pairs < FEWEST:
        return "too few"
    return "more" if paired.p < 1 - LEVEL else "noise"


def _probability(p: float | None) -> str:
    return "?" if p is None else f"{p:.2g}" if p >= 0.001 else "< 0.001"  # noqa: PLR2004
