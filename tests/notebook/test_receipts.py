"""``%why --against FILE`` compares a run here with a run elsewhere."""

from __future__ import annotations

import json

import pytest

from tests.checking.books import book, look
from tests.kernel import Kernel

CELLS = ("import random", "random.seed(1)", "x = random.random()\nx", "print('so')")


def said(reply):
    """Return what was shown or printed, or the error."""
    shown = " ".join(each["text/plain"] for each in reply.displays)
    return " ".join((shown + reply.stdout + reply.stderr).split())


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A notebook next to its receipt, run with another seed."""
    folder = tmp_path_factory.mktemp("here")
    (verdict,) = look(book(folder / "there", *CELLS), receipt=True)
    (folder / "there.json").write_bytes(verdict.receipt)
    with Kernel(folder) as kernel:
        kernel.run("%load_ext ipytorchseed")
        for index, text in enumerate(CELLS):
            kernel.run(text, f"cell-{index}")
            if index == 1:
                kernel.run("random.seed(2)", "between")
        yield kernel


def answer(kernel, line):
    """Return the answer for a program."""
    return json.loads(kernel.run(line).stdout)


def test_the_first_cell_that_differs(kernel):
    """No cell is named; the cause is in the run here."""
    told = answer(kernel, "%why --against there.json --json")
    assert told["cell"]["id"] == "cell-2"
    (cause,) = told["causes"]
    assert (cause["kind"], cause["name"]) == ("rng", "python")
    assert [each["execution_count"] for each in cause["blame"]] == [4]
    assert told["mend"]["commands"] == []
    assert told["against"]["execution_count"] == 3
    shown = said(kernel.run("%why --against there.json"))
    assert "there.json" in shown
    assert "#None" not in shown


def test_a_cell_that_is_named(kernel):
    """It gave the same; a cell that is not in the receipt is refused."""
    assert answer(kernel, "%why cell-3 --against there.json --json")["verdict"] == "same"
    assert "has no such cell" in said(kernel.run("%why between --against there.json"))


def test_what_is_no_receipt(kernel):
    """One line refuses it; names of runs are not taken as files."""
    assert "there.json?" in said(kernel.run("%why --against ther.json"))
    assert "not a receipt" in said(kernel.run("%why --against there.ipynb"))
    assert "no run '99' is recorded" in said(kernel.run("%why --against 99"))
    assert "--prove" in said(kernel.run("%why --prove --against there.json"))
