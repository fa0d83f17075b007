"""Terminal IPython has no kernel, no cell ids, and text instead of HTML."""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import warnings
from io import StringIO

import pexpect
import pytest
import torch
from IPython.terminal.interactiveshell import TerminalInteractiveShell
from traitlets.config import Config

from ipytorchseed.ledger.place import NAME
from ipytorchseed.ledger.store import Ledger
from tests.kernel import PATIENCE, ROOT
from tests.notebook.looking import shell_now, sources_now

ON = "torch.are_deterministic_algorithms_enabled()"


@pytest.fixture
def shell(put_back, monkeypatch):
    """A terminal's shell in this process, with the extension until the test ends."""
    config = Config()
    config.HistoryManager.enabled = False
    config.TerminalInteractiveShell.simple_prompt = True
    config.TerminalInteractiveShell.colors = "nocolor"
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    with warnings.catch_warnings():
        made = TerminalInteractiveShell.instance(config=config)
        made.user_ns["torch"] = torch
        before = shell_now(made)
        made.run_line_magic("load_ext", "ipytorchseed")
        yield made
        made.run_line_magic("unload_ext", "ipytorchseed")
        after = shell_now(made)
        made.restore_sys_module_state()
        atexit.unregister(made.atexit_operations)
        TerminalInteractiveShell.clear_instance()
    assert {name for name in before if before[name] != after[name]} == set()


def test_a_deterministic_cell_gives_its_value_and_puts_the_flags_back(shell):
    """This works as in a notebook."""
    assert shell.run_cell(f"%%deterministic 42\n{ON}").result is True
    assert shell.run_cell(ON).result is False


def test_it_repeats(shell):
    """Two runs give the same bits, whatever ran between them."""
    first = shell.run_cell("%%deterministic 42\ntorch.rand(4).tolist()").result
    shell.run_cell("torch.rand(3)")
    assert shell.run_cell("%%deterministic 42\ntorch.rand(4).tolist()").result == first


def test_top_level_await_works(shell):
    """The terminal runs the loop itself."""
    cell = f"%%deterministic\nimport asyncio\nawait asyncio.sleep(0)\n{ON}"
    assert shell.run_cell(cell).result is True
    assert shell.run_cell(ON).result is False


@pytest.mark.parametrize("body", ["1 / 0", "if", "%no_such_magic", "raise KeyboardInterrupt"])
def test_an_error_is_the_runs_error(shell, body, capsys):
    """Isolated sources are restored."""
    before = sources_now()
    result = shell.run_cell(f"%%deterministic 42 --isolate\ntorch.rand(1)\n{body}")
    assert not result.success
    assert shell.run_cell(ON).result is False
    assert sources_now() == before


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("if:", "SyntaxError: invalid syntax"),
        ("for", "SyntaxError: invalid syntax"),
        ("x = 1\n  y = 2", "IndentationError: unexpected indent"),
        ("assert False", "AssertionError"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_an_error_is_told_in_its_words(shell, cell, told, capsys):
    """A kernel takes the message from the traceback that it showed."""
    for _ in range(2):
        shell.run_cell(cell, store_history=True)
    capsys.readouterr()
    shell.run_cell("%why")
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count(f" failed ({told}).") == 2


@pytest.mark.parametrize("words", ["", "42", "--warn", "--trace", "--isolate", "--check"])
def test_a_traceback_begins_in_the_cell(shell, words, capsys):
    """This works as in a notebook."""
    shell.run_cell(f"%%deterministic {words}\n1 / 0")
    shown = capsys.readouterr().out
    frames = [line for line in shown.splitlines() if line.startswith(("Cell", "File"))]
    assert len(frames) == 1
    assert frames[0].endswith("line 2")


def test_what_a_program_prints_to_the_terminal_is_said_to_be_unknown(capfd, shell):
    """It bypasses standard output, so equal records do not prove equal output."""
    cells = (
        "!date +%N",
        "print(5)\n!date +%N",
        "import os; os.system('date +%N')",
        "import subprocess; subprocess.run(['date', '+%N']).returncode",
        "subprocess.Popen('date +%N', shell=True, close_fds=False).wait()",
        "def when(): return subprocess.call(['date', '+%N'])\nwhen()",
    )
    for cell in cells:
        first, second = (shell.run_cell(cell, store_history=True).execution_count for _ in "ab")
        capfd.readouterr()
        shell.run_cell(f"%why {second}")
        told = " ".join(capfd.readouterr().out.split())
        seen = f"In[{second}]: no difference from In[{first}] was seen, but "
        assert told.startswith(f"{seen}what its programs printed is not recorded")


QUIET = {
    "captured": "subprocess.run(['date', '+%N'], capture_output=True).returncode",
    "sent elsewhere": "subprocess.call(['date', '+%N'], stdout=subprocess.DEVNULL)",
    "puts in place": "import os\nos.system('mkdir -p .')",
}


@pytest.mark.parametrize("cell", QUIET.values(), ids=QUIET)
def test_a_program_that_shows_nothing_leaves_no_doubt(capsys, shell, cell):
    """Its requested output is recorded."""
    cell = f"import subprocess\n{cell}"
    first, second = (shell.run_cell(cell, store_history=True).execution_count for _ in "ab")
    shell.run_cell(f"%why {second}")
    assert f"In[{second}]: same result, bit for bit, as In[{first}]" in capsys.readouterr().out


def test_a_check_does_not_vouch_for_what_a_program_prints(capfd, shell):
    """A check cannot compare it."""
    shell.run_cell("%%deterministic --check\nimport os\nos.system('date +%N')")
    told = " ".join(capfd.readouterr().out.split())
    assert "Not compared in full: what its programs printed" in told


def test_each_knows_a_cell_by_its_text(shell, capsys):
    """A terminal has no cell ids."""
    shell.run_cell("%seed each 42")
    drawn = [
        shell.run_cell(cell).result for cell in ("torch.rand(1).item()", "torch.rand(1).item() ")
    ]
    other = shell.run_cell("torch.rand(1).item() + 0").result
    assert drawn[0] == drawn[1] != other


def test_views_are_printed_as_text(shell, capsys):
    """The report, the status and the alerts fit 80 columns, and contain no tag."""
    shell.run_cell("%seed 42 -q")
    for cell, words in [
        ("%seed", "Last seed: 42."),
        ("%deterministic --all", "torch.use_deterministic_algorithms"),
        ("%%deterministic --warn\ntorch.zeros(2).put_(torch.tensor([1]), torch.ones(1));", "put_"),
    ]:
        capsys.readouterr()
        shell.run_cell(cell)
        shown = capsys.readouterr().out
        assert words in shown
        assert "<" not in shown
        assert max(map(len, shown.splitlines())) <= 80


def test_completion_works(shell):
    """The words are the same as in a notebook."""
    assert [each.text for each in _complete(shell, "%seed e")] == ["each"]


def _complete(shell, line):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(shell.Completer.completions(line, len(line)))


@pytest.mark.parametrize("head", ["%%deterministic", "%%deterministic 42 --warn"])
def test_the_prompt_waits_for_the_body_until_a_blank_line(shell, head):
    """This is the same for any cell magic."""
    typed = ("", "\n", "\na = 1", "\nif a:\n    a", "\na = 1\n", "\na = 1\n\n", "\n\n")
    told = [shell.check_complete(f"{head}{rest}") for rest in typed]
    assert told == [shell.check_complete(f"%%time{rest}") for rest in typed]
    assert {status for status, _ in told} == {"incomplete", "complete"}


SESSION = """
import torch
%load_ext ipytorchseed
%%deterministic 42
print("in", torch.are_deterministic_algorithms_enabled())
torch.rand(2).tolist()


print("out", torch.are_deterministic_algorithms_enabled())
torch.manual_seed(42); torch.rand(2).tolist()
%seed 4.2
%%deterministic
1 / 0


print("out", torch.are_deterministic_algorithms_enabled())
%unload_ext ipytorchseed
exit
"""


def test_a_session_typed_into_ipython(tmp_path):
    """The lines come through standard input, as typed."""
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=nocolor"],
        input=SESSION,
        env={**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path), "TERM": "dumb"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    told = done.stdout
    assert done.returncode == 0, done.stderr
    assert re.findall(r"(in|out) (True|False)$", told, re.MULTILINE) == [
        ("in", "True"),
        ("out", "False"),
        ("out", "False"),
    ]
    first, second = re.findall(r"Out\[\d+\]: (\[.*\])", told)
    assert first == second
    assert "a seed is an integer from 0 to 4294967295, not '4.2'" in told + done.stderr
    assert "----> 2 1 / 0" in told


def test_a_check_compares_values_not_the_prompts_that_show_them(shell, capsys):
    """The result is printed once, with its number, and is not an output of the cell."""
    shell.run_cell("%%deterministic 7 --check\nawait __import__('asyncio').sleep(0)\ntorch.rand(2)")
    shown = capsys.readouterr().out
    assert shown.count("Out[") == 1
    assert "The cell repeats, bit for bit: two runs from the same state gave the same" in shown


TWICE = "display(5); print('said'); [1, 2]"
FAILS = "print('said'); 1 / 0"


@pytest.mark.parametrize("prompt", ["simple", "full"])
def test_results_displays_and_tracebacks_are_no_printed_output(tmp_path, prompt):
    """A terminal prints them with changing numbers; only the cell's own prints count."""
    terminal = pexpect.spawn(
        sys.executable,
        ["-m", "IPython", "--no-banner", "--no-confirm-exit", "--colors=nocolor"]
        + ["--simple-prompt"] * (prompt == "simple"),
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "IPYTHONDIR": str(tmp_path),
            "IPYTORCHSEED_DATA_DIR": str(tmp_path),
            "PROMPT_TOOLKIT_NO_CPR": "1",
        },
        cwd=tmp_path,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    terminal.logfile_read = told = StringIO()
    lines = ["%load_ext ipytorchseed", TWICE, TWICE, "%why", FAILS, FAILS, "%why", "exit"]
    for number, line in enumerate(lines, 1):
        terminal.expect_exact(f"In [{number}]:")
        terminal.sendline(line)
    terminal.expect(pexpect.EOF)
    assert told.getvalue().count("same result, bit for bit") == 2
    with Ledger.open(tmp_path / NAME, read_only=True) as ledger:
        runs = [run for run in ledger.runs() if run.source.strip() == TWICE]
        failed = [run for run in ledger.runs() if run.source.strip() == FAILS]
    assert [run.outputs.stdout.summary for run in runs] == ["1 line", "1 line"]
    assert [run.outputs.result.summary for run in runs] == ["list of 2", "list of 2"]
    assert [len(run.outputs.displays) for run in runs] == [1, 1]
    assert {run.outputs.stdout.summary for run in failed} == {"1 line"}


def test_a_check_finds_the_line_in_a_terminal_too(shell, capsys):
    """The magic's line is line 1, as in a notebook."""
    body = "x = torch.ones(2)\ny = x * (time.perf_counter_ns() % 10_007)"
    shell.run_cell(f"%%deterministic --check\nimport time\n{body}")
    shown = capsys.readouterr().out
    assert "The cell does not repeat, although each torch operation does." in shown
    assert "aten::mul on line 4 is the first operation with different inputs" in shown


def test_who_drew_is_listed_as_text(shell, capsys):
    """``%rng who`` works after a traced run in a terminal."""
    count = shell.run_cell("%%deterministic 3 --trace\nx = torch.rand(3)", store_history=True)
    shell.run_line_magic("rng", f"who {count.execution_count}")
    shown = capsys.readouterr().out
    assert "Who drew in" in shown
    assert "aten::rand" in shown


def test_check_looks_at_the_session_alone(shell, capsys):
    """There is no file to run, but unseeded sources are still reported."""
    shell.run_cell("import random; drawn = random.random()", store_history=True)
    shell.run_cell("%check")
    said = capsys.readouterr().out
    assert "Python's `random` is never seeded" in said
    assert "The notebook's file could not be found" in said
