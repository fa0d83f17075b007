"""Values too large to look at whole: their cost for a cell, and what is reported."""

from __future__ import annotations

import json

import pytest

from tests.kernel import Kernel

# Seconds of the main thread for our part of a cell, three times the limit on an idle machine.
GENEROUS = 0.6

# Seconds that a look at stored values may take. Copying or walking any of the values below without
# checking the clock takes many times as long.
BUDGET = 0.05

STOPWATCH = """
import time
from ipytorchseed.session.session import Session
_spent = {}
def _timed(name, original):
    def call(*args, **kwargs):
        began = time.thread_time()
        try:
            return original(*args, **kwargs)
        finally:
            _spent[name] = time.thread_time() - began
    return call
for _name in ("begin_cell", "end_cell"):
    setattr(Session, _name, _timed(_name, getattr(Session, _name)))
"""

HELD = {
    "dict": ("big = {n: n for n in range(1_250_000)}", "len(big)"),
    "ordered dict": (
        "from collections import OrderedDict\nbig = OrderedDict((n, n) for n in range(400_000))",
        "len(big)",
    ),
    "list": ("big = list(range(5_000_000))", "len(big)"),
    "strings": ("big = [str(n) for n in range(1_250_000)]", "len(big)"),
    "set": ("big = set(range(1_500_000))", "len(big)"),
    "objects": (
        "class P:\n def __init__(self, n): self.n = n\nbig = [P(n) for n in range(150_000)]",
        "len(big)",
    ),
    "nested": ("big = {n: [n, [n]] for n in range(150_000)}", "len(big)"),
    "array of objects": (
        "import numpy as np\nbig = np.array([str(n) for n in range(750_000)], dtype=object)",
        "len(big)",
    ),
    "frame of objects": (
        "import pandas as pd\nbig = pd.DataFrame({0: [*map(str, range(750_000))]}, dtype=object)",
        "len(big)",
    ),
    "attributes": (
        "class P: pass\nbig = P()\nbig.__dict__.update({f'a{n}': n for n in range(300_000)})",
        "big.a1",
    ),
    "integer": ("big = 1 << 8 * 80_000_000", "big.bit_length()"),
    "text": ("big = 'é' * 80_000_000", "len(big)"),
}


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel that times looks by the processor time of the cell's thread."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        for cell in ("import torch\n%load_ext ipytorchseed", STOPWATCH):
            assert kernel.run(cell).status == "ok"
        yield kernel


def spent(kernel):
    """Return the seconds that the looks before and after the last cell took."""
    return json.loads(kernel.run("print(json.dumps(_spent))", "ask").stdout)


@pytest.mark.parametrize("name", HELD)
def test_a_cell_pays_no_more_than_the_budget(kernel, name):
    """This holds for cells that read the value and for others, in every run."""
    make, read = HELD[name]
    kernel.run(f"import json\n%config IPyTorchSeed.budget = {BUDGET}")
    assert kernel.run(make, f"make {name}").status == "ok"
    for cell in (read, "len([1])", read):
        assert kernel.run(cell, cell).status == "ok"
        for seconds in spent(kernel).values():
            assert seconds < 6 * BUDGET
    kernel.run("del big\n%config IPyTorchSeed.budget = 0.2")


@pytest.mark.parametrize("made", ["[n]", "lambda: n"])
def test_making_many_variables_costs_no_more(kernel, made):
    """Not all of them are looked at, and the record says so."""
    kernel.run("import json")
    kernel.run(f"for n in range(20_000): globals()[f'v{{n}}'] = {made}", "many")
    assert spent(kernel)["end_cell"] < 2 * GENEROUS
    kernel.run("for n in range(20_000): del globals()[f'v{n}']")


@pytest.fixture
def fresh(tmp_path):
    """A notebook in which nothing has run."""
    with Kernel(tmp_path) as kernel:
        assert kernel.run("import json\n%load_ext ipytorchseed").status == "ok"
        yield kernel


def why(kernel, line=""):
    """Return the answer of ``%why``."""
    return json.loads(kernel.run(f"%why {line} --json").stdout)


def test_too_large_is_told_once(fresh):
    """One line reports it, with what can be done about it."""
    told = fresh.run("big = [[n] for n in range(1_000_000)]").stderr
    assert told.count("\n") == 1
    assert told.startswith("ipytorchseed: big is too large to inspect fully in 0.2 s")
    assert "%config IPyTorchSeed.budget = 2" in told
    assert "%config IPyTorchSeed.ignore = ['big']" in told
    assert fresh.run("len(big)").stderr == ""


MUCH = {
    "statements": ("", "\n".join(f"x{n} = {n}" for n in range(20_000))),
    "functions": ("", "\n".join(f"def f{n}(x):\n    return x + {n}" for n in range(4_000))),
    "functions called": (
        "for n in range(4_000): exec(f'def f{n}(): return {n}')",
        "\n".join(f"f{n}()" for n in range(4_000)),
    ),
    "a list": ("", f"x = [{'1,' * 100_000}]"),
}


@pytest.mark.parametrize(("setup", "cell"), MUCH.values(), ids=MUCH)
def test_enormous_cells_are_looked_at_in_time(fresh, setup, cell):
    """This holds for any amount of text and any number of names."""
    fresh.run(STOPWATCH)
    fresh.run(setup)
    fresh.run(cell, "much")
    assert sum(fresh.value("_spent").values()) < GENEROUS


def test_what_was_not_looked_at_whole_is_never_called_the_same(fresh):
    """The known parts are equal, and the others are unknown."""
    fresh.run("%config IPyTorchSeed.budget = 0.02")
    cell = "big = [[n] for n in range(100_000)]"
    fresh.run(cell, "make")
    fresh.run(cell, "make")
    said = why(fresh)
    assert said["verdict"] == "unexplained"
    assert said["message"].endswith("was seen, but big was not read in full")


def test_a_large_input_that_may_have_changed_is_told(fresh):
    """The cell is not accused while one of its inputs is unknown."""
    fresh.run("%config IPyTorchSeed.budget = 0.02")
    fresh.run("big = [[n] for n in range(100_000)]", "make")
    fresh.run("total = sum(each[0] for each in big)", "sum")
    fresh.run("big[77_777][0] = 0", "change")
    fresh.run("total = sum(each[0] for each in big)", "sum")
    said = why(fresh)
    assert said["verdict"] == "unexplained"
    assert "big was not read in full" in said["message"]
    text = fresh.run("%why").displays[0]["text/plain"]
    assert "does not repeat" not in text
    assert "%config IPyTorchSeed.budget = 2" in " ".join(text.split())


# A cell whose text is too long to be analysed.
LONG = f"# {'x' * 40_000}\nbig.append(1)\ntotal = sum(big)"

UNKNOWN = "; what a cell this long reads and changes is not recorded in full"


def test_enormous_cell_is_not_said_to_repeat_badly_by_itself(fresh):
    """If the text is too long to analyse, its reads and writes are unknown."""
    fresh.run("big = [1]", "make")
    fresh.run(LONG, "sum")
    fresh.run(LONG, "sum")
    said = why(fresh)
    assert said["verdict"] == "unexplained"
    assert said["message"].endswith(UNKNOWN)
    assert "total" in [each["name"] for each in said["changed"]]
    assert "does not repeat" not in fresh.run("%why").displays[0]["text/plain"]


def test_enormous_cell_is_never_called_the_same(fresh):
    """It may have changed something that was not looked at."""
    fresh.run("big = []", "make")
    code = LONG.replace("sum(big)", "1")
    fresh.run(code, "long")
    fresh.run(code, "long")
    said = why(fresh)
    assert said["verdict"] == "unexplained"
    assert said["message"].endswith(UNKNOWN)


def test_beside_another_cause_it_is_told_too(fresh):
    """Unknown inputs are still listed if other inputs differ."""
    fresh.run("%config IPyTorchSeed.budget = 0.02")
    fresh.run("import random\nrandom.seed(1)\nbig = [[n] for n in range(100_000)]", "make")
    fresh.run("total = sum(each[0] for each in big) + random.random()", "sum")
    fresh.run("big[77_777][0] = 0", "change")
    fresh.run("total = sum(each[0] for each in big) + random.random()", "sum")
    said = why(fresh)
    assert [each["name"] for each in said["causes"]] == ["python"]
    assert said["message"].endswith("big was not read in full")
    shown = fresh.run("%why").displays[0]["text/plain"]
    assert "Not read in full: big." in shown


def test_more_time_tells(fresh):
    """Parts that can be read in the user's time budget are compared."""
    fresh.run("%config IPyTorchSeed.budget = 240")
    fresh.run("big = [[n] for n in range(100_000)]", "make")
    fresh.run("total = sum(each[0] for each in big)", "sum")
    fresh.run("big[77_777][0] = 0", "change")
    fresh.run("total = sum(each[0] for each in big)", "sum")
    said = why(fresh)
    assert (said["verdict"], [each["name"] for each in said["causes"]]) == ("explained", ["big"])
