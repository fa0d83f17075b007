"""What experiments prove: held against every way in which suspects can act together."""

from __future__ import annotations

from itertools import chain, combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipytorchseed.why.experiments import CLEARED, LIKELY, PROVED, Names, Result, count_most, judge

NAMES = Names("In[5]", "In[9]")
EARLIER, LATER, OTHER = Result.EARLIER, Result.LATER, Result.OTHER


def judged(suspects, results):
    """Return what is found, and how many experiments it took."""
    made = []

    def run(chosen):
        made.append(chosen)
        return results(chosen)

    found = judge(suspects, run, NAMES)
    assert len(made) == len({*made}) <= count_most(len(suspects))
    return found, len(made)


def needs(*sets):
    """Return an experiment that brings the earlier result where one of some sets is put back."""
    return lambda chosen: EARLIER if any({*each} <= chosen for each in sets) else LATER


def test_the_only_suspect():
    """Two experiments: as it was, and with it put back."""
    found, count = judged(["a"], needs("a"))
    assert (found["a"].level, count) == (PROVED, 2)
    assert found["a"].how == "put back, it brings In[5]'s result back, bit for bit"


def test_a_decoy_is_cleared():
    """It has no effect, and the earlier result comes without it."""
    found, count = judged(["a", "b"], needs("a"))
    assert (found["a"].level, found["b"].level, count) == (PROVED, CLEARED, 4)
    assert found["b"].how == "put back, the result stays In[9]'s"


def test_two_that_act_only_together():
    """Neither alone changes anything."""
    found, _ = judged(["a", "b"], needs("ab"))
    assert {each.level for each in found.values()} == {PROVED}
    assert found["a"].how.startswith("acts only together with b: put back together, they bring")


def test_two_of_which_each_does_it():
    """Both are causes."""
    found, _ = judged(["a", "b"], needs("a", "b"))
    assert {each.how for each in found.values()} == {
        "put back alone, it brings In[5]'s result back, bit for bit"
    }


def test_two_that_act_each_by_itself():
    """One put back changes the result, and both bring it back."""

    def results(chosen):
        return {0: LATER, 1: OTHER, 2: EARLIER}[len(chosen)]

    found, _ = judged(["a", "b"], results)
    assert [each.level for each in found.values()] == [PROVED, PROVED]
    assert found["a"].how.startswith("put back together with b, it brings In[5]'s result back")


def test_nothing_is_said_of_a_cell_that_does_not_repeat():
    """One experiment tells."""
    found, count = judged(["a", "b"], lambda chosen: EARLIER if chosen else OTHER)
    assert ({each.level for each in found.values()}, count) == ({LIKELY}, 1)
    found, _ = judged(["a"], lambda _: EARLIER)
    assert found["a"].level == LIKELY


def test_nothing_is_cleared_where_the_earlier_result_does_not_come():
    """What cannot be put back may act together with what seems to have no effect."""
    found, count = judged(["a", "b"], lambda _: LATER)
    assert ({each.level for each in found.values()}, count) == ({LIKELY}, 2)
    assert found["a"].how == "put back with all others, the result stays In[9]'s"


def test_one_of_several_that_do_the_same():
    """The one that is needed is proved, and of the others none is cleared."""
    found, _ = judged(["a", "b", "c"], needs("ab", "ac"))
    assert [found[name].level for name in "abc"] == [PROVED, LIKELY, LIKELY]


def test_what_else_the_result_shows():
    """Another variable goes back where the earlier result does not come whole without it."""
    found = judge(["a", "b"], needs("ax"), NAMES, beside="x")
    assert [each.level for each in found.values()] == [PROVED, CLEARED]
    assert found["a"].how.startswith("acts only together with x: put back together, they bring")
    assert {**judge(["a"], needs("a"), NAMES, beside="x")}.keys() == {"a"}
    found = judge(["a"], needs("x"), NAMES, beside="x")
    assert found["a"].level == CLEARED
    assert found["a"].how == "put back, the result stays In[9]'s: x brings In[5]'s back"


@pytest.mark.parametrize("results", [*product(Result, repeat=4)])
def test_whatever_two_suspects_do(results):
    """What is cleared has no effect at all, and what is proved has one."""
    sets = [frozenset(), frozenset("a"), frozenset("b"), frozenset("ab")]
    known = dict(zip(sets, results, strict=True))
    found, _ = judged(["a", "b"], known.__getitem__)
    for name, other in ("ab", "ba"):
        pairs = [(known[frozenset(rest)], known[frozenset({*rest, name})]) for rest in ("", other)]
        acts = any(one is not two for one, two in pairs)
        assert acts if found[name].level == PROVED else True
        assert not acts if found[name].level == CLEARED else True


@given(st.lists(st.sets(st.sampled_from("abcde"), min_size=1), min_size=1, max_size=4))
def test_no_part_of_a_cause_is_cleared_and_nothing_else_proved(sets):
    """Where the earlier result comes as soon as all of one of several sets is put back."""
    smallest = [each for each in sets if not any(other < each for other in sets)]
    found, _ = judged([*"abcde"], needs(*smallest))
    causes = {*chain(*smallest)}
    for name, finding in found.items():
        assert finding.level != (CLEARED if name in causes else PROVED), (smallest, found)


def test_every_subset_is_tried_at_most_once():
    """With many suspects as well."""
    suspects = [*"abcdef"]
    for pair in combinations(suspects, 2):
        found, _ = judged(suspects, needs(pair))
        assert {name for name, each in found.items() if each.level == PROVED} == {*pair}
        assert {name for name, each in found.items() if each.level == CLEARED} == {
            *suspects
        }.difference(pair)
