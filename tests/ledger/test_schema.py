"""The tables of the ledger, and whose files are accepted."""

from __future__ import annotations

import sqlite3

import pytest

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import schema
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples


def test_a_new_ledger_has_the_tables(tmp_path):
    """It says which version they are, and whose it is."""
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        connection = ledger._database._connection
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def test_tables_that_cannot_be_made_leave_nothing_behind(tmp_path, monkeypatch):
    """It can be tried again."""
    path = tmp_path / "ledger.sqlite"
    with monkeypatch.context() as patched:
        patched.setattr(schema, "_STATEMENTS", (*schema._STATEMENTS, "no sql"))
        with pytest.raises(LedgerError, match="syntax error"):
            Ledger.open(path)
    with Ledger.open(path) as ledger:
        samples.add(ledger, 1)


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
    with pytest.raises(LedgerError, match="a database of another program"):
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
                schema.make(other, path)
            looks.append(statement)
            return mine.execute(statement)

    assert schema.is_made(Interrupted(), path) is (moment == 0)
    assert len(looks) == (3 if moment == 0 else 1)
    for connection in (mine, other):
        connection.close()
