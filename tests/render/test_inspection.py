"""The inspector's view model is plain JSON with the facts of the text."""

from __future__ import annotations

import json

import pytest

from ipytorchseed.render.inspection import (
    line_model,
    now_model,
    settings_model,
    why_model,
)
from ipytorchseed.render.links import cause_page
from ipytorchseed.render.report import Report
from ipytorchseed.render.timeline import Line, last_moves, timeline
from ipytorchseed.render.values import code, hue
from ipytorchseed.render.why import WhyView
from tests.render.explanations import EXPLANATIONS
from tests.render.records import ASSESSMENTS, STATUSES
from tests.render.test_timeline import A, B, C, run


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_an_explanation_says_what_the_text_says(name):
    """The model has the title, causes, findings, commands, changes and cleared causes."""
    view = WhyView(EXPLANATIONS[name], "k")
    model = why_model(view)
    text = "".join(view.text().split())
    causes = [each for each in model["answer"] if "kind" in each]
    said = [model["title"], *model["mend"], *(each["message"] for each in model["answer"])]
    said += [detail for _, detail in model["changed"]]
    said += [model["reason"], *(cause["finding"] for cause in causes)]
    for each in said:
        assert "".join(each.split()) in text
    assert json.loads(json.dumps(model)) == model
    for cause in causes:
        assert bool(cause["chips"]) == (cause["kind"] == "rng")
        assert cause["page"] == cause_page(cause["kind"], cause["name"])


@pytest.mark.parametrize("name", ASSESSMENTS)
def test_settings_are_told_worst_first(name):
    """Each setting is there once, and problems have the order of the report."""
    report = Report(ASSESSMENTS[name])
    model = settings_model(report)
    rows = [row for group in model["groups"] for row in group["rows"]]
    assert len(rows) == len(report.assessment.flags)
    assert [row["ok"] for row in rows] == sorted(row["ok"] for row in rows)
    assert model["ok"] == (not model["risks"])
    assert json.loads(json.dumps(model)) == model


def test_where_sources_stand_is_told_with_who_moved_them():
    """The run that moved a source is empty if unknown."""
    rows = STATUSES["plain"].states
    model = {each["name"]: each for each in now_model(rows, {"numpy": "In[3]"})}
    assert (model["numpy"]["where"], model["numpy"]["by"]) == ("seed 42 + 1 draw", "In[3]")
    assert (model["torch.cuda:0"]["chip"], model["python"]["by"]) == (None, "")


def test_a_source_that_a_run_left_alone_is_not_told():
    """Such a source is shown if it started from another state, or moved before."""
    first = run(1, {"python": A, "numpy": A}, {"python": B, "numpy": A})
    second = run(2, {"python": C, "numpy": B}, {"python": C, "numpy": B}, between={"numpy": (A, B)})
    fields = line_model(Line(second, [first], "k"))["fields"]
    chip = [code(C), hue(C), C]
    assert fields["python"] == {"from": chip, "to": None, "other": True, "between": False}
    assert (fields["numpy"]["other"], fields["numpy"]["between"]) == (False, True)
    assert list(line_model(Line(first, [], "k"))["fields"]) == ["python"]


def test_a_source_that_neither_run_uses_is_not_ringed():
    """Its other state at the start does not matter."""
    runs = [run(1, {"python": A}, {"python": A}), run(2, {"python": B}, {"python": B})]
    assert Line(runs[1], runs[:1], "k").others == frozenset()


def test_a_cell_of_magics_alone_is_held_against_nothing():
    """``%seed 42`` is meant to start from any state."""
    runs = [run(n, {"python": d}, {"python": C}, source="%seed 42") for n, d in enumerate((A, B))]
    line = Line(runs[1], runs[:1], "k")
    assert (line.others, line.outcome) == (frozenset(), None)


def test_a_run_is_said_in_a_sentence():
    """Screen readers read the sentence."""
    first = run(1, {"python": A}, {"python": B})
    second = run(2, {"python": B}, {"python": C}, error="E", status="error")
    assert Line(first, [], "k").words == "In[1] ran, moved python."
    assert Line(second, [first], "k").words == (
        "In[2] ended: error, moved python, result differs from In[1]."
    )


def test_who_moved_a_source_last():
    """A run, something between two runs, something after all of them, or unknown."""
    runs = [
        run(1, {"python": A, "numpy": A, "g": A, "h": A}, {"python": B, "numpy": A, "g": A, "h": A}),
        run(2, {"python": B, "numpy": B, "g": A, "h": A}, {"python": B, "numpy": B, "g": A, "h": A},
            between={"numpy": (A, B)}),
    ]  # fmt: skip
    lines = timeline(runs, "k")[::-1]
    now = {"python": B, "numpy": B, "g": C, "h": A}
    told = last_moves(lines, now)
    assert told == {"python": "In[1]", "numpy": "before In[2]", "g": "after In[2]"}
