"""What experiments prove, for every way in which suspects can act together."""

from __future__ import annotations

from itertools import chain, combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipytorchseed.why.experiments import (
    MAY_MATTER,
    NO_EFFECT,
    PROVED,
    UNCHANGED,
    Result,
    count_most,
    judge,
)

EARLIER, LATER, OTHER = Result.EARLIER, Result.LATER, Result.OTHER


def judged(suspects, results):
    """Return the findings, and the number of experiments."""
    made = []

    def run(chosen):
        made.append(chosen)
        return results(chosen)

    found = {name: verdict.find("it") for name, verdict in judge(suspects, run).items()}
    assert len(made) == len({*made}) <= count_most(len(suspects))
    return found, len(made)


def needs(*sets):
    """Return an experiment that gives the earlier result if any set is restored."""
    return lambda chosen: EARLIER if any({*each} <= chosen for each in sets) else LATER


def test_the_only_suspect():
    """There are two experiments: with nothing restored, and with it restored."""
    found, count = judged(["a"], needs("a"))
    assert (found["a"].level, count) == (PROVED, 2)
    assert found["a"].how == "proved: restoring it gives {earlier}'s result again"


def test_a_decoy_is_cleared():
    """A suspect without effect is cleared if the earlier result comes without it."""
    found, count = judged(["a", "b"], needs("a"))
    assert (found["a"].level, found["b"].level, count) == (PROVED, NO_EFFECT, 4)
    assert found["b"].how == "no effect: restoring it changes nothing"


def test_two_that_act_only_together():
    """Both are proved."""
    found, _ = judged(["a", "b"], needs("ab"))
    assert {each.level for each in found.values()} == {PROVED}
    assert found["a"].how == "proved: restoring it together with b gives {earlier}'s result again"


def test_two_that_each_suffice():
    """Both are proved."""
    found, _ = judged(["a", "b"], needs("a", "b"))
    assert {each.how for each in found.values()} == {
        "proved: restoring it gives {earlier}'s result again"
    }


def test_two_that_act_each_by_itself():
    """Restoring one changes the result, and restoring both gives the earlier one."""

    def results(chosen):
        return {0: LATER, 1: OTHER, 2: EARLIER}[len(chosen)]

    found, _ = judged(["a", "b"], results)
    assert [each.level for each in found.values()] == [PROVED, PROVED]
    assert found["a"].how == "proved: restoring it together with b gives {earlier}'s result again"


def test_nothing_is_said_of_a_cell_that_does_not_repeat():
    """A single experiment shows that."""
    found, count = judged(["a", "b"], lambda chosen: EARLIER if chosen else OTHER)
    assert ({each.level for each in found.values()}, count) == ({MAY_MATTER}, 1)
    found, _ = judged(["a"], lambda _: EARLIER)
    assert found["a"].level == MAY_MATTER


def test_nothing_is_cleared_where_the_earlier_result_does_not_come():
    """Something that cannot be restored may act together with an idle suspect."""
    found, count = judged(["a", "b"], lambda _: LATER)
    assert ({each.level for each in found.values()}, count) == ({MAY_MATTER}, 2)
    assert found["a"].how == (
        "not proved: restoring all of them together does not give {earlier}'s result again"
    )


def test_one_of_several_that_do_the_same():
    """The suspect that is needed is proved, and none of the others is cleared."""
    found, _ = judged(["a", "b", "c"], needs("ab", "ac"))
    assert [found[name].level for name in "abc"] == [PROVED, MAY_MATTER, MAY_MATTER]


def test_what_else_the_result_shows():
    """Another variable is restored too if the earlier result is incomplete without it."""
    found = judge(["a", "b"], needs("ax"), extra="x")
    assert [each.level for each in found.values()] == [PROVED, NO_EFFECT]
    assert found["a"].find("it").how.startswith("proved: restoring it together with x gives")
    assert {**judge(["a"], needs("a"), extra="x")}.keys() == {"a"}
    found = judge(["a"], needs("x"), extra="x")
    assert found["a"].level == NO_EFFECT
    assert found["a"].how == f"{UNCHANGED}; restoring x gives {{earlier}}'s result again"


@pytest.mark.parametrize("results", [*product(Result, repeat=4)])
def test_whatever_two_suspects_do(results):
    """Cleared suspects have no effect, and proved ones have one."""
    sets = [frozenset(), frozenset("a"), frozenset("b"), frozenset("ab")]
    known = dict(zip(sets, results, strict=True))
    found, _ = judged(["a", "b"], known.__getitem__)
    for name, other in ("ab", "ba"):
        pairs = [(known[frozenset(rest)], known[frozenset({*rest, name})]) for rest in ("", other)]
        acts = any(one is not two for one, two in pairs)
        assert acts if found[name].level == PROVED else True
        assert not acts if found[name].level == NO_EFFECT else True


@given(st.lists(st.sets(st.sampled_from("abcde"), min_size=1), min_size=1, max_size=4))
def test_no_part_of_a_cause_is_cleared_and_nothing_else_proved(sets):
    """This holds if restoring all of any of several sets gives the earlier result."""
    smallest = [each for each in sets if not any(other < each for other in sets)]
    found, _ = judged([*"abcde"], needs(*smallest))
    causes = {*chain(*smallest)}
    for name, finding in found.items():
        assert finding.level != (NO_EFFECT if name in causes else PROVED), (smallest, found)


def test_every_subset_is_tried_at_most_once():
    """This holds with many suspects, too."""
    suspects = [*"abcdef"]
    for pair in combinations(suspects, 2):
        found, _ = judged(suspects, needs(pair))
        assert {name for name, each in found.items() if each.level == PROVED} == {*pair}
        assert {name for name, each in found.items() if each.level == NO_EFFECT} == {
            *suspects
        }.difference(pair)
