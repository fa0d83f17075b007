"""What is only looked at stays as it is, byte by byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ipytorchseed.ledger.maintenance import Limits
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path):
    """A ledger of twenty old runs, with a live kernel or not closed."""
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.open(path)
    ledger.limits = Limits(states_days=1e9, runs_days=1e9)
    samples.add(ledger, 20, started=samples.BEGIN - 500 * 86_400)
    yield path
    ledger.close()


def content(path):
    """Return the bytes of the ledger and its log."""
    return {
        each.name: each.read_bytes()
        for each in path.parent.glob("ledger.*")
        if not each.name.endswith("-shm")
    }


def command(path, *words):
    """Run a command of ours; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "ipytorchseed", *words],
        cwd=ROOT,
        env={**os.environ, "IPYTORCHSEED_DATA_DIR": str(path.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


LOOKS = [["ledger", "show"], ["ledger", "show", "--json"], ["ledger", "verify"], ["ledger", "path"]]


@pytest.mark.parametrize("words", LOOKS)
def test_looking_changes_nothing_while_a_kernel_runs(path, words):
    """Neither the file nor its log, nor are old runs dropped."""
    before = content(path)
    assert command(path, *words)
    assert content(path) == before


@pytest.mark.parametrize("words", LOOKS)
def test_looking_changes_nothing_after_a_kill(path, tmp_path, words):
    """The log that was left stays for the next kernel."""
    left = tmp_path / "left" / "ledger.sqlite"
    left.parent.mkdir()
    for name, data in content(path).items():
        (left.parent / name).write_bytes(data)
        (left.parent / name).chmod(0o600)
    before = content(left)
    assert len(before["ledger.sqlite-wal"]) > 0
    assert command(left, *words)
    assert content(left) == before
    with Ledger.open(left, read_only=True) as ledger:
        assert ledger.counts().runs == 20


@pytest.mark.parametrize("words", LOOKS)
def test_looking_changes_nothing_after_a_good_end(path, tmp_path, words):
    """Nor is anything beside it afterwards."""
    left = tmp_path / "left" / "ledger.sqlite"
    with Ledger.open(left) as ledger:
        ledger.limits = Limits(states_days=1e9, runs_days=1e9)
        samples.add(ledger, 20, started=samples.BEGIN - 500 * 86_400)
    before = content(left)
    assert [*before] == ["ledger.sqlite"]
    assert command(left, *words)
    assert content(left) == before
    assert [each.name for each in left.parent.iterdir()] == ["ledger.sqlite"]
