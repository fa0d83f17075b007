"""Times and addresses that cells keep, and draws of imports.

They are neither differences nor causes.
"""

from __future__ import annotations

import pytest

from tests.checking.books import book, causes, found, look

SAME, LATER, SHOWN = ("same", "same"), ("same", "different"), ("different", "same")

# Has a library measure its own times.
FITTED = (
    "from sklearn.linear_model import Ridge\nfrom sklearn.model_selection import cross_validate\n"
    "import numpy as np\nX = np.linspace(0, 1, 30)[:, None]\n"
    "scores = cross_validate(Ridge(), X, X[:, 0] ** 2)"
)

KEPT = (
    "from datetime import datetime\nimport time",
    "started = datetime.now()\nstamp = f'{started:%H%M%S.%f}'",
    "times = []\nfor n in range(3):\n    t = time.time(); times.append(time.time() - t)",
    "history = {'loss': [], 'time': []}\nfor n in range(3):\n    t = time.perf_counter()\n"
    "    history['loss'].append(n)\n    history['time'].append(time.perf_counter() - t)",
    "class Timer:\n    def __init__(self): self.start = time.time()\ntimer = Timer()",
    FITTED,
    "import pandas as pd\ntable = pd.DataFrame(scores)",
    "print('done')",
)

PLACES = (
    "ids = [id([]) for _ in range(3)]",
    "x = []\nprint('x is at', id(x))",
    "id(x), hex(id(x))",
    "def where(thing):\n    return id(thing)\nwhere(x)",
    "print(where([x]), where(x))",
    "import torch\nt = torch.ones(3)\nprint(t.data_ptr())",
    "import numpy as np\na = np.ones(3)\na.__array_interface__['data'][0], a.ctypes.data",
)

TOLD = (
    "import time\nbegan = time.time()\nprint(f'{time.ctime()} loss 0.5')",
    "history = {'loss': [0.5], 'secs': [time.time() - began, 0.1]}\nhistory",
    f"{FITTED}\nscores",
)


# The path of the library that draws a number when it is imported.
LIBRARY = "import sys\nsys.path.append('site-packages')"


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """The verdicts on several notebooks, by their names: checked together."""
    folder = tmp_path_factory.mktemp("books")
    (folder / "site-packages").mkdir()
    (folder / "site-packages" / "dice.py").write_text("import random\nrandom.random()")
    paths = [
        book(folder / "kept", *KEPT),
        book(folder / "shown", "import time\nbegan = time.time_ns()", "print(began)"),
        book(
            folder / "beside",
            "from datetime import datetime\nimport random",
            "started, key = datetime.now(), id([])\nx = random.random()",
            "print(x)",
        ),
        book(
            folder / "many",
            "import numpy.random, os\nnp = numpy",
            "x, key = np.random.rand(4_000_000).sum(), os.urandom(4)",
        ),
        book(
            folder / "not_reached",
            "import numpy.random\nnp = numpy\nimport no_such_module\nnp.random.seed(1)",
            "print(np.random.rand())",
            tags={0: "raises-exception"},
        ),
        book(
            folder / "others_seeded",
            "import torch\nimport numpy as np\nseed = 1\ntorch.manual_seed(seed)",
            "print(np.random.rand())",
        ),
        book(
            folder / "told_by_state",
            "import time, torch\nfrom numpy import random\ntorch.manual_seed(1)\n"
            "random.seed(time.time_ns() % 2**32)",
            "print(random.rand())",
        ),
        book(
            folder / "reached",
            "import numpy.random, time\nnp = numpy\nnp.random.seed(time.time_ns() % 2**32)\n1 / 0",
            "print(np.random.rand())",
            tags={0: "raises-exception"},
        ),
        book(
            folder / "imported",
            LIBRARY,
            "import os, dice\nmark = os.urandom(4)\nprint(mark)",
        ),
        book(folder / "places", *PLACES),
        book(folder / "told", *TOLD),
        book(
            folder / "no_places",
            "import os\nprint(140_000_000_000_000 + 16 * os.getpid())",
            "x = []\nprint(id(x), os.getpid())",
            "print(id(x), time.time() if 'time' in globals() else os.urandom(2).hex())",
        ),
        book(
            folder / "saves",
            "import torch\nmodel = torch.nn.Linear(3, 3)",
            "torch.save(model.state_dict(), 'model.pt')\nstate = torch.load('model.pt')\n"
            "print(state['weight'])",
            "from pathlib import Path\nfrom torch import save\npath = Path('model.pt')\n"
            "save(state, path)\nprint(torch.load(path)['bias'])",
            "print(torch.load(path)['bias'])",
        ),
        book(
            folder / "imported_and_drawn",
            LIBRARY,
            "import random, dice\nprint(random.random())",
        ),
    ]
    cold = [path for path in paths if path.stem == "places"]  # forked kernels share addresses
    alone = [path for path in paths if path.stem == "saves"]  # two kernels would share its file
    others = [path for path in paths if path not in (*cold, *alone)]
    verdicts = [*look(*cold, cold=True), *look(*others), *look(*alone, jobs=1)]
    return {verdict.path.stem: verdict for verdict in verdicts}


def test_times_kept_are_no_difference(books):
    """As datetimes, strings, in lists, tables and objects.

    Times that a library keeps are ignored too.
    """
    verdict = books["kept"]
    assert found(verdict) == [SAME] * len(KEPT)
    assert (verdict.reproducible, verdict.origin) == (True, None)


def test_a_time_that_is_shown_later_is_told_as_one(books):
    """The clock is the cause, not a cell that does not repeat."""
    verdict = books["shown"]
    assert found(verdict) == [SAME, SHOWN]
    (cause,) = verdict.origin.causes
    assert cause.name == "began"
    assert "holds a time or an address" in cause.message


def test_times_that_are_shown_as_such_are_no_difference(books):
    """Only if the cell reads a clock; times that the user's library reports count."""
    verdict = books["told"]
    assert [outputs for outputs, _ in found(verdict)] == ["same", "same", "different"]


def test_many_draws_beside_entropy_are_found(books):
    """A cell with more draws than one search step covers has not seeded itself."""
    assert found(books["many"]) == [SAME, LATER]
    assert causes(books["many"]) == [("rng", "numpy"), ("entropy", "os.urandom")]


def test_a_cell_that_raised_has_not_seeded_what_it_would_have_seeded_later(books):
    """Unless the state that it left can be traced to a seed."""
    (cause,) = books["not_reached"].origin.causes
    assert "numpy is not seeded before this cell" in cause.message
    (cause,) = books["reached"].first.causes
    assert "In[1] seeded it" in cause.message
    (cause,) = books["reached"].origin.causes
    assert cause.name == "time.time_ns"


def test_a_source_is_not_seeded_by_a_cell_that_seeds_another(books):
    """Unless its own state can be traced to a seed, under any name."""
    (cause,) = books["others_seeded"].origin.causes
    assert "numpy is not seeded before this cell" in cause.message
    assert cause.fix == "numpy.random.seed(42)"
    (cause,) = books["told_by_state"].first.causes
    assert "In[1] seeded it" in cause.message
    (cause,) = books["told_by_state"].origin.causes
    assert cause.name == "time.time_ns"


def test_a_draw_beside_a_time_is_found(books):
    """The draw is the only cause."""
    verdict = books["beside"]
    assert found(verdict) == [SAME, LATER, SHOWN]
    assert causes(verdict) == [("rng", "python")]
    assert {each.name for each in verdict.origin.changes} == {"x"}


def test_what_an_import_draws_is_no_cause_and_what_the_cell_draws_is(books):
    """A library draws a number from ``random`` on import, as ``rich`` does."""
    assert causes(books["imported"]) == [("entropy", "os.urandom")]
    assert causes(books["imported_and_drawn"]) == [("rng", "python")]


def test_an_address_that_is_kept_or_shown_is_no_difference(books):
    """The address of an object, a tensor or an array.

    It is printed, a result, or returned by a function.
    """
    verdict = books["places"]
    assert [outputs for outputs, _ in found(verdict)] == ["same"] * len(PLACES)
    assert found(verdict)[0] == SAME
    assert verdict.reproducible is True


def test_a_number_that_looks_like_an_address_counts(books):
    """It counts if the cell reads no address; so do other numbers next to one."""
    verdict = books["no_places"]
    assert [outputs for outputs, _ in found(verdict)] == ["different"] * 3


def test_a_file_that_a_cell_saves_and_loads_is_no_cause(books):
    """Its content comes from the cell; it is a cause if another cell loads it."""
    verdict = books["saves"]
    kinds = [{cause.kind for cause in cell.causes} for cell in verdict.cells]
    assert kinds[1:3] == [{"input"}, {"input"}]
    assert "file" in kinds[3]
    assert causes(verdict) == [("rng", "torch.cpu")]
