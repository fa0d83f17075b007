"""``%why`` in notebooks whose true cause of change is known: that cause, and no other."""

from __future__ import annotations

import importlib.util
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.runner import AT_ONCE, Outcome, Scenario, play, read_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCENARIOS = read_all()
ENOUGH = 60


def _missing(scenario: Scenario) -> list[str]:
    return [name for name in scenario.needs if importlib.util.find_spec(name) is None]


@pytest.fixture(scope="session")
def outcome_of(request) -> Iterator[Callable[[Scenario], Outcome]]:
    """Ask for outcomes of the chosen scenarios, which are played several at once.

    Where tests are spread over processes, each process plays what it is asked for.
    """
    if hasattr(request.config, "workerinput"):
        yield play
        return
    chosen = [item.callspec.params["scenario"] for item in request.session.items
              if item.originalname == "test_names_the_true_cause"]  # fmt: skip
    pool = ThreadPoolExecutor(AT_ONCE)
    futures: dict[str, Future[Outcome]] = {
        each.name: pool.submit(play, each) for each in chosen if not _missing(each)
    }
    yield lambda scenario: futures[scenario.name].result()
    pool.shutdown(cancel_futures=True)


@pytest.mark.spread
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_names_the_true_cause(scenario: Scenario, outcome_of) -> None:
    """Every cause is named with the runs to blame, no other is, and the verdict is right."""
    if missing := _missing(scenario):
        pytest.skip(f"needs {', '.join(missing)}")
    outcome = outcome_of(scenario)
    assert not outcome.problems, "\n".join([scenario.title, *outcome.problems])


def test_a_third_is_innocent() -> None:
    """Of the scenarios, a third have no cause to name, or a suspect that had no part in it."""
    innocent = [each for each in SCENARIOS if not each.changed or each.innocent]
    assert len(SCENARIOS) >= ENOUGH
    assert 3 * len(innocent) >= len(SCENARIOS)
