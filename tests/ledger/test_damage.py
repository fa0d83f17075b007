"""What others do to the ledger's files.

It is sent, and no kernel dies or writes into what is gone.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import database, schema
from ipytorchseed.ledger.records import SeedEntry
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples

ROOT = Path(__file__).parents[2]

posix = pytest.mark.skipif(os.name != "posix", reason="files that are open stay there")


@pytest.fixture
def path(tmp_path):
    """Where a ledger may lie."""
    return tmp_path / "ledger.sqlite"


def beside(path, end):
    """Return one of SQLite's files."""
    return path.with_name(path.name + end)


def python(script, *arguments, **more):
    """Run a script in its own process, which has to end well; return what it printed."""
    head = """
import os, sqlite3, sys
from pathlib import Path
from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples
path = Path(sys.argv[1])
wal, shm = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
"""
    done = subprocess.run(
        [sys.executable, "-c", head + script, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        **more,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture
def killed(path):
    """A ledger of five runs whose kernel was killed.

    Its log and the log's index are there.
    """
    python("ledger = Ledger.open(path); samples.add(ledger, 5); os._exit(0)", path)
    assert beside(path, "-wal").stat().st_size > 0
    assert beside(path, "-shm").stat().st_size > 0
    return path


# --------------------------------------------------------------------------------------------------
# Before it is opened


def test_a_ledger_that_was_emptied_is_told(path):
    """As by a disk that was full; a new one is begun in its place."""
    path.touch(mode=0o600)
    os.utime(path, (1e9, 1e9))
    with Ledger.open(path) as ledger:
        (notice,) = ledger.notices
        assert notice == f"the ledger {path} was empty: what it held is lost"
        assert samples.add(ledger, 1) == [1]
    with Ledger.open(path) as ledger:
        assert ledger.notices == []


def test_a_ledger_that_another_process_is_making_is_not_told(path):
    """It is empty for a moment as well."""
    path.touch(mode=0o600)
    with Ledger.open(path) as ledger:
        assert ledger.notices == []


def test_a_log_that_is_gone_is_told(killed):
    """Its index, which is still there, gives it away, and is not used."""
    beside(killed, "-wal").unlink()
    with Ledger.open(killed) as ledger:
        (notice,) = ledger.notices
        assert "log" in notice
        assert "newest runs may be lost" in notice
        known = ledger.counts().runs
        assert samples.add(ledger, 2) == [known + 1, known + 2]
        assert ledger.verify() == []
    with Ledger.open(killed) as ledger:
        assert ledger.notices == []
        assert ledger.counts().runs == known + 2


@pytest.mark.parametrize("size", [0, 3, 100, 32_000])
def test_an_index_of_the_log_that_was_cut_is_made_again(killed, size):
    """Nothing is lost: it is all in the log."""
    os.truncate(beside(killed, "-shm"), size)
    told = python("ledger = Ledger.open(path); print(ledger.counts().runs, ledger.notices)", killed)
    assert told == "5 []\n"


def test_an_index_of_the_log_full_of_garbage_is_made_again(killed):
    """As after a power failure."""
    beside(killed, "-shm").write_bytes(os.urandom(32_768))
    told = python(
        "ledger = Ledger.open(path); print(ledger.counts().runs, ledger.verify())", killed
    )
    assert told == "5 []\n"


def test_a_ledger_of_the_old_format_is_set_aside(path):
    """Byte by byte as it was; one who only looks is reported."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE things (id)")
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")
    connection.execute(f"PRAGMA user_version = {schema.VERSION - 1}")
    connection.close()
    path.chmod(0o600)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="old format"):
        Ledger.open(path, read_only=True)
    assert path.read_bytes() == before
    with Ledger.open(path) as ledger:
        (notice,) = ledger.notices
        (aside,) = path.parent.glob("ledger.old-*.sqlite")
        assert "old format" in notice
        assert aside.name in notice
        assert samples.add(ledger, 1) == [1]
    assert aside.read_bytes() == before


# --------------------------------------------------------------------------------------------------
# While it is open


@posix
def test_a_ledger_that_is_emptied_while_in_use_is_told(path):
    """Its log is set aside with it; the run is kept in a new one."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 3)
        ledger._database._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        samples.add(ledger, 1)
        os.truncate(path, 0)
        assert ledger.add(*samples.moved()) == 1
        (notice,) = ledger.notices
        assert "was emptied while it was in use" in notice
        assert ledger.verify() == []
        (aside,) = path.parent.glob("ledger.damaged-*.sqlite-wal")
        assert aside.stat().st_size > 0
    with Ledger.open(path) as ledger:
        assert (ledger.counts().runs, ledger.notices) == (1, [])


@posix
@pytest.mark.parametrize("ends", [["-wal"], ["-shm"], ["-wal", "-shm"]])
def test_a_log_that_is_removed_while_in_use_is_told(path, ends):
    """What it held is saved from the file that is still open."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 3)
        for end in ends:
            beside(path, end).unlink()
        assert ledger.add(*samples.moved()) == 4
        (notice,) = ledger.notices
        assert "was removed while in use" in notice
        assert [run.id for run in ledger.runs()] == [4, 3, 2, 1]
        assert ledger.verify() == []
    with Ledger.open(path) as ledger:
        assert (ledger.counts().runs, ledger.notices) == (4, [])


@posix
@pytest.mark.parametrize("ends", [["-wal"], ["-shm"], ["-wal", "-shm"]])
def test_two_kernels_whose_log_is_removed_go_on_with_one_ledger(path, ends, monkeypatch):
    """Both hear of it, both write to the new log, and what was acknowledged is there."""
    turns = """
from ipytorchseed.ledger import database
database.PATIENCE = 30
ledger = Ledger.open(path)
for line in sys.stdin:
    print(*samples.add(ledger, 2), *ledger.notices, flush=True)
    ledger.notices.clear()
ledger.close()
"""
    monkeypatch.setattr(database, "PATIENCE", 30)
    with Ledger.open(path) as one:
        script = "import sys; from pathlib import Path; path = Path(sys.argv[1])\n"
        script += "from ipytorchseed.ledger.store import Ledger\nfrom tests.ledger import samples\n"
        other = subprocess.Popen(
            [sys.executable, "-c", script + turns, str(path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

        def turn():
            other.stdin.write("\n")
            other.stdin.flush()
            return other.stdout.readline()

        assert turn() == "1 2\n"
        assert samples.add(one, 2) == [3, 4]
        for end in ends:
            beside(path, end).unlink()
        assert samples.add(one, 2) == [5, 6]
        assert "was removed while in use" in one.notices.pop()
        assert turn().startswith("7 8 the log of the ledger")
        assert samples.add(one, 2) == [9, 10]
        assert turn() == "11 12\n"
        assert one.verify() == []
        other.stdin.close()
        assert other.wait() == 0
        assert one.notices == []
    with Ledger.open(path) as ledger:
        assert [run.id for run in ledger.runs()] == [*range(12, 0, -1)]
        assert ledger.verify() == []


@posix
@pytest.mark.parametrize("size", [0, 3, 100, 32_000])
@pytest.mark.parametrize(
    "then", ["ledger.add(*samples.moved())", "ledger.run(1)", "ledger.verify()", "ledger.close()"]
)
def test_an_index_that_is_cut_while_in_use_kills_nobody(path, size, then):
    """Reading memory behind the end of its file is a signal that ends a process."""
    script = f"""
ledger = Ledger.open(path)
samples.add(ledger, 5)
os.truncate(shm, {size})
{then}
ledger.close()
with Ledger.open(path) as ledger:
    print(ledger.counts().runs >= 5, ledger.verify(), ledger.notices)
"""
    assert python(script, path) == "True [] []\n"


@posix
def test_an_index_that_is_cut_under_two_kernels_kills_neither(path):
    """No matter who looks first fixes it for both."""
    script = """
ledger = Ledger.open(path)
samples.add(ledger, 5)
print("ready", flush=True)
sys.stdin.readline()
print(ledger.add(*samples.moved()), ledger.verify(), flush=True)
ledger.close()
"""
    head = "import sys; from pathlib import Path; path = Path(sys.argv[1])\n"
    head += "from ipytorchseed.ledger.store import Ledger\nfrom tests.ledger import samples\n"
    kernels = [
        subprocess.Popen(
            [sys.executable, "-c", head + script, str(path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for kernel in kernels:
        assert kernel.stdout.readline() == "ready\n"
    os.truncate(beside(path, "-shm"), 0)
    said = [kernel.communicate("\n")[0] for kernel in kernels]
    assert [kernel.returncode for kernel in kernels] == [0, 0]
    assert said == ["11 []\n", "12 []\n"]


def test_a_ledger_that_became_newer_is_written_by_no_older_kernel(path):
    """As where another environment's ipytorchseed was upgraded.

    The kernel says what to do.
    """
    with Ledger.open(path) as ledger:
        samples.add(ledger, 3)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("PRAGMA user_version = 99")
        with pytest.raises(LedgerError, match=r"newer ipytorchseed .*: upgrade"):
            ledger.add(*samples.moved())
        with pytest.raises(LedgerError, match="newer ipytorchseed"):
            ledger.log_seed(SeedEntry(1, "now", 0.0, "a", "k"))
        with pytest.raises(LedgerError, match="newer ipytorchseed"):
            ledger.run(1)
        assert other.execute("SELECT count(*) FROM runs").fetchone() == (3,)
        other.execute(f"PRAGMA user_version = {schema.VERSION}")
        other.close()
        assert ledger.add(*samples.moved()) == 4


# --------------------------------------------------------------------------------------------------
# Full from the start


@pytest.fixture
def full_disk():
    """Return a folder on its own disk that has no room."""
    folder = Path(tempfile.mkdtemp())
    try:
        mount("-t", "tmpfs", "-o", "size=64k", "none", folder)
    except (OSError, subprocess.CalledProcessError):
        folder.rmdir()
        pytest.skip("this user cannot make disks")
    (folder / "filling").write_bytes(bytes(60 * 1024))
    yield folder
    subprocess.run(["umount", folder], check=True)  # noqa: S607
    folder.rmdir()


def mount(*arguments):
    """Make a disk, or give it another size."""
    subprocess.run(["mount", *arguments], check=True, capture_output=True)  # noqa: S607


@pytest.mark.parametrize("free", range(0, 52, 4))
def test_a_disk_that_is_full_from_the_start(full_disk, free):
    """One line says so, to one who only looks as well.

    With room again the ledger is begun.
    """
    path, filling = full_disk / "ledger.sqlite", full_disk / "filling"
    os.truncate(filling, (60 - free) * 1024)
    with pytest.raises(LedgerError) as caught:
        Ledger.open(path)
    assert "disk is full" in str(caught.value)
    assert "\n" not in str(caught.value)
    if path.exists():
        with pytest.raises(LedgerError, match=r"is incomplete|disk is full"):
            Ledger.open(path, read_only=True)
        os.utime(path, (1e9, 1e9))
    with Ledger.open_or_set_aside(full_disk) as ledger:
        assert ledger.path is None
        assert "disk is full" in ledger.notices[0]
        assert samples.add(ledger, 1) == [1]
    filling.unlink()
    mount("-o", "remount,size=4m", full_disk)
    with Ledger.open(path) as ledger:
        assert samples.add(ledger, 1) == [1]
        assert ledger.notices == []


def test_looking_at_a_ledger_without_tables_says_so(path):
    """As where its kernel was killed while making them."""
    path.touch(mode=0o600)
    with pytest.raises(LedgerError, match="is incomplete"):
        Ledger.open(path, read_only=True)
    assert path.stat().st_size == 0


def test_a_disk_that_becomes_full(full_disk):
    """The run is not kept; those before it are, also for a reader."""
    (full_disk / "filling").unlink()
    mount("-o", "remount,size=1m", full_disk)
    path = full_disk / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        kept = []

        def fill():
            while True:
                kept.append(ledger.add(*samples.moved()))

        with pytest.raises(LedgerError, match="disk is full"):
            fill()
        assert [run.id for run in ledger.runs()] == kept[::-1]
        assert ledger.verify() == []
    with Ledger.open(path, read_only=True) as ledger:
        assert [run.id for run in ledger.runs()] == kept[::-1]
