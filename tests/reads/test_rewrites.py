"""Cells that set items of a value before they look at any."""

from __future__ import annotations

import pytest

from ipytorchseed.reads.rewrites import only_counts, sets_items_first


@pytest.mark.parametrize(
    "cell",
    [
        "scores['a'] = 1",
        "for k in keys:\n    scores[k] = score(k)\nprint(scores)",
        "for k in keys:\n    scores[k] = score(k)\n    best = max(best, scores[k])",
        "n = 3\nscores[n] = other[n] = n\nscores = scores or {}",
    ],
)
def test_items_set_first(cell):
    """What is done with them afterwards does not count."""
    assert sets_items_first(cell, "scores")


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "other['a'] = 1",
        "print(scores)\nscores['a'] = 1",
        "scores['a'] += 1",
        "scores['a'] = scores.get('a', 0) + 1",
        "for k in keys:\n    scores[k] = (\n        0.5 * scores[k]\n    )",
        "for k in scores:\n    scores[k] = 1",
        "for k in keys:\n    best = max(best, scores[k])\n    scores[k] = score(k)",
        "for k in keys:\n    scores[k] = scores[k - 1]",
        "fill(scores)",
        "del scores['a']",
        "scores[",
    ],
)
def test_items_looked_at_first(cell):
    """Or set by what nobody knows, or from what they were."""
    assert not sets_items_first(cell, "scores")


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["n = 0\ndef f():\n    global n\n    n += 1"], True),
        (["n = 0", "def f(x):\n    global n\n    n += x"], True),
        (["n = 0\ndef f():\n    global n\n    n += 1\n    return n"], False),
        (["n = 0"], False),
        (["n += 1\nprint(globals())"], False),
        (["n += 1", "n +="], False),
        ([], False),
    ],
)
def test_numbers_that_are_only_added_to(cells, told):
    """Whoever reads them, or may by a text, heeds them."""
    assert only_counts(cells, "n") is told
