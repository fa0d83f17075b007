"""A check from pytest and from pre-commit."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import uuid

import pytest
from click.testing import CliRunner

from ipytorchseed.cli import main
from tests.checking.books import alive, book
from tests.forking import forking
from tests.kernel import ROOT

HOOKS = ROOT / ".pre-commit-hooks.yaml"


@pytest.fixture
def run(pytester, monkeypatch):
    """Run pytest as a user does, in its own process; only our plugin is loaded."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return lambda *words: pytester.runpytest_subprocess(
        "-p", "ipytorchseed.pytest_plugin", "-p", "no:cacheprovider", *words
    )


@pytest.fixture
def run_here(pytester, monkeypatch):
    """Run pytest with our plugin alone in this process, where kernels are forked."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(*words):
        with forking():
            return pytester.runpytest_inprocess(
                "-p", "ipytorchseed.pytest_plugin", "-p", "no:cacheprovider", *words
            )

    return run


def test_one_test_for_each_notebook(pytester, run_here):
    """The one that differs fails, with the explanation and no traceback."""
    folder = pytester.mkdir("notebooks")
    book(folder / "sound", "1 + 1")
    book(folder / "draws", "import random\nrandom.random()")
    (folder / ".ipynb_checkpoints").mkdir()
    book(folder / ".ipynb_checkpoints" / "draws-checkpoint", "1 / 0")
    result = run_here("--ipytorchseed", "notebooks", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*sound.ipynb::repeats PASSED*",
            "*In?1? is the first to differ*",
            "*try: random.seed(42)*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")
    assert result.ret == 1


def test_options_say_how(pytester, run_here):
    """With a seed it repeats; a missing kernel fails the test that needs it."""
    book(pytester.path / "draws", "import random\nrandom.random()")
    run_here("--ipytorchseed", "--ipytorchseed-seed", "1").assert_outcomes(passed=1)
    result = run_here("--ipytorchseed", "--ipytorchseed-kernel", "nowhere")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*its kernel 'nowhere' is not installed*"])
    result = run_here("--ipytorchseed", "--ipytorchseed-rerun")
    result.stdout.fnmatch_lines(["*not every cell is safe to run again*"])


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--ipytorchseed-seed=-1", "a seed is an integer from 0 to 4294967295, not -1: Python"),
        ("--ipytorchseed-timeout=nan", "'nan' is not a valid number"),
        ("--ipytorchseed-timeout=0", "0.0 is not in the range x>0"),
    ],
)
def test_a_bad_value_is_an_error_of_usage(run_here, option, said):
    """As in the shell; the kernel is not blamed for it."""
    done = run_here("--ipytorchseed", option)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert f"argument {option.partition('=')[0]}: {said}" in done.stderr.str()


def test_what_no_output_shows_fails_where_it_is_asked_for(pytester, run_here):
    """The test passes and reports what is left; with the strict option it fails."""
    book(pytester.path / "silent", "import random\nx = random.random()")
    result = run_here("--ipytorchseed", "-rP")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*repeats; In?1? leaves different values in python (never*"])
    result = run_here("--ipytorchseed", "--ipytorchseed-strict")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*In?1? is the first to differ*", "*try: random.seed(42)*"])


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_an_interrupt_ends_pytest(tmp_path, monkeypatch):
    """Ctrl-C works as in any test; the kernel ends too."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    mark = uuid.uuid4().hex
    monkeypatch.setenv("BOOK_MARK", mark)
    book(tmp_path / "waits", "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(600)")
    words = ["-p", "ipytorchseed.pytest_plugin", "-p", "no:cacheprovider", "--ipytorchseed"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *words], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 100
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in out
    assert alive(mark) == []


def test_without_the_option_no_notebook_is_collected(pytester, run):
    """Installing the package changes no test run."""
    book(pytester.path / "draws", "1")
    pytester.makepyfile(
        "import sys\n\ndef test():\n    assert not {'nbclient', 'torch', 'click'} & {*sys.modules}"
    )
    run().assert_outcomes(passed=1)


def test_the_plugin_is_announced_to_pytest():
    """The entry point loads it, so users need not name it."""
    project = (ROOT / "pyproject.toml").read_text()
    said = re.search(
        r'^\[project.entry-points.pytest11\]\nipytorchseed = "(\S+)"$', project, re.MULTILINE
    )
    assert said is not None
    __import__(said[1])


def test_the_hook_of_pre_commit_runs_the_check(tmp_path):
    """It runs on the changed notebooks, and fails if one differs."""
    entry = re.search(r"^  entry: python (.+)$", HOOKS.read_text(), re.MULTILINE)[1]
    option, package, *words = shlex.split(entry)
    assert (option, package) == ("-m", "ipytorchseed")
    draws = "import random\nx = random.random()"
    for code, cell in ((0, draws), (1, f"{draws}\nx")):
        path = book(tmp_path / "changed", cell)
        with forking():
            done = CliRunner().invoke(main, [*words, str(path)])
        assert (done.exit_code, done.stderr) == (code, "")
