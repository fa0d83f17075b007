"""A test process that dies ends the run with an error, without waiting."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.kernel import ROOT

DIES = """
import os, signal
from tests.limits import LimitedCalls

def test_before():
    pass

def test_that_kills_its_process():
    calls = LimitedCalls(os.getpid)
    calls()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_ends_the_run(tmp_path):
    """With the options of `make test`, and a fork that holds its pipes open."""
    for name, text in (("dies", DIES), ("lives", DIES.replace("SIGKILL", "SIGCONT"))):
        (tmp_path / f"test_{name}.py").write_text(text)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    options = re.search(r"-m pytest -n auto (.*?) \$\(ARGS\)", makefile.replace("\\\n", ""))[
        1
    ].split()
    plugins = ["-p", "xdist", "-p", "pytest_timeout", "-p", "no:cacheprovider"]
    words = [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", f"--rootdir={tmp_path}"]
    done = subprocess.run(
        [*words, "-n", "2", *options, *plugins, tmp_path],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # they take seconds to import
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=240,  # seconds: a run that waits for ever fails
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "crashed while running 'test_dies.py::test_that_kills_its_process'" in done.stdout
    assert "worker restarting disabled" in done.stdout
