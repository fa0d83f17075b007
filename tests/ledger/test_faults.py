"""Whatever is wrong with the file.

One clear line, nothing overwritten, the notebook goes on.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import database, place
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples

ROOT = Path(__file__).parents[2]

NOBODY = 65_534
"""A user who owns nothing."""

posix = pytest.mark.skipif(os.name != "posix", reason="files behave otherwise there")


@pytest.fixture
def path(tmp_path):
    """Where a ledger may lie."""
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def filled(path):
    """A ledger of 100 runs, closed."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 100)
    return path


@contextmanager
def one_line(path, *words):
    """Expect a ``LedgerError`` of one line that names the file and holds these words."""
    with pytest.raises(LedgerError) as caught:
        yield
    said = str(caught.value)
    assert "\n" not in said
    assert str(path) in said
    for word in words:
        assert word in said


def aside(path, suffix=""):
    """Return the files that were set aside."""
    return sorted(path.parent.glob(f"ledger.damaged-*{suffix}"))


# --------------------------------------------------------------------------------------------------
# Damage


def garbage(path):
    """Overwrite the file with what never was a database."""
    path.write_bytes(b"this is no database. " * 5000)


def half(path):
    """Cut the file in half."""
    os.truncate(path, path.stat().st_size // 2)


def header(path):
    """Cut the file inside its first page."""
    os.truncate(path, 50)


def zeros(path):
    """Overwrite the file with nothing, as file systems do after a power failure."""
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.parametrize("damage", [garbage, half, header, zeros])
def test_a_damaged_ledger_is_set_aside_and_a_new_one_begun(filled, damage):
    """It keeps every byte, under a name that the notice tells."""
    damage(filled)
    before = filled.read_bytes()
    with Ledger.open(filled) as ledger:
        assert samples.add(ledger, 2) == [1, 2]
        (kept,) = aside(filled)
        assert kept.read_bytes() == before
        (notice,) = ledger.notices
        assert kept.name in notice
        assert "\n" not in notice
    with Ledger.open(filled) as ledger:
        assert ledger.counts().runs == 2
        assert ledger.notices == []


def test_damage_inside_is_noticed_when_it_is_met(filled):
    """Where the beginning of the file is sound; the run is kept in the new ledger."""
    with filled.open("r+b") as file:
        for page in range(1, filled.stat().st_size // 8192):
            file.seek(page * 8192)
            file.write(b"\xff" * 4000)
    with Ledger.open(filled) as ledger:
        number = ledger.add(*samples.moved())
        assert ledger.run(number).source == "x = draw(0)"
        assert len(aside(filled, ".sqlite")) == len(ledger.notices) == 1
        assert ledger.verify() == []


def test_damage_that_a_reader_meets_is_set_aside_too(filled):
    """What can no longer be read is not found, and the next run is kept."""
    with Ledger.open(filled) as ledger:
        ledger._database._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        os.truncate(filled, 8192 * 3)
        ledger._database._disconnect()
        assert list(ledger.runs()) == []
        assert len(aside(filled)) == 1
        assert samples.add(ledger, 1) == [1]


def test_nothing_that_was_set_aside_is_overwritten(filled, monkeypatch):
    """Two in one second have different names."""
    monkeypatch.setattr(place.time, "strftime", lambda _: "now")
    for number in range(3):
        filled.write_bytes(b"garbage %d" % number * 1000)
        with Ledger.open(filled):
            pass
    assert [each.name for each in aside(filled)] == [
        "ledger.damaged-now-2.sqlite",
        "ledger.damaged-now-3.sqlite",
        "ledger.damaged-now.sqlite",
    ]


def test_the_log_of_a_damaged_ledger_is_set_aside_with_it(path):
    """It may hold the last runs: SQLite would delete it."""
    log = path.with_name("ledger.sqlite-wal")
    path.write_bytes(b"garbage" * 5000)
    log.write_bytes(b"the last runs" * 5000)
    with Ledger.open(path):
        pass
    assert [each.suffix for each in aside(path)] == [".sqlite", ".sqlite-wal"]
    assert aside(path)[1].read_bytes() == b"the last runs" * 5000


def test_looking_at_a_damaged_ledger_leaves_its_log(filled):
    """SQLite would take it away with the last connection."""
    log = filled.with_name("ledger.sqlite-wal")
    filled.write_bytes(b"garbage" * 5000)
    log.write_bytes(b"the last runs" * 5000)
    with one_line(filled, "is damaged"):
        Ledger.open(filled, read_only=True)
    assert log.read_bytes() == b"the last runs" * 5000


@pytest.mark.parametrize("emptied", [True, False])
def test_a_log_without_its_ledger_is_set_aside(path, emptied):
    """Where the file was emptied or deleted, and its log stayed."""
    if emptied:
        path.touch()
    path.with_name("ledger.sqlite-wal").write_bytes(b"the last runs" * 5000)
    with Ledger.open(path) as ledger:
        (notice,) = ledger.notices
        assert "its log" in notice
        assert samples.add(ledger, 1) == [1]
    assert aside(path)[-1].read_bytes() == b"the last runs" * 5000


def test_what_is_only_looked_at_is_never_set_aside(filled):
    """The command line says what is wrong and changes nothing."""
    garbage(filled)
    before = filled.read_bytes()
    with one_line(filled, "is damaged", "move it away: a new one will be created"):
        Ledger.open(filled, read_only=True)
    assert filled.read_bytes() == before
    assert aside(filled) == []


@posix
def test_a_ledger_that_is_removed_is_begun_again(filled):
    """What is acknowledged is where one will look for it."""
    with Ledger.open(filled) as ledger:
        samples.add(ledger, 1)
        shutil.rmtree(filled.parent)
        assert samples.add(ledger, 2) == [1, 2]
        assert "was moved or removed" in ledger.notices[0]
    with Ledger.open(filled) as ledger:
        assert ledger.counts().runs == 2


@posix
def test_two_kernels_set_one_damaged_ledger_aside_once(filled):
    """The second takes the new one that the first has begun."""
    with Ledger.open(filled) as one, Ledger.open(filled) as two:
        one._database._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        os.truncate(filled, 8192 * 3)
        for ledger in (one, two):
            ledger._database._disconnect()
            samples.add(ledger, 2)
        assert [run.id for run in two.runs()] == [4, 3, 2, 1]
        assert len(aside(filled, ".sqlite")) == 1


# --------------------------------------------------------------------------------------------------
# Surroundings


@pytest.fixture
def powerless():
    """Return a folder made by another user, as one who may not write there."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def as_nobody():
    """Be a user who owns nothing."""
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_folder(powerless):
    """Nothing can be made there."""
    path = powerless / "ledger.sqlite"
    with as_nobody(), one_line(path, "cannot be written", "IPYTORCHSEED_DATA_DIR"):
        Ledger.open(path)
    below = powerless / "a" / "ledger.sqlite"
    with as_nobody(), one_line(below, "cannot be written", "IPYTORCHSEED_DATA_DIR"):
        Ledger.open(below)
    assert list(powerless.iterdir()) == []


def test_a_read_only_file(powerless):
    """One's own, in a folder where nothing can be made."""
    path = powerless / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        samples.add(ledger, 1)
    os.chown(path, NOBODY, NOBODY)
    path.chmod(0o400)
    before = path.read_bytes()
    with as_nobody(), one_line(path, "cannot be written", "IPYTORCHSEED_DATA_DIR"):
        Ledger.open(path)
    assert path.read_bytes() == before


def test_a_folder_that_is_a_file(path):
    """One line as well."""
    path.write_text("a file")
    with one_line(path / "ledger.sqlite"):
        Ledger.open(path / "ledger.sqlite")
    with one_line(path.parent):
        Ledger.open(path.parent)


@pytest.mark.parametrize("name", ["busy", "locked", "disk full", "malformed", "readonly"])
def test_a_fault_is_not_told_by_the_name_of_a_folder(path, monkeypatch, name):
    """Neither is one waited for that does not pass."""

    def wait(_):
        raise AssertionError

    monkeypatch.setattr("time.sleep", wait)
    folder = path.parent / name
    folder.write_text("a file")
    with one_line(folder, "cannot be used"):
        Ledger.open(folder / "ledger.sqlite")


def test_a_full_disk(path):
    """The run is not kept, the ledger is sound; with room again, it goes on."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 10)
        connection = ledger._database._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with one_line(path, "disk is full", "ledger prune"):
            samples.add(ledger, 10)
        kept = ledger.counts().runs
        assert ledger.verify() == []
        connection.execute("PRAGMA max_page_count = 1000000")
        assert samples.add(ledger, 10) == [*range(kept + 1, kept + 11)]
        assert ledger.verify() == []
        assert aside(path) == []


@posix
def test_a_file_that_may_not_grow(path):
    """As with a quota: the system refuses in the middle of a write."""
    script = """
import resource, sys
from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples
ledger = Ledger.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
known = []
try:
    while True:
        known.append(ledger.add(*samples.moved()))
except LedgerError as error:
    assert sys.argv[1] in str(error), error
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
known.append(ledger.add(*samples.moved()))
assert ledger.verify() == [] and ledger.notices == []
assert [run.id for run in ledger.runs()] == known[::-1]
ledger.close()
print(len(known) > 5)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=ROOT, capture_output=True, check=False
    )
    assert (done.stderr, done.stdout) == (b"", b"True\n")


def test_a_ledger_that_is_locked_for_long(path, monkeypatch):
    """One line, and the next runs do not wait as long; then it goes on."""
    monkeypatch.setattr(database, "PATIENCE", 0.2)
    with Ledger.open(path) as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for _ in range(3):
            with one_line(path, "held by another process"):
                ledger.add(*samples.moved())
        assert waits(ledger) == 50
        assert ledger.counts().runs == 0  # reading goes on
        other.execute("COMMIT")
        other.close()
        assert ledger.add(*samples.moved()) == 1
        assert waits(ledger) == 200


def waits(ledger):
    """Return for how many milliseconds a ledger waits for other processes."""
    return ledger._database.read(lambda it: it.execute("PRAGMA busy_timeout").fetchone()[0])


def test_a_new_ledger_that_is_locked_for_long(path, monkeypatch):
    """Opening gives up as well."""
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with one_line(path, "held by another process"):
        Ledger.open(path)
    other.execute("COMMIT")
    other.close()
    Ledger.open(path).close()


def test_an_interrupted_write_is_taken_back(path, monkeypatch):
    """Control-C in the middle: nothing of the run is kept, and the next one is."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 1)

        def interrupt(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr("ipytorchseed.ledger.queries.insert", interrupt)
            with pytest.raises(KeyboardInterrupt):
                ledger.add(*samples.moved(7))
        assert ledger.counts().runs == 1
        assert samples.add(ledger, 9) == [*range(2, 11)]
        assert ledger.verify() == []


# --------------------------------------------------------------------------------------------------
# The notebook goes on


def test_where_no_file_can_be_used_memory_is(path, monkeypatch):
    """With all that a ledger can do, and a notice."""
    path.write_text("a file")
    with Ledger.open_or_set_aside(path) as ledger:
        assert ledger.path is None
        (notice,) = ledger.notices
        assert str(path) in notice
        assert "\n" not in notice
        samples.add(ledger, 3)
        assert [run.id for run in ledger.runs()] == [3, 2, 1]
        ledger.save("a", "b", {"python": b"1"})
        assert ledger.verify() == []
        assert not ledger.tidy()


def test_where_a_file_can_be_used_it_is(path):
    """In the folder that was chosen."""
    with Ledger.open_or_set_aside(path.parent / "folder") as ledger:
        assert ledger.path == path.parent / "folder" / "ledger.sqlite"
        assert ledger.notices == []


def test_looking_where_there_is_no_ledger_makes_none(path):
    """It says that there is none yet."""
    with one_line(path, "no ledger", "yet"):
        Ledger.open(path, read_only=True)
    assert not path.exists()


def test_a_ledger_opened_to_look_cannot_be_written(filled):
    """And is not changed."""
    before = filled.read_bytes()
    with Ledger.open(filled, read_only=True) as ledger:
        with one_line(filled, "cannot be written"):
            ledger.add(*samples.moved())
        assert ledger.counts().runs == 100
    assert filled.read_bytes() == before
    assert [each.name for each in filled.parent.iterdir()] == ["ledger.sqlite"]
