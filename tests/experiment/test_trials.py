"""What an experiment restores for a cause."""

from __future__ import annotations

from msgspec.structs import replace

from ipytorchseed.experiment.trials import Trial, find_trials
from ipytorchseed.ledger.records import FileRead
from ipytorchseed.why.explanation import Cause
from tests.render.explanations import run


def test_a_flag_is_restored_with_the_flags_that_follow_it():
    """One call sets them all."""
    flag = "torch.use_deterministic_algorithms"
    trials, stays = find_trials(run(2), run(1), [Cause("flag", flag, "")], ())
    settings = frozenset({flag, "torch._inductor.config.deterministic"})
    assert (trials, stays) == ([Trial(frozenset({0}), settings=settings)], {})


def test_the_text_of_a_run_that_loaded_a_module_is_not_tested():
    """The module is there when the cell runs again, so its code does not run."""
    loaded = {"tuned": FileRead("/tuned.py", 9, "0" * 16)}
    for pair in (
        (replace(run(2), loaded=loaded), run(1)),
        (run(2), replace(run(1), loaded=loaded)),
    ):
        trials, stays = find_trials(*pair, [Cause("code", "use", "")], ())
        assert (trials, stays) == ([], {0: "importing `tuned` runs its code only once"})
