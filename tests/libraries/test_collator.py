"""An object fills a cache during use, and numbers things by it."""

COLLATOR = """
class Collator:
    def __init__(self):
        self.cache = {}

    def __call__(self, words):
        return [self.cache.setdefault(word, len(self.cache)) for word in words]

collate = Collator()
"""


def test_a_cache_that_another_cell_filled_is_named(notebook):
    """The answer names the parts."""
    book = notebook("torch")
    book.run(COLLATOR)
    book.run("ids = collate(['a', 'b'])\nids", "asked")
    book.run("collate.cache.clear(); collate(['c']);")
    book.run("ids = collate(['a', 'b'])\nids", "asked")
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"], cause["proof"]) == ("input", "collate", "proved")
