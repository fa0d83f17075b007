"""``%why`` from records alone: it names the true cause of every scenario."""

from __future__ import annotations

import pytest

from tests.scenarios import recording
from tests.scenarios.scenario import Scenario, read_all

SCENARIOS = read_all()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_names_the_true_cause(scenario: Scenario) -> None:
    """Every cause is named with its runs, no other is, and the verdict is right."""
    kept = recording.load(scenario)
    assert kept is not None, "the scenario is new or was edited: run `make record`"
    problems = recording.problems_of(scenario, kept)
    assert not problems, "\n".join([scenario.title, *problems])


def test_recordings_are_fresh() -> None:
    """The code that records is the code that wrote the recordings."""
    fresh = recording.recorded_generation() == recording.generation()
    assert fresh, "the code that records runs was changed: run `make record`, which plays them all"


def test_a_quarter_is_innocent() -> None:
    """A quarter of the scenarios have no cause, or a suspect that must be cleared."""
    innocent = [each for each in SCENARIOS if not each.changed or each.innocent]
    assert 4 * len(innocent) >= len(SCENARIOS)
