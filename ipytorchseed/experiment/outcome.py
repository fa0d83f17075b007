"""The outcome of a run of a cell, to be compared with another run bit by bit."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import Outputs
from ipytorchseed.why.changes import find_output_changes, results_differ
from ipytorchseed.why.explanation import Change
from ipytorchseed.why.value_changes import how_far


class Outcome(Struct, frozen=True):
    """The outcome of a run: its results, and the states of the sources after it.

    Attributes:
        variables: The variables that it made or may have changed, by name.
        outputs: What it showed.
        sources: The final state of each source and generator, by name.
    """

    variables: Mapping[str, Fingerprint] = {}
    outputs: Outputs = Outputs()
    sources: Mapping[str, str] = {}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not self.variables and replace(self.outputs, shown=None) == Outputs()


def find_differences(before: Outcome, after: Outcome) -> tuple[Change, ...]:
    """Compare the outcomes of two runs.

    Args:
        before: One run.
        after: Another.
    """
    found = []
    for name in dict.fromkeys([*before.variables, *after.variables]):
        one, other = before.variables.get(name), after.variables.get(name)
        if results_differ(one, other):
            found.append(Change("variable", name, how_far(one, other)))
    found += find_output_changes(before.outputs, after.outputs)
    found += [
        Change("source", name, "was left in another state")
        for name in dict.fromkeys([*before.sources, *after.sources])
        if before.sources.get(name) != after.sources.get(name)
    ]
    return tuple(found)
