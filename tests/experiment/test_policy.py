"""Which experiments run without a question, and the reason where they do not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ipytorchseed.experiment.policy import SECONDS, count_fitting, find_objection
from ipytorchseed.ledger.records import Outside
from ipytorchseed.reads.entropy import BY_PERSON
from ipytorchseed.why.explanation import Cause, Cleared, Explanation
from ipytorchseed.why.plan import Plan, Step
from tests.render.explanations import run

MAKER = run(1, "x = load()")
EARLIER, LATER = run(2, "y = f(x)", seconds=0.0), run(4, "y = f(x)", seconds=0.0)


def objection(maker=MAKER, runs=(EARLIER, LATER), experiments=5, outside=()):
    """Return the objection to experiments for which a maker's cell runs first."""
    plan = Plan(runs[1], (Step(maker, outside=outside), Step(runs[1])))
    return find_objection(runs, plan, experiments, "k")


def test_short_cells_without_effects_run():
    """There is no objection."""
    assert not objection()


@pytest.mark.parametrize("number", [0, 1])
def test_an_interrupted_run_is_not_compared(number):
    """Neither the earlier nor the later one: how far it got is not known."""
    runs = [EARLIER, LATER]
    runs[number] = replace(runs[number], status="interrupted")
    assert objection(runs=runs) == f"In[{runs[number].id}] was interrupted"


def test_a_maker_with_effects_outside_the_kernel_does_not_run():
    """The message names all of them, and what to type."""
    assert objection(outside=("writes a.txt", "runs make")) == (
        "In[1] writes a.txt, runs make · %why --prove --yes"
    )


def test_a_cell_that_asks_for_input_does_not_run():
    """Only a person could answer."""
    asks = replace(MAKER, nondeterministic_calls={BY_PERSON: True})
    assert objection(asks) == "In[1] asks for input"


def test_a_cell_that_leaves_something_running_does_not_run():
    """Each run would leave one more."""
    leaves = replace(MAKER, outside=Outside(left=("thread", "widget")))
    assert objection(leaves) == ("In[1] leaves a thread running and opens a widget · %why --prove")


def test_a_cell_of_an_earlier_kernel_does_not_run():
    """The user may have restarted to be rid of it."""
    earlier = replace(MAKER, kernel="other")
    assert objection(earlier).endswith(" ran before the restart · %why --prove")


def test_the_makers_count_once_and_the_cell_once_per_experiment():
    """By its second run, as the first may compile code; after an edit by the slower."""
    slow = replace(MAKER, seconds=SECONDS)
    assert not objection(slow)
    assert objection(replace(slow, seconds=SECONDS + 1)) == (
        "it would take about 3 s · %why --prove"
    )
    assert not objection(replace(slow, seconds=SECONDS + 1, outside=Outside(importing=SECONDS)))
    quick, fourth = replace(MAKER, seconds=0.0), SECONDS / 4
    runs = replace(EARLIER, seconds=9 * SECONDS), replace(LATER, seconds=fourth)
    assert not objection(quick, runs, experiments=4)
    assert objection(quick, runs, experiments=6) == "it would take about 3 s · %why --prove"
    runs = replace(EARLIER, seconds=fourth, code="edited"), LATER
    assert not objection(quick, runs, experiments=4)
    assert objection(quick, runs, experiments=6) == "it would take about 3 s · %why --prove"


@pytest.mark.parametrize(
    ("longest", "maker", "count"),
    [(0.01, 0.0, 97), (0.3, 0.0, 2), (0.3, 0.6, 1), (0.9, 0.0, 1), (1.1, 0.0, 0), (0.01, 2.1, 0)],
)
def test_so_many_suspects_are_tested_as_there_is_time_for(longest, maker, count):
    """The second run counts for each experiment, plus what runs before it."""
    runs = EARLIER, replace(LATER, seconds=longest)
    plan = Plan(runs[1], (Step(replace(MAKER, seconds=maker)), Step(runs[1])))
    assert count_fitting(runs, plan) == count


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 9])
def test_the_most_likely_suspects_are_kept(count):
    """First the causes, then what was cleared and may be one."""
    causes = tuple(Cause("input", name, "") for name in "ab")
    cleared = tuple(
        Cleared("input", name, "", Cause("input", name, ""), is_tested=name != "x")
        for name in "cxd"
    )
    said = Explanation(LATER, EARLIER, "explained", "", (), causes, cleared=cleared)
    suspects = said.with_suspects(count).suspects
    assert [cause.name for cause in suspects] == [*"abcd"][:count]
