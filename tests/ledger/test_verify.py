"""Checking the ledger finds what is wrong with it, and nothing if nothing is."""

from __future__ import annotations

import re
import sqlite3
import zlib

import pytest
from msgspec.structs import replace

from ipytorchseed.ledger.encoding import encode_run
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples

LONG = "x = draw()\n" * 50
"""A text that is kept once for all runs."""


@pytest.fixture
def path(tmp_path):
    """A ledger of 20 runs."""
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        samples.add(ledger, 20, source=LONG)
        ledger.save("a.ipynb", "start", {"python": samples.state()})
    return path


def findings(path, *statements, record=None):
    """Change the ledger behind its back; return what a check finds.

    Args:
        path: The ledger.
        statements: What changes it.
        record: What is put in place of the record of run 7.
    """
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    if record is not None:
        connection.execute("UPDATE runs SET record = ? WHERE id = 7", (record,))
    connection.commit()
    connection.close()
    with Ledger.open(path, read_only=True) as ledger:
        return ledger.verify()


def test_a_sound_ledger_has_no_findings(path):
    """Nor has an empty one."""
    assert findings(path) == []
    with Ledger.in_memory() as ledger:
        assert ledger.verify() == []


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE blobs SET data = x'00616263' WHERE id = 3", "blob 3: .*not what its digest says"),
        ("UPDATE blobs SET data = x'01616263' WHERE id = 3", "blob 3: .*cannot be decompressed"),
        ("UPDATE blobs SET data = x'07' WHERE id = 3", "blob 3: .*unknown kind"),
        ("DELETE FROM blobs WHERE kind = 0", "run 1: a part of it, blob [0-9a-f]{16}, is missing"),
        ("DELETE FROM blobs WHERE id = (SELECT max(id) FROM blobs)", "save 1: a state of it, blob"),
        (
            "UPDATE runs SET record = x'017b' WHERE id = 7",
            "run 7: its bytes cannot be decompressed",
        ),
        ("UPDATE runs SET record = x'007b7d' WHERE id = 7", "run 7: no run can be read"),
        ("UPDATE runs SET record = x'009290a478797a7a' WHERE id = 7", "run 7: no Run can be read"),
        ("UPDATE runs SET record = 3 WHERE id = 7", "run 7: it holds no bytes"),
        ("UPDATE blobs SET data = 'text' WHERE id = 3", "blob 3: it holds no bytes"),
        ("UPDATE saves SET record = x'00'", "save 1: no Save can be read"),
    ],
)
def test_what_is_wrong_is_named(path, statement, finding):
    """Each kind of damage that SQLite itself does not see."""
    found = findings(path, statement)
    assert found
    assert all("\n" not in line for line in found)

    assert any(re.match(finding, line) for line in found), found


def test_what_is_damaged_does_not_hide_the_rest(path):
    """A run that cannot be read is left out; a value that is gone says so."""
    findings(path, "UPDATE runs SET record = x'017b' WHERE id = 7", "DELETE FROM blobs")
    with Ledger.open(path, read_only=True) as ledger:
        assert [run.id for run in ledger.runs()] == [*range(20, 7, -1), *range(6, 0, -1)]
        assert ledger.run(7) is None
        assert ledger.run(8).source == ""


def test_an_index_that_disagrees_is_found(path):
    """SQLite's own check is part of it."""
    found = findings(
        path,
        "PRAGMA writable_schema = ON",
        "DELETE FROM sqlite_master WHERE name = 'runs_cell'",
    )
    assert any(line.startswith("pages: ") for line in found)


def test_very_many_findings_are_cut_short(path):
    """The first fifty say enough."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 40)
    found = findings(path, "UPDATE blobs SET data = x'00'")
    assert len(found) == 51
    assert found[-1] == "... and more"


def test_a_state_that_nobody_kept_is_no_damage():
    """A source that could not be read whole has a digest and no state."""
    run, _ = samples.moved()
    with Ledger.in_memory() as ledger:
        ledger.add(run, {})
        assert ledger.verify() == []


def nested(depth):
    """Return lists in lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "field",
    [{"started": 1e300}, {"started": float("nan")}, {"settings": {"a": nested(200)}}, {"status": b"\xff"}],
    ids=lambda field: str(field)[:40],
)  # fmt: skip
def test_a_record_that_nothing_can_show_is_left_out(path, field):
    """As by a time that no clock tells; it is found by a check."""
    with Ledger.open(path, read_only=True) as ledger:
        run = ledger.run(7)
    record, _ = encode_run(replace(run, **field))
    assert findings(path, record=b"\0" + record)
    with Ledger.open(path, read_only=True) as ledger:
        assert ledger.run(7) is None
        assert len([*ledger.runs()]) == 19


def test_a_record_that_would_fill_memory_is_not_decompressed(path):
    """A few kilobytes may represent a gigabyte."""
    found = findings(path, record=b"\1" + zlib.compress(bytes(1 << 29)))
    assert any("run 7: its bytes cannot be decompressed" in each for each in found)
