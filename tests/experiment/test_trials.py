"""What an experiment restores for a cause."""

from __future__ import annotations

from ipytorchseed.experiment.trials import Trial, find_trials
from ipytorchseed.why.explanation import Cause
from tests.render.explanations import run


def test_a_flag_is_restored_with_the_flags_that_follow_it():
    """One call sets them all."""
    flag = "torch.use_deterministic_algorithms"
    trials, stays = find_trials(run(2), run(1), [Cause("flag", flag, "")], ())
    settings = frozenset({flag, "torch._inductor.config.deterministic"})
    assert (trials, stays) == ([Trial(frozenset({0}), settings=settings)], {})
