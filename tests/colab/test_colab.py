"""Everything works with Colab's IPython, ipykernel, widgets and cell ids."""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.kernel import Kernel

PYTHON = Path(sys.prefix, "colab", "bin", "python")
PINS = dict(
    re.findall(
        r"^([\w-]+)==(\S+)$",
        Path(__file__).with_name("requirements.txt").read_text("utf-8"),
        re.MULTILINE,
    )
)
TOLD = ("ipython", "ipykernel", "ipywidgets", "jupyter_client", "anywidget")

CALLBACKS = "{name: len(each) for name, each in get_ipython().events.callbacks.items()}"


class Colab:
    """A kernel as Colab has it; each cell is reported by the id that Colab sends."""

    def __init__(self, kernel):
        self.kernel = kernel

    def run(self, code, cell=None):
        """Run a cell; return what came back."""
        metadata = {"colab": {"cell_id": cell or f"id of {code}"}}
        return self.kernel.run(code, metadata=metadata)

    def shown(self, code, cell=None):
        """Run a cell that must not fail; return all that it shows, as text."""
        reply = self.run(code, cell)
        assert reply.status == "ok", reply.error
        assert not reply.stderr, reply.stderr
        displays = [bundle.get("text/plain", "") for bundle in (*reply.results, *reply.displays)]
        return "\n".join([reply.stdout, *displays])


@pytest.fixture(scope="module")
def colab(tmp_path_factory):
    """A kernel in which the extension is loaded, for all tests here."""
    assert PYTHON.exists(), f"{PYTHON} is not there: `make test` makes it"
    with Kernel(tmp_path_factory.mktemp("colab"), python=str(PYTHON)) as kernel:
        colab = Colab(kernel)
        colab.shown("import torch")
        colab.before = kernel.value(CALLBACKS)
        colab.shown("%load_ext ipytorchseed")
        yield colab


def test_these_are_colab_s(colab):
    """Not those of the tests, which are behind them."""
    versions = colab.kernel.value(
        f"{{name: __import__('importlib.metadata').metadata.version(name) for name in {TOLD}}}"
    )
    assert versions == {name: PINS[name] for name in TOLD}
    assert colab.kernel.value("__import__('IPython').__version__") == PINS["ipython"]


def test_installing_changes_none_of_them():
    """Colab's image holds them with `==`.

    Floors above them would make pip replace them.
    """
    needed = map(Requirement, requires("ipytorchseed") or ())
    floors = {canonicalize_name(each.name): each for each in needed if each.marker is None}
    for name in TOLD:
        assert PINS[name] in floors[canonicalize_name(name)].specifier


def test_a_changed_number_is_explained_and_given_back(colab):
    """A cell is known by Colab's id, also with another text."""
    colab.shown("%seed 42")
    first = colab.shown("x = torch.rand(2)\nx", "draws")
    number = colab.kernel.value("get_ipython().execution_count") - 1
    assert colab.shown("x = torch.rand(2)\nx", "draws") != first
    told = json.loads(colab.shown("%why --json"))
    assert (told["cell"]["id"], told["verdict"]) == ("draws", "explained")
    assert [cause["name"] for cause in told["causes"]] == ["torch.cpu"]
    assert "torch's random stream had moved on" in colab.shown("%why")
    again = colab.shown(f"%replay {number}")
    assert first.strip() in again
    assert "bit for bit" in again
    assert "is undone" in colab.shown("%replay --undo")
    colab.shown("x = torch.rand(3)\nx", "draws")
    told = json.loads(colab.shown("%why --json"))
    assert ("code", "draws") in [(cause["kind"], cause["name"]) for cause in told["causes"]]


def test_a_semicolon_hides_what_a_replay_shows(colab):
    """The cell's own decides, not that of the magic's line."""
    colab.shown("torch.rand(1);", "hidden")
    number = colab.kernel.value("get_ipython().execution_count") - 1
    assert not colab.run(f"%replay {number}").results


def test_each_cell_has_its_numbers(colab):
    """`%seed each` tells cells with the same text apart by Colab's ids."""
    colab.shown("%seed each 1")
    first, other = (colab.shown("torch.rand(1)", cell) for cell in ("one", "two"))
    assert first != other
    assert [colab.shown("torch.rand(1)", cell) for cell in ("two", "one")] == [other, first]
    colab.shown("%seed off")


def test_a_cell_in_a_known_state(colab):
    """The receipt, the check, the trace.

    And everything is restored, also where the cell fails.
    """
    cell = "%%deterministic 3\nz = torch.rand(1)\nz"
    first, second = colab.run(cell), colab.run(cell)
    assert first.shown == second.shown
    assert "seeded with 3" in first.receipts[0]
    assert "repeats" in colab.shown("%%deterministic --check\ntorch.rand(2)")
    before = colab.kernel.value("torch.are_deterministic_algorithms_enabled()")
    failed = colab.run("%%deterministic 3 --trace\nz = torch.rand(3)\nraise ValueError('mine')")
    assert failed.error.ename == "ValueError"
    assert colab.kernel.value("torch.are_deterministic_algorithms_enabled()") == before


def test_the_inspector_is_there_as_a_table_and_as_a_widget(colab):
    """The table needs no script; the widget is a second output, by ipywidgets 7."""
    reply = colab.run("%rng")
    assert reply.status == "ok", reply.error
    table, widget = reply.displays
    assert "torch.cpu" in table["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in widget
    assert {"sources", "generators", "flags"} <= json.loads(colab.shown("%rng --json")).keys()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("%seed r", {"restore", "rewind"}),
        ("%why --ag", {"--against"}),
        ("%%deterministic --is", {"--isolate"}),
    ],
)
def test_tab_completes_words_and_options(colab, typed, offered):
    """By the older hook: IPython 7 has no matchers."""
    assert offered <= set(colab.kernel.complete(typed))


def test_help_and_mistakes_are_told(colab):
    """What `?` shows, and a line that cannot be."""
    assert "rewind" in " ".join(colab.run("%seed?").pages)
    assert "neither a seed" in colab.run("%seed asd").stderr


def test_a_line_under_each_cell_that_changed(colab):
    """And not under others, once it is off."""
    colab.shown("%why on")
    colab.shown("torch.rand(4)", "watched")
    assert "torch.rand(4) changed · In[" in colab.shown("torch.rand(4)", "watched")
    colab.shown("%why off")
    assert "changed · In[" not in colab.shown("torch.rand(4)", "watched")


def test_unloading_takes_everything_away(colab):
    """Magics, events, completions.

    It is the last test, as it takes them from the kernel of all.
    """
    magic = "'seed' in get_ipython().magics_manager.magics['line']"
    assert colab.kernel.value(magic)
    colab.run("%unload_ext ipytorchseed")
    assert not colab.kernel.value(magic)
    assert colab.kernel.value(CALLBACKS) == colab.before
    assert not colab.kernel.complete("%seed rew")
