"""What a restart and one run of all cells would not reproduce."""

from __future__ import annotations

import pytest

from ipytorchseed.session.identity import FileCell
from ipytorchseed.session.restart import Restart


def remarks(notebook, cells, saved=1e12):
    """Compare with a file of these cells, by id; None for no file."""
    file = None if cells is None else [FileCell(*pair) for pair in cells.items()]
    return Restart(notebook.session, notebook.names, file, saved).remarks()


def told(notebook, cells, saved=1e12):
    """Return kinds and messages."""
    return [(each.kind, each.message) for each in remarks(notebook, cells, saved)]


def run(notebook, cells):
    """Run cells by their ids."""
    for name, text in cells.items():
        notebook.run(text, name)
        assert notebook.error is None


A = {"a": "import math\nrate = 2", "b": "double = rate * math.pi", "c": "double + rate"}


def test_what_ran_as_the_file_says_has_no_remark(notebook):
    """All cells ran once, in order, in a fresh kernel."""
    run(notebook, A)
    assert told(notebook, A) == []
    assert told(notebook, None) == []


def test_a_name_whose_cell_was_deleted(notebook):
    """Its readers are named, also functions, and imports count as setting it."""
    run(notebook, {"a": "import math", "t": "threshold = 3", "f": "def f():\n    return threshold"})
    run(notebook, {"c": "f()", "d": "math.floor(2.5)"})
    file = {"f": "def f():\n    return threshold", "c": "f()", "d": "math.floor(2.5)"}
    assert told(notebook, file) == [
        (
            "only-here",
            "`math` is read by `In[5]`, and no cell of the file sets it; `In[1]` did, and that cell"
            " was deleted",
        ),
        (
            "only-here",
            "`threshold` is read by `In[4]`, and no cell of the file sets it; `In[2]` did, and that"
            " cell was deleted",
        ),
    ]
    (_, found) = remarks(notebook, file)
    assert (found.name, found.runs) == ("threshold", (4, 2))


def test_a_name_whose_cell_was_edited_or_not_saved(notebook):
    """The message says how it was lost, with and without a file."""
    run(notebook, {"a": "x = 1"})
    run(notebook, {"a": "y = 1", "b": "z = x + y"})
    file = {"a": "y = 1", "b": "z = x + y"}
    read = "`x` is read by `In[3]`, and no cell"
    assert told(notebook, file) == [
        ("only-here", f"{read} of the file sets it; `In[1]` did, and that cell was edited since")
    ]
    assert told(notebook, None) == [
        ("only-here", f"{read} sets it now; `In[1]` did, and that cell was edited since")
    ]
    assert told(notebook, {"b": "z = x + y"}, saved=0.0) == [
        ("edited", "`In[2]`: not in the file yet. Save it and ask again"),
        ("only-here", f"{read} of the file sets it; `In[1]` did, and that cell was edited since"),
        (
            "only-here",
            "`y` is read by `In[3]`, and no cell of the file sets it; `In[2]` did, and that cell is"
            " not saved",
        ),
    ]


@pytest.mark.parametrize(
    "cell",
    [
        "exec('x = 1')",
        "from math import *",
        "x = 2",
        "get_ipython().run_line_magic('run', 'set_x.py')",
    ],
)
def test_a_name_that_may_be_set_is_not_accused(notebook, cell):
    """Built code, star imports or a cell that has not run may set it."""
    run(notebook, {"x": "x = 1", "y": "y = x"})
    assert [kind for kind, _ in told(notebook, {"a": cell, "y": "y = x"})] == ["not-run"]


def test_a_name_that_nobody_reads_breaks_nothing(notebook):
    """It is not reported."""
    run(notebook, {"s": "scratch = 1; more = 2", "a": "x = 1"})
    assert told(notebook, {"a": "x = 1"}) == []


def test_a_name_that_no_cell_has_set(notebook):
    """The kernel may start with it, so a restart sets it again."""
    notebook.names["spark"] = object()
    cells = {"a": "x = spark"}
    run(notebook, cells)
    assert told(notebook, cells) == []
    notebook.names["In"].append("spark = 3")  # typed before we were loaded
    assert [each.name for each in remarks(notebook, cells)] == ["spark"]


def test_a_name_that_is_set_below(notebook):
    """Restart and run all would raise a NameError."""
    run(notebook, {"b": "x = 1", "a": "y = x"})
    file = {"a": "y = x", "b": "x = 1"}
    assert told(notebook, file) == [
        ("order", "`x` is read by `In[2]`, and only set below it, by `In[1]`"),
        ("order", "`In[2]` ran after a cell below"),
    ]


def test_an_output_that_is_older_than_its_input(notebook):
    """A cell above, not below, set the input again to another value."""
    cells = {"a": "x = [1]", "b": "total = sum(x)", "c": "x.append(5)"}
    run(notebook, cells)
    assert told(notebook, cells) == []
    notebook.run("x = [1]", "a")
    assert told(notebook, cells)[0][1] == "`In[4]` ran after a cell below"
    edited = {**cells, "a": "x = [2]"}
    notebook.run("x = [2]", "a")
    assert told(notebook, edited) == [
        ("stale", "`In[2]` used an earlier `x`: `In[5]` set it later"),
        ("stale", "`In[3]` used an earlier `x`: `In[5]` set it later"),
        ("order", "`In[5]` ran after a cell below"),
    ]


def test_a_cell_that_ran_again_and_went_on(notebook):
    """A fresh run does this once. A cell that starts over is not reported."""
    cells = {"a": "n = 0", "b": "n += 1"}
    run(notebook, {**cells})
    notebook.run("n += 1", "b")
    assert told(notebook, cells) == [
        ("repeated", "`In[3]` ran 2 times and changed `n` each time"),
    ]
    run(notebook, cells)
    assert told(notebook, cells) == []


def test_cells_that_are_edited_or_did_not_run(notebook):
    """Each kind is one line, and cells with only our magics do not count."""
    run(notebook, {"a": "x = 1", "b": "y = 1"})
    file = {"a": "x = 2", "b": "y = 3", "c": "plot(x)", "d": "%why 5"}
    assert told(notebook, file) == [
        ("edited", "`In[1]` and `In[2]`: the text in the file is not the one that ran last"),
        ("not-run", "`plot(x)` did not run in this kernel"),
    ]


def test_sources_that_are_never_seeded(notebook):
    """The first cell that draws is named. A seed above it suffices, even if not run."""
    draw = {"i": "import random", "d": "x = random.random()", "e": "y = random.random()"}
    run(notebook, draw)
    never = ("unseeded", "Python's `random` is never seeded, and `In[2]` draws from it")
    assert told(notebook, draw) == [never] == told(notebook, None)
    edited = {**draw, "i": "import random\nrandom.seed(3)"}
    assert [kind for kind, _ in told(notebook, edited)] == ["edited"]
    below = {**draw, "s": "random.seed(3)"}
    assert [kind for kind, _ in told(notebook, below)] == ["unseeded", "not-run"]


def test_a_cell_that_ran_before_we_were_loaded(notebook):
    """It has no record, so it is not reported as not run or as unseeded."""
    before = "import random\ndef fix(n, f=random.seed):\n    f(n)\nfix(3)"
    exec(before, notebook.names)  # noqa: S102 -- a cell
    notebook.names["In"].append(before)
    notebook.run("x = random.random()", "b")
    assert told(notebook, {"a": before, "b": "x = random.random()"}) == []


def test_a_helper_that_seeds_under_another_name(notebook):
    """The state of the source shows the seed."""
    helper = "import random\ndef fix(n, f=random.seed):\n    f(n)"
    cells = {"a": helper, "b": "fix(3)", "c": "x = random.random()"}
    run(notebook, cells)
    assert told(notebook, cells) == []


def test_generators_without_a_seed(notebook):
    """The call is named."""
    cells = {"a": "import numpy as np\nrng = np.random.default_rng()"}
    run(notebook, cells)
    ((kind, message),) = told(notebook, cells)
    assert kind == "unseeded"
    assert message.startswith("`In[1]`: the cell calls `numpy.random.default_rng()`")
