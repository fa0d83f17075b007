"""Sources that a cell, or an earlier command, seeds."""

from __future__ import annotations

import pytest

from ipytorchseed.rng.position import Position
from tests.render.explanations import States, explain, number, run


class FewDraws(States):
    """Names each state by its seed and draws."""

    def position(self, _name, digest):
        """Return the position of a state."""
        return Position(0, int(digest))

    def draws(self, before, after):
        """Return the draws between two states."""
        return int(after) - int(before)


def test_a_source_that_a_run_started_and_seeded_counts_as_used():
    """The GPU source is new, and both runs left it in the state after the cell's seed."""
    found = {"before": {}, "after": {"torch.cuda:0": "4"}}
    later = {"before": {"torch.cuda:0": "4"}, "after": {"torch.cuda:0": "4"}}
    for source, reason in (
        ("net = Net()\ntorch.manual_seed(0)", "reseeded by the cell itself"),
        ("out = net(x)", "not used by this cell"),
    ):
        runs = [
            run(n, source, reads={"x": number(10 * n)}, writes={"out": number(n)}, **states)
            for n, states in ((1, found), (2, later))
        ]
        told = explain(runs[1], runs[0], runs[:1], FewDraws(runs))
        assert {each.name: each.message for each in told.cleared}["torch.cuda:0"] == reason


@pytest.mark.parametrize(
    ("begins", "ends", "said"),
    [
        (({"torch.cpu": "20000000"}, {}), ("20000008", "900000008"), "was never seeded, so"),
        (({"torch.cpu": "3"}, {}), ("8", "900000008"), "was not seeded since the restart"),
        (({"torch.cpu": "3"}, {}), ("3", "0"), ""),  # nothing drew
    ],
)
def test_a_source_that_a_restarted_kernel_imports_again(begins, ends, said):
    """The earlier run found it, as a cell had imported it; the later one brings it in."""
    draw = "import torch\nx = torch.rand(2)"
    runs = [
        run(n, draw, kernel=f"kernel {n}", before=begin, after={"torch.cpu": end},
            writes={"x": number(n)})
        for n, begin, end in zip((1, 2), begins, ends, strict=True)
    ]  # fmt: skip
    told = explain(runs[1], runs[0], runs[:1], _Seeded(runs))
    causes = [each.message for each in told.causes if each.name == "torch.cpu"]
    assert len(causes) == bool(said)
    assert all(f"torch {said}" in each for each in causes)


class _Seeded(FewDraws):
    """Small states were chosen by somebody, large ones by the system."""

    def position(self, _name, digest):
        """Return its seed."""
        return Position(int(digest) * 1_000_000 if int(digest) > 1000 else 0, int(digest) % 10)

    def is_fresh(self, digest):
        """Return whether nothing drew."""
        return digest == "0"


def test_a_generator_is_named_with_the_library_whose_object_holds_it():
    """Its path alone does not say whose it is."""
    ends = [("1", "2"), ("2", "3")]
    runs = [
        run(
            n,
            "value = study.ask()",
            writes={"value": number(n)},
            before={"study._rng": begin},
            after={"study._rng": end},
            generators={"study._rng": "random.Random in optuna"},
        )
        for n, (begin, end) in enumerate(ends, 1)
    ]
    told = explain(runs[1], runs[0], runs[:1], FewDraws(runs))
    assert [each.message for each in told.causes] == [
        "`study._rng` had moved on: In[1] took 1 number from it"
    ]


def test_a_source_that_both_runs_leave_alike_may_be_the_cause():
    """A library reseeds it after the cell drew: the later run ends where it began."""

    class Seeded(FewDraws):
        def position(self, _name, digest):
            return Position(7, 0) if digest == "7" else super().position(_name, digest)

        def draws(self, _before, _after):
            return None

        def leads(self, *_):
            return False

    runs = [
        run(n, "out = train()", writes={"out": number(n)}, before={"python": begin},
            after={"python": "7"})
        for n, begin in ((1, "3"), (2, "7"))
    ]  # fmt: skip
    (cause,) = explain(runs[1], runs[0], runs[:1], Seeded(runs)).causes
    assert (cause.kind, cause.name) == ("rng", "python")
