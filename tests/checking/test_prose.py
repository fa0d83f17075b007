"""Numbers in the text that the saved outputs show and fresh ones do not."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ipytorchseed.checking import report
from ipytorchseed.checking.notebook import read_text
from ipytorchseed.checking.stale import find_stale
from tests.checking.books import SPEC, look
from tests.checking.test_saved import printed, result
from tests.test_schemas import check

SAVED = "accuracy 0.8134, rows 1250, year 2024, torch 2.13, id 007, small 12, round 1000"
FRESH = "accuracy 0.8021, rows 1260, year 2025, torch 2.14, id 008, small 13, round 2000"


def stale(text, saved=SAVED, fresh=FRESH):
    """Return the messages for a text below a cell that showed something else."""
    cells = [
        new_code_cell("1", id="a", outputs=[printed(saved)]),
        new_markdown_cell(text, id="b"),
        new_code_cell("2", id="c"),
    ]
    notebook = read_text(Path("x.ipynb"), nbformat.writes(new_notebook(cells=cells)))
    pairs = {0: (notebook.node.cells[0].outputs, [printed(fresh)]), 2: ([], [])}
    return [each.message for each in find_stale(notebook, pairs)]


@pytest.mark.parametrize(
    ("text", "number", "now"),
    [
        ("The accuracy is **0.8134**.", "0.8134", "0.8021"),
        ("| accuracy | 0.8134 |\n|---|---|", "0.8134", "0.8021"),
        ("It has 1,250 rows", "1,250", "1260"),
        ("It has 1250.", "1250", "1260"),
        ("an unclosed ` and 0.8134", "0.8134", "0.8021"),
    ],
)
def test_both_places_are_named(text, number, now):
    """The place of the text, and that of the output that showed the number."""
    assert stale(text) == [f"the text above In[2] says {number}; In[1] now shows {now}"]


@pytest.mark.parametrize(
    "text",
    [
        "## 0.8134",
        "An accuracy of 0.8134\n=====",
        "`0.8134` and ``x 0.8134``",
        "```\n0.8134\n```",
        "~~~python\n0.8134",
        "[0.8134](there) ![0.8134](there) <https://x.org/0.8134> https://x.org/0.8134",
        "[x]: there-0.8134",
        "<h2>0.8134</h2> <code>0.8134</code> <!-- 0.8134 --> <img width=0.8134>",
        "in 2024",
        "run 007",
        "12 of them, and 1000 in all",
        "0.8135",
        "0.80 of 0.8",
    ],
)
def test_what_is_no_such_number(text):
    """Headings, code, links, years, names, short or unknown numbers."""
    assert stale(text) == []


@pytest.mark.parametrize("fresh", ["0.81342", "0.813400001", "x\n0.8134", "81 0.8134"])
def test_a_number_that_some_output_still_shows(fresh):
    """Also with more digits: the text may have rounded it."""
    assert stale("0.8134", "0.8134", fresh) == []


def test_a_number_with_nothing_in_its_place():
    """It is named without a replacement."""
    said = "the text above In[2] says 0.8134; In[1] no longer shows it"
    assert stale("0.8134", "0.8134", "failed") == [said]


def test_a_cell_that_was_not_run_still_shows_what_it_showed():
    """A cell that the run did not reach, or that is skipped."""
    cells = [
        new_markdown_cell("0.8134", id="a"),
        new_code_cell("1", id="b", outputs=[result("0.8134")]),
    ]
    notebook = read_text(Path("x.ipynb"), nbformat.writes(new_notebook(cells=cells)))
    assert find_stale(notebook, {}) == []


def test_the_report_and_the_json_of_a_notebook(tmp_path):
    """Tables of frames are read; stale text alone does not change the verdict."""
    cells = [
        new_code_cell("print(0.8021)", id="a", outputs=[printed("0.8134\n")], execution_count=1),
        new_code_cell(
            "class T:\n    def _repr_html_(self): return '<td>0.551</td>'\nT()",
            id="b",
            outputs=[result("<T>", text_html="<td>0.661</td>")],
            execution_count=2,
        ),
        new_markdown_cell("From 0.8134 to 0.661.", id="c"),
    ]
    path = tmp_path / "text.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": SPEC}), path)
    (verdict,) = look(path, saved=True)
    told = report.explanation(verdict)
    assert "  ▲ the text below In[2] says 0.8134; In[1] now shows 0.8021\n" in told
    assert "  ▲ the text below In[2] says 0.661; In[2] now shows 0.551\n" in told
    (notebook,) = check("check", report.as_json([verdict]))["notebooks"]
    assert [(each["number"], each["now"], each["index"]) for each in notebook["text"]] == [
        ("0.8134", "0.8021", 2),
        ("0.661", "0.551", 2),
    ]
    assert notebook["text"][0]["shown_by"] == {"index": 0, "id": "a"}
    assert json.loads(report.as_json([verdict]))["notebooks"][0]["text"][1]["message"] in told
