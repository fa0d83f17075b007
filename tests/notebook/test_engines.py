"""Each ipyparallel engine is its own rank, and shows the answers to its questions."""

from __future__ import annotations

import json
import os
from unittest.mock import patch

import ipyparallel
import pytest

from ipytorchseed.ledger.place import NAME
from ipytorchseed.ledger.store import Ledger
from tests.kernel import ROOT

pytestmark = pytest.mark.tools

DRAW = "import random\nx = random.random()\nx"
ENGINES = [0, 1, 2]
HELPERS = """
def same():
    import random
    random.seed(42)

def draw():
    import random
    random.random()

def by_rank():
    import random
    from ipytorchseed.rng.seeds import own_rank, seed_by_rank
    random.seed(seed_by_rank(42, own_rank()))
    return own_rank()
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Start three engines with the extension; return the cluster and its ledger."""
    folder = tmp_path_factory.mktemp("engines")
    env = {"IPYTORCHSEED_DATA_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    with patch.dict(os.environ, env):
        made = ipyparallel.Cluster(n=len(ENGINES), log_level=40)
        with made as engines:
            engines[:].execute("%load_ext ipytorchseed", silent=False, block=True)
            yield made, engines, folder / NAME


def test_each_engine_explains_its_own_runs(cluster):
    """Cells run by ``view.execute``, as with ``%%px``."""
    _, engines, path = cluster
    view = engines[:2]
    for line in (DRAW, DRAW):
        view.execute(line, silent=False, block=True)
    told = view.execute("%why", block=True)
    for engine in told.metadata:
        (output,) = engine["outputs"]
        shown = output["data"]["text/plain"]
        assert "In[3] compared with In[2]" in " ".join(shown.split())
    with Ledger.open(path, read_only=True) as ledger:
        assert sorted(run.notebook[-1] for run in ledger.runs()) == ["0", "0", "1", "1"]


def test_a_notebook_sees_its_engines_side_by_side(cluster, new_kernel):
    """Engines that differ are named, as are equal states that should be distinct."""
    made, _, _ = cluster
    kernel = new_kernel
    connect = f"ipyparallel.Cluster.from_file({made.cluster_file!r}).connect_client_sync()"
    kernel.run(f"import ipyparallel\nrc = {connect}\n{HELPERS}")
    assert kernel.run("rc[:].apply_sync(same)").status == "ok"
    told = json.loads(kernel.run("%rng --ranks --json").stdout)
    assert told["alike"]
    assert [each["rank"] for each in told["ranks"]] == ENGINES
    kernel.run("rc[2].apply_sync(draw)")
    shown = kernel.run("%rng --ranks --text").stdout
    assert shown.startswith("Rank 2 drew 2 more numbers from python than ranks 0 and 1.")
    assert "rank 2 apart" in shown
    assert kernel.run("print(*sorted(rc[:].apply_sync(by_rank)))").stdout == "0 1 2\n"
    assert json.loads(kernel.run("%rng --ranks --json").stdout)["alike"]
    (shown,) = kernel.run("%rng --ranks --expect same python").displays
    assert shown["text/plain"].startswith("python differs in each rank.")
    assert "its-chip" in shown["text/html"]
