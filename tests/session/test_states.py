"""Where states stand in their streams, as the ledger's full states tell."""

from __future__ import annotations

import gc
import weakref

from ipytorchseed.rng.table import sources
from ipytorchseed.session.states import LedgerStates


class _Ledger:
    """Counts what is asked."""

    asked = 0

    def states(self, digests):
        self.asked += len(digests)
        return dict.fromkeys(digests, b"state")


def test_a_state_is_fetched_once_and_the_question_is_forgotten():
    """Nothing of an answered question stays in memory."""
    ledger = _Ledger()
    states = LedgerStates(ledger, sources())
    for _ in range(3):
        assert states.is_fresh("0123456789abcdef") is not None or ledger.asked == 1
    assert ledger.asked == 1
    gone = weakref.ref(states)
    del states
    gc.collect()
    assert gone() is None
