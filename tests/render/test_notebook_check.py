"""``%check`` as text, HTML and JSON, from one record."""

from __future__ import annotations

import json

import pytest

from ipytorchseed.checking import report
from ipytorchseed.render.notebook_check import Fresh, NotebookCheckView
from ipytorchseed.session.restart import Remark
from tests.checking.verdicts import DIFFERS
from tests.test_schemas import check

REMARKS = [
    Remark("only-here", "`k` is read by `In[9]`, and no cell of the file sets it", "k", (9,)),
    Remark("not-run", "`plot(<b>)` did not run in this kernel"),
]
(VERDICT,) = json.loads(report.as_json([DIFFERS]))["notebooks"]
FIRST = VERDICT["first_divergence"]
SAME = {**VERDICT, "first_divergence": None, "origin": None}
FRESH = {
    "running": Fresh(progress="███░░░░░░░░░ 1 of 4 · the file in a fresh kernel"),
    "differs": Fresh(verdict=VERDICT, changes=["stdout: 1 → 2"], edits=["+seed(<42>)"], note="why"),
    "same": Fresh(verdict=SAME),
    "ends": Fresh(verdict={**SAME, "error": "In[2] raises NameError: x"}),
    "stopped": Fresh(note="The fresh run was stopped. Run %check to start again."),
}


def view(name, remarks=REMARKS, number=9):
    """Return the view of a fresh run; its first cell that differs has a number here."""
    return NotebookCheckView("a.ipynb", remarks, FRESH[name], {FIRST["id"]: number})


@pytest.mark.parametrize("name", FRESH)
def test_in_text(name, golden):
    """The text has at most 80 columns."""
    text = view(name).text()
    assert max(map(len, text.splitlines())) <= 80
    golden(f"notebook-check-{name}", text)


@pytest.mark.parametrize("name", FRESH)
def test_in_html_and_json(name):
    """They have the same facts; HTML escapes the user's text; JSON matches its schema."""
    html = view(name).html()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert FRESH[name].note in html
    told = check("notebook_check", view(name).to_json())
    assert told["verdict"] == FRESH[name].verdict
    assert [each["message"] for each in told["remarks"]] == [each.message for each in REMARKS]


def test_a_cell_that_has_the_same_number_there():
    """The cell is named once."""
    number = int(FIRST["message"].partition("]")[0].removeprefix("In["))
    assert "there" not in view("differs", number=number).text()


def test_nothing_is_found():
    """The title says so."""
    said = "Nothing recorded here would change with Restart & Run All."
    assert view("same", []).text().startswith(said)
