"""Runs that are kept beside the ledger until they are in its tables: each gets there, once."""

from __future__ import annotations

import itertools
import os
import random
import stat
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import tail
from ipytorchseed.ledger.prune import Limits
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.ledger.tail import Tail
from tests.ledger import samples
from tests.ledger.test_processes import ROOT, WRITER, acknowledged, forks, in_child

pytestmark = pytest.mark.skipif(not tail.possible(), reason="files cannot be locked here")

KILLS = 50


@pytest.fixture
def path(tmp_path):
    """Where a ledger may lie."""
    return tmp_path / "ledger.sqlite"


def beside(path):
    """Return the tails beside a ledger."""
    return sorted(path.parent.glob("ledger.sqlite-tail-*"))


def note(ledger, *numbers, **changes):
    """Note sample runs; return their sources of execution, which tell them apart."""
    for number in numbers:
        ledger.note(*samples.moved(number, **changes))
    return [number + 1 for number in numbers]


def counts(ledger):
    """Return the execution counts of all runs, in the order of their numbers."""
    return [run.execution_count for run in ledger.runs()][::-1]


# --------------------------------------------------------------------------------------------------
# Noted, and read


@pytest.mark.parametrize("look", [{}, {"read_only": True}])
def test_what_was_noted_is_there_for_every_reader(path, look):
    """Also in another process, that only looks, and while the one that noted goes on."""
    with Ledger.open(path) as ledger:
        noted = note(ledger, 0, 1, 2)
        with Ledger.open(path, **look) as other:
            assert counts(other) == noted
            assert other.verify() == []
        noted += note(ledger, 3)
        assert counts(ledger) == noted
        assert [run.id for run in ledger.runs()] == [4, 3, 2, 1]


@given(run=samples.runs)
def test_any_run_comes_back_as_if_it_had_been_added(shared, run):
    """Noted or added, what is read is the same; what only JSON can hold is added at once."""
    shared.note(run, {})
    (found,) = shared.runs(limit=1)
    assert found.id == shared.number_of(run)
    assert samples.same(found, run)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A ledger for all examples."""
    with Ledger.open(tmp_path_factory.mktemp("shared") / "ledger.sqlite") as ledger:
        ledger.limits = Limits(states_days=1e9, runs_days=1e9, megabytes=1e9)
        yield ledger


def test_its_states_are_kept_with_a_run(path):
    """Each once, as where it is added."""
    with Ledger.open(path) as ledger:
        run, states = samples.moved()
        ledger.note(run, states)
        ledger.note(run, states)
        assert ledger.states_of_run(next(ledger.runs(limit=1))) == {
            "python": states[run.before["python"]]
        }
        assert ledger.counts().states == 2


def test_numbers_grow_in_the_order_of_noting_and_adding(path):
    """A run that is added comes after those noted before it."""
    with Ledger.open(path) as ledger:
        note(ledger, 0, 1)
        assert ledger.add(*samples.moved(2)) == 3
        note(ledger, 3)
        assert [run.id for run in ledger.runs()] == [4, 3, 2, 1]
        assert counts(ledger) == [1, 2, 3, 4]


def test_runs_of_two_kernels_are_told_in_the_order_of_time(path):
    """Where both wait."""
    with Ledger.open(path) as one, Ledger.open(path) as two:
        for number in range(6):
            note((one, two)[number % 2], number)
        assert counts(one) == counts(two) == [1, 2, 3, 4, 5, 6]


def test_the_number_of_a_run_that_was_noted(path):
    """Also where another process put it into the tables, or another run was noted since."""
    with Ledger.open(path) as ledger, Ledger.open(path) as other:
        runs = [samples.moved(number) for number in range(3)]
        ledger.note(*runs[0])
        other.settle()
        assert ledger.number_of(runs[0][0]) == 1
        ledger.note(*runs[1])
        ledger.note(*runs[2])
        assert [ledger.number_of(run) for run, _ in runs] == [1, 2, 3]
        assert ledger.number_of(samples.moved(9)[0]) is None


def test_they_do_not_pile_up(path):
    """Where nobody reads, the tables are written now and then."""
    with Ledger.open(path) as ledger:
        note(ledger, *range(700))
        assert beside(path)[0].stat().st_size < 4_000_000
        assert 0 < ledger._waiting < 350
        assert counts(ledger) == [*range(1, 701)]


def test_the_file_is_the_users_alone_and_goes_with_its_process(path):
    """Nothing lies beside a ledger that was closed."""
    with Ledger.open(path) as ledger:
        note(ledger, 0)
        (file,) = beside(path)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert beside(path) == []
    with Ledger.open(path, read_only=True) as ledger:
        assert counts(ledger) == [1]


def test_a_ledger_in_memory_has_no_tail():
    """There is nothing that could outlive the process."""
    with Ledger.in_memory() as ledger:
        note(ledger, 0, 1)
        assert [run.id for run in ledger.runs()] == [2, 1]
        assert counts(ledger) == [1, 2]


# --------------------------------------------------------------------------------------------------
# Killed


def test_what_was_noted_survives_a_kill(path):
    """Fifty writers, each killed in the middle: every run that was acknowledged is there, once."""
    chance, known = random.Random(1), []
    for number in range(KILLS):
        command = [sys.executable, str(WRITER), str(path), f"k{number}", "", "note"]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
        first = process.stdout.readline()
        time.sleep(chance.random() * 0.02)
        process.kill()
        new = acknowledged(first + process.communicate()[0])
        assert process.returncode == -9
        known.append((f"k{number}", len(new)))
        if number % 10 == 9:
            with Ledger.open(path, read_only=True) as ledger:
                assert ledger.verify() == []
    with Ledger.open(path) as ledger:
        for kernel, many in known:
            there = counts_of(ledger, kernel)
            assert there == [*range(1, len(there) + 1)]
            assert len(there) in (many, many + 1)
        assert ledger.verify() == []
        assert ledger.notices == []
        run = next(ledger.runs(limit=1))
        assert len(ledger.states_of_run(run)) == 3
        note(ledger, 1)
        ledger.settle()
        assert len(beside(path)) == 1


def counts_of(ledger, kernel):
    """Return the execution counts of a kernel's runs, in the order of their numbers."""
    return [run.execution_count for run in ledger.runs(kernel=kernel)][::-1]


def test_killed_between_the_tables_and_the_tail(path, monkeypatch):
    """The runs are in the tables and still in the tail: they are not read twice."""
    ledger = Ledger.open(path)
    monkeypatch.setattr(Tail, "empty", lambda *_: None)
    note(ledger, 0, 1)
    assert counts(ledger) == [1, 2]
    note(ledger, 2)
    assert counts(ledger) == [1, 2, 3]
    ledger._database.tail.leave()  # as the end of its process does
    with Ledger.open(path) as other:
        assert counts(other) == [1, 2, 3]
        assert beside(path) == []


def test_a_tail_cut_anywhere_gives_the_runs_that_are_whole(path, tmp_path):
    """The last words of a killed process are passed over, wherever they break off."""
    with Ledger.open(path) as ledger:
        note(ledger, 0, 1, 2)
        data = beside(path)[0].read_bytes()
    third = len(data) // 3
    for at in (0, 5, 8, 9, 20, 21, third - 9, third + 20, 2 * third, len(data) - 1, len(data)):
        where = tmp_path / f"{at}" / "ledger.sqlite"
        where.parent.mkdir()
        (where.parent / "ledger.sqlite-tail-0").write_bytes(data[:at])
        with Ledger.open(where) as ledger:
            there = counts(ledger)
            assert there == [1, 2, 3][: len(there)]
            assert len(there) == len([*whole(data[:at])])
            assert ledger.notices == []


def whole(data):
    """Go through the whole records of a tail."""
    generation = int.from_bytes(data[:8], "little")
    return tail.Waiting("", generation, data, dead=True).records(0) if len(data) >= 8 else ()


def test_what_is_left_of_an_earlier_generation_is_not_read(path):
    """A longer record, written before in the same place."""
    with Ledger.open(path) as ledger:
        note(ledger, 0, source="x = 0\n" * 900)
        note(ledger, 1, source="x = 1\n" * 900)
        assert counts(ledger) == [1, 2]
        note(ledger, 2, source="")
        with Ledger.open(path) as other:
            assert counts(other) == [1, 2, 3]
        assert counts(ledger) == [1, 2, 3]


@pytest.mark.parametrize("content", [b"", b"x", bytes(8), os.urandom(4096), b"\xff" * 100])
def test_a_file_of_something_else_is_no_tail(path, content):
    """Whatever it holds, no run is made of it; nothing is said, and it goes."""
    with Ledger.open(path) as ledger:
        (path.parent / "ledger.sqlite-tail-zzz").write_bytes(content)
        assert counts(ledger) == []
        note(ledger, 0)
        assert counts(ledger) == [1]
        assert len(beside(path)) == 1
        assert ledger.notices == []


def test_a_run_of_another_version_is_told(path):
    """A record that cannot be read is passed over, and the user hears of it."""
    with Ledger.open(path) as ledger:
        note(ledger, 0)
        ledger._database.note(b"\x93\x01\x02\x03")
        note(ledger, 1)
        assert counts(ledger) == [1, 2]
        (notice,) = ledger.notices
        assert "cannot be read" in notice
        assert str(path) in notice


def test_what_a_killed_kernel_of_another_version_noted_is_not_thrown_away(path):
    """It is told once, and lies beside the ledger under another name."""
    with Ledger.open(path) as ledger:
        note(ledger, 0)
        ledger._database.note(b"\x93\x01\x02\x03")
        data = beside(path)[0].read_bytes()
    (path.parent / "ledger.sqlite-tail-0").write_bytes(data)
    path.unlink()
    with Ledger.open(path) as ledger:
        assert counts(ledger) == [1]
        assert counts(ledger) == [1]
        assert len(ledger.notices) == 1
    assert beside(path) == []
    assert (path.parent / "ledger.sqlite-unread-0").read_bytes() == data


def test_where_files_cannot_be_locked_runs_are_added(path, monkeypatch):
    """As on some network file systems: it is tried once."""
    tried = []
    monkeypatch.setattr(tail, "_lock", tried.append)
    with Ledger.open(path) as ledger:
        note(ledger, 0, 1, 2)
        assert 0 < len(tried) < 20
        assert counts(ledger) == [1, 2, 3]
        assert beside(path) == []


# --------------------------------------------------------------------------------------------------
# Many at once


def test_many_readers_while_runs_are_noted(path):
    """Threads and ledgers that settle at the same time: each run is there once."""
    with Ledger.open(path) as ledger:
        stop, seen = threading.Event(), []

        def read():
            with Ledger.open(path, patience=30) as other:
                while not stop.is_set():
                    other.settle()
                    seen.append(True)

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        number = 0
        while number < 150 or len(seen) < 20:
            note(ledger, number)
            number += 1
        stop.set()
        for reader in readers:
            reader.join()
        assert counts(ledger) == [*range(1, number + 1)]
        assert ledger.verify() == []


def test_eight_writers_that_note(path):
    """They begin the ledger together; every run of each is there once."""
    command = [sys.executable, str(WRITER), str(path)]
    writers = [
        subprocess.Popen([*command, f"k{number}", "60", "note"], cwd=ROOT, stdout=subprocess.PIPE)
        for number in range(8)
    ]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    with Ledger.open(path) as ledger:
        for number in range(8):
            assert counts_of(ledger, f"k{number}") == [*range(1, 61)]
        assert ledger.verify() == []
    assert beside(path) == []


@forks
def test_a_forked_child_notes_nothing(path):
    """Its parent's tail stays the parent's, also when the child ends in order."""
    with Ledger.open(path) as ledger:
        note(ledger, 0)

        def do():
            note(ledger, 1)
            ledger.close()
            return "done"

        assert in_child(do) == "'done'"
        note(ledger, 2)
        assert counts(ledger) == [1, 3]
        assert len(beside(path)) == 1


def test_a_new_tail_is_not_taken_for_a_dead_one(path, monkeypatch):
    """Another process may find the file before its owner holds it, and remove it."""
    real, taken = tail._lock, iter([False])
    monkeypatch.setattr(tail, "_lock", lambda file: next(taken, True) and real(file))
    with Ledger.open(path) as ledger:
        note(ledger, 0)
        assert len(beside(path)) == 1
        assert counts(ledger) == [1]


# --------------------------------------------------------------------------------------------------
# Faults


def test_a_ledger_that_is_removed_while_runs_wait(path):
    """They are in the new one, and so is what comes after."""
    with Ledger.open(path) as ledger:
        note(ledger, 0)
        ledger.settle()
        note(ledger, 1)
        for file in path.parent.iterdir():
            file.unlink()
        ledger.settle()
        note(ledger, 2)
        assert len(beside(path)) == 1
        assert counts(ledger) == [2, 3]
        (notice,) = ledger.notices
        assert "moved or removed" in notice


@pytest.fixture
def orphaned(path):
    """A damaged ledger with a run beside it that a killed kernel noted."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 5)
        note(ledger, 7)
        (file,) = beside(path)
        data = file.read_bytes()
    file.write_bytes(data)
    path.write_bytes(b"this is no database. " * 5000)
    return path


def test_a_damaged_ledger_is_set_aside_and_the_run_is_in_the_new_one(orphaned):
    """It was acknowledged."""
    with Ledger.open(orphaned) as ledger:
        assert counts(ledger) == [8]
        (notice,) = ledger.notices
        assert "damaged" in notice


def test_looking_sets_nothing_aside(orphaned):
    """What is only looked at stays as it is, the ledger and what lies beside it."""
    before = {file.name: file.read_bytes() for file in orphaned.parent.iterdir()}
    with pytest.raises(LedgerError, match="damaged"), Ledger.open(orphaned, read_only=True) as it:
        it.counts()
    assert {file.name: file.read_bytes() for file in orphaned.parent.iterdir()} == before


def test_where_the_tables_cannot_be_written_runs_wait(path):
    """Reading goes on; with room again they are there."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 3)
        connection = ledger._database._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        noted = note(ledger, *range(3, 100))
        with pytest.raises(LedgerError, match="disk is full"):
            ledger.settle()
        assert counts(ledger) == [1, 2, 3]
        connection.execute("PRAGMA max_page_count = 1000000")
        assert counts(ledger) == [1, 2, 3, *noted]


@pytest.mark.parametrize("fault", ["open", "pwrite", "short"])
def test_where_no_tail_can_be_written_a_run_is_added(path, monkeypatch, fault):
    """A full disk, a quota, a folder that is read-only by now: then it is the tables' turn."""
    with Ledger.open(path) as ledger:
        note(ledger, 0)
        if fault == "short":
            real = os.pwrite
            monkeypatch.setattr(os, "pwrite", lambda file, data, at: real(file, data[:9], at))
        else:
            if fault == "open":
                ledger.settle()
                ledger._database.tail.leave()

            def refuse(*_, **__):
                raise OSError(28, "No space left on device")

            monkeypatch.setattr(os, fault, refuse)
        ledger.note(*samples.moved(1))
        monkeypatch.undo()
        note(ledger, 2)
        assert counts(ledger) == [1, 2, 3]
        assert ledger.verify() == []


def test_a_closed_ledger_takes_no_notes(path):
    """It says so, as where a run is added."""
    ledger = Ledger.open(path)
    note(ledger, 0)
    ledger.close()
    with pytest.raises(LedgerError, match="is closed"):
        note(ledger, 1)


def test_an_interrupt_between_the_file_and_the_count_keeps_the_tail_sound(path, monkeypatch):
    """The run was not acknowledged: the next one takes its place."""
    with Ledger.open(path) as ledger:
        note(ledger, 0)
        real = os.pwrite

        def interrupted(*given):
            real(*given)
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "pwrite", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.note(*samples.moved(1))
        monkeypatch.undo()
        note(ledger, *itertools.islice(itertools.count(2), 2))
        assert counts(ledger) == [1, 3, 4]
