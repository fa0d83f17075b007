"""Four ranks, launched once: they play all cases in turn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernel import ROOT

ENDED_BY_TORCH = "terminate called without an active exception"
"""What C++ says, once in hundreds of runs, where a thread of torch's outlives its owner."""


PATIENCE = 90
"""Seconds for all cases: they take 20, or 45 while other tests run."""


@pytest.fixture(scope="session")
def played(tmp_path_factory):
    """Return the folder in which ranks wrote, one folder for each case."""
    script = Path(__file__).with_name("training.py")
    said = ""
    for _ in range(3):
        folder = tmp_path_factory.mktemp("ranks")
        try:
            done = subprocess.run(
                [sys.executable, script, folder],
                env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
                capture_output=True,
                encoding="utf-8",
                check=False,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired as late:  # once in hundreds of runs, ranks never meet
            said = str(late)
            continue
        if done.returncode == 0:
            return folder
        said = done.stderr[-3000:]
        if ENDED_BY_TORCH not in said:
            break
    pytest.fail(said)
