"""Tests ``%why`` in real kernels: it names the true cause, and its way back works.

``tests/why/test_recorded.py`` judges all scenarios by their recordings. This file plays the
scenarios in ``LIVE``, and all scenarios with ``--everything``.
"""

from __future__ import annotations

import pytest

from tests.scenarios.playing import Outcome, missing_packages, play
from tests.scenarios.scenario import Scenario, read_all

SCENARIOS = {scenario.name: scenario for scenario in read_all()}

# Scenarios that cover every kind of cause, restarts, settings and kinds of values.
LIVE = frozenset((
    "accumulated", "appended_to_what_nothing_explains", "augment_own_rng", "augment_random_state",
    "awaited", "batchnorm_statistics", "captured_output", "checkpoint_of_another_cell", "chain_dropout_restart", "chain_frame",
    "chain_functions", "chain_training", "clock_as_seed", "clock_kept", "clock_of_pandas_as_text",
    "code_edited", "columns_in_a_loop", "compiled_pattern_read", "context_variable_set",
    "csv_changed", "default_device", "deque_cleared", "drawn_while_timed", "edited_beside_a_magic",
    "edited_to_print_beside_identifiers", "enum_defined_anew", "environment_named_by_a_caller",
    "environment_read", "estimator_of_many_attributes_fitted", "first_run", "folder_left_by_magic",
    "function_imported_from_a_file_that_is_written", "generator_exhausted",
    "generator_of_a_local_module", "generator_of_an_object_that_is_reset", "grad_disabled",
    "hash_gone_on", "hash_order_and_data", "history_by_key_only_appended_to", "import_draws",
    "iterator_taken", "loader_own_generator", "loader_shuffled", "magic_seed_between",
    "magic_seed_each", "module_edited_while_away", "module_reloaded", "numpy_raises",
    "operation_alerted", "operation_caught", "order_of_a_set_of_objects",
    "package_function_replaced_by_anothers", "parameters_read_by_with_open", "partial_keyword_set", "partitions_of_a_data_set",
    "path_of_imports", "picture_of_an_array_drawn_on", "pictures_of_another_format",
    "program_given_a_file", "pydantic_restart", "rate_left_by_a_finder", "registered_source", "replay_buffer",
    "restart_edited_setup", "restart_never_seeded", "restart_python", "restart_threads",
    "safetensors_rewritten", "sampler_generator", "sampler_has_its_own_generator",
    "sampler_own_generator", "script_run_in_the_notebook",
    "shown_by_names_given", "shown_with_precision", "shuffle_own_random", "spawned",
    "steps_counted", "timed_cell_repeats", "two_clock_dtype", "two_clock_generator",
    "type_of_autocast_switched_off", "view_of_keys_of_a_dictionary",
))  # fmt: skip

# Scenarios whose causes can all be restored, so that experiments prove them.
PROVED = (
    "accumulated", "array_view", "augment_own_rng", "autocast_on", "awaited",
    "batchnorm_statistics", "builtin_shadowed", "check_in_training", "class_redefined",
    "clock_kept_and_data", "code_edited", "csv_changed", "data_and_moved", "default_device",
    "edited_and_trained", "environment_of_a_helper", "environment_read",
    "epochs_unshuffled_dropout", "floats_of_whole_numbers", "folder_changed",
    "global_of_helper", "grad_disabled", "helper_moved_to_another_cell", "lambda_redefined",
    "list_only_appended_to", "loader_own_generator", "loader_shuffled", "name_deleted",
    "numpy_print_options", "part_read_itself", "replay_buffer", "restart_edited_setup",
    "restart_without_cleaning", "root_further_up", "sampler_generator",
    "set_grown",
)  # fmt: skip

# Scenarios in which a cause cannot be restored.
LIKELY = (
    "batches_taken", "clock_as_seed", "counter_taken", "scheduler_in_the_loop",
    "module_reloaded", "restart_never_seeded", "shell_beside_a_draw",
)  # fmt: skip


def _scenario(name: str) -> Scenario:
    scenario = SCENARIOS[name]
    if missing := missing_packages(scenario):
        pytest.skip(f"needs {', '.join(missing)}")
    return scenario


@pytest.mark.parametrize(
    "name",
    [
        name if name in LIVE else pytest.param(name, marks=pytest.mark.everything)
        for name in SCENARIOS
    ],
)
def test_names_the_true_cause_and_replays(name: str) -> None:
    """Every true cause is named, no other is, and the way back works if promised."""
    scenario = _scenario(name)
    outcome = play(scenario)
    assert not outcome.problems, "\n".join([scenario.title, *outcome.problems])
    if name in PROVED and "!restart" not in scenario.steps:
        _assert_proved(scenario, outcome)


@pytest.mark.parametrize("name", sorted({*PROVED, *LIKELY} - LIVE))
def test_experiments_clear_no_cause_and_prove_nothing_else(name: str) -> None:
    """Every restorable true cause is proved, no other is, and the kernel is unchanged."""
    scenario = _scenario(name)
    outcome = play(scenario, prove=True)
    assert not outcome.problems, "\n".join([scenario.title, *outcome.problems])
    if name in PROVED:
        _assert_proved(scenario, outcome)


def _assert_proved(scenario: Scenario, outcome: Outcome) -> None:
    """Fail if a true cause is neither proved nor carried by the cell itself."""
    assert outcome.answer is not None
    causes = outcome.answer["causes"]
    for wanted in scenario.wanted:
        assert {each["proof"] for each in wanted.among(causes)} <= {"proved", "carried"}, causes
