"""A check's result has the same facts as text, HTML and JSON."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from ipytorchseed.render.check import CheckView
from tests.render.checks import CHECKED, PUT, VIEWS
from tests.render.test_html import EVIL, Page


@pytest.mark.parametrize("name", VIEWS)
def test_the_html_has_the_facts_of_the_text(name):
    """The HTML has every fact word for word."""
    view = VIEWS[name]
    words = "".join(Page(view.html()).text.split())
    facts = [view.title, *getattr(view, "evidence", ()), *getattr(view, "mend", ())]
    facts += [*getattr(view, "outside", ()), *getattr(view, "remarks", ())]
    facts += [cell for row in getattr(view, "rows", ()) for cell in row]
    facts += [cell for row in getattr(view, "listed", ()) for cell in row]
    for fact in facts:
        assert "".join(fact.split()) in words


@pytest.mark.parametrize("evil", EVIL)
def test_what_the_user_wrote_is_escaped(evil):
    """Code, names and messages are escaped."""
    culprit = replace(PUT, code=evil, module=evil, operation=evil, instead=evil)
    page = Page(CheckView(replace(CHECKED["operation"], culprit=culprit, notes=(evil,))).html())
    assert not {"script", "img", "iframe", "svg"} & {*page.tags}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert evil in page.text


def test_the_json_has_the_promised_shape():
    """The names are fixed, and the operation has its line."""
    said = CheckView(CHECKED["operation"]).to_json()
    assert "\n" not in said
    assert json.loads(said) == {
        "schema": 1,
        "reproducible": False,
        "runs": 2,
        "differences": [
            {"what": "variable", "name": "loss", "detail": "2.302585 → 2.302591"},
            {"what": "variable", "name": "model", "detail": "changed 4 of 4 parameters"},
            {"what": "result", "name": "", "detail": "2.302585 → 2.302591"},
        ],
        "first_divergence": {
            "operation": "aten::index_put",
            "line": 7,
            "index": 112,
            "inputs_equal": True,
        },
        "with_flags": "repeats",
    }


@pytest.mark.parametrize("name", ["repeats", "nothing"])
def test_the_json_of_equal_runs_has_nulls(name):
    """``first_divergence`` and ``with_flags`` are null if nothing was traced or tried."""
    said = json.loads(CheckView(CHECKED[name]).to_json())
    assert (said["reproducible"], said["differences"]) == (True, [])
    assert (said["first_divergence"], said["with_flags"]) == (None, None)


@pytest.mark.parametrize("name", ["outside", "draws", "traced", "first"])
def test_a_difference_without_an_operation_has_no_first_divergence(name):
    """It is null if no operation of torch's was caught."""
    said = json.loads(CheckView(CHECKED[name]).to_json())
    assert (said["reproducible"], said["first_divergence"]) == (False, None)
