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


SUM = """
import numba, numpy as np
@numba.njit(parallel=True, fastmath=True)
def total(values):
    found = np.float32(0)
    for at in numba.prange(values.size):
        found += values[at]
    return found
values = np.random.default_rng(0).random(1_000_000).astype("float32")
total(values);
"""


def test_the_number_of_threads_is_named(notebook):
    """The parts of a sum are rounded one by one."""
    book = notebook("numba")
    book.run(SUM)
    book.run("out = float(total(values))\nout", "asked")
    book.run("numba.set_num_threads(1)")
    book.run("out = float(total(values))\nout", "asked")
    (cause,) = book.why()["causes"]
    assert (cause["name"], cause["proof"]) == ("numba.set_num_threads", "proved")
    assert "2 → 1" in cause["message"]


def test_looking_starts_no_threads(notebook):
    """They are started by the first loop that needs them."""
    book = notebook("numba")
    book.run("import numba")
    book.run("kind = numba.float32")
    assert book.run("numba.np.ufunc.parallel._is_initialized") == "False"


DRAW_IN_THREADS = """
import numba, numpy as np
@numba.njit
def seed(number):
    np.random.seed(number)
@numba.njit(parallel=True)
def draw(count):
    found = np.zeros(count)
    for at in numba.prange(count):
        found[at] = np.random.rand()
    return found
"""


def test_loops_whose_threads_draw_are_named(notebook):
    """The seed reaches the main thread only. The start of the threads is no change."""
    book = notebook("numba")
    book.run(DRAW_IN_THREADS)
    book.until_changed("seed(7)\ntotal = float(draw(1000).sum())\ntotal")
    assert book.causes() == [("operation", "numba.prange")]
