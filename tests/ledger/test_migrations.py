"""The tables come about in numbered steps that are never edited."""

from __future__ import annotations

import hashlib
import sqlite3

import pytest

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import migrations
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples

RELEASED = ["65b01001f0a78bcb", "ca13286f67d54cc7", "79d2ace384376abe"]
"""The hash of each step. A new one is added here; those that are here are never changed."""


def test_no_step_was_edited():
    """Ledgers that went through it would differ from new ones."""
    steps = ["\n".join(step).encode() for step in migrations.MIGRATIONS]
    assert [hashlib.sha256(step).hexdigest()[:16] for step in steps] == RELEASED


def test_a_new_ledger_has_been_through_all(tmp_path):
    """And says how many, and whose it is."""
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        connection = ledger._database._connection
        assert connection.execute("PRAGMA user_version").fetchone() == (len(migrations.MIGRATIONS),)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def test_an_older_ledger_goes_through_the_new_steps_and_keeps_its_runs(tmp_path, monkeypatch):
    """One transaction each, when it is opened."""
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        samples.add(ledger, 3)
    steps = (*migrations.MIGRATIONS, ("ALTER TABLE runs ADD COLUMN mood TEXT",))
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    with Ledger.open(path) as ledger:
        assert ledger.counts().runs == 3
        connection = ledger._database._connection
        assert connection.execute("SELECT mood FROM runs").fetchall() == [(None,)] * 3
        samples.add(ledger, 1)


def test_a_step_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    """The steps before it are done; it can be tried again."""
    path = tmp_path / "ledger.sqlite"
    steps = (*migrations.MIGRATIONS, ("CREATE TABLE moods (id)", "no sql"))
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", steps)
        with pytest.raises(LedgerError, match="syntax error"):
            Ledger.open(path)
    with Ledger.open(path) as ledger:
        samples.add(ledger, 1)
        connection = ledger._database._connection
        assert (
            connection.execute("SELECT * FROM sqlite_master WHERE name = 'moods'").fetchone()
            is None
        )


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_ledger_is_refused_and_not_touched(tmp_path, read_only):
    """One line; not one byte of it changes."""
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        samples.add(ledger, 3)
        ledger._database._connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(
        LedgerError, match=r"newer ipytorchseed .*99.*nothing was written"
    ) as caught:
        Ledger.open(path, read_only=read_only)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["ledger.sqlite"]


def test_a_ledger_made_newer_while_in_use_is_refused_too(tmp_path):
    """Where the log, not the file, says so."""
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        ledger._database._connection.execute("PRAGMA user_version = 99")
        with pytest.raises(LedgerError, match="newer ipytorchseed"):
            Ledger.open(path)


def test_another_programs_database_is_not_touched(tmp_path):
    """It may be somebody's work."""
    path = tmp_path / "ledger.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE precious (id)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="another program's"):
        Ledger.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("moment", range(3))
def test_a_ledger_that_another_process_is_making_is_no_other_programs(tmp_path, moment):
    """Whatever lies between two looks at it."""
    path = tmp_path / "ledger.sqlite"
    mine, other = (sqlite3.connect(path, isolation_level=None) for _ in range(2))
    looks = []

    class Interrupted:
        """A connection before whose look number ``moment`` the other one makes the tables."""

        def execute(self, statement):
            """Look."""
            if len(looks) == moment:
                migrations.migrate(other, path)
            looks.append(statement)
            return mine.execute(statement)

    assert migrations.version_of(Interrupted(), path) in {0, len(migrations.MIGRATIONS)}
    assert len(looks) == 3
    for connection in (mine, other):
        connection.close()
