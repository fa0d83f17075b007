"""An invalid line is refused in one line: what, why and the right form.

Nothing is changed.
"""

from __future__ import annotations

import pytest

from tests.notebook.looking import digests

SEED = "%seed [--generators] [--by-rank] [-q] SEED"
EACH = "%seed each [--same] [-q] SEED"
COMMANDS = "%seed [SEED [--generators] [--by-rank] [-q] | COMMAND]"

REFUSED = {
    "text": ("forty", "'forty' is neither a seed (0 to 4294967295) nor one of each, ", SEED),
    "a word misspelt": ("Off", "'Off' is neither a seed (0 to 4294967295) nor one of each, ", SEED),
    "float": (
        "4.2",
        "a seed is an integer from 0 to 4294967295, not '4.2': nothing else seeds python, numpy",
        SEED,
    ),
    "whole float": ("42.0", "not '42.0'", SEED),
    "hexadecimal": ("0x2a", "not '0x2a'", SEED),
    "true": ("True", "'True' is neither a seed", SEED),
    "negative": ("-1", "not -1: Python uses its absolute value", SEED),
    "negative, with generators": (
        "-1 --generators",
        "not -1: Python uses its absolute value",
        SEED,
    ),
    "2**32": ("4294967296", "not 4294967296: numpy rejects larger seeds, and torch's CPU", SEED),
    "very large": ("9" * 50, "not one of 167 bits: numpy rejects larger seeds", SEED),
    "endless": ("9" * 5000, "9...'", SEED),
    "two seeds": ("4 2", "Got unexpected extra argument (2)", SEED),
    "only an option": ("-q", "Missing argument 'SEED'", SEED),
    "unknown option": ("42 --nope", "No such option '--nope'", SEED),
    "unknown short option": ("42 -x", "No such option '-x'", SEED),
    "unknown option first": ("--nope", "No such option '--nope'", SEED),
    "a name without option": ("42 g", "Got unexpected extra argument (g)", SEED),
    "an open quote": ("42 'g", "a quotation mark is not closed in 42 'g", COMMANDS),
    "an empty variable": ("$empty", "$empty is empty", COMMANDS),
    "an empty expression": ("{empty}", "{empty} is empty", COMMANDS),
    "an undefined variable": ("$no_such", "$no_such cannot be evaluated", COMMANDS),
    "an undefined name": ("{no_such}", "{no_such} cannot be evaluated", COMMANDS),
    "a failing expression": ("{1 / 0}", "{1 / 0} cannot be evaluated", COMMANDS),
    "a variable with text": ("$text", "'some' is neither a seed", SEED),
    "a variable with a float": ("$half", "not '0.5'", SEED),
    "each without a seed": ("each", "Missing argument 'SEED'", EACH),
    "each with text": (
        "each forty",
        "a seed is an integer from 0 to 4294967295, not 'forty'",
        EACH,
    ),
    "each with a negative": ("each -1", "not -1: Python uses its absolute value", EACH),
    "each with 2**32": ("each 4294967296", "not 4294967296: numpy rejects larger seeds", EACH),
    "each with two seeds": ("each 4 2", "unexpected extra argument (2)", EACH),
    "each with an unknown option": ("each 4 --nope", "No such option '--nope'", EACH),
    "each with an empty variable": ("each 4 --same {no_such}", "cannot be evaluated", COMMANDS),
    "off with a seed": ("off 4", "unexpected extra argument (4)", "%seed off [-q]"),
    "new with a seed": ("new 4", "unexpected extra argument (4)", "%seed new [-q]"),
    "new with an unknown option": ("new --nope", "No such option '--nope'", "%seed new [-q]"),
}


@pytest.fixture(scope="module")
def names(loaded):
    """Define the variables that the lines use."""
    loaded.run("empty, text, half = '', 'some text', 0.5\ng = torch.Generator()\n%seed 5 -q")


@pytest.mark.parametrize(("line", "said", "form"), REFUSED.values(), ids=REFUSED)
def test_a_bad_seed_line_is_refused_in_one_line_and_moves_nothing(kernel, names, line, said, form):
    """No state, flag or rule is changed."""
    before = digests(kernel)
    reply = kernel.run(f"%seed {line}")
    error = _one_line(reply)
    assert error.startswith("%seed: ")
    assert said in error
    assert error.endswith(form)
    kernel.run("pass", "a cell")
    assert digests(kernel) == before
    assert kernel.run("%seed").displays[0]["text/plain"].startswith("Last seed: 5.\n")


def test_a_comment_behind_a_line_is_none_of_its_words(kernel, names):
    """Comments may hold anything; ``#17`` is a run, and quotes may contain a ``#``."""
    for line in ("%seed 5 -q # don't {panic} $text", "%%deterministic 5 #why not\nx = 1"):
        reply = kernel.run(line)
        assert (reply.error, reply.stderr) == (None, "")
    assert kernel.run("%seed save -q 'a # b'").error is None
    error = _one_line(kernel.run("%seed restore nowhere # 'a"))
    assert error.startswith("%seed: nothing is saved as 'nowhere'; saved: ")
    assert "a # b" in error
    assert "no run '#99999' is recorded" in _one_line(kernel.run("%why --against #99999"))


def test_a_number_with_a_sign_is_no_option(kernel):
    """The error gives the smallest valid number."""
    for line in ("%replay -1", "%why -1", "%seed rewind -1", "%%seeds -8\nx = 1"):
        assert "No such option '-" in (said := _one_line(kernel.run(line)))
        assert "; numbers here begin at 1. " in said


def _one_line(reply):
    assert (reply.status, reply.error.ename, reply.stdout) == ("error", "UsageError", "")
    assert reply.stderr == f"UsageError: {reply.error.evalue}\n"
    assert reply.stderr.count("\n") == 1
    return reply.error.evalue


ON = "%deterministic on [--warn] [--no-cudnn] [-q]"
REPORT = "%deterministic [--json] [--all] [on [--warn] | off]"

REFUSED_SETTINGS = {
    "an unknown word": ("%deterministic of", "No such command 'of'", REPORT),
    "a seed": (
        "%deterministic 42",
        "to seed one cell, put %%deterministic 42; for the rest of"
        " the session: %seed 42, then %deterministic on",
        REPORT,
    ),
    "an unknown option": ("%deterministic --nope", "No such option '--nope'", REPORT),
    "on and an unknown option": ("%deterministic on --nope", "No such option '--nope'", ON),
    "on and a seed": ("%deterministic on 42", "unexpected extra argument (42)", ON),
    "on and off": ("%deterministic on off", "unexpected extra argument (off)", ON),
    "off without on": (
        "%deterministic off",
        "nothing to switch off: `%deterministic on` is not in force",
        "%deterministic off [-q]",
    ),
    "on inside %%deterministic": (
        "%%deterministic\n%deterministic on",
        "this cell runs under %%deterministic, ",
        ON,
    ),
    "off inside %%deterministic": (
        "%%deterministic\n%deterministic off",
        "this cell runs under %%deterministic, ",
        "%deterministic off [-q]",
    ),
}


@pytest.mark.parametrize(("cell", "said", "form"), REFUSED_SETTINGS.values(), ids=REFUSED_SETTINGS)
def test_a_bad_line_of_settings_is_refused_in_one_line(kernel, cell, said, form):
    """Every flag stays as it is, which the kernel's fixture checks."""
    error = _one_line(kernel.run(cell))
    assert error.startswith("%deterministic: ")
    assert said in error
    assert error.endswith(f"Usage: {form}")


MEANT = {
    "%seed rewnd 5": "rewind",
    "%seed Each 5": "each",
    "%seed off --quite": "--quiet",
    "%seed 42 --GENERATORS": "--generators",
    "%seed --same 42": "%seed each --same",
    "%seed 42 --genrators": "--generators",
    "%seed restore before_trainin": "before_training",
    "%deterministic of": "off",
    "%deterministic on --wran": "--warn",
    "%deterministic --warn": "%deterministic on --warn or %%deterministic --warn",
    "%deterministic --check": "%%deterministic --check",
    "%deterministic json": "--json",
    "%%deterministic on\n1": "%deterministic on",
    "%%deterministic check\n1": "--check",
    "%%deterministic 42 --isolated\n1": "--isolate",
    "%rng dif 5 9": "diff",
    "%rng text": "--text",
    "%why --agianst 3": "--against",
    "%why --AGAINST 3": "--against",
}


@pytest.mark.parametrize(("cell", "meant"), MEANT.items(), ids=MEANT)
def test_a_near_miss_is_named(kernel, cell, meant):
    """Words, options and names are suggested, also those of the magic's other form."""
    kernel.run("%seed save before_training -q")
    assert f"; did you mean {meant}?" in _one_line(kernel.run(cell))


@pytest.mark.parametrize(
    "head", ["%%deterministic 42", "%%deterministic", "%%deterministic --check"]
)
@pytest.mark.parametrize("body", ["", "\n", "\n\n  \n"], ids=["none", "one", "three"])
def test_a_cell_magic_without_a_cell_says_so(kernel, head, body):
    """Nothing would run under it; the error tells how to set it for all later cells."""
    before = digests(kernel)
    error = _one_line(kernel.run(head + body))
    assert error.startswith(
        "%%deterministic: the cell has no code below this line. For the rest of the session:"
    )
    assert error.endswith(
        "%seed 42, then %deterministic on" if "42" in head else "%deterministic on"
    )
    assert digests(kernel) == before


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_told_where_it_is_no_option(kernel, option):
    """``%%deterministic --help`` would run the body without its scope."""
    error = _one_line(kernel.run(f"%%deterministic {option}\nprint('ran')"))
    assert "; for help, type %%deterministic?" in error
