"""Polars returns groups in any order, and draws from a stream that cannot be read."""

FRAME = """
import polars as pl
frame = pl.DataFrame({"key": [n % 1000 for n in range(200_000)], "value": range(200_000)})
"""

ASKED = 'keys = frame.group_by("key").agg(pl.col("value").sum())["key"].to_list()\nkeys[:20]'


def test_groups_in_any_order_are_named(notebook):
    """The answer names the argument that keeps the order."""
    book = notebook("polars")
    book.run(FRAME)
    book.until_changed(ASKED)
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"]) == ("operation", "polars.DataFrame.group_by")
    assert cause["fix"] == "pass `maintain_order=True` to `frame.group_by()`"


def test_groups_in_order_are_not(notebook):
    """The call is the same, and has another cause."""
    book = notebook("polars")
    book.run(FRAME)
    asked = ASKED.replace('("key")', '("key", maintain_order=True)')
    book.run(asked, "asked")
    book.run("frame = frame.reverse()")
    book.run(asked, "asked")
    assert book.causes() == [("input", "frame")]


def test_a_sample_is_named_and_seeded(notebook):
    """Its stream is seeded with all others."""
    book = notebook("polars")
    book.run(FRAME)
    asked = 'rows = frame.sample(5)["value"].to_list()\nrows'
    book.until_changed(asked)
    assert book.causes() == [("entropy", "polars.DataFrame.sample")]
    shown = set()
    for _ in range(2):
        book.run("%seed 42 -q", "seed")
        shown.add(book.run(asked, "asked"))
    assert len(shown) == 1


def test_an_equal_name_of_another_library_is_not_accused(notebook):
    """``random.sample`` in a cell that uses Polars draws from Python's stream."""
    book = notebook("polars")
    book.run(f"{FRAME}\nimport random")
    asked = "picked = random.sample(range(frame.height), 3)\npicked"
    book.until_changed(asked)
    answer = book.why()
    assert [each["name"] for each in answer["causes"]] == ["python"]
    assert "polars" not in str(answer["cleared"])


def test_what_draws_from_its_stream_is_named(notebook):
    """The stream cannot be read, so which seed it had is unknown."""
    book = notebook("polars")
    book.run(FRAME)
    asked = 'rows = frame.sample(5)["value"].to_list()\nrows'
    shown = []
    for seed in (1, 2):
        book.run(f"pl.set_random_seed({seed})", "seed")
        shown.append(book.run(asked, "asked"))
    assert shown[0] != shown[1]
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"]) == ("entropy", "polars.DataFrame.sample")


def test_how_numbers_are_shown_is_named_and_restored(notebook):
    """Polars keeps the number of digits in native code."""
    book = notebook("polars")
    book.run(f"{FRAME}\nshares = frame.head(3) / 7")
    first = book.run("shares", "asked")
    book.run("pl.Config.set_float_precision(1);")
    assert book.run("shares", "asked") != first
    answer = book.why()
    (cause,) = answer["causes"]
    assert (cause["name"], cause["proof"]) == ("polars.Config", "proved")
    book.run(answer["back"])
    assert book.run("pl.Config.state()['set_float_precision']") is None
