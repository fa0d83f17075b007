"""torch is seeded at its import if the seed came before, without visible effects."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ipytorchseed.rng.torch_random import read, seeded_state

CODE = """
import json, sys, random
from ipytorchseed.rng.table import seed_all, sources
from ipytorchseed.rng.torch_random import AWAITED
def states():
    return {each.name: each.read().hex() for each in sources()}
"""


def _run(code: str) -> list:
    done = subprocess.run(
        [sys.executable, "-c", CODE + code], capture_output=True, encoding="utf-8", check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("seed", [0, 42, 2**32 - 1])
def test_the_state_is_that_which_torch_gives_its_generator(seed):
    """Byte for byte, without torch."""
    import torch

    assert seeded_state(seed) == read(torch.Generator().manual_seed(seed))


def test_torch_is_not_imported_and_then_found_seeded():
    """Until then its source exists, with the state that it will have."""
    before, imported, after, left = _run(
        "seed_all(1, wait=True); seed_all(42, wait=True); before = states()\n"
        "imported = 'torch' in sys.modules\n"
        "import torch\n"
        "left = AWAITED in sys.meta_path or torch.__spec__.loader is not torch.__loader__\n"
        "print(json.dumps([before, imported, states(), left]))"
    )
    assert before == after
    assert (imported, left) == (False, False)
    assert bytes.fromhex(before["torch.cpu"]) == seeded_state(42)


def test_what_is_put_back_before_the_import_is_found_after_it():
    """As by ``%seed restore``."""
    written, found = _run(
        "seed_all(42, wait=True)\n"
        "import pickle; own = {each.name: each for each in sources()}['torch.cpu']\n"
        "from ipytorchseed.rng.torch_random import seeded_state\n"
        "own.write(seeded_state(7)); written = states()['torch.cpu']\n"
        "import torch; print(json.dumps([written, states()['torch.cpu']]))"
    )
    assert written == found == seeded_state(7).hex()


def test_who_waits_no_longer_leaves_nothing():
    """For example, when the extension is unloaded."""
    assert _run(
        "seed_all(42, wait=True); first = AWAITED.cancel()\n"
        "print(json.dumps([first, AWAITED.cancel(), AWAITED in sys.meta_path, len(AWAITED.sources)]))"
    ) == [True, False, False, 0]
