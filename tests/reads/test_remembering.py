"""Code that only keeps what it would work out again: in a dictionary, or where nothing is yet."""

from __future__ import annotations

import textwrap

import pytest

from ipytorchseed.reads.remembering import Remembering

BEGIN = "kept = {}\n"


def read(*texts):
    """Read the code of cells."""
    found = Remembering.of([textwrap.dedent(text) for text in texts])
    assert found is not None
    return found


@pytest.mark.parametrize(
    "body",
    [
        "if n not in kept:\n    kept[n] = n * n\nreturn kept[n]",
        "if n in kept:\n    return kept[n]\nvalue = kept[n] = n * n\nreturn value",
        "got = kept.get(n)\nif got is None:\n    got = kept.setdefault(n, n * n)\nreturn got",
        "try:\n    return kept[n]\nexcept KeyError:\n    kept[n] = n * n\n    return kept[n]",
        "key = (n, 'square')\nif key not in kept:\n    kept[key] = n * n\nreturn kept[key]",
        "if (got := kept.get(n)) is None:\n    got = kept[n] = n * n\nreturn got",
    ],
)
def test_a_dictionary_of_results(body):
    """Each is worked out if it is not there, and returned."""
    assert read(BEGIN + f"def f(n):\n{textwrap.indent(body, '    ')}").remembers("kept")


@pytest.mark.parametrize(
    "code",
    [
        "def f(n, scale):\n    if n not in kept:\n        kept[n] = n * scale\n    return kept[n]",
        "def f(n):\n    kept[n] = kept.get(n, 0) + 1\n    return kept[n]",
        "def f(n):\n    if n not in kept:\n        kept[n] = []\n    kept[n].append(n)\n"
        "    return kept[n]",
        "def f(n):\n    if n not in kept:\n        kept[n] = 0\n    kept[n] += 1\n    return kept[n]",
        "def f(n):\n    if n not in kept:\n        kept[n] = n\n    return len(kept)",
        "def f(n):\n    if n not in kept:\n        kept[n] = n\n    return kept[n - 1]",
        "def f(n):\n    if n not in kept:\n        kept[n] = [n]\n    got = kept[n]\n"
        "    got.append(n)\n    return got",
        "def f(n):\n    if n not in kept:\n        kept[n] = n\n    return kept[n]\nkept[3] = 4",
        "def f(n):\n    if n not in kept:\n        kept[n] = n\n    return kept[n]\nprint(kept)",
        "def f(n):\n    return kept[n]",
        "@kept\ndef f(n):\n    return n",
        "def f(n, of=kept):\n    if n not in kept:\n        kept[n] = n\n    return kept[n]",
    ],
)
def test_a_dictionary_of_something_else(code):
    """An argument that the key leaves out, counters, groups, a length, items that others set."""
    assert not read(BEGIN + code).remembers("kept")


LAZY = """
class Data:
    def __init__(self, n):
        self.n, self._total = n, 0
        self._total = None
    def total(self):
        {}
"""


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("if self._total is None:\n            self._total = self.n\n        return self._total", True),
        ("if self._total is not None:\n            return self._total\n"
         "        self._total = self.n\n        return self._total", True),
        ("if self._total is None:\n            self._total = []\n"
         "        self._total.append(1)\n        return self._total", False),
        ("if self._total is None:\n            self._total = self.n\n"
         "        self._total += 1\n        return self._total", False),
        ("return self._total", False),
        ("self._total = self.n\n        return self._total", False),
    ],
)  # fmt: skip
def test_an_attribute_that_is_filled_at_its_first_use(body, kept):
    """It is None until then, and left alone from then on."""
    code = LAZY.replace("self.n, self._total = n, 0", "self.n = n").format(body)
    assert read(code).remembers("_total", attribute=True) is kept


def test_what_a_cell_does_itself_counts():
    """A cell that sets or asks what an object works out is no part of its class."""
    lazy = LAZY.replace("self.n, self._total = n, 0", "self.n = n").format(
        "if self._total is None:\n            self._total = self.n\n        return self._total"
    )
    assert read(lazy, "d.total()").remembers("_total", attribute=True)
    assert not read(lazy, "d._total = 3").remembers("_total", attribute=True)
    assert not read(lazy, "print(d._total)").remembers("_total", attribute=True)


def test_a_global_that_is_filled_at_its_first_use():
    """As for attributes; the statement that makes it global sets nothing else."""
    code = read("""
        table = None
        def get():
            global table
            if table is None:
                table = [1]
            return table
    """)
    assert code.remembers("table")
    assert not code.counts(but="table")
    assert code.counts()


def test_what_shows_that_it_works_something_out():
    """A line that is printed the first time only is no longer there the second."""
    assert read("def f():\n    print('loading')").tells()
    assert not read("def f():\n    return 1\nprint(f())").tells()


def test_what_is_no_python():
    """Of such a cell nothing is known."""
    assert Remembering.of(["def f(:"]) is None
