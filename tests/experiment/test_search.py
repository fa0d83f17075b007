"""The search for the part of a variable that is the cause.

Few runs, and no part without proof.
"""

from __future__ import annotations

import copy
import math

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ipytorchseed.experiment.parts import differing, find_part, is_same, look, put_back
from ipytorchseed.experiment.search import Search
from ipytorchseed.experiment.trials import Trial
from ipytorchseed.fingerprint import fingerprint
from ipytorchseed.ledger.records import Part
from ipytorchseed.why.explanation import Cause, Change, Explanation
from ipytorchseed.why.value_changes import how_far
from tests.render.explanations import run


class Plain:
    """An object with attributes."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


class Made:
    """What two runs found in ``x``, as a cell reads it.

    Args:
        then: What the earlier run found.
        now: What the later run found.
        cell: Returns the result for a value of ``x``.
    """

    extra, lost = Trial(), ""

    def __init__(self, then, now, cell):
        self.then, self.now, self.cell = then, now, cell
        self.trials = [Trial(frozenset({0}), values=frozenset("x"))]

    def unreached(self, trial):
        """Return the files that were not restored, as ``Experiments`` does: none."""
        return trial.files

    def parts(self, _, path=()):
        """List the parts that differ, as ``Experiments`` does."""
        return [(*path, key) for key in differing(*find_part(self.now, self.then, path)[:2])]

    def are_all(self, _, path, parts):
        """Return whether parts are all that differ."""
        return is_same(*find_part(self.restored(parts), self.then, path)[:2])

    def describe(self, _, path):
        """Return the code of a part."""
        now, then, text = find_part(self.now, self.then, path)
        return Part(f"x{text}", how_far(look(then), look(now)))

    def restored(self, paths):
        """Return a copy of the later value with parts restored."""
        return put_back(copy.deepcopy(self.now), self.then, {*paths}, copy.deepcopy)

    def prepare(self, trial):
        """Return the record that the cell will give."""
        paths = {()} if trial.values else {path for _, path in trial.parts}
        return self.record(self.restored(paths) if paths else self.now), None

    def record(self, value):
        """Return the record of the cell for a value."""
        return replace(run(2), reads={}, writes={"y": fingerprint(self.cell(value))})


def searched(then, now, cell, **limits):
    """Return the finding for ``x``, and how many runs it took."""
    made, count = Made(then, now, cell), []
    changed, causes = (Change("variable", "y"),), (Cause("input", "x", ""),)
    runs = made.record(now), made.record(then)
    said = Explanation(*runs, "explained", "", changed, causes)

    def again(record, _):
        count.append(record)
        return record

    found = Search(said, made, again, lambda *_: None, **limits).find()
    return found[0], len(count)


def test_the_only_part_that_differs_takes_no_run():
    """It follows from the experiment with the whole variable."""
    found, count = searched({"a": [1, 2]}, {"a": [1, 3]}, lambda x: x["a"][1])
    assert ([part.path for part in found.parts], count) == (["x['a'][1]"], 2)
    assert found.how == "proved: restoring `x['a'][1]` (2 → 3) gives {earlier}'s result again"


def test_two_parts_that_are_needed_together():
    """Both are named."""
    then, now = {"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 2, "c": 2}
    found, _ = searched(then, now, lambda x: x["a"] + 10 * x["c"])
    assert [part.path for part in found.parts] == ["x['a']", "x['c']"]
    named = "`x['a']` (1 → 2) and `x['c']` (1 → 2)"
    assert found.how == f"proved: restoring {named} gives {{earlier}}'s result again"


def test_what_holds_all_parts_that_are_needed_is_named():
    """Rather than each of them."""
    then, now = {"a": [1, 2], "b": 1}, {"a": [3, 4], "b": 2}
    found, _ = searched(then, now, lambda x: x["a"][0] + 10 * x["a"][1])
    assert [part.path for part in found.parts] == ["x['a']"]


def test_many_parts_are_not_named():
    """Twelve runs do not tell which of many are needed."""
    then, now = dict.fromkeys(range(40), 1), dict.fromkeys(range(40), 2)
    found, count = searched(then, now, lambda x: sum(x.values()))
    assert (found.level, found.parts) == ("proved", ())
    assert count <= 12


def test_no_run_begins_that_may_take_too_long():
    """The whole variable is proved all the same."""
    then, now = {"a": 1, "b": 1}, {"a": 2, "b": 2}
    found, count = searched(then, now, lambda x: x["a"], until=-math.inf)
    assert (found.level, found.how, count) == (
        "proved",
        "proved: restoring it gives {earlier}'s result again",
        2,
    )


def test_an_error_ends_the_search_alone():
    """What was proved before is kept."""

    def cell(value):
        if value["a"] != value["b"]:
            raise KeyboardInterrupt
        return value["a"]

    found, _ = searched({"a": 1, "b": 1}, {"a": 2, "b": 2}, cell)
    assert (found.level, found.parts) == ("proved", ())


_values = st.recursive(
    st.integers(0, 9),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.sampled_from("abc"), inner, min_size=1)
        | st.builds(lambda a, b: Plain(a=a, b=b), inner, inner)
    ),
    max_leaves=12,
)


def _leaves(value, path=()):
    """Return the paths to the numbers in a value."""
    keys = differing(value, _changed(value))
    parts = [(each, find_part(value, _changed(value), (each,))[0]) for each in keys]
    return [leaf for key, part in parts for leaf in _leaves(part, (*path, key))] or [path]


def _changed(value, *where):
    """Return a copy in which some numbers are others.

    All of them unless it is said which.
    """
    if isinstance(value, int):
        return value + 10 if not where or () in where else value
    made = copy.deepcopy(value)
    keys = vars(made) if isinstance(made, Plain) else made
    pairs = [*keys.items()] if isinstance(keys, dict) else [*enumerate(keys)]
    for key, part in pairs:
        inner = [path[1:] for path in where if path[0] == key]
        if inner or not where:
            keys[key] = _changed(part, *inner)
    return made


@settings(max_examples=30)
@given(_values, st.data())
def test_the_leaf_that_matters_is_found(value, data):
    """Of up to six that changed in nested values, in twelve runs at most.

    No other is named.
    """
    leaves = _leaves(value)
    changed = data.draw(st.lists(st.sampled_from(leaves), min_size=1, max_size=6, unique=True))
    matters = data.draw(st.sampled_from(changed))
    now = _changed(value, *changed)

    found, count = searched(value, now, lambda x: find_part(x, _changed(value), matters)[0])
    text = find_part(now, value, matters)[2]
    assert ([part.path for part in found.parts], count <= 12) == ([f"x{text}"] * bool(text), True)
