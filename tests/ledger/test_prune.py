"""What is dropped, and what stays: by age, by size, a little at a time."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from benchmarks import ledger as work
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.maintenance import DEFAULTS
from ipytorchseed.ledger.records import SeedEntry
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples

DAY = 86_400.0
NOW = samples.BEGIN


@pytest.fixture
def ledger(tmp_path):
    """An empty ledger in a file, at its own time."""
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        ledger.clock = lambda: NOW
        yield ledger


def add_days_ago(ledger, days, **changes):
    """Add a run of so many days ago; return it as kept."""
    run, states = samples.moved(started=NOW - days * DAY, **changes)
    return ledger.run(ledger.add(run, states))


def has_states(ledger, run):
    """Return whether one can go back to where a run began and ended."""
    return bool(samples.states_of_run(ledger, run)) and bool(
        samples.states_of_run(ledger, run, after=True)
    )


def test_states_go_after_sixty_days_and_runs_after_four_hundred(ledger):
    """The digests, which say why a result changed, stay as long as the run."""
    runs = [add_days_ago(ledger, days) for days in (401, 399, 61, 59, 0)]
    removed = ledger.tidy()
    assert [run.id for run in ledger.runs()] == [5, 4, 3, 2]
    assert [has_states(ledger, run) for run in runs] == [False, False, False, True, True]
    assert ledger.run(2) == runs[1]
    assert (removed.runs, removed.states, removed.finished) == (1, 6, True)
    assert ledger.verify() == []


def test_a_second_time_drops_nothing(ledger):
    """All is as it should be then."""
    add_days_ago(ledger, 500)
    assert ledger.tidy()
    assert not ledger.tidy()


def test_a_state_in_use_stays(ledger):
    """However long ago it was first seen: its last use counts."""
    run, states = samples.moved(started=NOW - 90 * DAY)
    for days in range(90, 0, -1):
        ledger.add(replace(run, started=NOW - days * DAY), states if days == 90 else {})
    ledger.tidy()
    assert has_states(ledger, run)
    assert ledger.verify() == []


def test_what_others_or_we_drop_is_kept_anew_when_it_is_used_again(ledger):
    """A cached state or text is checked again after pruning."""
    run, states = samples.moved(started=NOW, source="x = 1\n" * 99)

    def dropped_by(one):
        assert has_states(ledger, ledger.run(ledger.add(run, states)))
        one.limits = replace(DEFAULTS, states_days=-2, runs_days=-2)
        removed = one.tidy()
        return removed.runs, removed.states

    with Ledger.open(ledger.path) as other:
        other.clock = ledger.clock
        assert [dropped_by(one) for one in (other, ledger)] == [(1, 2)] * 2
    assert has_states(ledger, kept := ledger.run(ledger.add(run, states)))
    assert kept.source == run.source
    assert ledger.verify() == []


def test_what_was_saved_under_a_name_stays(ledger):
    """For good, also where a run refers to it that is long gone."""
    run, states = samples.moved(started=NOW - 999 * DAY)
    ledger.add(run, states)
    ledger.save("a.ipynb", "start", {"python": states[run.before["python"]]})
    ledger.limits = replace(DEFAULTS, states_days=0, runs_days=0)
    ledger.tidy()
    assert (ledger.counts().runs, ledger.counts().states) == (0, 1)
    assert ledger.saved("a.ipynb", "start") == {"python": states[run.before["python"]]}
    assert ledger.states(states) == {run.before["python"]: states[run.before["python"]]}


def test_what_no_run_refers_to_any_more_goes(ledger):
    """Texts, settings and values; those that a run still has stay."""
    for number in range(600):
        days = 500 if number < 550 else 1
        add_days_ago(ledger, days, source=f"cell {number}" * 99, settings={"a": "shared" * 99})
    ledger.tidy()
    assert ledger.counts().runs == 50
    assert 51 <= ledger.counts().values <= 50 + 256 + 4
    assert ledger.run(600).settings == {"a": "shared" * 99}
    assert ledger.run(551).source == "cell 550" * 99
    assert ledger.verify() == []


def test_numbers_are_never_given_again(ledger):
    """Also where every run was dropped: `#17` means one run for good."""
    samples.add(ledger, 3, started=NOW - 500 * DAY)
    ledger.tidy()
    assert ledger.counts().runs == 0
    assert add_days_ago(ledger, 0).id == 4


def test_the_log_of_seeds_goes_with_the_runs(ledger):
    """After four hundred days."""
    for days in (401, 399):
        ledger.log_seed(SeedEntry(days, "now", NOW - days * DAY, "a", "k"))
    assert ledger.tidy().seeds == 1
    assert [entry.seed for entry in ledger.seeds("a")] == [399]


def test_above_its_size_the_oldest_goes_states_first(ledger):
    """States of the last two weeks stay as long as that is enough."""
    runs = [add_days_ago(ledger, days) for days in range(50, 0, -1) for _ in range(8)]
    ledger.limits = replace(DEFAULTS, megabytes=1.6)
    ledger.tidy()
    assert ledger.counts().runs == 400
    kept = [run.id for run in runs if has_states(ledger, run)]
    assert kept == [*range(kept[0], 401)]
    assert 1 < kept[0] <= 400 - 14 * 8 + 1
    assert ledger.verify() == []


def test_above_its_size_the_oldest_runs_go_then(ledger):
    """Long series of numbers, ten days: the newest stay."""
    for number in range(600):
        curve = tuple(float(number * 1000 + each) / 3 for each in range(1000))
        value = Fingerprint(f"{number:016x}", "list", "1000 numbers", series=curve)
        add_days_ago(ledger, 10 - number / 60, writes={"losses": value})
    ledger.limits = replace(DEFAULTS, megabytes=ledger.counts().bytes * 0.75 / 1e6)
    assert ledger.tidy().runs >= 128
    left = [run.id for run in ledger.runs()]
    assert left == [*range(600, 600 - len(left), -1)]
    assert len(left) >= 100
    assert ledger.counts().bytes < ledger.limits.megabytes * 1e6
    assert ledger.run(600).writes["losses"].series[-1] == 599_999 / 3
    assert ledger.verify() == []


def test_a_clock_that_was_wrong_blocks_nothing(ledger):
    """A run dated to come counts as old, so that those after it can go."""
    future, _ = samples.moved(started=NOW + 9999 * DAY)
    ledger.add(*samples.moved(started=NOW + 9999 * DAY))
    old = add_days_ago(ledger, 500)
    new = add_days_ago(ledger, 0)
    ledger.tidy()
    assert [run.id for run in ledger.runs()] == [new.id]
    assert not has_states(ledger, old)
    assert future.before != new.before


def test_it_is_done_a_little_at_a_time(ledger):
    """Without time one short step is done; what is left is done the next time."""
    ledger.limits = replace(DEFAULTS, states_days=1e9, runs_days=1e9)
    samples.add(ledger, 600, started=NOW - 500 * DAY)
    ledger.limits = DEFAULTS
    large, steps = ledger.path.stat().st_size, 1
    while not (removed := ledger.tidy(0)).finished:
        assert removed.runs + removed.states + removed.values <= 128
        steps += 1
    assert (600 + 1200) / 128 <= steps < 100
    ledger._database._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert ledger.path.stat().st_size < large  # room is given back as well
    assert ledger.counts().runs == ledger.counts().states == ledger.counts().values == 0


def test_room_is_given_back(ledger):
    """The file shrinks, and the log beside it is empty."""
    ledger.limits = replace(DEFAULTS, states_days=1e9, runs_days=1e9)
    samples.add(ledger, 500, started=NOW - 500 * DAY)
    large = work.folder_bytes(ledger.path)
    ledger.limits = DEFAULTS
    ledger.tidy()
    assert work.folder_bytes(ledger.path) < large / 5


def test_while_working_old_runs_go_by_themselves(tmp_path, monkeypatch):
    """A session calls for it after each run, and a kernel needs not end."""
    monkeypatch.setattr("ipytorchseed.ledger.store._TIDY_SECONDS", 60)  # the machine may be slow
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        ledger.clock = lambda: NOW - 500 * DAY
        samples.add(ledger, 10, started=NOW - 500 * DAY)
        ledger.clock = lambda: NOW
        for number in range(64):
            ledger.add(*samples.moved(number))
            ledger.maintain()
        assert ledger.counts().runs == 64


def test_another_process_that_prunes_is_noticed(tmp_path):
    """Texts and states that it dropped are kept again where a new run has them."""
    path = tmp_path / "ledger.sqlite"
    run, states = samples.moved()
    with Ledger.open(path) as one, Ledger.open(path) as other:
        one.add(run, states)
        other.limits = replace(DEFAULTS, states_days=0, runs_days=0)
        other.clock = lambda: NOW + 3600
        other.tidy()
        assert other.counts().states == 0
        found = one.run(one.add(run, states))
        assert samples.same(found, run)
        assert has_states(one, found)
        assert one.verify() == []


def test_a_year_of_daily_work_stays_below_its_size(tmp_path, monkeypatch):
    """A tenth of the runs of each day takes less than a tenth of 200 MB, log and all.

    ``python -m benchmarks`` does the whole year.
    """
    monkeypatch.setattr(work, "RUNS_A_DAY", work.RUNS_A_DAY // 10)
    path = tmp_path / "year" / "ledger.sqlite"
    assert max(work.year(path)) < 20e6
    with Ledger.open(path, read_only=True) as ledger:
        assert ledger.counts().runs == work.DAYS * work.RUNS_A_DAY
        assert ledger.verify() == []
