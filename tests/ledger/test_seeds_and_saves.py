"""The log of seeds, and states under names: both outlive kernels."""

from __future__ import annotations

import pytest

from ipytorchseed.ledger.maintenance import Limits
from ipytorchseed.ledger.records import SeedEntry
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.rng.source import digest
from tests.ledger import samples


@pytest.fixture
def path(tmp_path):
    """Where a ledger may lie."""
    return tmp_path / "ledger.sqlite"


def test_the_log_of_seeds_is_there_after_a_restart(path):
    """Oldest first, all that was reported."""
    with Ledger.open(path) as ledger:
        ledger.clock = lambda: 2.5  # soon after, so that they are not too old
        first = SeedEntry(42, "now", 1.5, "a", "k1")
        second = SeedEntry(7, "each", 2.5, "a", "k1", 3, "c\udc80")
        third = SeedEntry(2**32 - 1, "new", 3.5, "b", "k2")
        for entry in (first, second, third):
            ledger.log_seed(entry)
    with Ledger.open(path) as ledger:
        assert ledger.seeds("a") == [first, second]
        assert ledger.seeds() == [first, second, third]
        assert ledger.seeds(limit=2) == [second, third]
        assert ledger.seeds("c") == []


def test_saved_states_are_there_after_a_restart(path):
    """By source; two sources in one state as well."""
    states = {"python": samples.state(), "numpy": b"same", "torch.cpu": b"same"}
    with Ledger.open(path) as ledger:
        ledger.save("a", "start", states)
    with Ledger.open(path) as ledger:
        assert ledger.saved("a", "start") == states
        assert ledger.states([digest(b"same")]) == {digest(b"same"): b"same"}
        assert ledger.verify() == []


def test_each_notebook_has_names_of_its_own(path):
    """And a name that was never given is none."""
    with Ledger.open(path) as ledger:
        ledger.clock = lambda: 5.0
        ledger.save("a", "start", {"python": b"1"})
        ledger.save("a", "é\udc80", {"python": b"2"})
        ledger.save("b", "start", {"python": b"3"})
        assert ledger.saved("a", "start") == {"python": b"1"}
        assert ledger.saved("b", "start") == {"python": b"3"}
        assert ledger.saved("b", "é\udc80") is None
        assert ledger.saves("a") == {"start": 5.0, "é\udc80": 5.0}
        assert ledger.saves("c") == {}


def test_a_name_given_again_names_the_new_states(path):
    """The old ones go with the next states that are too old."""
    with Ledger.open(path) as ledger:
        ledger.save("a", "start", {"python": b"old"})
        ledger.save("a", "start", {"python": b"new"})
        assert ledger.saved("a", "start") == {"python": b"new"}
        ledger.limits = Limits(states_days=0)
        ledger.tidy()
        assert ledger.states([digest(b"old")]) == {}
        assert list(ledger.saves("a")) == ["start"]
