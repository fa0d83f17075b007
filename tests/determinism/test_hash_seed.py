"""The hash seed that a process uses may differ from ``PYTHONHASHSEED``."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from ipytorchseed.determinism import environment

PROGRAM = """
import os
from ipytorchseed.determinism.assessment import judge
from ipytorchseed.determinism.machine import Machine
from ipytorchseed.determinism.table import FLAGS
{change}
flag = next(flag for flag in FLAGS if flag.name == "PYTHONHASHSEED")
judged = judge(flag, Machine(torch=(2, 13), cuda=False, xpu=False, started=False))
print(judged.value, judged.standing.name)
print(bool(judged.late), judged.flag.remedy)
"""


def _told(started_with, change="", options=()):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
    if started_with is not None:
        environment["PYTHONHASHSEED"] = started_with
    done = subprocess.run(
        [sys.executable, *options, "-c", PROGRAM.format(change=change)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    verdict, way_out = done.stdout.splitlines()
    assert way_out == "True start Jupyter with PYTHONHASHSEED=0"
    return verdict


@pytest.mark.parametrize(
    ("started_with", "verdict"),
    [
        (None, "random LATE"),
        ("", "random LATE"),
        ("random", "random LATE"),
        ("0", "0 RIGHT"),
        ("42", "42 RIGHT"),
        ("4294967295", "4294967295 RIGHT"),
    ],
)
def test_the_seed_at_the_start_is_told(started_with, verdict):
    """Any fixed seed is repeatable.

    A random seed is too late to fix, and the remedy is named.
    """
    assert _told(started_with) == verdict


@pytest.mark.parametrize("typed", ["0", "42", "junk"])
def test_setting_it_in_a_running_process_does_not_count(typed):
    """A notebook that sets the variable still hashes at random, which is reported."""
    assert _told(None, f"os.environ['PYTHONHASHSEED'] = '{typed}'") == "random LATE"


@pytest.mark.parametrize(
    "change",
    [
        "os.environ['PYTHONHASHSEED'] = '7'",
        "os.environ['PYTHONHASHSEED'] = 'random'",
        "del os.environ['PYTHONHASHSEED']",
    ],
)
@pytest.mark.parametrize(("started_with", "verdict"), [("42", "42 RIGHT"), ("0", "0 RIGHT")])
def test_changing_it_in_a_running_process_does_not_count(started_with, verdict, change):
    """A process that started with a fixed seed keeps it, whatever is set later."""
    assert _told(started_with, change) == verdict


@pytest.mark.parametrize("option", ["-E", "-R"])
def test_a_variable_that_python_was_told_to_ignore_does_not_count(option):
    """The variable is set from the start, but the process hashes at random."""
    assert _told("42", options=[option]) == "random LATE"


def test_where_the_start_is_not_kept_a_removed_seed_counts_as_random(monkeypatch, tmp_path):
    """Without Linux's files only the present variable is known, and it is checked."""
    monkeypatch.setattr(environment, "Path", lambda _: tmp_path / "missing")
    monkeypatch.setattr(environment.sys, "flags", SimpleNamespace(hash_randomization=1))
    environment._hash_seed_at_start.cache_clear()
    try:
        monkeypatch.delenv("PYTHONHASHSEED", raising=False)
        assert environment.hash_seed() == "random"
        monkeypatch.setenv("PYTHONHASHSEED", "1")
        monkeypatch.setattr(environment, "_hash_under", {"1": hash("ipytorchseed")}.get)
        assert environment.hash_seed() == "1"
    finally:
        environment._hash_seed_at_start.cache_clear()


def test_a_python_that_cannot_be_asked_leaves_the_seed_random(monkeypatch):
    """An embedded interpreter may have no program to start, so the seed is unknown."""
    monkeypatch.setattr(environment.sys, "executable", "/nonexistent/python")
    environment._hash_under.cache_clear()
    try:
        assert environment._hash_under("42") is None
    finally:
        environment._hash_under.cache_clear()
