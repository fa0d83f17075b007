"""The command line: words, options, exit codes."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import ipytorchseed
from ipytorchseed.cli import main
from ipytorchseed.determinism.table import FLAGS
from tests.kernel import ROOT


def _shell(*words):
    return subprocess.run(
        [sys.executable, "-m", "ipytorchseed", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_version_is_told_without_importing_torch():
    """``python -m ipytorchseed --version``."""
    done = _shell("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"ipytorchseed, version {ipytorchseed.__version__}\n"
    code = (
        "import sys; from ipytorchseed.cli import main\n"
        "main(['--version'], standalone_mode=False)\n"
        "print(*{'torch', 'numpy', 'IPython'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[1:] == [""]


@pytest.mark.parametrize("words", [[], ["kernel"], ["ledger"], ["trace"]], ids=" ".join)
def test_the_list_of_commands_says_each_in_full(words):
    """No sentence is cut at 80 columns."""
    told = CliRunner().invoke(main, [*words, "--help"], terminal_width=80).output
    assert "..." not in told.partition("Commands:")[2]


@pytest.mark.parametrize("words", [[], ["kernel"], ["ledger"], ["trace"]], ids=" ".join)
def test_without_a_command_the_list_is_shown_in_lines(words):
    """As for ``--help``: its line ends are not escaped."""
    told = CliRunner().invoke(main, words)
    assert told.output == CliRunner().invoke(main, [*words, "--help"]).output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["check", "x.ipynb", "--seed", "abc"],
            "'--seed': a seed is an integer from 0 to 4294967295, not 'abc'",
        ),
        (["check", "x.ipynb", "--runs", "1"], "'--runs': 1 is not in the range 2<=x<=1000."),
        (["trace", "diff", "a", "b", "--rtol", "x"], "'--rtol': 'x' is not a valid number."),
    ],
)
def test_what_is_no_number_is_said_to_be_none(words, said):
    """In plain words, not “integer range”."""
    assert said in CliRunner().invoke(main, words).output


def test_the_report_is_printed_by_a_fresh_process():
    """Every flag, in 80 columns, without colour."""
    both = (
        "from ipytorchseed.cli import main\n"
        "for words in ['report'], ['report', '--all']: main(words, standalone_mode=False); print('&')"
    )
    done = subprocess.run(
        [sys.executable, "-c", both], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    short, whole, _ = done.stdout.split("&\n")
    assert whole.startswith(short.splitlines()[0])
    assert len(short.splitlines()) < 12
    assert all(flag.name in whole for flag in FLAGS)
    assert max(map(len, whole.splitlines())) <= 80
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii", "utf-8"])
def test_an_output_that_lacks_a_character_is_no_error(encoding):
    """A pipe on Windows uses cp1252.

    An exception would exit with 1, which means that a notebook differs.
    """
    done = CliRunner(charset=encoding).invoke(main, ["report"], catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "things can still change results" in done.stdout


def test_the_report_as_json_is_one_line():
    """For other programs."""
    result = CliRunner().invoke(main, ["report", "--json"])
    assert (result.exit_code, result.output.count("\n")) == (0, 1)
    told = json.loads(result.output)
    assert told["schema"] == 1
    assert [flag["name"] for flag in told["flags"]][: len(FLAGS)] == [flag.name for flag in FLAGS]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nope"], "No such command 'nope'"),
        (["chekc"], "No such command 'chekc'; did you mean check?"),
        (["ledger", "shw"], "No such command 'shw'; did you mean show?"),
        (["kernel", "instal"], "No such command 'instal'; did you mean install?"),
        (["CHECK"], "No such command 'CHECK'; did you mean check?"),
        (["check", "--jobz", "2"], "--jobs"),
        (["check", "--JSON"], "No such option '--JSON'"),
        (["--nope"], "No such option '--nope'"),
        (["report", "--nope"], "No such option '--nope'"),
        (["check", ""], "a path is empty"),
        (["ranks", ""], "a path is empty"),
        (["report", "nope"], "unexpected extra argument (nope)"),
    ],
)
def test_a_wrong_word_is_an_error_of_usage(words, said):
    """Exit code 2; the message on standard error says what to type."""
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.startswith("Usage: ")


def test_a_wrong_word_in_the_shell_is_one_too():
    """As a calling script sees it."""
    done = _shell("nope")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: python -m ipytorchseed ")
    assert "No such command 'nope'" in done.stderr


def test_a_full_disk_is_told_in_a_line(monkeypatch):
    """The exit code is not 1, which means that a notebook differs."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(click, "echo", full)
    result = CliRunner().invoke(main, ["report", "--json"])
    assert result.exit_code == 2
    assert result.stderr == "Error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize(("command", "code"), [("report", 2), ("doctor", 1)])
def test_in_a_removed_folder_it_says_so(tmp_path, command, code):
    """Otherwise torch reads the working folder and ends with an obscure error."""
    gone = tmp_path / "gone"
    gone.mkdir()
    code_of = f"import os; os.rmdir({str(gone)!r})\nfrom ipytorchseed.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code_of, command],
        cwd=gone,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert re.search(
        "the working folder(:? cannot be read| was removed)", done.stdout + done.stderr
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_every_command(option):
    """Each has one line."""
    result = CliRunner().invoke(main, [option])
    assert result.exit_code == 0
    for name, command in main.commands.items():
        assert f"  {name} " in result.output
        assert command.get_short_help_str(40)[:20] in result.output
