"""Repeated Ctrl-C while a command restores state leaves everything as before."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.kernel import ROOT

# Number of bursts for each command; ``python -m tests.notebook.bursts 300`` runs more.
COUNT = 1


def test_bursts_of_interrupts_leave_everything_as_before(tmp_path):
    """Variables, states, settings, the shell and our bookkeeping are all compared."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.notebook.bursts", str(COUNT)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert re.findall(r"^FAILED .*", done.stderr, re.MULTILINE) == []
    told = re.findall(rf"^(\w+): {COUNT} bursts, (\d+) interrupts", done.stderr, re.MULTILINE)
    assert [name for name, _ in told] == ["seeds", "check", "replay", "prove", "deterministic"]
    assert all(int(sent) > COUNT for _, sent in told), done.stderr
