"""Short descriptions of how a result changed."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from msgspec.structs import replace

from ipytorchseed.fingerprint import fingerprint
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.why.changes import find_changes, results_differ
from ipytorchseed.why.value_changes import has_other_name, how_far, say_parts, write_step
from tests.render.explanations import run, value

TABLE = pd.DataFrame({"a": [1.5, 2.5, 4.0], "b": [3, 1, 2], "name": ["x", "y", "z"]})


def _series(*numbers):
    return Fingerprint(
        "".join(map(str, numbers)), "list", f"list of {len(numbers)}", series=numbers
    )


def _typed(dtype, *numbers):
    return Fingerprint(dtype, "tensor", dtype, parts={"dtype": dtype}, series=numbers)


def _sgd(groups=1, **settings):
    weights = [{"params": [torch.nn.Parameter(torch.ones(2))]} for _ in range(groups)]
    return torch.optim.SGD(weights, lr=0.1, **settings)


def _matrix(**parts):
    return Fingerprint("".join(parts.values()), "tensor", "float32 tensor 2 x 2", parts=parts)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (1.0, 2.5, "1 → 2.5"),
        (2.3021, 1.9817, "2.3021 → 1.9817"),
        (500039.625, 500039.59375, "500039.62 → 500039.59"),
        (0.1, math.nextafter(0.1, 1), "0.10000000000000001 → 0.10000000000000002"),
        (math.nan, 1.0, "nan → 1"),
        (0.0, -0.0, "0 → -0"),
    ],
)
def test_a_number_is_written_so_that_the_difference_is_seen(before, after, expected):
    """Seven digits are used if they suffice, otherwise more."""
    assert write_step(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (_series(1.0, 2.0, 3.0, 4.0, 5.0), _series(1.0, 2.5, 2.0, 4.0, 5.0), "2 of 5 numbers differ,"
         " the first at index 1: 2 → 2.5, largest difference 1"),
        (_series(1.0, 2.0), _series(1.0, 2.5), "[1, 2] → [1, 2.5]"),
        (_series(1.0, 0.1), _series(2.0, math.nextafter(0.1, 1)),
         "[1, 0.10000000000000001] → [2, 0.10000000000000002]"),
        (_series(1.0, 2.0), _series(1.0, 2.0, 3.0), "2 → 3 numbers"),
        (_series(math.nan, 2.0), _series(math.nan, 3.0), "[nan, 2] → [nan, 3]"),
        (_series(-0.0), _series(0.0), "-0 → 0"),
        (_series(1.0), Fingerprint("1", "tensor", "tensor", series=(1.0,)),
         "the same numbers, list → tensor"),
        (_series(1.0, 2.0), Fingerprint("1", "array", "array", series=(1.0, 3.0)),
         "[1, 2] → [1, 3]"),
        (_series(1.0, 2.0), Fingerprint("1", "int", "1", series=(1.0,)), "2 → 1 numbers"),
        (Fingerprint("2", "int", "2", series=(2.0,)), Fingerprint("1", "float", "1", series=(1.5,)),
         "2 → 1.5"),
        (_typed("int64", 1.0, 2.0), _typed("float32", 1.0, 2.0),
         "the same numbers, dtype int64 → float32"),
        (_matrix(content="1", grad="1"), _matrix(content="1", grad="2"),
         "the same numbers, another gradient"),
        (_matrix(content="1"), _matrix(content="1", grad="2"), "the same numbers, another gradient"),
        (_matrix(content="1", grad="1"), _matrix(content="2", grad="2"), "tensor with different content"),
        (_series(1.0, 2.0), Fingerprint("x", "list", "list of 2", series=(1.0, 2.0)),
         "other content, the same numbers"),
        (None, _series(1.0, 2.0), "nothing → list of 2"),
        (_series(1.0, 2.0), None, "list of 2 → nothing"),
        (value("01", "str", "5 characters"), value("02", "str", "6 characters"),
         "5 characters → 6 characters"),
        (value("01", "str", "text"), value("02", "str", "text"), "str with different content"),
        (value("01", "rng", "torch.Generator"), value("02", "rng", "torch.Generator"),
         "in a different state"),
        (value("01", "list", "list", parts={"length": "2"}),
         value("02", "list", "list", parts={"length": "5"}), "appended 3 items"),
        (value("01", "module", "Net", parts={"mode": "train", "p:w": "1", "p:b": "1", "b:m": "1"}),
         value("02", "module", "Net", parts={"mode": "eval", "p:w": "2", "p:b": "1", "b:m": "2"}),
         "switched to eval mode, changed 1 of 2 parameters (w), changed 1 of 1 buffer"),
        (value("01", "dict", "dict", parts={"k:a": "1", "k:b": "1"}),
         value("02", "dict", "dict", parts={"k:a": "2", "k:b": "1"}), "changed `'a'`"),
    ],
)  # fmt: skip
def test_how_far_a_value_moved(before, after, expected):
    """The description has the first and largest difference, or the changed parts."""
    assert how_far(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["a", "b"], ["b", "a"], "the same items in another order"),
        (["a", "b", "c"], ["a", "x", "y"], "changed `[1]`, `[2]`"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "the same items in another order"),
        ({"a": {"b": 1}, "c": 2}, {"c": 2, "a": {"b": 1}}, "the same items in another order"),
        ({0: "x", 1: "y"}, {0: "x", 1: "z"}, "changed `[1]`"),
        (list("abcdefghij"), list("abcdefghiz"), "list with different content"),
        (np.arange(9.0), np.arange(9.0)[::-1].copy(), "the same numbers in another order"),
        (TABLE, TABLE.assign(b=TABLE["b"][::-1].to_numpy()), "changed column `b`"),
        (TABLE, TABLE.assign(a=TABLE["a"] + 1, b=0), "changed columns `a`, `b`"),
    ],
)
def test_how_far_items_moved(before, after, expected):
    """If all items are listed, the description says which differ."""
    assert how_far(fingerprint(before), fingerprint(after)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1, "b": 2, "c": 3}, "added `'b'`, `'c'`"),
        ({"a": 1, "b": 2}, {"a": 3}, "removed `'b'`, changed `'a'` (1 → 3)"),
        ({1, 2, 3}, {1}, "removed 2 items"),
        ({}, {"a": 1}, "added `'a'`"),
        ({"a": 1}, dict.fromkeys("abcdefghijklmnopqrstuvwxyzABCDEFGH"), "added 33 items"),
        (
            pd.DataFrame({"a": [1]}),
            pd.DataFrame({f"a{i}": [1] for i in range(40)}),
            "shape 1 x 1 → 1 x 40",
        ),
        ({1}, {1, 2}, "added 1 item"),
        ([1], ["x", 2], "appended 1 item"),
        (pd.DataFrame({"a": [1, 2], "b": 0}), pd.DataFrame({"a": [1], "b": 0}), "removed 1 row"),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [1], "b": 0}), "added column `b`"),
        (_sgd(), _sgd(momentum=0.5), "momentum 0 → 0.5"),
        (_sgd(), _sgd(nesterov=True, momentum=0.9), "momentum 0 → 0.9, nesterov False → True"),
        (_sgd(), _sgd(groups=2), "added 1 parameter group"),
    ],
)
def test_what_came_and_went_is_named(before, after, expected):
    """This applies to items, columns, rows and settings of an optimizer."""
    assert say_parts(fingerprint(before), fingerprint(after)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"epoch": 0}, {"epoch": 1}, "changed .epoch (0 → 1)"),
        ({"epoch": 0.0}, {"epoch": 2.0}, "changed .epoch (0.0 → 2.0)"),
        ({"_index": None}, {"_index": 1}, "changed ._index (None → 1)"),
        ({"a": "x", "b": 1, "_c": 1}, {"a": "y", "b": 2, "_c": 2}, "changed .b (1 → 2), .a"),
        ({"a": 0.1, "b": 2**40}, {"a": 0.2, "b": 2**41}, "changed .a (0.1 → 0.2), .b"),
        (
            {"state": SimpleNamespace(epoch=1)},
            {"state": SimpleNamespace(epoch=2)},
            "changed .state.epoch (1 → 2)",
        ),
        (
            {"_index": None, "asked": False},
            {"_index": 6, "asked": True},
            "changed .asked (False → True)",
        ),
    ],
)
def test_counts_are_named_first_with_their_values(before, after, expected):
    """A private count is named if no public one changed."""
    values = (fingerprint(SimpleNamespace(**each)) for each in (before, after))
    assert say_parts(*values) == expected


def test_another_class_is_distinguished_from_one_that_was_redefined():
    """Classes and functions are compared by name."""
    one, other = (fingerprint(each) for each in (torch.nn.ReLU, torch.nn.SiLU))
    assert has_other_name(one, other)
    assert not has_other_name(one, one)
    assert has_other_name(
        fingerprint(torch.nn.functional.relu), fingerprint(torch.nn.functional.silu)
    )


def test_what_cannot_be_seen_proves_nothing():
    """Neither do samples of a whole value, nor values that only one of the runs made."""
    before = run(
        1,
        writes={
            "opaque": value("01", "opaque", opaque=True),
            "large": value("01", "tensor", exact=False),
            "once": value("01"),
            "x": value("01"),
        },
    )
    after = run(
        2,
        writes={
            "opaque": value("02", "opaque", opaque=True),
            "large": value("02", "tensor"),
            "x": value("02"),
        },
    )
    assert [change.name for change in find_changes(before, after)] == ["x"]


def test_everything_shown_and_raised_is_compared():
    """These are the result, the printed text, the displays and the error."""
    before = run(1, result=value("01"), stdout=value("01"), displays=(value("01"),))
    after = run(2, result=value("02"), stdout=value("02"), error="ValueError: no")
    expected = {change.what: change.detail for change in find_changes(before, after)}
    assert [*expected] == ["result", "stdout", "display", "error"]
    assert expected["display"] == "1 and 0 shown"
    assert expected["error"] == "no error → ValueError: no"


def test_displays_that_differ_are_counted():
    """A single display is described, several are counted."""
    figures = [value(f"{number:02}", "display", "image/png, text/plain") for number in range(4)]
    for before, after, said in (
        (figures[:1], figures[1:2], "image/png with different content"),
        (figures[:3], [figures[0], figures[3], figures[2]], "1 of 3 with different content"),
    ):
        runs = run(1, displays=tuple(before)), run(2, displays=tuple(after))
        assert [change.detail for change in find_changes(*runs)] == [said]


def test_numbers_come_first():
    """A loss says more than the batch, the model and the curve."""
    made = {"batch": value("1", "tensor"), "curve": value("2", "list", series=(1.0, 2.0))}
    runs = [
        run(each, "train()", writes={**{name: replace(it, digest=f"{each}{name}")
                                        for name, it in made.items()}, "loss": value(f"{each}l", series=(each,))})
        for each in (1, 2)
    ]  # fmt: skip
    assert [each.name for each in find_changes(*runs)] == ["loss", "batch", "curve"]


def test_cells_that_made_nothing_in_common_differ():
    """If the cell was edited and nothing can be compared, the results differ."""
    one = run(1, source="x = 1", writes={"x": value("01", "int", "1")})
    two = run(2, source="y = 1", writes={"y": value("01", "int", "1")})
    expected = {change.name: change.detail for change in find_changes(one, two)}
    assert expected == {"x": "only in the earlier run", "y": "only in the later run"}


def test_a_name_is_no_change_if_other_outputs_can_be_compared():
    """If other outputs can be compared, a variable that only one sets does not count."""
    printed = value("02", "str", "hello")
    one = run(1, source="print(s)", stdout=printed)
    two = run(2, source="t = s\nprint(t)", stdout=printed, writes={"t": value("02", "str", "")})
    assert find_changes(one, two) == ()


def test_what_only_one_run_filled_in():
    """A cache that the first run filled is no result of the second."""
    bare, full = (value(each, "object", parts={"a:xs": "1"}) for each in ("01", "02"))
    full = replace(full, parts={"a:xs": "1", "a:mean": "5"})
    other = replace(full, digest="03", parts={"a:xs": "2", "a:mean": "5"})
    earlier = run(1, reads={"data": bare}, writes={"data": full})
    assert find_changes(earlier, run(3, reads={"data": other})) == ()
    refilled = replace(other, digest="04", parts={"a:xs": "2", "a:mean": "6"})
    assert len(find_changes(earlier, run(3, reads={"data": other}, writes={"data": refilled}))) == 1
    assert len(find_changes(earlier, run(3, reads={"data": refilled}))) == 1


def test_large_results_of_another_size_differ_by_what_is_read_of_them():
    """Only printed text may be incomplete because it arrives late."""
    before, after = (
        Fingerprint(name, "tensor", f"shape {name}", exact=False, sample=name) for name in "ab"
    )
    assert results_differ(before, after)
    assert results_differ(None, after)


BOX = Fingerprint("1", "object", "Box", parts={"a:_width": "1", "a:name": "1"})
FRAME = Fingerprint("1", "frame", "DataFrame 3 x 2", parts={"k:load": "1", "index": "1"})


@pytest.mark.parametrize(
    ("before", "moved", "expected"),
    [
        (BOX, {"a:_width", "a:name"}, "changed .name"),
        (BOX, {"a:_width"}, ""),
        (FRAME, {"k:load"}, "changed column `load`"),
        (FRAME, {"index"}, "changed the index"),
    ],
)
def test_parts_that_differ_are_named(before, moved, expected):
    """Parts with private names are not named."""
    after = replace(before, digest="2", parts={**before.parts, **dict.fromkeys(moved, "2")})
    assert say_parts(before, after) == expected
