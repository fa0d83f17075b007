"""``--check`` also restores sources that the cell itself imports."""

from __future__ import annotations

import pytest

from tests.kernel import Kernel

CELLS = {
    "torch": "import torch\nx = torch.rand(3)",
    "numpy": "import numpy as np\nx = np.random.rand(3)",
    "from": "from torch.nn import functional as F\nx = F.dropout(__import__('torch').ones(50))",
    "nested": "def draw():\n    import torch\n    return torch.rand(3)\nx = draw()",
    "of a library": "import pandas as pd\nx = pd.Series(range(50)).sample(5).sum()",
    "of a helper": "x = helper()",
    "below a magic": "%%time\nimport numpy\nx = numpy.random.rand(3)",
    "of the user's": "from drawing import draw\nx = draw()",
    "one that is missing": "try:\n    import no_such_module\nexcept ImportError:\n    x = 1",
}


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_a_cell_that_imports_what_it_draws_from_repeats(tmp_path, cell):
    """From the same state, each run gives the same result."""
    (tmp_path / "drawing.py").write_text(
        "def draw():\n    import numpy\n    return numpy.random.rand()"
    )
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("def helper():\n    import torch\n    return torch.rand(2)")
        reply = kernel.run(f"%%deterministic --check\n{cell}")
        assert reply.error is None
        assert reply.displays[-1]["text/plain"].startswith("The cell repeats"), reply.displays


def test_only_the_first_run_differs_if_a_call_imports_what_the_cell_draws_from(tmp_path):
    """The other runs start where the import left its sources."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        cell = "import importlib\nx = importlib.import_module('torch').rand(3)"
        reply = kernel.run(f"%%deterministic --check\n{cell}")
    shown = reply.displays[-1]["text/plain"]
    assert shown.startswith("The cell's first run differs from the others, which agree"), shown


DRAWING = "import dice, random\nx = random.random()"


@pytest.fixture
def library(tmp_path):
    """Write a library that draws a number on import; return the cell that finds it."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "dice.py").write_text("import random\nrandom.random()")
    return "import sys\nsys.path.append('site-packages')"


def test_a_cell_that_imports_what_draws_is_left_as_without_check(tmp_path, library):
    """Its results and the source's final state are those of a plain run."""
    ends = []
    for check in ("", "%%deterministic --check\n"):
        with Kernel(tmp_path) as kernel:
            kernel.run(f"%load_ext ipytorchseed\n{library}")
            kernel.run("import random\nrandom.seed(7)")
            assert kernel.run(check + DRAWING).error is None
            ends.append(kernel.value("(x, random.random())"))
    assert ends[0] == ends[1]


def test_a_seeded_check_gives_what_the_seeded_cell_gives_from_then_on(tmp_path, library):
    """The imports are done after the first run, as for any later run of the cell."""
    with Kernel(tmp_path) as kernel:
        kernel.run(f"%load_ext ipytorchseed\n{library}")
        reply = kernel.run(f"%%deterministic 7 --check\n{DRAWING}")
        assert reply.displays[-1]["text/plain"].startswith("The cell repeats"), reply.displays
        checked = kernel.value("x")
        kernel.run(f"%%deterministic 7\n{DRAWING}")
        assert kernel.value("x") == checked
