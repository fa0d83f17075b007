"""``ipytorchseed check``: words, options, exit codes, and files that it writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from ipytorchseed.cli import main
from ipytorchseed.cli.check import is_junit
from tests.checking.books import book
from tests.forking import forking
from tests.render.hostile import unseen


def run(*words, **environment):
    """Run the command; return its result."""
    env = {"GITHUB_ACTIONS": None, **environment}
    with forking():
        done = CliRunner().invoke(main, ["check", *map(str, words)], env=env)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of two notebooks, one of which differs."""
    folder = tmp_path_factory.mktemp("notebooks")
    book(folder / "sound", "1 + 1")
    (folder / "deep").mkdir()
    book(folder / "deep" / "draws", "import random\nrandom.random()")
    (folder / ".ipynb_checkpoints").mkdir()
    book(folder / ".ipynb_checkpoints" / "sound-checkpoint", "1 / 0")
    return folder


def test_a_folder_stands_for_the_notebooks_in_it(folder, tmp_path, monkeypatch):
    """Except the copies that Jupyter keeps.

    The table, JUnit and annotations agree.
    """
    junit = tmp_path / "reports" / "junit.xml"
    monkeypatch.chdir(folder.parent)
    done = run(folder.name, "-j", 2, "--junit", junit, GITHUB_ACTIONS="true")
    assert done.exit_code == 1
    assert "sound.ipynb" in done.stdout
    assert "random.seed(42)" in done.stdout
    assert "checkpoint" not in done.stdout
    assert [case.get("name") for case in ET.parse(junit).getroot().iter("testcase")] == [
        "draws.ipynb",
        "sound.ipynb",
    ]
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("::stop-commands::")
    assert done.stdout.count(f"\n::{first.removeprefix('::stop-commands::')}::\n") == 1
    assert last.startswith(f"::error file={Path(folder.name, 'deep', 'draws.ipynb')},line=")
    assert done.stderr == ""


def test_json_is_all_that_is_printed(folder):
    """One line on standard output, with any other options.

    Annotations go to standard error.
    """
    done = run(folder / "deep" / "draws.ipynb", "--json", GITHUB_ACTIONS="true")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["notebooks"][0]["first_divergence"]["causes"][0]["name"] == "python"
    assert done.stderr.startswith("::error ")


def test_a_seed_makes_it_repeat(folder):
    """``--seed``."""
    done = run(folder / "deep" / "draws.ipynb", "--seed", 42)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "repeats" in done.stdout


@pytest.fixture(scope="module")
def silent(tmp_path_factory):
    """A notebook that shows the same, and leaves a number that was never seeded."""
    cells = "import random", "x = random.random()"
    return book(tmp_path_factory.mktemp("silent") / "silent", *cells)


def test_what_no_output_shows_is_told(silent, tmp_path):
    """In a line, and in a passing JUnit case, but not as an annotation.

    The exit code is 0.
    """
    junit = tmp_path / "junit.xml"
    done = run(silent, "--junit", junit, GITHUB_ACTIONS="true")
    assert done.exit_code == 0
    said = f"{silent}: repeats; In[2] leaves different values in python (never seeded)\n"
    assert said in done.stdout
    assert "::error" not in done.stdout
    (case,) = ET.parse(junit).getroot().iter("testcase")
    assert [each.tag for each in case] == ["system-out"]
    assert said.strip() in case[0].text


def test_strict(silent):
    """``--strict`` makes it a difference, for the same cell and cause."""
    done = run(silent, "--strict", "--json", GITHUB_ACTIONS="true")
    assert done.exit_code == 1
    (told,) = json.loads(done.stdout)["notebooks"]
    assert told["reproducible"] is False
    assert told["first_divergence"] == told["origin"]
    assert (told["origin"]["index"], told["origin"]["causes"][0]["name"]) == (1, "python")
    assert done.stderr.startswith("::error ")


def test_cells_that_were_not_reached(tmp_path):
    """Text, JSON and JUnit say how many cells were not reached, and why."""
    cells = "import random\nrandom.random()", "raise ValueError('no')", "1", "2"
    path, junit = book(tmp_path / "hidden", *cells), tmp_path / "junit.xml"
    done = run(path, "--junit", junit)
    said = "2 of 4 cells were not reached: In[2] raises ValueError: no"
    assert done.exit_code == 1
    assert "differs, not checked to the end" in done.stdout
    assert said in done.stdout
    assert said in ET.parse(junit).getroot().find(".//failure").text
    (told,) = json.loads(run(path, "--json").stdout)["notebooks"]
    assert told["unreached"] == {"cells": 2, "of": 4, "reason": "In[2] raises ValueError: no"}


def test_rerun(folder):
    """The words of ``--rerun`` are about running again."""
    done = run(folder / "deep" / "draws.ipynb", "--rerun")
    assert done.exit_code == 1
    assert "not safe to run again" in done.stdout
    assert "try: random.seed(42)  # at the top of this cell" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Missing argument 'NOTEBOOK...'"),
        (["--runs", "1", "x.ipynb"], "Invalid value for '--runs'"),
        (["--runs", "9" * 20, "x.ipynb"], "is not in the range 2<=x<=1000"),
        (["--saved", "--rtol", "nan", "x.ipynb"], "'nan' is not a valid number"),
        (
            ["--seed", str(2**32), "x.ipynb"],
            "0 to 4294967295, not 4294967296: numpy rejects larger seeds",
        ),
        (["--seed", "x", "x.ipynb"], "Invalid value for '--seed': a seed is an integer from 0 to"),
        (["--timeout", "0", "x.ipynb"], "Invalid value for '--timeout'"),
        (["--timeout", "inf", "x.ipynb"], "'inf' is not a valid number"),
        (["-j", "0", "x.ipynb"], "Invalid value for '-j'"),
        (["{empty}"], "there is no notebook in the folder"),
        (["--junit", "{file}/junit.xml", "x.ipynb"], "cannot be written"),
    ],
)
def test_a_wrong_word_is_an_error_of_usage(words, said, tmp_path):
    """Exit code 2 before any kernel starts, and one line that names the word."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    places = {"empty": tmp_path / "empty", "file": tmp_path / "file"}
    done = run(*(word.format(**places) for word in words))
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "words", [["check", "--junit"], ["check", "--receipt"], ["ledger", "export", "--output"]]
)
def test_no_notebook_is_written_over(words, tmp_path):
    """A notebook follows an option whose file was forgotten.

    Nothing runs, and nothing is lost.
    """
    path = book(tmp_path / "book", "1 + 1")
    before = path.read_bytes()
    done = CliRunner().invoke(main, [*words, str(path), str(path)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is a notebook's name: choose another" in " ".join(done.stderr.split())
    assert path.read_bytes() == before


def test_what_was_typed_is_repeated_visibly(tmp_path):
    """A usage error is one line of a log.

    Control characters in it are escaped.
    """
    evil = "\x1b[2J\u202e\n::error::x"
    empty = tmp_path / f"empty{evil}"
    empty.mkdir()
    for words in (
        [empty],
        ["x.ipynb", "--seed", evil],
        ["x.ipynb", f"--{evil}"],
        ["a", "-j", evil],
    ):
        done = run(*words)
        assert done.exit_code == 2
        assert unseen(done.stderr) == set()
        assert not any(line.startswith("::") for line in done.stderr.splitlines())
    done = CliRunner().invoke(main, [evil])
    assert (done.exit_code, unseen(done.stderr)) == (2, set())
    done = CliRunner().invoke(main, [f"-{evil}"])
    assert (done.exit_code, unseen(done.stderr)) == (2, set())


def test_what_is_no_notebook_does_not_keep_the_others_from_being_checked(tmp_path):
    """A pipe in a folder, and a folder with the name of a notebook."""
    book(tmp_path / "sound", "1 + 1")
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "folder.ipynb").mkdir()
    done = run(tmp_path, tmp_path / "folder.ipynb", "--json")
    assert done.exit_code == 2
    told = json.loads(done.stdout)["notebooks"]
    assert [(Path(each["path"]).name, each["reproducible"]) for each in told] == [
        ("folder.ipynb", None),
        ("pipe.ipynb", None),
        ("sound.ipynb", True),
    ]


def test_a_notebook_that_is_not_there(tmp_path):
    """Exit code 2, and a line that says so."""
    done = run(tmp_path / "none.ipynb")
    assert done.exit_code == 2
    assert f"✗ {tmp_path / 'none.ipynb'}: no such file\n" in done.stdout
    (tmp_path / "none.ipynb").symlink_to(tmp_path / "moved")
    told = run(tmp_path / "none.ipynb").stdout
    assert f"✗ {tmp_path / 'none.ipynb'}: a link to a file that does not exist\n" in told


def test_a_receipt_is_written_and_compared_with(tmp_path, monkeypatch):
    """One run for each.

    The output is valid JSON, and does not say whether it repeats.
    """
    monkeypatch.chdir(tmp_path)
    path = book(tmp_path / "draws", "import random\nrandom.seed(1)", "random.random()")
    done = run(path, "--receipt", "r.json", "--json")
    (told,) = json.loads(done.stdout)["notebooks"]
    assert (done.exit_code, told["reproducible"], told["cells"]) == (0, None, [])
    path.write_text(path.read_text().replace("seed(1)", "seed(2)"))
    done = run(path, "--against", "r.json", "--receipt", "second.json")
    assert done.exit_code == 1
    assert "its text is not that of r.json" in " ".join(done.stdout.split())
    done = run(path, "--against", "second.json")
    assert (done.exit_code, "repeats" in done.stdout) == (0, True)


def test_a_run_that_does_not_end_writes_over_no_receipt(tmp_path, monkeypatch):
    """A partial receipt would look complete.

    No file is left if there was none.
    """
    monkeypatch.chdir(tmp_path)
    path = book(tmp_path / "one", "1", "2")
    assert run(path, "--receipt", "r.json").exit_code == 0
    kept = (tmp_path / "r.json").read_bytes()
    book(tmp_path / "one", "1", "import os; os._exit(1)")
    assert run(path, "--receipt", "r.json").exit_code == 2
    assert (tmp_path / "r.json").read_bytes() == kept
    assert run(tmp_path / "none.ipynb", "--receipt", "new.json").exit_code == 2
    assert not (tmp_path / "new.json").exists()


FOREIGN = {
    "thesis.txt": "my thesis",
    "settings.json": '{"kind": "settings"}',
    "page.xml": "<?xml version='1.0'?><page><testsuites/></page>",
}


def test_a_report_takes_no_other_files_place(tmp_path, monkeypatch):
    """Links are refused too; one line says what is there and what to do."""
    monkeypatch.chdir(tmp_path)
    path = book(tmp_path / "one", "1 / 0")
    for name, content in FOREIGN.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "link").symlink_to("thesis.txt")
    (tmp_path / "loose").symlink_to("nothing.json")
    for option, what in {"--receipt": "a receipt", "--junit": "a JUnit report"}.items():
        for name in FOREIGN:
            done = run(path, option, name)
            assert (done.exit_code, done.stdout) == (2, "")
            said = f"{name} exists and is not {what}: choose another name, or remove it"
            assert done.stderr.splitlines()[-1].endswith(said)
        for name, to in {"link": "thesis.txt", "loose": "nothing.json"}.items():
            said = f"{name} is a link to {to}: name the file itself, or remove the link"
            assert run(path, option, name).stderr.splitlines()[-1].endswith(said)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("mine")
    assert run(path, "--receipt", "folder/notes.txt").exit_code == 2
    assert (tmp_path / "folder" / "notes.txt").read_text() == "mine"
    done = CliRunner().invoke(main, ["ledger", "export", "one.ipynb", "-o", "thesis.txt"])
    assert "thesis.txt exists and is not a receipt" in done.stderr
    assert {name: (tmp_path / name).read_text() for name in FOREIGN} == FOREIGN
    assert not (tmp_path / "nothing.json").exists()


@pytest.mark.parametrize(
    "head", ["", "<testsuites>", "<?xml version='1.0'?>\n<!-- x -->\n<testsuite name='pytest'/>"]
)
def test_a_junit_report_of_whatever_made_it_is_replaced(tmp_path, head):
    """An empty file is replaced too."""
    path = tmp_path / "junit.xml"
    path.write_text(head)
    assert is_junit(path) or not head


def test_a_receipt_that_is_none_is_refused_before_anything_runs(folder, tmp_path):
    """One line says what to do; conflicting options are refused too."""
    book(tmp_path / "one", "1 / 0")
    (tmp_path / "r.json").write_text('{"schema": 1, "kind": "ipytorchseed receipt", "cells"')
    refusals = {
        (
            "one.ipynb",
            "--against",
            "r.json",
        ): "r.json: not a receipt, or an incomplete one: Input data was",
        ("one.ipynb", "--against", "no.json"): "no.json: no such file",
        ("one.ipynb", "--against", "."): "it is a folder, not a file",
        ("one.ipynb", "--receipt", "r.json/x"): "--receipt: ",
        ("one.ipynb", "one.ipynb", folder, "--receipt", "x"): "take one notebook",
        ("one.ipynb", "--receipt", "x", "--runs", 3): "--receipt and --runs cannot be combined",
        ("one.ipynb", "--against", "x", "--rerun"): "--against and --rerun cannot be combined",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        for words, reason in refusals.items():
            done = run(*words)
            assert (done.exit_code, done.stdout) == (2, ""), words
            assert reason in done.stderr, words
