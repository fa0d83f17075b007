"""UMAP without a seed runs in threads that race."""

POINTS = "import numpy as np, umap\npoints = np.random.default_rng(0).random((60, 5))"

MAKE = "reducer = umap.UMAP(n_neighbors=5, n_epochs=20, init='random'{})"

FIT = "made = reducer.fit_transform(points)\nmade[0].tolist()"


def test_a_reducer_without_a_seed_is_named(notebook):
    """From the same state of numpy, wherever it was made."""
    book = notebook("umap")
    book.run(POINTS)
    book.run(MAKE.format(""))
    book.until_changed(f"%seed 42 -q\n{FIT}")
    answer = book.why()
    assert ("operation", "umap.UMAP") in {
        (each["kind"], each["name"]) for each in (*answer["causes"], *answer["cleared"])
    }


def test_one_with_a_seed_is_not(notebook):
    """It repeats; the points are the cause."""
    book = notebook("umap")
    book.run(POINTS)
    book.run(MAKE.format(", random_state=42"))
    book.run(FIT, "asked")
    book.run("points = points * 2")
    book.run(FIT, "asked")
    assert "umap.UMAP" not in str(book.why())


def test_arguments_in_a_dictionary_hide_no_seed(notebook):
    """UMAP was observed to ask for entropy, so it has no seed."""
    book = notebook("umap")
    book.run(POINTS)
    book.run("chosen = dict(n_neighbors=10, n_epochs=60)")
    book.until_changed(f"np.random.seed(0)\nreducer = umap.UMAP(**chosen)\n{FIT}")
    (cause,) = book.why()["causes"]
    assert cause["name"] == "umap.UMAP"
    assert cause["fix"] == "pass `random_state=42` to `umap.UMAP()`"
