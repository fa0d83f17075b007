"""On ipyparallel engines: each is a rank of its own, and what it is asked is shown."""

from __future__ import annotations

import os
from unittest.mock import patch

import ipyparallel

from ipytorchseed.ledger.place import NAME
from ipytorchseed.ledger.store import Ledger
from tests.kernel import ROOT

DRAW = "import random\nx = random.random()\nx"


def test_each_engine_explains_its_own_runs(tmp_path, put_back):
    """By ``view.execute``, as ``%%px`` does it."""
    env = {"IPYTORCHSEED_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with patch.dict(os.environ, env), ipyparallel.Cluster(n=2, log_level=40) as engines:
        view = engines[:]
        for line in ("%load_ext ipytorchseed", DRAW, DRAW):
            view.execute(line, silent=False, block=True)
        told = view.execute("%why", block=True)
        for engine in told.metadata:
            (output,) = engine["outputs"]
            shown = output["data"]["text/plain"]
            assert shown.startswith("Why `import random…` changed: In[3] now, In[2] before")
    with Ledger.open(tmp_path / NAME, read_only=True) as ledger:
        assert sorted(run.rank for run in ledger.runs()) == [0, 0, 1, 1]
