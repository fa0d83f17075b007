"""Samplers of optuna own their generators."""

OBJECTIVE = """
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)

def objective(trial):
    return trial.suggest_float("x", -5, 5) ** 2
"""

ASKED = """
study = optuna.create_study({})
study.optimize(objective, n_trials=3)
study.best_value
"""


def test_a_sampler_that_moved_on_is_named_and_seeded(notebook):
    """By its path and library. The command in the answer makes the cell repeat."""
    book = notebook("optuna")
    book.run(OBJECTIVE)
    book.run("sampler = optuna.samplers.RandomSampler(seed=0)")
    book.until_changed(ASKED.format("sampler=sampler"))
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"], cause["proof"]) == ("rng", "sampler._rng.rng", "proved")
    assert "`sampler._rng.rng` had moved on" in cause["message"]
    assert book.why()["keep"] == ["put `%seed 42 --generators` at the top of this cell"]
    asked = "%seed 42 --generators -q\n" + ASKED.format("sampler=sampler")
    assert book.run(asked, "asked") == book.run(asked, "asked")


def test_a_study_without_a_sampler_is_named(notebook):
    """The answer has the argument that seeds it."""
    book = notebook("optuna")
    book.run(OBJECTIVE)
    book.until_changed(ASKED.format(""))
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"]) == ("entropy", "optuna.create_study")
    assert "TPESampler(seed=42)" in cause["fix"]


def test_a_study_that_continues_comes_before_its_sampler(notebook):
    """It holds the trials of the first run, and the sampler's generator."""
    book = notebook("optuna")
    book.run(OBJECTIVE)
    book.run("study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))")
    book.until_changed("study.optimize(objective, n_trials=3)\nlen(study.trials)")
    assert book.causes()[0] == ("input", "study")
