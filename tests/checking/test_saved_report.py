"""Reports of ``--saved``: text, JSON, JUnit XML, annotations, and the command."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from msgspec.structs import replace

from ipytorchseed.checking import report
from ipytorchseed.checking.grading import Found, Grade
from ipytorchseed.checking.report import annotate, as_junit
from ipytorchseed.checking.stale import StaleNumber
from ipytorchseed.checking.verdict import CellVerdict, Unreached, Verdict
from ipytorchseed.cli import main
from ipytorchseed.reads.entropy import sentence
from ipytorchseed.why.explanation import Cause
from tests.checking.test_saved import printed, result, write
from tests.checking.verdicts import DRAW, IMPORTS, LEFT_OUT, PUT, SHOW
from tests.forking import forking
from tests.render.hostile import HOSTILE, poisoned, unseen


def compared(cell, *grades, **fields):
    """Return the verdict on a cell, from the grades of its outputs."""
    found = max((each.found for each in grades), key=[*Found].index, default=Found.SAME)
    return CellVerdict(cell, found, Found.UNKNOWN, grades, **fields)


saved = partial(Verdict, saved=True)


LOSS = Grade(
    "stdout",
    detail="2 of 40 numbers differ, the first at index 3: 0.5 → 0.508",
    saved="epoch 3, loss 0.126",
    fresh="epoch 3, loss 0.125",
)
PIXELS = Grade("display", detail="image/png: 3,120 of 307,200 pixels differ")
NEAR = Grade(
    "result",
    detail="rounding, at most 3e-7 of the value",
    found=Found.ROUNDING,
    saved="0.1",
    fresh="0.10000003",
)
ENTROPY, DATE = (Cause("entropy", name, sentence(name)) for name in ("uuid.uuid4", "!date"))

TRUE = saved(Path("notebooks/true.ipynb"), (compared(IMPORTS), compared(SHOW)), seconds=2)
NEARLY = saved(Path("near.ipynb"), (compared(IMPORTS), compared(SHOW, NEAR)), seconds=2.5)
STALE = saved(
    Path("stale.ipynb"),
    (
        compared(IMPORTS, saved_count=1),
        compared(DRAW, NEAR, saved_count=2),
        compared(SHOW, LOSS, PIXELS, saved_count=7, causes=(ENTROPY,)),
        compared(
            PUT, notes=("its printed text is not compared: a part of it is missing in the file",)
        ),
        CellVerdict(PUT, Found.UNKNOWN, Found.UNKNOWN),
        CellVerdict(LEFT_OUT, Found.SKIPPED, Found.SKIPPED),
    ),
    in_order=False,
    seconds=61.04,
    line=31,
    stale=(StaleNumber("0.508", "the text above In[3]", 0, SHOW, "0.5"),),
)
VARIES = saved(
    Path("varies.ipynb"),
    (compared(replace(SHOW, tags=frozenset({"ipytorchseed-varies"})), LOSS, causes=(DATE,)),),
    seconds=1,
)
ENDED = saved(
    Path("ended.ipynb"),
    (compared(IMPORTS), compared(SHOW, LOSS)),
    unreached=Unreached(43, 80, "In[3] raises ValueError: no"),
    seconds=3,
)
BROKEN = saved(
    Path("broken.ipynb"),
    (compared(IMPORTS),),
    fault="the kernel died in In[2]: Killed",
    unreached=Unreached(1, 2, "the kernel died in In[2]: Killed"),
)
UNSAVED = saved(Path("new.ipynb"), note="no outputs are saved in it: nothing to compare")
EACH = (TRUE, NEARLY, STALE, VARIES, ENDED, BROKEN, UNSAVED)


def test_the_text_is_that_of_the_golden_file(golden):
    """A table of all notebooks, then the saved and the fresh outputs of each cell."""
    golden("check-saved", report.text(EACH))


def test_each_exit_code():
    """0 if all is still true, also with rounding; 1 if a cell differs; 2 for a fault."""
    assert [each.exit_code for each in EACH] == [0, 0, 1, 0, 1, 2, 0]


def test_junit_and_annotations():
    """A notebook that differs is a failure, at the line of the cell.

    Rounding is shown in a test that passes.
    """
    cases = [*ET.fromstring(as_junit(EACH)).iter("testcase")]
    assert [[inner.tag for inner in case] for case in cases] == [
        [],
        ["system-out"],
        ["failure"],
        ["system-out"],
        ["failure"],
        ["error"],
        ["system-out"],
    ]
    message = cases[2].find("failure").get("message")
    assert message.startswith("In[3] (In[7] in the file) differs from what the file shows: stdout")
    lines = [*annotate(EACH)]
    assert [line.split(",")[0] for line in lines] == [
        "::error file=stale.ipynb",
        "::error file=ended.ipynb",
        "::error file=broken.ipynb",
    ]
    assert ",line=31,title=stale.ipynb%3A differs::" in lines[0]


def test_json_of_faults():
    """Unreached cells and errors are in the same fields as for every check."""
    ended, broken = json.loads(report.as_json([ENDED, BROKEN]))["notebooks"]
    assert ended["unreached"]["cells"] == 43
    assert (broken["reproducible"], broken["error"]) == (None, BROKEN.fault)


@settings(deadline=None, max_examples=50)
@given(HOSTILE)
def test_whatever_outputs_hold_nothing_of_it_acts(evil):
    """Control characters in outputs, paths and messages are harmless.

    Text, JUnit and annotations show them line by line.
    """
    verdicts = poisoned(EACH, evil)
    text, lines = report.text(verdicts), [*annotate(verdicts)]
    for told in (text, as_junit(verdicts), report.as_json(verdicts), *lines):
        assert unseen(told) == set()
    assert not any("\n" in line for line in lines)
    assert not any(line.lstrip().startswith(("::", "##[")) for line in text.splitlines())


# --------------------------------------------------------------------------------------------------
# On the command line


def run(*words):
    """Run the command; return its result."""
    with forking():
        return CliRunner().invoke(main, ["check", *map(str, words)], env={"GITHUB_ACTIONS": None})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--runs", "2"], "--saved and --runs cannot be combined"),
        (["--rerun"], "--saved and --rerun cannot be combined"),
        (["--strict"], "--saved and --strict cannot be combined"),
        (["--rtol", "-1"], "Invalid value for '--rtol'"),
    ],
)
def test_options_that_do_not_go_together(words, said):
    """Exit code 2 before any kernel starts, and one line that names them."""
    done = run("--saved", *words, "x.ipynb")
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())


def test_rtol_needs_saved():
    """Two runs on one machine are compared bit by bit."""
    done = run("--rtol", "1e-3", "x.ipynb")
    assert done.exit_code == 2
    assert "--rtol needs --saved" in done.stderr


def test_the_command(tmp_path):
    """Options of every check can be combined with it.

    It exits with 1 if a saved output is no longer true.
    """
    good = write(
        tmp_path / "good", ("import random\nrandom.random()", [result("0.6394267984578837")])
    )
    bad = write(tmp_path / "bad", ("print(1)", [printed("2\n")]))
    junit = tmp_path / "junit.xml"
    done = run("--saved", good, bad, "--seed", 42, "-j", 2, "--timeout", 60, "--junit", junit)
    assert done.exit_code == 1, done.stdout
    assert "file  2\n      now   1\n" in done.stdout
    cases = ET.parse(junit).getroot().iter("testcase")
    assert [[inner.tag for inner in case] for case in cases] == [[], ["failure"]]
    done = run("--saved", good, "--rtol", "1e-9", "--seed", 42, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["notebooks"][0]["cells"][0]["outputs"] == "same"
