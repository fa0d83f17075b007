"""What a run of a cell made, as it is compared with another run of it: bit by bit."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.why.changes import (
    SHOWN_OTHERWISE,
    count_displays,
    displays_differ,
    results_differ,
    shown_otherwise,
)
from ipytorchseed.why.explanation import Change
from ipytorchseed.why.value_changes import how_far


class Outcome(Struct, frozen=True):
    """The outcome of a run: its results, and the states of the sources after it.

    Attributes:
        variables: What it made or may have changed, by name.
        result: Its last expression, if it showed one.
        stdout: What it printed, if anything.
        displays: What it displayed, in order.
        sources: Where it left each source and generator, by name.
        error: The error that ended it, as one line.
        shown: How its last expression was shown.
    """

    variables: Mapping[str, Fingerprint] = {}
    result: Fingerprint | None = None
    stdout: Fingerprint | None = None
    displays: tuple[Fingerprint, ...] = ()
    sources: Mapping[str, str] = {}
    error: str | None = None
    shown: Fingerprint | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not (self.variables or self.result or self.stdout or self.displays or self.error)


def find_differences(before: Outcome, after: Outcome) -> tuple[Change, ...]:
    """Compare what two runs made.

    Args:
        before: One run.
        after: Another.
    """
    found = []
    for name in dict.fromkeys([*before.variables, *after.variables]):
        one, other = before.variables.get(name), after.variables.get(name)
        if results_differ(one, other):
            found.append(Change("variable", name, how_far(one, other)))
    for what, one, other in (
        ("result", before.result, after.result),
        ("stdout", before.stdout, after.stdout),
    ):
        if results_differ(one, other):
            found.append(Change(what, "", how_far(one, other)))
    if shown_otherwise(before, after):
        found.append(Change("display", "", SHOWN_OTHERWISE))
    if displays_differ(before.displays, after.displays):
        counts = [count_displays(each.displays) for each in (before, after)]
        told = f"{counts[0]:,} and {counts[1]:,} displays"
        if counts[0] == counts[1]:
            pairs = zip(before.displays, after.displays, strict=False)
            first = next(place for place, pair in enumerate(pairs, 1) if results_differ(*pair))
            told = f"display {first:,} of {counts[0]:,} has other content"
        found.append(Change("display", "", told))
    if before.error != after.error:
        told = f"{before.error or 'no error'} → {after.error or 'no error'}"
        found.append(Change("error", "", told))
    found += [
        Change("source", name, "was left in another state")
        for name in dict.fromkeys([*before.sources, *after.sources])
        if before.sources.get(name) != after.sources.get(name)
    ]
    return tuple(found)
