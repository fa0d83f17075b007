"""``%rng`` from records: text, HTML and JSON agree, and show what is unknown."""

from __future__ import annotations

import json
import random
import re

import numpy as np
import pytest
from msgspec import structs

from ipytorchseed.render.report import Report
from ipytorchseed.render.rng import RngView, StateDifference, rng_json
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.position import Position
from tests.records import changed
from tests.render.records import ASSESSMENTS, STATUSES
from tests.render.test_timeline import A, B, run

RUNS = [
    run(1, {"python": A}, {"python": B}),
    run(2, {"python": B}, {"python": A}, between={"numpy": (A, B)}, status="error"),
]


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("judged", [*ASSESSMENTS, None])
def test_text_and_html_tell_states_settings_and_runs(status, judged):
    """They have this order. The text fits a terminal, and the HTML has no script."""
    report = None if judged is None else Report(ASSESSMENTS[judged])
    view = RngView(STATUSES[status], report, RUNS, "k")
    text, html = view.text(), view._repr_html_()
    assert max(map(len, text.splitlines())) <= 80
    for shown in (text, html):
        rows = ("In[1]", "In[2]") if shown is text else ("<code>In[1]", "<code>In[2]")
        places = [shown.index(each) for each in ("python", view.settings["verdict"][:30], *rows)]
        assert places == sorted(places)
        assert "between the runs, numpy moved" in shown
    assert "<script" not in html
    assert str(view) == text


def test_without_torch_its_settings_are_not_looked_at():
    """The view says so, and does not import torch."""
    view = RngView(STATUSES["plain"], None, [], "k")
    assert "torch is not imported yet" in view.text()
    assert "torch is not imported yet" in view.html()


def test_without_runs_it_says_so():
    """It also gives the reason if there is one."""
    view = RngView(STATUSES["plain"], None, [], "k", note="Tracking is off.")
    for shown in (view.text(), view.html()):
        assert "No run is recorded yet." in shown
    assert "Tracking is off." in view.text()
    assert "Tracking is off." in view.html()


def _nowhere(*_):
    """Return that the position is unknown."""


def test_html_escapes_everything_of_the_users():
    """Cells, names of generators and ids are escaped."""
    hostile = "<script>alert('1')</script>"
    generators = {hostile: "random.Random"}
    runs = [run(1, {}, {hostile: A}, source=hostile, cell=hostile, generators=generators)]
    for view in (
        RngView(STATUSES["plain"], None, runs, "k"),
        StateDifference(*runs * 2, _nowhere, "k"),
    ):
        assert "<script" not in view.html()
    assert "&lt;script&gt;" in RngView(STATUSES["plain"], None, runs, "k").html()


def test_json_is_one_line_with_nulls_for_what_is_unknown():
    """Generators without a seed, and flags without torch, have nulls."""
    found = find_generators({"g": random.Random(3), "h": np.random.default_rng()})
    told = json.loads(rng_json(found, ASSESSMENTS["cpu"].flags))
    assert "\n" not in rng_json(found, None)
    assert [each["name"] for each in told["generators"]] == ["g", "h"]
    assert told["generators"][1]["seed"] is None
    assert {type(flag["ok"]) for flag in told["flags"]} == {bool}
    unknown = json.loads(rng_json(found, None))["flags"]
    assert [flag["name"] for flag in unknown] == [flag["name"] for flag in told["flags"]]
    assert {flag["ok"] for flag in unknown} == {None}
    values = {flag["name"]: flag["value"] for flag in unknown}
    assert values["torch.default_dtype"] is None
    assert values["PYTHONHASHSEED"] is not None


def test_two_states_side_by_side():
    """The states have their positions in the stream, where known."""
    first = run(5, {"python": A, "numpy": A}, {})
    second = run(
        9,
        {"python": A, "numpy": B, "g": B},
        {},
        generators={"g": "t"},
        kernel="x",
    )
    known = {A: Position(42, 7)}
    view = StateDifference(first, second, lambda _, digest: known.get(digest), "k")
    assert [heading for heading, _ in view.columns] == ["Source", "In[5] began", "#109 began", ""]
    assert view.rows == [
        ("python", "aaaa0000 seed 42 + 7 draws", "aaaa0000 seed 42 + 7 draws", "same"),
        ("numpy", "aaaa0000 seed 42 + 7 draws", "bbbb0000", "differs"),
        ("g", "not there", "bbbb0000", "differs"),
    ]
    assert max(map(len, view.text().splitlines())) <= 80
    assert "In[5] began" in view.html()


@pytest.mark.parametrize(
    "source", ["%why", "# why\n%why 6 --against 5", "%rng diff 3 4", "%seed?", "%seed log", "for x"]
)
def test_runs_that_only_look_or_do_not_parse_are_not_listed(source):
    """They are counted, and listed on demand, or if a source moved meanwhile."""
    fails = {"status": "error", "error": "SyntaxError: expected ':'"} if source == "for x" else {}
    looked = changed(run(7, {"python": A}, {"python": A}), source=source, **fails)
    for runs, everything, listed in (
        ([RUNS[0], looked], False, False),
        ([RUNS[0], looked], True, True),
        ([structs.replace(looked, between={"python": (A, B)})], False, True),
    ):
        view = RngView(STATUSES["plain"], None, runs, "k", everything=everything)
        for shown in (view.text(), view.html()):
            assert bool(re.search(r"^In\[7\]|<code>In\[7\]", shown, re.MULTILINE)) == listed
            assert ("Not listed: 1 run" in shown) != listed


@pytest.mark.parametrize("source", ["%seed 42", "%seed rewind 3", "%deterministic on", "x", "!ls"])
def test_runs_that_do_something_are_listed(source):
    """They are listed even if no source moved."""
    acted = structs.replace(run(7, {"python": A}, {"python": A}), source=source)
    assert "In[7]" in RngView(STATUSES["plain"], None, [acted], "k").text()
