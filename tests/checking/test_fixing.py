"""Notebooks that do not repeat are fixed: before, after, and what is unchanged."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import time
from contextlib import nullcontext, suppress
from functools import partial
from types import SimpleNamespace

import click
import nbformat
import pytest
from click.testing import CliRunner
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from nbclient import NotebookClient

from ipytorchseed.checking import fixing, running
from ipytorchseed.checking.fixing import fix_notebook, unsaved
from ipytorchseed.checking.grading import Found
from ipytorchseed.checking.kernel import Options
from ipytorchseed.checking.notebook import read
from ipytorchseed.checking.report import as_json, diffs, explanation
from ipytorchseed.checking.running import Watcher, check
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.cli import main
from ipytorchseed.why.explanation import Cause
from tests.checking.books import book
from tests.forking import forking

# A library that lists file names in a different order each time, as some file systems do.
LIBRARY = """\
import os, random
system = random.SystemRandom()
listed = os.listdir
os.listdir = lambda *folder: system.sample(listed(*folder), len(listed(*folder)))
"""

THREADS = "import torch\ntorch.set_num_threads(8)\ntorch.manual_seed(0)\nindex, ones = torch.randint(0, 40, (800_000,)), torch.rand(800_000)"
COUNT = "count = torch.zeros(40)\nfor _ in range(30):\n    count.index_put_((index,), ones, accumulate=True)"
PUT = "torch.zeros(3).put_(torch.tensor([0]), torch.ones(1))"  # has no deterministic algorithm

BOOKS = {
    "late": (
        "#md # Two sources, and a seed after the model",
        "import torch  # first\nfrom torch import nn\nfrom torch.utils.data import DataLoader, random_split\nimport numpy as np",
        "%%capture\nmodel = nn.Linear(2, 2)\ntrain, test = random_split(range(100), [80, 20])\nloader = DataLoader(train, batch_size=8, shuffle=True)",
        "torch.manual_seed(7)\nx = torch.rand(2)\nnoise = np.random.rand()",
        "!true\nprint(model(x), noise, next(iter(loader)))",
    ),
    "digits": (
        "from sklearn.datasets import load_digits\nfrom sklearn.linear_model import SGDClassifier\nfrom sklearn.model_selection import KFold, cross_val_score, train_test_split",
        "X, y = load_digits(return_X_y=True)\nX, _, y, _ = train_test_split(X, y, train_size=200)",
        "cross_val_score(SGDClassifier(random_state=None), X, y, cv=KFold(10, shuffle=True))",
    ),
    "generators": (
        "import random\nfrom numpy.random import default_rng",
        "class Dice:\n    def __init__(self):\n        self.rng = random.Random()\n\n    def roll(self):\n        return self.rng.randint(1, 6**9)",
        "dice = Dice()\nrng = default_rng()",
        "print(dice.roll(), rng.random())",
    ),
    "sampler": (
        "from scipy.stats import qmc",
        "engine = qmc.Sobol(2)",
        "print(engine.random(2))",
    ),
    "listing": (
        "import sys; sys.path.append('site-packages')\nimport library, os",
        "names = list(os.listdir('data'))\nprint(len(os.listdir('data')), names)",
    ),
    "atomics": (THREADS, COUNT, "print(count.tolist())"),
    "threads": (THREADS, f"{COUNT}\n{PUT}", "print(count.tolist())"),
    "written": (
        "import numpy as np\nname = 'x'",
        "np.savetxt(f'{name}.txt', np.random.rand(3))",
        "x = np.loadtxt('x.txt')",
        "print(x)",
    ),
    "files": (
        "from pathlib import Path\nlog = Path('made') / 'made.log'",
        "log.parent.mkdir(exist_ok=True)\nopen('made/made.log', 'a').write('one line, ')",
        "print(log.read_text())",
    ),
}  # fmt: skip

KINDS = {
    "late": ["seed", "seed"],
    "digits": ["seed"],
    "generators": ["seed", "generator", "generator"],
    "sampler": ["generator"],
    "listing": ["order"],
    "atomics": ["operation"],
    "threads": ["threads"],
    "written": ["seed"],
    "files": ["file"],
}


class Counting(Watcher):
    """Counts the runs of notebooks, and keeps what is tried."""

    def __init__(self, act=None):
        self.tried, self.act, self.ran = [], act, 0

    def begin(self, path, steps, trying=""):  # noqa: ARG002 -- as its base
        """Remember, and do what a test wants to happen then."""
        self.tried.append(trying)
        if self.act is not None:
            self.act(len(self.tried))

    def step(self, path):  # noqa: ARG002 -- as its base
        """Count the cells that were run."""
        self.ran += 1


def fix(*paths, cold=False, tag=False, write=True, watcher=None, **options):
    """Fix notebooks in this process, two kernels at a time."""
    with nullcontext() if cold else forking():
        return check(
            paths,
            Options(**{"jobs": 2, **options}),
            watcher or Watcher(),
            partial(fix_notebook, save=write, tag=tag, anyway=True),
        )


def shown(path):
    """Run a notebook with nbclient alone, and return what its cells show.

    Printed pieces are joined.
    """
    node = nbformat.read(path, as_version=4)
    with forking():
        NotebookClient(node, resources={"metadata": {"path": str(path.parent)}}).execute()
    found = []
    for each in (each for cell in node.cells if cell.cell_type == "code" for each in cell.outputs):
        each.pop("execution_count", None)
        if each.output_type == "stream" and found and found[-1].get("name") == each.name:
            found[-1].text += each.text  # a kernel sends what is printed when it comes to it
        else:
            found.append(each)
    return found


def without(text):
    """Return a notebook's file without the sources of its cells."""
    node = json.loads(text)
    return [(cell.pop("source"), cell)[1] for cell in node["cells"]], node.pop("cells") and node


@pytest.fixture(scope="module")
def fixed(tmp_path_factory):
    """The books, fixed: their verdicts and their texts before, by their names."""
    folder = tmp_path_factory.mktemp("fixed")
    paths = []
    for name, cells in BOOKS.items():
        (folder / name / "data").mkdir(parents=True)
        (folder / name / "site-packages").mkdir()
        (folder / name / "site-packages" / "library.py").write_text(LIBRARY)
        for each in "abcdefgh":
            (folder / name / "data" / each).touch()
        paths.append(book(folder / name / name, *cells))
    before = {path.stem: path.read_text() for path in paths}
    apart = [
        path for path in paths if path.stem in {"files", "written"}
    ]  # two kernels share what it writes
    verdicts = fix(*(path for path in paths if path not in apart)) + fix(*apart, jobs=1)
    return {each.path.stem: (each, before[each.path.stem]) for each in verdicts}


@pytest.mark.parametrize("name", BOOKS)
def test_a_notebook_is_mended(name, fixed):
    """It repeats, with edits of the expected kinds.

    Only the sources change.
    """
    verdict, before = fixed[name]
    assert (verdict.written, verdict.reproducible, verdict.exit_code) == (True, True, 0), verdict
    assert [made.kind for made in verdict.edits] == KINDS[name]
    after = verdict.path.read_text()
    assert without(before) == without(after)
    assert explanation(verdict).startswith(
        f"✓ {verdict.path}: repeats with {len(KINDS[name])} edit"
    )


def test_the_diffs(fixed, golden):
    """As a reader sees them, cell by cell, without needlessly long lines."""
    lines = [line for verdict, _ in fixed.values() for line in diffs([verdict])]
    folder = str(fixed["late"][0].path.parents[1])
    golden("fix", "\n".join(lines).replace(f"{folder}/", ""))


def test_the_words(fixed, golden):
    """The report says what each edit does, in 80 columns."""
    folder = str(fixed["late"][0].path.parents[1])
    said = "\n\n".join(explanation(verdict) for verdict, _ in fixed.values())
    golden("fixed", said.replace(f"{folder}/", ""))


@pytest.mark.parametrize("name", ["late"])
def test_another_program_sees_it_repeat(name, fixed):
    """Two runs with nbclient, without this package, show the same."""
    path = fixed[name][0].path
    assert shown(path) == shown(path)


def test_json(fixed):
    """Each of ``edits`` has the index, id, kind and diff of one cell."""
    told = json.loads(as_json([fixed["late"][0]]))["notebooks"][0]
    assert told["reproducible"] is True
    assert [(each["index"], each["id"], each["kind"]) for each in told["edits"]] == [
        (1, "cell-1", "seed")
    ] * 2
    assert told["edits"][0]["diff"].count("\n+") == 2  # the head, and one line


HASHES = (
    "words = ['one', 'two', 'three', None, 'five', 'six', 'seven', 8]",
    "number = {word: n for n, word in enumerate(set(words))}\nlen(set(words)), None in set(words)",
    "[number[word] for word in words]",
)


def test_the_order_of_a_set(tmp_path, golden):
    """Sorted only where order counts; incomparable items are sorted as strings."""
    path = book(tmp_path / "hashes", *HASHES)
    watcher = Counting()
    (verdict,) = fix(path, cold=True, watcher=watcher, jobs=1)
    assert (verdict.written, verdict.reproducible) == (True, True), explanation(verdict)
    lines = "\n".join(diffs([verdict])).replace(f"{tmp_path}/", "")
    golden("fix-hashes", lines)
    assert len(watcher.tried) == 3  # no edit, an edit that fails, and the one that is kept
    assert watcher.ran == 2 * 3 + 2 + 3 * 3  # no second run after an edit that makes a cell fail


def test_edits_are_proved_together_and_left_out_one_by_one(tmp_path):
    """Each is left out, until two kernels differ or three agree."""
    cells = "import random, numpy as np", "a, b = random.random(), np.random.rand()"
    path = book(tmp_path / "both", *cells, "print(a, b)", "done = True")
    watcher = Counting()
    (verdict,) = fix(path, watcher=watcher)
    assert {"+np.random.seed(42)", "+random.seed(42)"} <= {*diffs([verdict])}
    assert watcher.ran == 2 * 4 + 3 * 4 + 2 * 4 + 2 * 4
    path = book(tmp_path / "one", *cells, "print(a, b > 0)", "done = True")
    watcher = Counting()
    (verdict,) = fix(path, watcher=watcher)
    assert len(verdict.edits) == 1
    assert watcher.ran == 2 * 4 + 3 * 4 + 3 * 4  # without both it differed


ALONE = (
    "import random, uuid\nname = uuid.uuid4()",
    "print(random.random())",
    "print(name)",
)


def test_what_cannot_be_mended(tmp_path):
    """It is named with its line, and nothing is written.

    ``--tag`` marks the cell that shows it.
    """
    path = book(tmp_path / "alone", *ALONE)
    before = path.read_bytes()
    (verdict,) = fix(path)
    assert (verdict.reproducible, verdict.edits, verdict.exit_code) == (False, (), 1)
    assert "In[1], line 2: the cell calls `uuid.uuid4()`" in explanation(verdict)
    assert path.read_bytes() == before
    (verdict,) = fix(path, tag=True)
    assert (verdict.written, verdict.exit_code) == (True, 0)
    assert [(made.cell.index, made.kind) for made in verdict.edits] == [
        (0, "seed"),
        (2, "tag"),
    ]
    tags = [cell["metadata"].get("tags") for cell in json.loads(path.read_text())["cells"]]
    assert tags == [None, None, ["ipytorchseed-varies"]]


def test_hands_off(tmp_path):
    """What repeats is left byte for byte; hidden variation needs no edit."""
    sound = book(
        tmp_path / "sound",
        "import random, torch\nimport numpy as np\nstate = 3",
        "torch.manual_seed(1)\nrng = np.random.default_rng(state)\nsize = len({'a', 'b'})",
        "unused = random.random()",
        "torch.rand(1), rng.random(), size",
    )
    empty = book(tmp_path / "empty", "#md Words")
    broken = book(tmp_path / "broken", "import random\nprint(random.random())", "1 / 0")
    kept = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in (sound, empty, broken)}
    watcher = Counting()
    verdicts = fix(sound, empty, broken, watcher=watcher)
    assert kept == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in kept}
    assert [each.exit_code for each in verdicts] == [0, 0, 1]
    assert [each.edits for each in verdicts] == [(), (), ()]
    assert len(watcher.tried) == 2
    assert (
        "it does not run to the end, so it cannot be shown to repeat; if In[2] may raise, give"
        " it the tag raises-exception"
    ) in " ".join(explanation(verdicts[2]).split())
    assert f"{broken}: In[2] raises ZeroDivisionError: division by zero" in explanation(verdicts[2])


def test_a_diff_writes_nothing(tmp_path):
    """The notebook still differs: exit code 1. The edits are reported."""
    path = book(tmp_path / "draws", "import random\nprint(random.random())")
    before = path.read_bytes()
    watcher = Counting()
    (verdict,) = fix(path, write=False, watcher=watcher)
    assert path.read_bytes() == before
    assert (verdict.reproducible, verdict.exit_code, verdict.written) == (False, 1, False)
    assert [made.kind for made in verdict.edits] == ["seed"]
    assert "+random.seed(42)" in list(diffs([verdict]))
    assert len(watcher.tried) == 2  # two kernels, then three: five runs for one cause


DIES = "from pathlib import Path\ncount = Path('count')\ncount.write_text((count.read_text() if count.exists() else '') + 'x')\nif len(count.read_text()) > 2:\n    {}\nimport random\nprint(random.random())"


@pytest.mark.parametrize("act", ["import os; os._exit(1)", "import time; time.sleep(60)"])
def test_a_kernel_that_dies_or_hangs_in_the_middle(tmp_path, act):
    """This happens only while an edit is tried: the file stays as it was."""
    path = book(tmp_path / "dies", DIES.format(act))
    before = path.read_bytes()
    (verdict,) = fix(path, timeout=3, jobs=1)
    assert verdict.exit_code
    assert not verdict.written
    assert path.read_bytes() == before


def test_an_interrupt_in_the_middle(tmp_path):
    """Ctrl-C while an edit is tried leaves the file as it was."""
    path = book(tmp_path / "draws", "import random\nprint(random.random())")
    before = path.read_bytes()

    def interrupt(times):
        if times == 2:
            asyncio.current_task().cancel()

    (verdict,) = fix(path, watcher=Counting(interrupt))
    assert (verdict.fault, verdict.exit_code) == ("interrupted", 2)
    assert path.read_bytes() == before


def test_files_that_cannot_be_written(tmp_path):
    """A read-only file is reported before anything runs.

    Content that another program wrote meanwhile stays.
    """
    locked = book(tmp_path / "locked", "import random\nprint(random.random())")
    locked.chmod(0o444)
    watcher = Counting()
    (verdict,) = fix(locked, watcher=watcher)
    assert "read-only" in verdict.fault
    assert not watcher.tried
    path = book(tmp_path / "theirs", "import random\nprint(random.random())")

    def overwrite(times):
        if times == 2:
            path.write_text("{}")

    (verdict,) = fix(path, watcher=Counting(overwrite))
    assert "another program has changed it in the meantime" in verdict.fault
    assert path.read_text() == "{}"


def test_an_error_of_an_edit_is_not_the_notebooks(tmp_path, monkeypatch):
    """The report is about the notebook without edits."""
    path = book(tmp_path / "hashes", "s = {'a', 'b'}", "print(*s)")
    cell = read(path).cells[1]
    cause = Cause("environment", "PYTHONHASHSEED", "hashes are random")
    fault = "In[2] raises TypeError: no"
    verdicts = [
        Verdict(path, [CellVerdict(cell, Found.DIFFERENT, Found.SAME, causes=(cause,))]),
        *[Verdict(path, fault=fault, failed=(cell, "TypeError: no"))] * 3,
    ]

    async def run(*_):
        return verdicts.pop(0)

    monkeypatch.setattr(fixing, "run", run)
    (verdict,) = fix(path, cold=True)
    assert verdict.fault is None
    assert verdict.obstacles[0].startswith("In[2]: it depends on the hashes of strings")


CAUSES = {
    "random": ("import random", "a = random.random()", "seed"),
    "numpy": ("import numpy as np", "b = np.random.rand()", "seed"),
    "rng": ("from numpy.random import default_rng", "c = default_rng().random()", "generator"),
}
NOISE = ["x = [1, 2]  # two", "#md Some *words*", "%precision 4", "y = 'é'"]


def check_planted(folder, planted, noise, indent):
    """Check that the planted edits are found, and that nbclient sees it repeat."""
    cells = [cell for name in planted for cell in CAUSES[name][:2]]
    names = [CAUSES[name][1][0] for name in planted]
    path = book(folder / "planted", *noise, *cells, f"print({', '.join(names)})")
    text = json.dumps(json.loads(path.read_text()), indent=indent)
    path.write_text(text)
    (verdict,) = fix(path)
    assert verdict.written, explanation(verdict)
    kinds = sorted(made.kind for made in verdict.edits)
    assert kinds == sorted(CAUSES[name][2] for name in planted)
    after = path.read_text()
    assert without(text) == without(after)
    assert after == json.dumps(json.loads(after), indent=indent)
    assert shown(path) == shown(path)


def test_causes_among_cells_that_take_no_edit(tmp_path):
    """Each cause takes one edit; Markdown, magics and file layout stay."""
    check_planted(tmp_path, ["numpy", "rng"], NOISE, indent=2)


@pytest.mark.everything
@given(
    st.lists(st.sampled_from(sorted(CAUSES)), min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from(NOISE), max_size=3, unique=True),
    st.sampled_from([1, 2]),
)
@settings(max_examples=10, phases=[Phase.generate])
def test_planted_causes(tmp_path_factory, planted, noise, indent):
    """Any causes, in any order."""
    check_planted(tmp_path_factory.mktemp("planted"), planted, noise, indent)


@pytest.fixture
def git(tmp_path):
    """A function that runs git in the test's folder."""
    command = shutil.which("git")

    def run(*words):
        names = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
        subprocess.run([command, *names, *words], cwd=tmp_path, check=True, capture_output=True)

    return run


def test_what_git_could_not_bring_back(tmp_path, git, monkeypatch):
    """Each reason is reported: no repository, not added, ignored, modified.

    Staged content is kept.
    """
    path = tmp_path / "a b.ipynb"
    path.write_text("{}")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "not in a git repository" in unsaved(path)
    git("init")
    assert "does not track it" in unsaved(path)
    git("add", path.name)
    assert unsaved(path) == ""
    git("commit", "-m", "a")
    assert unsaved(path) == ""
    path.write_text("{ }")
    assert "has uncommitted changes" in unsaved(path)
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "x.log").touch()
    assert "does not track it" in unsaved(tmp_path / "x.log")
    monkeypatch.setenv("PATH", "")
    assert "git does not run here" in unsaved(path)


def command(*words):
    """Run the command in this process."""
    with forking():
        return CliRunner().invoke(main, ["check", *map(str, words)])


def test_the_command(tmp_path, monkeypatch):
    """``--fix`` asks for git or ``--yes`` in a line; ``--diff`` does not.

    Conflicting options are refused.
    """
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    path = book(tmp_path / "draws", "import random\nprint(random.random())")
    before = path.read_bytes()
    begun = []
    with monkeypatch.context() as patch:
        patch.setattr(Watcher, "begin", lambda *given: begun.append(given))
        asked = command("--fix", path.name)
    assert asked.exit_code == 2
    assert (
        "it is not in a git repository, so the edit could not be undone; `--yes` writes it anyway,"
        " `--diff` shows it"
    ) in " ".join(asked.stdout.split())
    assert begun == []
    for words in (
        ["--fix", "--rerun"],
        ["--diff", "--seed", "0"],
        ["--fix", "-p", "a", "1"],
        ["--tag"],
    ):
        assert CliRunner().invoke(main, ["check", *words, str(path)]).exit_code == 2
    assert path.read_bytes() == before
    for words in (["--diff"], ["--fix", "--diff"]):
        diff = command(*words, path.name, "-j", "2")
        assert diff.exit_code == 1
        assert "\n+random.seed(42)\n" in diff.stdout
        assert "\x1b" not in diff.stdout
        assert path.read_bytes() == before
    done = command("--fix", "--yes", path.name, "--json", "-j", "2")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["notebooks"][0]["edits"][0]["kind"] == "seed"
    assert "random.seed(42)" in path.read_text()
    assert time.time() > path.stat().st_mtime


@pytest.mark.parametrize("answer", [True, False])
def test_a_person_is_asked_before_anything_runs(tmp_path, monkeypatch, answer):
    """Yes writes the edits, no shows them."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    asked, ways = [], []
    monkeypatch.setattr(click, "confirm", lambda words, **_: asked.append(words) or answer)
    monkeypatch.setattr(running, "check", lambda *given: ways.append(given[-1].keywords) or [])
    monkeypatch.setattr(running, "Progress", lambda _: Watcher())
    path = book(tmp_path / "draws", "print(1)")
    with suppress(ValueError):  # there is no verdict
        main(["check", "--fix", str(path)], standalone_mode=False)
    (words,) = asked
    assert "it is not in a git repository, so the edit could not be undone" in words
    assert ways == [{"save": answer, "tag": False, "anyway": answer}]
