"""Checks notebooks in real kernels: what repeats, what does not, and why."""

from __future__ import annotations

import json

import nbformat
import pytest
from msgspec.structs import replace
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from ipytorchseed.checking.notebook import read
from ipytorchseed.checking.report import explanation
from tests.checking.books import book, causes, found, look
from tests.forking import forking

SAME, LATER, SHOWN = ("same", "same"), ("same", "different"), ("different", "same")
BOTH = ("different", "different")


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """The verdicts on several notebooks, by their names: checked together."""
    folder = tmp_path_factory.mktemp("books")
    (folder / "lines.txt").write_text("one\ntwo\n")
    (folder / "helper.py").write_text("def double(x):\n    return 2 * x\n")
    paths = [
        book(
            folder / "repeats",
            "#md # A title",
            "import torch\nimport helper\ntorch.manual_seed(0)",
            "x = helper.double(torch.rand(3))\nx",
            "print(open('lines.txt').read())",
            "import time\nbegan = time.time()",
            "took = time.time() - began",
            "%time len('timed')",
            "import numpy as np, random",
            "import torch.nn as nn\nmodel = nn.Linear(3, 3)\nloss = model(x).sum()\nloss.backward()",
            "class Thing: pass\nthing = Thing()\nthing, {1, 2}, lambda: 0",
            "for epoch in range(2):\n    print(f'epoch {epoch}, loss {x.sum():.3f}:',"
            " f'{time.time() - began:.6f} s')",
        ),
        book(
            folder / "unseeded",
            "import torch",
            "x = torch.rand(3)",
            "x",
            "1 + 1",
        ),
        book(
            folder / "imported",
            "import numpy as np\nrows = 3",
            "x = np.random.rand(rows)",
        ),
        book(
            folder / "seeds_itself",
            "import numpy as np\nx = np.random.rand(3)\nnp.random.seed(int(x[0] * 1e6))",
            "print(1)",
        ),
        book(
            folder / "handles",
            "import os\nclass Figure:\n    def __init__(self): self._handle = os.getpid()\n"
            "figure = Figure()",
            "1 + 1",
        ),
        book(
            folder / "beside",
            "import os\nclass Figure:\n    def __init__(self): self._handle = os.getpid()\n"
            "figure = Figure()",
            "import random\nx = random.random()",
            "print(x)",
        ),
        book(
            folder / "in_a_database",
            "import random, sqlite3",
            "rates = [random.random()]",
            "database = sqlite3.connect(':memory:')\n"
            "rows = database.execute('create table t as select ? as rate', rates).rowcount",
            "print(database.execute('select rate from t').fetchall())",
        ),
        book(
            folder / "handed_on",
            "import random\nx = [random.random()]",
            "y = [2 * each for each in x]",
            "class Box:\n    def __init__(self, held): self.held = held\nbox = Box(y)",
            "print(box.held)",
        ),
        book(
            folder / "hidden",
            "import random\nrandom.random()",
            "1 / 0",
            "2",
            "3",
        ),
        book(
            folder / "fetches",
            "%%bash\npip install --no-index a-package-that-is-not-$$ 2>&1 || true",
            "!date +%s%N",
        ),
        book(folder / "hashes", "names = {f'name {n}' for n in range(12)}\nprint(*names)"),
        book(
            folder / "entropy", "import numpy as np\nrng = np.random.default_rng()", "rng.random()"
        ),
        book(
            folder / "clock",
            "import random, time\nstart = time.time_ns()",
            "random.seed(start)",
            "random.random()",
        ),
        book(
            folder / "clock_at_import",
            "import numpy as np, time\nnp.random.seed(time.time_ns() % 2**32)",
            "np.random.rand()",
        ),
        book(
            folder / "entropy_within",
            "import numpy as np\nclass Walk:\n    def __init__(self, seed=None):\n"
            "        self.rng = np.random.default_rng(seed)",
            "walk = Walk()",
            "walk.rng.random()",
        ),
        book(
            folder / "entropy_in_a_default",
            "import numpy as np",
            "def draw(rng=np.random.default_rng()):\n    return rng.random()",
            "draw()",
        ),
        book(
            folder / "alone",
            "import torch\ntorch.manual_seed(0)\ntorch.set_num_threads(8)\n"
            "index, ones = torch.randint(0, 40, (800_000,)), torch.rand(800_000)",
            "count = torch.zeros(40)\n"
            "for _ in range(30):\n    count.index_put_((index,), ones, accumulate=True)",
            "print(count.tolist())",
        ),
        book(
            folder / "tagged",
            "import torch",
            "print(torch.rand(1))",
            "raise ValueError('as said')",
            "input()",
            "2 + 2",
            tags={1: "ipytorchseed-varies", 2: "raises-exception", 3: "skip-execution"},
        ),
        book(
            folder / "files",
            "from pathlib import Path\nlog = Path('made.log')\n"
            "log.write_text(log.read_text() + 'x' if log.exists() else 'x')",
            "open('made.log').read()",
        ),
    ]
    kept = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}
    hashes = [path for path in paths if path.stem == "hashes"]  # forks share the seed of hashes
    files = [path for path in paths if path.stem == "files"]  # two kernels share what it writes
    others = [path for path in paths if path not in {*hashes, *files}]
    looked = [*look(*others), *look(*files, jobs=1), *look(*hashes, cold=True)]
    verdicts = {verdict.path.stem: verdict for verdict in looked}
    assert kept == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}
    return verdicts


def test_a_notebook_that_repeats(books):
    """No cell differs: seeded draws, files, times in variables, models, objects."""
    verdict = books["repeats"]
    assert (verdict.reproducible, verdict.fault, verdict.first) == (True, None, None)
    assert found(verdict) == [SAME] * 10
    assert [cell.cell.index for cell in verdict.cells] == [*range(1, 11)]
    assert verdict.exit_code == 0


def test_a_cell_that_shows_the_same_and_differs_later(books):
    """The cell that shows the difference is the first to differ.

    The difference starts in the unseeded draw.
    """
    verdict = books["unseeded"]
    assert found(verdict) == [SAME, LATER, SHOWN, SAME]
    assert (verdict.first.cell.id, verdict.origin.cell.id) == ("cell-2", "cell-1")
    assert verdict.origin.only_state
    assert causes(verdict) == [("rng", "torch.cpu")]
    assert "not seeded" in verdict.origin.causes[0].message
    assert verdict.origin.causes[0].fix == "torch.manual_seed(42)"
    assert [(cause.kind, cause.name) for cause in verdict.first.causes] == [("input", "x")]
    assert (verdict.reproducible, verdict.exit_code) == (False, 1)


def test_a_library_that_a_cell_imports_is_not_seeded_by_that(books):
    """Importing a library does not seed it, even if the cell sets variables."""
    verdict = books["imported"]
    assert found(verdict) == [SAME, LATER]
    (cause,) = verdict.origin.causes
    assert (cause.name, cause.fix) == ("numpy", "numpy.random.seed(42)")
    assert "not seeded" in cause.message


def test_a_notebook_that_shows_the_same_repeats(books):
    """What it leaves is reported in a line, and counts only with ``strict``."""
    verdict = books["imported"]
    assert (verdict.reproducible, verdict.first, verdict.exit_code) == (True, None, 0)
    said = "repeats; In[2] leaves different values in numpy (never seeded)"
    assert said in explanation(verdict)
    strict = replace(verdict, strict=True)
    assert (strict.reproducible, strict.exit_code) == (False, 1)
    assert strict.first == strict.origin == verdict.origin
    assert "In[2] is the first to differ" in explanation(strict)


def test_a_state_that_follows_from_numbers_of_no_seed(books):
    """The cell seeds from what it drew, so a seed is missing before that."""
    said = "repeats; In[1] leaves different values in numpy (never seeded)"
    assert said in explanation(books["seeds_itself"])


def test_an_object_that_no_result_hangs_on(books):
    """A handle in an object does not make a cell differ, nor is it an origin."""
    verdict = books["handles"]
    assert found(verdict) == [LATER, SAME]
    assert verdict.reproducible is True
    assert "does not repeat" not in explanation(verdict)
    assert "does not repeat" not in explanation(replace(verdict, strict=True))
    beside = books["beside"]
    assert found(beside) == [LATER, LATER, SHOWN]
    assert (beside.first.cell.id, beside.origin.cell.id) == ("cell-2", "cell-1")
    assert causes(beside) == [("rng", "python")]


def test_a_difference_that_goes_through_several_cells(books):
    """It starts in the cell with the unseeded draw, however many cells pass it on."""
    verdict = books["handed_on"]
    assert (verdict.first.cell.id, verdict.origin.cell.id) == ("cell-3", "cell-0")
    assert causes(verdict) == [("rng", "python")]


def test_what_lies_in_an_object_that_cannot_be_seen_into(books):
    """It starts where the input to the opaque object was made."""
    verdict = books["in_a_database"]
    assert (verdict.first.cell.id, verdict.origin.cell.id) == ("cell-3", "cell-1")
    assert causes(verdict) == [("rng", "python")]


def test_cells_that_were_not_reached(books):
    """A cell that raises hides the later cells, even if an earlier one differs."""
    verdict = books["hidden"]
    assert (verdict.first.cell.id, verdict.exit_code) == ("cell-0", 1)
    said = "2 of 4 cells were not reached: In[2] raises ZeroDivisionError: division by zero"
    assert said in explanation(verdict)
    assert "cell-2" not in [cell.cell.id for cell in verdict.cells]


def test_a_cell_that_raises_as_the_file_shows(tmp_path):
    """An error that the file shows is expected; any other error ends the run."""
    as_saved, other = (
        book(tmp_path / name, "1 / 0", "import os\nos.urandom(4)", "1")
        for name in ("as_saved", "other")
    )
    for path, ename in ((as_saved, "ZeroDivisionError"), (other, "KeyError")):
        node = nbformat.read(path, nbformat.NO_CONVERT)
        node.cells[0].outputs = [nbformat.v4.new_output("error", ename=ename, evalue="")]
        nbformat.write(node, path)
    verdict, stopped = look(as_saved, other)
    assert (verdict.first.cell.id, verdict.exit_code, verdict.unreached) == ("cell-1", 1, None)
    assert "raises ZeroDivisionError" in stopped.fault


def test_programs_of_the_shell(books):
    """Messages about downloads are not results.

    The output of other programs is; the next step names the program.
    """
    verdict = books["fetches"]
    assert found(verdict) == [SAME, SHOWN]
    assert verdict.first.does_not_repeat
    assert "the cell runs another program" in explanation(verdict)
    assert "!date" in explanation(verdict)


def test_hash_order(books):
    """Each kernel hashes strings differently, as for users."""
    assert causes(books["hashes"]) == [("environment", "PYTHONHASHSEED")]


def test_a_generator_made_without_a_seed(books):
    """It is named where it is made, before anything is drawn from it."""
    verdict = books["entropy"]
    assert found(verdict) == [LATER, BOTH]
    assert causes(verdict) == [("entropy", "numpy.random.default_rng")]


def test_a_generator_made_without_a_seed_within_an_object(books):
    """It is named where the object is made; the object's other parts are equal."""
    verdict = books["entropy_within"]
    assert found(verdict) == [SAME, LATER, SHOWN]
    assert verdict.origin.cell.id == "cell-1"
    assert causes(verdict) == [("entropy", "numpy.random.default_rng")]


def test_a_generator_made_without_a_seed_as_a_default(books):
    """It is named where the function is defined; the function's code is equal."""
    verdict = books["entropy_in_a_default"]
    assert found(verdict) == [SAME, LATER, SHOWN]
    assert verdict.origin.cell.id == "cell-1"
    assert causes(verdict) == [("entropy", "numpy.random.default_rng")]


def test_a_seed_taken_from_the_clock(books):
    """A time in a variable is no difference, but what is seeded with it is."""
    verdict = books["clock"]
    assert found(verdict) == [SAME, LATER, SHOWN]
    assert causes(verdict) == [("input", "start")]


def test_a_seed_taken_from_the_clock_in_the_cell_that_imports_the_library(books):
    """The cell creates the source and leaves it in another state."""
    verdict = books["clock_at_import"]
    assert found(verdict) == [LATER, SHOWN]
    assert verdict.origin.cell.id == "cell-0"
    assert causes(verdict) == [("entropy", "time.time_ns")]


def test_a_cell_that_does_not_repeat_by_itself(books):
    """Nothing recorded differs: no cause is named, only the next step."""
    verdict = books["alone"]
    assert (verdict.first.cell.id, verdict.origin.cell.id) == ("cell-2", "cell-1")
    assert causes(verdict) == []
    assert verdict.origin.does_not_repeat
    said = " ".join(explanation(verdict).split())
    assert "two runs of the cell left different values, and no recorded input differs" in said
    assert "itself" not in said


def test_tags(books):
    """Tags let a cell vary, raise, or be skipped."""
    verdict = books["tagged"]
    assert (verdict.reproducible, verdict.fault) == (True, None)
    assert found(verdict) == [SAME, SHOWN, SAME, ("skipped", "skipped"), SAME]
    assert verdict.cells[1].expected


def test_a_file_that_the_first_run_left_behind(books):
    """The second kernel finds the file: that is a difference, and it is named."""
    verdict = books["files"]
    assert verdict.first is not None
    assert [(kind, name.rpartition("/")[2]) for kind, name in causes(verdict)] == [
        ("file", "made.log")
    ]


def test_what_tells_of_runs_is_no_result(tmp_path):
    """Our own reports are ignored, but their effects are not.

    Ids that objects generate are ignored too.
    """
    path = book(
        tmp_path / "asks",
        "%load_ext ipytorchseed",
        "import numpy as np, pandas as pd",
        "pd.DataFrame({'a': [1.0, 2.0]}).style.format(precision=1)",
        "%rng --text",
        "%seed",
        "%why",
        "%seed 3",
        "%seed new",
    )
    assert found(look(path)[0]) == [SAME] * 7 + [LATER]


# Lines that only read. Each fails because there is no such run or option.
LEFT = (
    "%why 5",
    "%why nothing",
    "%replay 3",
    "%replay 9 --yes",
    "%replay",
    "%rng diff 7 8",
    "%why --x",
)


def test_lines_that_only_look_never_fail_a_check(tmp_path):
    """They are alone in a cell or with other code, whose output is compared."""
    path = book(
        tmp_path / "left",
        "%load_ext ipytorchseed",
        *LEFT,
        "import random\nx = 1\n%why 70\n%rng --text\n%rng --json\n%seed log\nprint(x)",
        "x = random.random()\n%why 80\nprint(round(x, 6))",
    )
    (verdict,) = look(path)
    assert found(verdict)[-1] == BOTH
    assert {*found(verdict)[:-1]} == {SAME}
    assert [change.what for change in verdict.first.changes if change.what != "variable"] == [
        "stdout"
    ]


def test_a_program_that_runs_a_notebook_gets_the_line_of_one_that_looks(tmp_path, monkeypatch):
    """With nbconvert, the line is shown and later cells run; other lines still fail."""
    monkeypatch.setenv("IPYTORCHSEED_DATA_DIR", str(tmp_path))
    path = book(tmp_path / "left", "%load_ext ipytorchseed", "%why 5", "%replay 3\nx = 1", "x")
    node = nbformat.read(path, as_version=4)
    with forking():
        NotebookClient(node, timeout=60).execute()
    shown = [[each["data"]["text/plain"] for each in cell.outputs] for cell in node.cells]
    assert shown[1][0].partition(";")[0] == "%why: no run '5' is recorded"
    assert (shown[2][0].partition(";")[0], shown[3]) == (
        "%replay: no run '3' is recorded",
        ["1"],
    )
    failing = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("%load_ext ipytorchseed\n%seed x")]
    )
    with forking(), pytest.raises(CellExecutionError, match="UsageError"):
        NotebookClient(failing, timeout=60).execute()


def test_a_notebook_that_switches_recording_off(tmp_path):
    """Outputs are still compared.

    No cause is invented, and the report says that nothing was recorded.
    """
    path = book(
        tmp_path / "off",
        "%config IPyTorchSeed.tracking = False",
        "import random\nrandom.random()",
        "1 + 1",
    )
    verdict = look(path)[0]
    assert [cell.outputs.value for cell in verdict.cells] == ["same", "different", "same"]
    assert [cell.cell.index for cell in verdict.unrecorded] == [1, 2]
    assert not verdict.first.does_not_repeat
    assert "nothing was recorded about In[2], In[3]" in explanation(verdict)


def test_the_users_configuration_does_not_lead_records_away(tmp_path, monkeypatch):
    """A check ignores a configured ledger, and tracking that is off for all kernels."""
    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text(
        f"c.IPyTorchSeed.ledger = {str(tmp_path / 'other')!r}\n"
        "c.IPyTorchSeed.tracking = False\nc.IPyTorchSeed.explain_on_change = True\n"
    )
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    verdict = look(book(tmp_path / "draws", "import random\nx = random.random()"), rerun=True)[0]
    assert found(verdict) == [LATER]
    assert not (tmp_path / "other").exists()


def test_a_seed_for_the_whole_notebook(tmp_path):
    """``--seed`` seeds before the first cell, without drawing a number."""
    path = book(
        tmp_path / "draws",
        "import random, torch\nimport numpy as np",
        "random.random(), np.random.rand(), torch.rand(1).item()",
    )
    verdict = look(path, seed=42)[0]
    assert (verdict.reproducible, verdict.fault) == (True, None)


def test_rerun_tells_which_cells_are_not_safe_to_run_again(tmp_path):
    """Causes: the cell's own change, a later cell's change, an advanced source."""
    path = book(
        tmp_path / "again",
        "import torch\ntorch.manual_seed(0)\nitems, scale = [1, 2], 2",
        "items.append(3)\nlen(items)",
        "torch.rand(1)",
        "scale * 10",
        "scale = 3",
        "torch.manual_seed(1)\ntorch.rand(1)",
        "import time\nprint('fine')",
    )
    verdict = look(path, rerun=True)[0]
    unsafe = {
        cell.cell.index: [(cause.kind, cause.name) for cause in cell.causes]
        for cell in verdict.differing
    }
    assert unsafe == {
        1: [("input", "items")],
        2: [("rng", "torch.cpu")],
        3: [("input", "scale")],
    }
    assert verdict.cells[1].causes[0].blame[0].run.execution_count == 2
    assert verdict.cells[3].causes[0].blame[0].run.execution_count == 5


def test_rerun_counts_what_cells_leave(tmp_path):
    """A cell that shows nothing and appends to a list is not safe to run again."""
    path = book(tmp_path / "again", "items = [1]", "items.append(2)")
    verdict = look(path, rerun=True)[0]
    assert found(verdict) == [SAME, LATER]
    assert (verdict.reproducible, verdict.exit_code) == (False, 1)
    assert causes(verdict) == [("input", "items")]


def test_more_runs_than_two(tmp_path):
    """A cell that differs only in the third run is found."""
    path = book(
        tmp_path / "third",
        "from pathlib import Path\ncount = Path('count')\n"
        "count.write_text(count.read_text() + 'x' if count.exists() else '')\n"
        "print(len(count.read_text()) > 1)",
    )
    text = path.read_text()
    assert look(path)[0].cells[0].outputs.value == "same"
    (tmp_path / "count").unlink()
    assert look(path, runs=3, jobs=1)[0].cells[0].outputs.value == "different"
    assert path.read_text() == text


def test_cells_of_old_notebooks_are_known_by_place_and_text(tmp_path):
    """Format 4.4 has no ids: the same ones are made in memory each time."""
    path = book(tmp_path / "old", "import torch", "torch.rand(1)")
    raw = json.loads(path.read_text())
    raw["nbformat_minor"] = 4
    for cell in raw["cells"]:
        del cell["id"]
    path.write_text(json.dumps(raw))
    first, second = (look(path)[0] for _ in range(2))
    assert [cell.cell.id for cell in first.cells] == [cell.cell.id for cell in second.cells]
    assert causes(first) == [("rng", "torch.cpu")]
    assert json.loads(path.read_text()) == raw


def test_cells_without_an_id_or_with_that_of_another_are_known_by_place_and_text(tmp_path):
    """Otherwise nbformat would draw new ids at each reading."""
    path = book(tmp_path / "odd", "1", "2", "3")
    raw = json.loads(path.read_text())
    raw["cells"][0]["id"] = raw["cells"][1]["id"] = "the-same"
    del raw["cells"][2]["id"]
    path.write_text(json.dumps(raw))
    first, second = ([cell.id for cell in read(path).cells] for _ in range(2))
    assert first == second
    assert first[0] == "the-same"
    assert [each[:2] for each in first[1:]] == ["1-", "2-"]


def test_the_kernel_is_told_cell_ids_notebook_and_folder(tmp_path):
    """They are passed as JupyterLab passes them.

    Seeds that are derived from the cell are the same as in JupyterLab.
    """
    path = book(
        tmp_path / "told",
        "import os\nos.environ['JPY_SESSION_NAME'], os.getcwd(), get_ipython().parent_header['metadata']",
    )
    node = nbformat.read(path, as_version=4)
    node.cells[
        0
    ].source += "\nraise SystemError(_ := (os.environ['JPY_SESSION_NAME'], os.getcwd(), get_ipython().parent_header['metadata'].get('cellId')))"
    nbformat.write(node, path)
    fault = look(path)[0].fault
    assert str(path) in fault
    assert f"'{tmp_path}'" in fault
    assert "'cell-0'" in fault
