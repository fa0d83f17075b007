"""A cell reads a long chain of objects, under a very high recursion limit."""

from __future__ import annotations

import pytest

CHAIN = """
import random, sys
sys.setrecursionlimit(100_000)

class Node:
    def __init__(self, next):
        self.next = next

value = None
for _ in range(20_000):
    value = Node(value)
"""


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("%%deterministic --check\ny = value is None, random.random()", "The cell repeats"),
        ("%why --prove", "proved: restoring it"),
    ],
    ids=["check", "prove"],
)
def test_commands_that_copy_a_long_chain_leave_the_kernel_alive(new_kernel, code, answer):
    """They copy the whole chain, and answer."""
    budget = "%config IPyTorchSeed.budget = 20"  # enough on slow machines too
    for cell in (budget, CHAIN, *["y = value is None, random.random()"] * 2):
        assert new_kernel.run(cell).error is None
    reply = new_kernel.run(code)
    assert reply.error is None
    assert answer in "".join(shown["text/plain"] for shown in reply.displays)
