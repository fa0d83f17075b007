"""OpenCV draws from a stream that can be seeded but not read."""

POINTS = """
import cv2, numpy as np
points = np.random.default_rng(0).random((300, 2)).astype("float32")
"""

ASKED = """
centers = cv2.kmeans(points, 12, None, (3, 3, 0.0), 1, cv2.KMEANS_RANDOM_CENTERS)[2]
float(centers.sum())
"""


def test_what_draws_from_it_is_named(notebook):
    """The answer gives the command that seeds it."""
    book = notebook("cv2")
    book.run(POINTS)
    book.until_changed(ASKED)
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"], cause["proof"]) == ("entropy", "cv2.kmeans", "proved")
    assert "`%seed 42` reseeds it" in cause["message"]


def test_it_is_seeded(notebook):
    """The command in the message works."""
    book = notebook("cv2")
    book.run(POINTS)
    shown = set()
    for _ in range(3):
        book.run("%seed 42 -q", "seed")
        shown.add(book.run(ASKED, "asked"))
    assert len(shown) == 1


def test_a_setting_of_the_process_is_named(notebook):
    """Other kernels round differently."""
    book = notebook("cv2")
    book.run("import cv2")
    book.run("out = cv2.useOptimized()\nout", "asked")
    book.run("cv2.setUseOptimized(False)")
    book.run("out = cv2.useOptimized()\nout", "asked")
    (cause,) = book.why()["causes"]
    assert (cause["name"], cause["proof"]) == ("cv2.setUseOptimized", "proved")
