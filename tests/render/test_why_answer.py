"""The answer starts with the changed number and the root, and ends with a fix."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from ipytorchseed.ledger.records import Finding
from ipytorchseed.render.why import WhyView
from ipytorchseed.session.outputs import text_value
from ipytorchseed.why.explanation import Blame, Cause, Change, Explanation, Root
from tests.records import changed
from tests.render.explanations import run

LATER = replace(run(9, "import torch\nloss = train(model)\nfloat(loss)"), cell="c", started=1000.0)
EARLIER = replace(run(5, "loss = train(model)"), cell="c", started=1000.0)
STEP = Change("variable", "loss", "2.3 → 1.9", (2.3,), (1.9,))
SEVERAL = Change("variable", "losses", "3 of 3 numbers differ", (1.0, 2.0), (2.0, 3.0))


def _view(*causes, roots=(), changed=(STEP,), run=LATER, against=EARLIER, verdict="explained"):
    said = Explanation(run, against, verdict, "", changed, causes, roots)
    return WhyView(said, "k")


def _input(name, level="may-matter", *blame):
    return Cause("input", name, f"{name} had changed", blame=blame, finding=Finding(level))


@pytest.mark.parametrize(
    ("changed", "title"),
    [
        ([SEVERAL, STEP], "`loss` 2.3 → 1.9"),
        ([STEP, Change("result", "", "4 → 5", (4.0,), (5.0,))], "`float(loss)` 4 → 5"),
        ([SEVERAL], "`losses` [1, 2] → [2, 3]"),
        ([Change("variable", "x", "", (1.0,) * 9, (2.0,) * 9)], "`x` changed"),
        ([Change("stdout", "", "other text")], "the printed text changed"),
        ([Change("error", "", "no error → ValueError")], "the error changed"),
        ([Change("variable", "out", "6 → None")], "`out` 6 → None"),
    ],
)
def test_the_title_is_what_made_the_user_ask(changed, title):
    """It is a single number with its name, if there is one, or else what differs."""
    assert _view(changed=changed).title == f"{title} · In[9] compared with In[5]"


def test_the_title_names_runs_as_the_user_knows_them():
    """It has the time of a run before the restart, and never its number in the ledger."""
    before = replace(EARLIER, kernel="other")
    assert "compared with In[5] before the restart (" in _view(against=before).title
    title = _view(verdict="unexplained").title
    assert title.startswith("`loss` 2.3 → 1.9, but no recorded input changed · ")


def test_a_root_in_another_cell_comes_first_with_its_path():
    """A root that the cell itself read is already among the causes."""
    roots = (
        Root("code", "c", "In[7] was edited: `lr = 1` → `lr = 2`", ("lr", "opt")),
        Root("rng", "torch.cpu", "torch.cpu had moved on"),
    )
    view = _view(_input("opt"), roots=roots)
    lines = view.text().splitlines()
    assert lines[1:4] == [
        "  ◆ In[7] was edited: `lr = 1` → `lr = 2`",
        "      → lr → opt → this cell",
        "  ▲ opt had changed",
    ]
    assert view.text().count("◆") == view.html().count("◆") == 1
    told = json.loads(view.to_json())
    assert told["schema"] == 2
    assert [each["path"] for each in told["roots"]] == [["lr", "opt"], []]


def test_of_many_causes_that_may_matter_three_are_told_and_the_others_named():
    """Proved causes are all shown in full."""
    causes = [_input(name, "proved") for name in "abcd"] + [_input(name) for name in "vwxyz"]
    text = _view(*causes).text()
    assert text.count("▲") == 7
    assert "Also changed, may matter: y, z" in text
    assert "z had changed" in _view(*causes).html()


@pytest.mark.parametrize(
    ("cause", "keep"),
    [
        (Cause("rng", "numpy", "", fix="%seed 42", prevents=True), ["%seed 42"]),
        (Cause("rng", "numpy", "", fix="%seed rewind 5"), ["%seed each 42"]),
        (Cause("rng", "g", "", fix="%seed rewind 5"), ["seed `g` in the cell that draws from it"]),
        (Cause("entropy", "uuid.uuid4", "", fix="uuid.UUID(int=1)"), ["uuid.UUID(int=1)"]),
        (_input("df", "carried", Blame(EARLIER, "changed it")), ["create `df` in this cell"]),
        (
            _input("model", "may-matter", Blame(LATER, "changed it")),
            ["create `model` in this cell"],
        ),
        (_input("x", "proved"), []),
        (replace(_input("df", "proved"), keep="make `df` a copy"), ["make `df` a copy"]),
    ],
)
def test_the_answer_ends_with_what_keeps_the_result(cause, keep):
    """It ends with a command or an edit, apart from the way back."""
    later = replace(LATER, generators={"g": "torch.Generator"})
    roots = (Root(cause.kind, cause.name, ""),)
    view = _view(cause, roots=roots, run=later)
    assert json.loads(view.to_json())["keep"] == keep
    assert ("To keep it from now on:" in view.text()) is bool(keep)
    assert (
        "`" not in view.html()
    )  # advice that is not a command is a sentence with its names as code


def test_a_number_that_has_several_names_is_listed_once():
    """The variable, the result and the printed text often show the same number."""
    changed = [STEP, Change("result", "", "2.3 → 1.9", (2.3,), (1.9,)), SEVERAL]
    assert _view(changed=changed).text().count("2.3 → 1.9") == 2  # in the title, too


def test_an_edit_of_the_cell_comes_before_roots_elsewhere():
    """Roots and causes are listed by likelihood; the likeliest comes first."""
    edit = Cause("code", "c", "the cell was edited: `n = 1` → `n = 2`")
    stream = Cause("rng", "torch.cpu", "torch's stream had moved on")
    roots = (
        Root("code", "c", edit.message),
        Root("rng", "torch.cpu", "torch's stream had moved on: In[2] drew", ("model",)),
    )
    lines = _view(edit, _input("model"), stream, roots=roots).text().splitlines()
    assert lines[1:5] == [
        f"  ▲ {edit.message}",
        "  ◆ torch's stream had moved on: In[2] drew",
        "      → model → this cell",
        "  ▲ model had changed",
    ]
    assert not lines[5]  # the stream is listed once


def test_a_number_is_named_by_what_was_printed():
    """Of several numbers, it is the last one that changed."""
    source = "print('best', max(values), 'of', len(values))"
    then, now = (
        changed(replace(it, source=source), stdout=text_value(f"best {best} of 4\n"))
        for it, best in ((EARLIER, 0.5), (LATER, 0.7))
    )
    change = Change("stdout", "", "", (0.5, 4.0), (0.7, 4.0))
    assert _view(changed=[change], run=now, against=then).title.startswith("`best` 0.5 → 0.7 · ")
