"""The options of ``%%deterministic``, and what they do."""

from __future__ import annotations

import json
import re

import pytest

from tests.kernel import files_of_ours
from tests.notebook.looking import digests

ON = "print('on', torch.are_deterministic_algorithms_enabled())"

DRAW = "random.random(), np.random.rand(), torch.rand(1).item()"

# An operation without deterministic algorithm in torch, even on the CPU.
PUT = "torch.zeros(4).put_(torch.tensor([1, 1]), torch.ones(2))"


def test_the_seed_goes_to_every_source(kernel):
    """The body draws the same as after seeding python, numpy and torch by hand."""
    by_hand = kernel.run(f"random.seed(7)\nnp.random.seed(7)\ntorch.manual_seed(7)\n{DRAW}")
    assert kernel.run(f"%%deterministic 7\n{DRAW}").shown == by_hand.shown


def test_without_a_seed_the_sources_go_on(kernel):
    """``%%deterministic`` alone changes no source."""
    kernel.run("%seed 7 -q")
    first, second = kernel.run(DRAW).shown, kernel.run(DRAW).shown
    kernel.run("%seed 7 -q")
    assert kernel.run(f"%%deterministic\n{DRAW}").shown == first
    assert kernel.run(f"%%deterministic --warn\n{DRAW}").shown == second


def test_without_isolate_later_cells_see_that_the_cell_drew(kernel):
    """The sources stay where the body left them."""
    kernel.run(f"%%deterministic 7\n{DRAW}")
    later = kernel.run(DRAW).shown
    assert later == kernel.run(f"%seed 7 -q\n{DRAW};\n{DRAW}").shown


@pytest.mark.parametrize("body", [DRAW, f"{DRAW}\n1 / 0", "if\n"], ids=["right", "error", "syntax"])
def test_isolate_puts_every_source_back(kernel, body):
    """Later cells draw the same as without the cell."""
    before = digests(kernel)
    kernel.run(f"%%deterministic 7 --isolate\n{body}")
    assert digests(kernel) == before


def test_a_body_that_is_repeated_begins_anew_each_time(kernel):
    """Under ``%%timeit``, each repetition's scope ends before the next begins."""
    before = digests(kernel)
    cell = "%%timeit -n1 -r3 -q\n%%deterministic --isolate --json\nprint(torch.rand(1).item())"
    lines = kernel.run(cell).stdout.splitlines()
    assert len(set(lines[::2])) == 1
    assert [json.loads(line)["restored"] for line in lines[1::2]] == [True] * 3
    assert digests(kernel) == before


def test_no_cudnn_switches_cudnn_off_for_the_cell(kernel):
    """It is off only during the cell, and only with the option."""
    ask = "torch.backends.cudnn.enabled"
    told = [kernel.run(f"{line}{ask}").shown for line in NO_CUDNN]
    assert told == ["True", "False", "True"]


NO_CUDNN = ("%%deterministic\n", "%%deterministic --no-cudnn\n", "")


def test_without_warn_an_operation_that_may_not_repeat_stops_the_cell(kernel):
    """With ``--warn`` the cell continues."""
    assert kernel.run(f"%%deterministic\n{PUT}\nprint('on')").error.ename == "RuntimeError"
    assert kernel.run(f"%%deterministic --warn\n{PUT}\nprint('on')").stdout == "on\n"


LINES = {
    "": "3 settings set and restored",
    "42": "seeded with 42, 3 settings set and restored",
    "42 --warn": "seeded with 42, 4 settings set and restored",
    "7 --isolate": "seeded with 7, 3 settings set and restored, sources restored",
}


@pytest.mark.parametrize(("words", "line"), LINES.items(), ids=LINES)
@pytest.mark.parametrize("body", ["1", "1 / 0", "raise KeyboardInterrupt"])
def test_one_line_says_what_was_set_and_put_back(kernel, words, line, body):
    """It is shown after errors too, and is not recorded as an output of the cell."""
    (receipt,) = kernel.run(f"%%deterministic {words}\n{body}").receipts
    assert receipt == f"%%deterministic: {line}"
    kernel.run("running = __import__('ipytorchseed.notebook.extension').notebook.extension.running")
    assert kernel.value("len(running().tracking.session.last.outputs.displays)") == 0


def test_where_nothing_had_to_be_set_the_line_says_so(kernel):
    """Under ``%deterministic on`` it appears once, not for each repetition."""
    kernel.run("%deterministic on -q")
    (receipt,) = kernel.run("%%timeit -n1 -r3 -q\n%%deterministic 1\n1").receipts
    kernel.run("%deterministic off -q")
    assert receipt == "%%deterministic: seeded with 1, every setting was as needed"


@pytest.mark.parametrize("words", ["--json", "--check", "--check --json"])
def test_a_receipt_or_a_verdict_stands_in_its_place(kernel, words):
    """What the cell changed is reported once."""
    assert kernel.run(f"%%deterministic 3 {words}\n1").receipts == []


FAILS = "import torch\ndef fail():\n    return torch.zeros(2) + torch.zeros(3)\nfail()"


@pytest.mark.parametrize("words", ["", "42", "--warn", "--trace", "--isolate", "--check", "--json"])
def test_a_traceback_begins_in_the_cell(kernel, words):
    """It shows the user's lines with their own numbers, and none of ours."""
    reply = kernel.run(f"%%deterministic {words}\n{FAILS}")
    frames = re.findall(r"^(?:Cell|File) .*", reply.error.traceback, re.MULTILINE)
    assert re.fullmatch(r"Cell In\[\d+\], line 5", frames[0])
    assert re.fullmatch(r"Cell In\[\d+\], line 4, in fail\(\)", frames[1])
    assert not files_of_ours(reply.error.traceback)


def _receipt(reply):
    *before, line = reply.stdout.splitlines()
    return before, json.loads(line)


def test_json_prints_the_receipt_as_one_line(kernel):
    """It has seed, options, set flags, alerts, and whether everything was restored."""
    before, receipt = _receipt(
        kernel.run("%%deterministic 42 --json\nprint('body')\ntorch.rand(1)")
    )
    assert before == ["body"]
    changed = [
        {"name": name, "before": False, "within": True}
        for name in (
            "torch.use_deterministic_algorithms",
            "torch._inductor.config.deterministic",
            "torch.backends.cudnn.deterministic",
        )
    ]
    assert receipt == {
        "schema": 1,
        "seed": 42,
        "warn": False,
        "isolated": False,
        "flags": changed,
        "alerts": [],
        "restored": True,
        "stuck": [],
    }


def test_the_receipt_lists_alerts(kernel):
    """With ``--warn``, it has operation, line, count and alternative."""
    cell = f"%%deterministic --warn --isolate --json\nfor _ in range(3):\n    {PUT}"
    _, receipt = _receipt(kernel.run(cell))
    (alert,) = receipt["alerts"]
    assert (alert["operation"], alert["line"], alert["count"]) == ("put_", 3, 3)
    assert alert["instead"]
    assert (receipt["seed"], receipt["warn"], receipt["isolated"]) == (None, True, True)
    assert "torch.use_deterministic_algorithms.warn_only" in {
        each["name"] for each in receipt["flags"]
    }


def test_the_receipt_is_printed_after_an_error_too(kernel):
    """It has the error of the body, and that everything was restored."""
    reply = kernel.run("%%deterministic 42 --json\n1 / 0")
    assert reply.error.ename == "ZeroDivisionError"
    assert _receipt(reply)[1]["restored"] is True


@pytest.mark.parametrize(
    ("line", "seed"),
    [("$n", 7), ("{n}", 7), ("{n * 2 + 1}", 15), ("+42", 42), ("'42'", 42)],
)
def test_the_seed_may_be_a_variable_or_an_expression(kernel, line, seed):
    """Variables are expanded as in any magic's line."""
    kernel.run("n = 7")
    _, receipt = _receipt(kernel.run(f"%%deterministic {line} --json\npass"))
    assert receipt["seed"] == seed


BAD = {
    "text": ("forty", "not 'forty'"),
    "float": ("4.2", "not '4.2'"),
    "negative": ("-1", "not -1: Python uses its absolute value, and numpy rejects it"),
    "too large": ("4294967296", "not 4294967296: numpy rejects larger seeds, and torch"),
    "far too large": ("9" * 5000, "not '9999"),
    "two seeds": ("4 2", "unexpected extra argument (2)"),
    "an unknown option": ("42 --nope", "No such option '--nope'"),
    "help as an option": ("--help", "No such option '--help'"),
    "an open quote": ("'42", "a quotation mark is not closed in '42"),
    "an empty variable": ("$empty", "$empty is empty"),
    "an empty expression": ("{empty}", "{empty} is empty"),
    "an undefined variable": ("$no_such", "$no_such cannot be evaluated"),
    "a failing expression": ("{1 / 0}", "{1 / 0} cannot be evaluated"),
}


@pytest.mark.parametrize(("line", "said"), BAD.values(), ids=BAD)
def test_a_bad_line_runs_nothing_and_moves_nothing(kernel, line, said):
    """One line gives what, why and the right form; the body does not run."""
    kernel.run("empty = ''")
    before = digests(kernel)
    reply = kernel.run(f"%%deterministic {line}\nprint('ran')\n{DRAW}")
    assert (reply.status, reply.error.ename, reply.stdout) == ("error", "UsageError", "")
    assert reply.stderr == f"UsageError: {reply.error.evalue}\n"
    assert "\n" not in reply.error.evalue
    assert reply.error.evalue.startswith("%%deterministic: ")
    assert said in reply.error.evalue
    assert reply.error.evalue.endswith("[SEED]")
    assert digests(kernel) == before
    assert kernel.run(ON).stdout == "on False\n"
