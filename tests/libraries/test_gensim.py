"""gensim trains with threads that race, unless it uses one."""

SENTENCES = """
from gensim.models import Word2Vec
sentences = [[f"w{n * m % 50}" for m in range(40)] for n in range(2000)]
"""

ASKED = """
model = Word2Vec(sentences, vector_size=16, min_count=1, workers={}, seed=1, epochs=2)
model.wv["w1"][:3].tolist()
"""


def test_two_workers_are_named(notebook):
    """No recorded input differs."""
    book = notebook("gensim")
    book.run(SENTENCES)
    book.until_changed(ASKED.format(2))
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"]) == ("operation", "gensim.Word2Vec")
    assert cause["fix"] == "pass `workers=1` to `Word2Vec()`"


def test_one_worker_repeats(notebook):
    """The remedy in the message works."""
    book = notebook("gensim")
    book.run(SENTENCES)
    assert len({book.run(ASKED.format(1), "asked") for _ in range(3)}) == 1
