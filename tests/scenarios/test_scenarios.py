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


PROVED = (
    "accumulated", "array_view", "augment_own_rng", "autocast_on", "awaited",
    "batchnorm_statistics", "builtin_shadowed", "check_in_training", "class_redefined",
    "clock_kept_and_data", "code_edited", "data_and_moved", "default_device",
    "edited_and_trained", "environment_of_a_helper", "environment_read",
    "epochs_unshuffled_dropout", "floats_of_whole_numbers", "folder_changed",
    "global_of_helper", "grad_disabled", "helper_moved_to_another_cell", "lambda_redefined",
    "list_only_appended_to", "loader_own_generator", "loader_shuffled", "name_deleted",
    "numpy_print_options", "part_read_itself", "replay_buffer", "restart_edited_setup",
    "restart_without_cleaning", "root_further_up", "sampler_generator", "scheduler_in_the_loop",
    "set_grown",
)  # fmt: skip
"""Scenarios whose causes experiments prove: each can be put back."""

LIKELY = (
    "batches_taken", "clock_as_seed", "counter_taken", "csv_changed", "input_and_file",
    "module_reloaded", "restart_never_seeded", "shell_beside_a_draw",
)  # fmt: skip
"""Scenarios in which something cannot be put back."""


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


@pytest.mark.spread
@pytest.mark.parametrize("name", [*PROVED, *LIKELY])
def test_experiments_clear_no_cause_and_prove_nothing_else(name: str) -> None:
    """Every true cause that can be put back is proved, no other is, and all is as before."""
    scenario = next(each for each in SCENARIOS if each.name == name)
    if missing := _missing(scenario):
        pytest.skip(f"needs {', '.join(missing)}")
    outcome = play(scenario, prove=True)
    assert not outcome.problems, "\n".join([scenario.title, *outcome.problems])
    levels = {cause["name"]: cause["proof"] for cause in outcome.answer["causes"]}
    for wanted in scenario.wanted if name in PROVED else ():
        named = wanted.among(outcome.answer["causes"])
        assert {cause["proof"] for cause in named} == {"proved"}, (wanted, levels)


def test_a_third_is_innocent() -> None:
    """Of the scenarios, a third have no cause to name, or a suspect that had no part in it."""
    innocent = [each for each in SCENARIOS if not each.changed or each.innocent]
    assert len(SCENARIOS) >= ENOUGH
    assert 3 * len(innocent) >= len(SCENARIOS)
