"""Verdicts as text, JSON, JUnit XML and annotations."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from ipytorchseed.checking import report
from ipytorchseed.checking.notebook import Cell
from ipytorchseed.checking.program import Edit, Splice
from ipytorchseed.checking.report import annotate, as_junit
from ipytorchseed.checking.running import Progress, show_line
from ipytorchseed.why.explanation import Blame, Cause
from tests.checking.verdicts import (
    BROKEN,
    DIED,
    DIFFERS,
    DOES_NOT_REPEAT,
    EACH,
    HIDDEN,
    INPUT,
    LATER,
    PROSE,
    REPEATS,
    SAFE,
    SHOWN,
    SILENT,
    SOUND,
    STRICT,
    UNSAFE,
    UNSEEDED,
)
from tests.render.explanations import run
from tests.render.hostile import HOSTILE, poisoned, unseen


def test_the_text_is_that_of_the_golden_file(golden):
    """A table of all notebooks, then the explanations."""
    golden("check", report.text(EACH))


def test_each_exit_code():
    """0 if it repeats, 1 if it differs, 2 if it could not be checked to its end."""
    codes = {each.path.stem: each.exit_code for each in EACH}
    assert codes == {
        "sound": 0,
        "train": 1,
        "atomics": 1,
        "silent": 0,
        "strict": 1,
        "hidden": 1,
        "again": 1,
        "again, safely": 0,
        "torn": 2,
        "dies": 2,
        "prose": 0,
    }


def test_what_mends_several_causes_is_told_once():
    """One call seeds torch on every device."""
    cuda = replace(UNSEEDED, name="torch.cuda:0", message="torch.cuda:0 is not seeded")
    verdict = replace(DIFFERS, cells=(replace(SHOWN, causes=(UNSEEDED, cuda, INPUT)),))
    lines = report.text([verdict]).splitlines()
    tries = [at for at, line in enumerate(lines) if "try: torch.manual_seed(42)" in line]
    assert len(tries) == 1
    assert "torch.cuda:0" in lines[tries[0] - 1]


def test_a_difference_that_goes_through_a_file_begins_where_it_was_written():
    """Only if that cell differs; no other differing cell is blamed."""
    file = Cause("file", "noise.npy", "noise.npy has other content", blame=(_wrote(LATER.cell),))
    shown = replace(SHOWN, causes=(file,))
    assert replace(DIFFERS, cells=(SOUND, LATER, shown)).origin.cell is LATER.cell
    other = replace(shown, causes=(replace(file, blame=(_wrote(SOUND.cell),)),))
    assert replace(DIFFERS, cells=(SOUND, LATER, other)).origin.cell is SHOWN.cell


def _wrote(cell: Cell) -> Blame:
    return Blame(run(cell.count, cell=cell.id), "wrote it")


def test_the_json_has_the_shape_that_other_programs_rely_on():
    """Path, whether it repeats, first divergence with causes, and every cell."""
    told = json.loads(report.as_json([REPEATS, DIFFERS]))
    assert told["schema"] == 1
    sound, train = told["notebooks"]
    assert sound["path"] == "notebooks/sound.ipynb"
    assert (sound["reproducible"], sound["first_divergence"]) == (True, None)
    assert sound["cells"] == [
        {"index": 1, "id": "a0", "outputs": "same", "state": "same", "causes": []},
        {"index": 6, "id": "a4", "outputs": "skipped", "state": "skipped", "causes": []},
    ]
    first, origin = train["first_divergence"], train["origin"]
    assert (train["reproducible"], first["index"], first["id"]) == (False, 4, "a2")
    assert first["causes"] == train["cells"][2]["causes"]
    assert (origin["index"], origin["id"]) == (2, "a1")
    assert origin.keys() == first.keys()
    assert origin["causes"] == train["cells"][1]["causes"]
    assert [(cause["kind"], cause["name"]) for cause in origin["causes"]] == [("rng", "torch.cpu")]
    assert [(cell["outputs"], cell["state"]) for cell in train["cells"]] == [
        ("same", "same"),
        ("same", "different"),
        ("different", "same"),
        ("different", "same"),
    ]


def test_what_no_output_shows_is_told_in_json():
    """The notebook repeats, and its origin is named.

    With ``--strict`` the origin is the divergence.
    """
    silent, strict = json.loads(report.as_json([SILENT, STRICT]))["notebooks"]
    assert (silent["reproducible"], silent["first_divergence"]) == (True, None)
    assert (silent["origin"]["index"], silent["origin"]["id"]) == (2, "a1")
    assert silent["origin"]["message"] == (
        "In[2] leaves different values in torch.cpu (never seeded)"
    )
    assert strict["reproducible"] is False
    assert strict["first_divergence"]["id"] == strict["origin"]["id"] == "a3"


def test_a_cell_without_a_cause_is_not_the_origin_where_another_has_one():
    """The differing cell reads an object with a handle, and a draw."""
    handle = replace(UNSAFE.cells[3], cell=replace(UNSAFE.cells[3].cell, index=0))
    draw, shown = DIFFERS.cells[1:3]
    figure = replace(shown.causes[0], name="figure")
    shown = replace(shown, causes=(figure, *shown.causes))
    assert replace(DIFFERS, cells=(handle, draw, shown)).origin == draw
    only = replace(shown, causes=(figure,))
    assert replace(DIFFERS, cells=(handle, draw, only)).origin == handle


def test_what_could_not_be_seen_is_named_where_nothing_else_is():
    """The report claims only what is known: unread values may differ."""
    alone = replace(DOES_NOT_REPEAT.cells[1], unseen=("table", "a", "b", "c", "d"))
    said = " ".join(report.text([replace(DOES_NOT_REPEAT, cells=(alone,))]).split())
    assert (
        "no recorded input differs, but table, a, b, c and 1 more could be inspected only in part."
        in said
    )


def test_cells_that_were_not_reached_are_told_everywhere():
    """How many and why, together with the other results."""
    reason = "In[4] raises ValueError: no"
    (hidden,) = json.loads(report.as_json([HIDDEN]))["notebooks"]
    assert hidden["unreached"] == {"cells": 43, "of": 80, "reason": reason}
    assert hidden["first_divergence"]["id"] == "a3"
    said = f"43 of 80 cells were not reached: {reason}"
    assert said in report.text([HIDDEN])
    assert said in ET.fromstring(as_junit([HIDDEN])).find(".//failure").text
    assert said in next(annotate([HIDDEN]))


def test_a_fault_in_json():
    """Whether it repeats is unknown, and the error gives the reason.

    Earlier results stay.
    """
    broken, died = json.loads(report.as_json([BROKEN, DIED]))["notebooks"]
    assert (broken["reproducible"], broken["error"]) == (None, BROKEN.fault)
    assert (died["reproducible"], died["error"]) == (False, DIED.fault)
    assert (died["first_divergence"]["id"], died["origin"]["id"]) == ("a2", "a1")


def test_the_json_is_one_line():
    """As for every command."""
    assert "\n" not in report.as_json(EACH)


def test_junit_has_a_test_case_for_each_notebook():
    """A difference is a failure, a fault an error; both contain the explanation."""
    root = ET.fromstring(as_junit(EACH))
    suite = root.find("testsuite")
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "11",
        "failures": "5",
        "errors": "2",
    }
    cases = {case.get("name"): case for case in suite}
    assert cases["sound.ipynb"].get("classname") == "notebooks"
    assert len(cases["sound.ipynb"]) == 0
    failure = cases["train.ipynb"].find("failure")
    assert failure.get("message") == "In[3] differs: rng torch.cpu in In[2]"
    assert "not seeded before this cell" in failure.text
    assert cases["atomics.ipynb"].find("failure").get("message").endswith("no cause was recorded")
    assert "torch.cpu (never seeded)" in cases["silent.ipynb"].find("system-out").text
    assert cases["silent.ipynb"].find("failure") is None
    assert cases["torn.ipynb"].find("error").get("message") == BROKEN.fault


def test_junit_holds_no_letter_that_xml_forbids():
    """An error may contain colour codes."""
    coloured = replace(BROKEN, fault="\x1b[31mno\x1b[0m \x00 <tag> & more")
    told = ET.fromstring(as_junit([coloured])).find(".//error")
    assert told.get("message") == r"\x1b[31mno\x1b[0m \x00 <tag> & more"


@pytest.mark.parametrize("verdict", [REPEATS, SAFE, SILENT, PROSE])
def test_no_annotation_where_all_is_well(verdict):
    """A notebook that repeats gets no annotation."""
    assert list(annotate([verdict])) == []


@pytest.mark.parametrize(
    "verdict", [DIFFERS, UNSAFE, DOES_NOT_REPEAT, STRICT, HIDDEN, BROKEN, DIED]
)
def test_an_annotation_stands_beside_the_cell(verdict):
    """One line each, with file, line and a title.

    Its text is escaped as GitHub requires.
    """
    (line,) = annotate([verdict])
    assert "\n" not in line
    place, _, said = line.removeprefix("::error ").partition("::")
    fields = dict(field.split("=", 1) for field in place.split(","))
    assert fields["file"] == str(verdict.path)
    assert fields["line"] == str(verdict.line)
    assert fields["title"].startswith(f"{verdict.path.name}%3A ")
    assert said.replace("%0A", "\n").replace("%25", "%") == report.explanation(verdict)


@settings(deadline=None, max_examples=50)
@given(HOSTILE)
def test_whatever_a_notebook_calls_things_nothing_of_it_acts(evil):
    """Control characters in paths, cells, causes and messages are harmless.

    Text, JUnit and annotations show them line by line.
    """
    verdicts = poisoned(EACH, evil)
    text, junit = report.text(verdicts), as_junit(verdicts)
    annotations = [*annotate(verdicts)]
    for shown in (text, junit, report.as_json(verdicts), *annotations):
        assert unseen(shown) == set()
    assert len(annotations) == sum(each.exit_code > 0 for each in verdicts)
    assert not any("\n" in line for line in annotations)
    assert not any(line.lstrip().startswith(("::", "##[")) for line in text.splitlines())
    for case in ET.fromstring(junit).iter("testcase"):
        assert len(str(case.get("name")).splitlines()) == 1


def test_a_notebook_s_name_adds_no_line_to_a_diff():
    """A CI system would read that line as a command."""
    cell = Cell(0, "a", "import random")
    edit = Edit(cell, "seed", "", (Splice(13, 13, "\nrandom.seed(42)"),))
    path = Path("x\n::error file=x::injected.ipynb")
    told = [*report.diffs([replace(REPEATS, path=path, edits=(edit,))])]
    assert told[1] == r"--- x\n::error file=x::injected.ipynb cell 0"
    assert not any(line.startswith("::") for line in told)


def test_a_line_fills_cell_by_cell(capsys):
    """It shows the notebook and how many cells have run, and is gone at the end."""
    line = Progress(show_line)
    line.begin(DIFFERS.path, 2)
    line.step(DIFFERS.path)
    line.begin(DIFFERS.path, 2, "trying seed in In[1]")
    line.end(DIFFERS)
    line.end(BROKEN)  # it never started
    drawn = [each.strip()[13:] for each in capsys.readouterr().err.split("\r") if each]
    assert drawn == [
        "0 of 2 · train.ipynb",
        "1 of 2 · train.ipynb",
        "1 of 4 · trying seed in In[1]",
        "",
        "",
    ]
