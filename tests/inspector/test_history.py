"""The history of hundreds of runs is read and searched in pieces."""

from __future__ import annotations

import time

import pytest

from ipytorchseed.inspector.history import Filter, History
from ipytorchseed.render.timeline import timeline
from tests.render.test_timeline import A, B, C, run

STATES = (A, B, C)


@pytest.fixture
def session(front_end):
    """A session whose ledger holds 700 runs of 7 cells."""
    session = front_end.extension.tracking.session
    for number in range(700):
        begin, end = STATES[number % 3], STATES[(number + number % 2) % 3]
        session.ledger.add(
            run(
                number,
                {"python": begin},
                {"python": end},
                notebook=session.notebook,
                kernel=session.kernel,
                cell=f"cell {number % 7}",
                source=f"draw({number % 7})",
                started=time.time(),  # else it is too old to be kept
                between={"numpy": (A, B)} if number == 350 else {},
            ),
            {},
        )
    return session


def test_lines_read_in_any_order_are_those_of_the_whole(session):
    """The cell's previous run may be outside the range that is read."""
    runs = [*session.ledger.runs(session.notebook)][::-1]
    whole = timeline(runs, session.kernel)
    history = History(session)
    assert len(history) == 700
    for places in (range(690, 700), range(300, 320), [5], range(700)):
        read = history.lines(places).values()
        assert [vars(line) for line in read] == [vars(whole[place]) for place in places]


def test_a_run_is_added_as_it_would_be_read(session):
    """The run was recorded before."""
    history = History(session)
    last = next(session.ledger.runs(session.notebook, limit=1))
    again = History(session)
    again.ids.pop()
    assert vars(again.add(last)) == vars(history.lines([699])[699])
    assert again.ids == history.ids


def search(history, wanted):
    """Search all runs, and return the places and the number of calls."""
    found, low, asked = [], len(history), 0
    while low > 0:
        more, low = history.find(wanted, 0, low)
        found[:0] = more
        asked += 1
    return found, asked


FILTERS = {
    "text": (Filter(text="DRAW(3)"), [n for n in range(700) if n % 7 == 3]),
    "name": (Filter(text="in[35]"), [35]),
    "source": (Filter(source="python"), [n for n in range(700) if n % 2]),
    "between": (Filter(source="numpy"), [350]),
    "changed": (Filter(changed=True, text="draw(0)"), None),
    "nothing": (Filter(text="no such cell"), []),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_search_finds_all_of_them_in_their_order(session, name):
    """It searches in pieces, from the newest run to the oldest."""
    wanted, expected = FILTERS[name]
    history = History(session)
    found, _ = search(history, wanted)
    lines = history.lines(range(700))
    assert found == [place for place, line in lines.items() if wanted.fits(line)]
    if expected is not None:
        assert found == expected


def test_a_search_stops_before_it_holds_up_a_cell(session, monkeypatch):
    """The next call continues where it stopped."""
    monkeypatch.setattr("ipytorchseed.inspector.history._SEARCH_SECONDS", 0.0001)
    found, asked = search(History(session), Filter(text="draw(3)"))
    assert (len(found), asked > 1) == (100, True)


def test_a_run_that_was_dropped_from_the_ledger_is_told_as_such(session):
    """Its place remains."""
    history = History(session)
    history.ids.insert(10, history.ids[10])
    history.ids[10] = 10**6
    lines = history.lines([9, 10, 11])
    assert [line is None for line in lines.values()] == [False, True, False]


def test_runs_of_other_kernels_are_learned_of(session):
    """They are added when a view is opened."""
    history = History(session)
    session.ledger.add(
        run(1, {}, {}, notebook=session.notebook, kernel="b", started=time.time()), {}
    )
    history.catch_up()
    assert len(history) == 701
    assert history.lines([700])[700].name.startswith("#")
