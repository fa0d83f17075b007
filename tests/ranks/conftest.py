"""Four processes by torchrun, started once: they play all cases in turn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernel import ROOT


@pytest.fixture(scope="session")
def played(tmp_path_factory):
    """Return the folder in which ranks wrote, one folder for each case."""
    folder = tmp_path_factory.mktemp("ranks")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4"]
    script = Path(__file__).with_name("training.py")
    done = subprocess.run(
        [sys.executable, *launch, script, folder],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder
