"""Tab completes the words and options of the magics, and leaves other lines alone."""

from __future__ import annotations

from importlib import import_module

import pytest

from ipytorchseed.notebook.extension import MAGICS
from tests.kernel import Kernel

DETERMINISTIC = [
    f"--{word}" for word in ("check", "isolate", "json", "no-cudnn", "summaries", "trace", "warn")
]

WORDS = {
    "%seed e": ["each"],
    "%seed n": ["new"],
    "%seed --g": ["--generators"],
    "%seed 42 --g": ["--generators"],
    "%seed 42 --generators --q": ["--quiet"],
    "%seed each 42 --s": ["--same"],
    "%seed each 42 ": ["--help", "--quiet", "--same", "-q"],
    "%seed off ": ["--help", "--quiet", "-q"],
    "%deterministic o": ["off", "on"],
    "%deterministic on --w": ["--warn"],
    "%deterministic on --no": ["--no-cudnn"],
    "%deterministic --j": ["--json"],
    "%%deterministic --w": ["--warn"],
    "%%deterministic 42 --": DETERMINISTIC,
    "%%deterministic 42 ": DETERMINISTIC,
    "%%deterministic 42 --warn --i": ["--isolate"],
    "a = 1\n%seed e": ["each"],
    "    %seed e": ["each"],
}


@pytest.mark.parametrize(("typed", "words"), WORDS.items(), ids=WORDS)
def test_words_and_options_are_completed(kernel, typed, words):
    """Python's own names are not offered in a magic's line."""
    assert sorted(kernel.complete(typed)) == words


NAMES = {
    "%why ": ["4", "3", "2"],
    "%why 3 --against ": ["4", "3", "2"],
    "%seed rewind ": ["4", "3", "2"],
    "%rng diff ": ["4", "3", "2"],
    "%rng diff 3 ": ["4", "3", "2"],
    "%rng who ": ["4", "3", "2"],
    "%seed restore ": ['"before training"', "after-it"],
    "%seed save ": ['"before training"', "after-it"],
    "%seed restore b": ['"before training"'],
    '%seed restore "before t': ['"before training"'],
}


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """A kernel with runs, saved states and a generator, without numpy and torch."""
    with Kernel(tmp_path_factory.mktemp("used"), cold=True) as kernel:
        for cell in (
            "%load_ext ipytorchseed",
            "import random, sys; loader_generator = random.Random(0)",
            "random.random()",
            "random.random()",
            '%seed save "before training"',
            "%seed save after-it",
        ):
            assert kernel.run(cell).status == "ok"
        yield kernel


@pytest.mark.parametrize(("typed", "names"), NAMES.items(), ids=NAMES)
def test_runs_and_names_are_completed(used, typed, names):
    """The latest run comes first, and names are quoted; then options follow.

    Runs that only looked are left out.
    """
    offered = used.complete(typed)
    assert [word for word in offered if not word.startswith("-")] == names
    assert ("--help" in offered) == typed.endswith(" ")


def test_completing_imports_nothing_heavy(used):
    """Completions come from the ledger and the declarations alone."""
    for typed in NAMES:
        used.complete(typed)
    heavy = ("numpy", "torch", "anywidget", "ipywidgets", "jinja2", "rich")
    assert used.value(f"[name for name in {heavy} if name in sys.modules]") == []


@pytest.mark.parametrize("word", ["each", "new", "off"])
def test_all_words_are_offered_after_a_blank(kernel, word):
    """Python's keywords are left out: ``or`` and ``not`` are not words of ``%seed``."""
    offered = kernel.complete("%seed ")
    assert word in offered
    assert not {"or", "not", "print"} & {*offered}


@pytest.mark.parametrize("name", ["%seed", "%deterministic", "%%deterministic"])
def test_the_magics_themselves_are_completed(kernel, name):
    """They are completed like any magic."""
    assert name in kernel.complete(name[:-3])


def test_elsewhere_completion_is_as_ever(kernel):
    """This includes Python code, other magics and the lines below the magic."""
    assert "import" in kernel.complete("%%deterministic 42 --warn\nimpo")
    assert "seeder_of_mine" in kernel.complete("seeder_of_mine = 1\nseeder_of_m")
    assert "%timeit" in kernel.complete("%timei")
    assert "--same" not in kernel.complete("each 42 --s")


def test_completing_a_line_that_cannot_be_read_offers_nothing_and_breaks_nothing(kernel):
    """A line may be incomplete: an open quote, an invalid seed, an unknown word."""
    for typed in ("%seed '4 --g", "%seed nope --", "%seed each -1 --", "%seed $ --", "%seed 4 4 "):
        assert isinstance(kernel.complete(typed), list)
    assert kernel.complete("%seed e") == ["each"]


def test_every_word_of_a_group_can_be_typed():
    """Before 8.2, click names a command with an empty name after its function."""
    groups = [getattr(import_module(module), kind) for kind, _, module in MAGICS]
    words = [word for group in groups for word in getattr(group, "commands", {})]
    assert "each" in words
    assert all(words)
