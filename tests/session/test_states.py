"""The positions of states in their streams, from the ledger's full states."""

from __future__ import annotations

import gc
import random
import struct
import weakref

import numpy as np
import pytest

from ipytorchseed.rng.mersenne import Twister
from ipytorchseed.session.states import LedgerStates


class _Ledger:
    """Counts the requests."""

    asked = 0

    def states(self, digests):
        self.asked += len(digests)
        return dict.fromkeys(digests, b"state")


def test_a_state_is_fetched_once_and_the_question_is_forgotten():
    """Nothing stays in memory after an answer."""
    ledger = _Ledger()
    states = LedgerStates(ledger)
    for _ in range(3):
        assert states.is_fresh("0123456789abcdef") is not None or ledger.asked == 1
    assert ledger.asked == 1
    gone = weakref.ref(states)
    del states
    gc.collect()
    assert gone() is None


def _drawn(seed, words):
    """Return the state of numpy's legacy generator after a number of words."""
    state = np.random.RandomState(seed)
    for begin in range(0, words, 1_000_000):
        state.bytes(4 * min(1_000_000, words - begin))
    _, key, used, *_ = state.get_state()
    return Twister(key.astype("<u4").tobytes(), used).pack()


def _of_python(seed):
    *words, used = random.Random(seed).getstate()[1]
    return Twister(struct.pack("<624I", *words), used).pack()


# A seed that cannot be found from its state; more draws than are usually searched.
ODD, LONG = [1, 2, 3], 8_000_000


@pytest.mark.parametrize(
    ("before", "after", "most", "may"),
    [
        (lambda: _drawn(ODD, 5), lambda: _drawn(ODD, 900), 0, True),
        (lambda: _drawn(ODD, 5), lambda: _drawn(ODD, LONG), 0, False),
        (lambda: _drawn(ODD, 5), lambda: _drawn(ODD, LONG), 20_000_000, True),
        (lambda: _drawn(ODD, 5), lambda: _drawn([7, 8], 900), 20_000_000, False),
        (lambda: _drawn(ODD, 5), lambda: _drawn(42, 100_000), 10**9, False),
        (lambda: _of_python("a"), lambda: _of_python("b"), 20_000_000, False),
        (lambda: _drawn(ODD, LONG), lambda: _drawn(ODD, 5), 10**9, True),
    ],
    ids=["near", "not asked", "far", "another seed", "of a seed", "texts", "too far to tell"],
)
def test_whether_draws_lead_is_searched_for_as_far_as_a_run_can_draw(before, after, most, may):
    """If it may have drawn more than the limit, nothing is ruled out."""
    kept = {"before": before(), "after": after()}
    ledger = type("Kept", (), {"states": lambda _, digests: {n: kept[n] for n in digests}})()
    assert LedgerStates(ledger).leads("before", "after", most) is may


def test_draws_are_counted_whatever_the_search_for_seeds_took():
    """Draws are counted from an unseeded state, after a search for seeds."""
    made = [_drawn(ODD, words) for words in (624 + 5, 624 + 900, 2 * 624 + 900)]
    kept = {str(place): state for place, state in enumerate(made)}
    ledger = type("Kept", (), {"states": lambda _, digests: {n: kept[n] for n in digests}})()
    states = LedgerStates(ledger)
    assert [states.position("numpy", name) for name in kept] == [None] * 3
    assert states.draws("0", "1") == 895
    assert states.draws("1", "2") == 624
