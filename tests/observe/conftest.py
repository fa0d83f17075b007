"""Observation must see that no other process runs code."""

from __future__ import annotations

import pytest

from tests.forking import stop_servers


@pytest.fixture(scope="module", autouse=True)
def no_children():
    """Stop the processes that tests of other files have started."""
    stop_servers()
