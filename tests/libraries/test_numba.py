"""Compiled code draws from numba's streams, not from numpy's."""

DRAW = """
import numba, numpy as np
@numba.njit
def draw(count):
    return np.random.rand(count)
draw(1);
"""

ASKED = "total = float(draw(4).sum())\ntotal"


def test_a_stream_that_numpy_does_not_seed_is_named(notebook):
    """The user seeds numpy and gets other numbers: numba's stream had moved on."""
    book = notebook("numba")
    book.run(DRAW)
    for _ in range(2):
        book.run("np.random.seed(0)", "seed")
        book.run(ASKED, "asked")
    assert book.causes() == [("rng", "numba")]
    answer = book.why()
    assert answer["causes"][0]["proof"] == "proved"
    assert "numba's random stream" in answer["causes"][0]["message"]


def test_the_extension_seeds_it(notebook):
    """The same seed gives the same numbers."""
    book = notebook("numba")
    book.run(DRAW)
    shown = set()
    for _ in range(2):
        book.run("%seed 42 -q", "seed")
        shown.add(book.run(ASKED, "asked"))
    assert len(shown) == 1
