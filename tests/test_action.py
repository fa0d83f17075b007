"""``action.yml``: GitHub's form, and its steps run as GitHub runs them, in bash."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
import yaml
from click.testing import CliRunner

from ipytorchseed.cli import main
from tests.kernel import ROOT

TEXT = (ROOT / "action.yml").read_text("utf-8")
ACTION = yaml.safe_load(TEXT)
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}
BASH = shutil.which("bash")


def run(step, folder, **inputs):
    """Run a step with inputs and, where none are given, their defaults.

    Return what came of it.
    """
    given = {name: each["default"] for name, each in ACTION["inputs"].items()} | inputs
    words = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], value)
        for name, value in STEPS[step]["env"].items()
    }
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, **words, "PATH": path, "GITHUB_ACTIONS": "true", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[step]["run"]],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    """A folder with a `python` in front of the path that says how it was called."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    return tmp_path


def test_it_is_a_composite_action():
    """Every input is described and used, and none is inserted into a script."""
    assert ACTION["runs"]["using"] == "composite"
    used = set(re.findall(r"inputs\.([\w-]+)", TEXT))
    assert used == ACTION["inputs"].keys()
    assert all(each["description"] for each in ACTION["inputs"].values())
    for step in STEPS.values():
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        names = step["env"].keys() - {"PIP_EXTRA_INDEX_URL"}
        assert all(f"${name}" in step["run"] for name in names)


def test_it_installs_what_is_asked_for(folder):
    """Nothing, where all is there."""
    done = run("Install", folder)
    assert done.stdout.split() == ["-m", "pip", "install", "ipytorchseed"]
    done = run("Install", folder, version="", requirements="my needs.txt")
    assert done.stdout.splitlines() == ["-m", "pip", "install", "--requirement", "my needs.txt"]
    done = run("Install", folder, version="")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, ["--runs", "2", "--", "."]),
        (
            {"notebooks": "  a b.ipynb\n\n$(touch x).ipynb\n", "runs": "3", "seed": "7"},
            ["--runs", "3", "--seed", "7", "--", "a b.ipynb", "$(touch x).ipynb"],
        ),
        ({"args": "--saved --rtol 1e-3"}, ["--saved", "--rtol", "1e-3", "--", "."]),
        ({"args": "--rerun -j 2"}, ["--rerun", "-j", "2", "--runs", "2", "--", "."]),
    ],
)
def test_its_inputs_become_words_of_the_command(folder, inputs, words):
    """Each word one word, whatever is in it; and words that the command takes."""
    done = run("Check", folder, **inputs)
    assert done.stdout.splitlines() == ["-m", "ipytorchseed", "check", *words]
    assert not (folder / "x").exists()
    told = CliRunner().invoke(main, ["check", *[each for each in words if each != "."], "no.ipynb"])
    assert "Usage" not in told.output


@pytest.mark.parametrize(
    "args", ["--saved", "--against r.json", "-j 2 --against=r.json", "--receipt r.json"]
)
def test_what_runs_a_notebook_once_is_given_no_number_of_runs(folder, args):
    """The command refuses both together."""
    done = run("Check", folder, args=args)
    assert done.stdout.splitlines() == ["-m", "ipytorchseed", "check", *args.split(), "--", "."]


def test_a_notebook_that_differs_fails_the_step_and_is_annotated(tmp_path):
    """Beside its file, by the command's own annotations."""
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell("import random; random.random()")]
    nbformat.write(book, tmp_path / "draws.ipynb")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    done = run("Check", tmp_path)
    assert done.returncode == 1, done.stderr
    assert "::error file=draws.ipynb" in done.stdout
