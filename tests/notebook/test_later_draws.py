"""Looking at random numbers changes none: later draws are those of a bare kernel."""

from __future__ import annotations

import pytest

from tests.kernel import Kernel

SEEDED = """
import random, numpy as np, torch
random.seed(1); np.random.seed(2); torch.manual_seed(3); None
"""

DRAWS = "random.random(), np.random.random(), torch.rand(1).item()"

LOOKS = (
    "%load_ext ipytorchseed",
    "x = 1",
    "x = 2",
    "%rng",
    "%rng --text",
    "%rng --json",
    "%rng diff 3",
    "%rng who 3",
    "%why",
    "%why 3",
    "%why --json",
    "%seed",
    "%seed --help",
    "%seed log",
    "%seed save here",
    "%seed each 4 --help",
    "%seed no such word",
    "%deterministic",
    "%%deterministic --check\ntorch.zeros(2) + 1",
    "%%deterministic --trace\ntorch.zeros(2) + 1",
    "import ipytorchseed as its\nprint(its.report())\nits.inspector()",
)

# Modules that users import later too. The first two draw a number on import.
IMPORTS = ("rich.console", "rich.progress", "ipywidgets", "jinja2", "click", "PIL.Image")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A bare kernel, and one in which every part of the extension has looked."""
    bare, watched = (Kernel(tmp_path_factory.mktemp("k"), cold=True) for _ in range(2))
    with bare, watched:
        for kernel in (bare, watched):
            assert kernel.run(SEEDED).status == "ok"
        for look in LOOKS:
            watched.run(look)
        yield bare, watched


def _draws(both, before=""):
    return [kernel.run(f"{SEEDED if before else ''}\n{before}\n{DRAWS}").shown for kernel in both]


def test_every_look_leaves_the_sources_where_they_were(both):
    """This holds whatever the extension imports for it, and whatever that draws."""
    bare, watched = _draws(both)
    assert watched == bare
    assert bare is not None


@pytest.mark.parametrize("package", IMPORTS)
def test_what_we_imported_draws_for_the_user_as_it_would_without_us(both, package):
    """A package that draws on import does so at the user's import."""
    bare, watched = _draws(both, f"import {package}")
    assert watched == bare


def test_what_our_commands_import_brings_no_source_of_numpys(tmp_path):
    """A package that may draw from it imports it; we do not."""
    with Kernel(tmp_path) as kernel:
        for cell in ("%load_ext ipytorchseed", "import torch", "x = 1", "%deterministic", "%why"):
            assert kernel.run(cell).status == "ok"
        assert kernel.value("'numpy' + '.random' in __import__('sys').modules") is False
