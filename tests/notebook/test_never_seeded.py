"""A source is reported as never seeded only if nothing seeded it."""

from __future__ import annotations

import pytest

from tests.kernel import Kernel

# More draws than are counted between two states.
MUCH = "much = np.random.rand(6_000_000)[-1]"

NEVER = "numpy was never seeded"


def _after_restart(tmp_path, before, after, first="import numpy as np, numpy.random"):
    """Run some cells, then one that draws; again after a restart; return ``%why``."""
    with Kernel(tmp_path) as kernel:
        for setup in (before, after):
            kernel.run(f"{first}\n%load_ext ipytorchseed")
            for cell in setup:
                kernel.run(cell)
            kernel.run("print(np.random.rand())", "draw")
            said = kernel.run("%why").displays
            kernel.restart()
        return " ".join(said[-1]["text/plain"].split())


@pytest.mark.parametrize("setup", [[], [MUCH], ["np.random.rand(3)", MUCH]])
def test_a_source_that_neither_kernel_seeded_was_never_seeded(tmp_path, setup):
    """This holds after any draws from it in between; the fix is a seed."""
    said = _after_restart(tmp_path, setup, setup)
    assert NEVER in said
    assert "To keep it from now on: %seed 42" in said
    assert "moved it" not in said


def test_the_seed_of_a_generator_of_ones_own_seeds_no_source(tmp_path):
    """This holds even if the cell that makes it also imports the source."""
    made = ["import numpy as np\nrng = np.random.default_rng(seed=1701)"]
    assert NEVER in _after_restart(tmp_path, made, made, first="import math")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (["np.random.seed(1)"], [], "numpy was not seeded since the restart"),
        ([], ["np.random.seed(1)"], "In[2] seeded numpy with 1"),
        (
            ["np.random.seed(1)"],
            ["np.random.seed(2)", "np.random.rand(3)"],
            "In[2] seeded numpy with 2, not with 1; then In[3] drew from it",
        ),
        (
            ["np.random.seed()"],
            ["np.random.seed()", MUCH],
            "numpy's random stream started in a different state: In[2]",
        ),
    ],
)
def test_a_source_that_one_kernel_seeded_was_not_never_seeded(tmp_path, before, after, told):
    """The answer says that it started from another state."""
    said = _after_restart(tmp_path, before, after)
    assert told in said
    assert NEVER not in said
