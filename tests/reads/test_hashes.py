"""Whether a result may depend on the order of a set, or on a hash."""

from __future__ import annotations

import enum

import numpy as np
import pytest
import torch


class Color(enum.Enum):
    """Members hash by their names."""

    RED = 1


VALUES = {
    "words": ["a", "b"],
    "numbers": [1, 2, 3],
    "vocabulary": frozenset({"a", "b"}),
    "ids": {1, 2, 3},
    "pairs": [(1, "a")],
    "grid": [(1, 2)],
    "array": np.arange(3),
    "names": np.array(["a", "b"]),
    "labels": torch.arange(3),
    "table": {"a": 1},
    "colors": [Color.RED],
    "things": [object()],
    "x": 1,
}

CELLS = {
    # order used
    "for w in set(words): use(w)": True,
    "list(set(words))": True,
    "tuple({w for w in words})": True,
    "for w in {'a', 'b'}: use(w)": True,
    "[w for w in {'a', x}]": True,
    "{w: i for i, w in enumerate(set(words))}": True,
    "s = set(words)\nfor w in s: use(w)": True,
    "s = {w for w in words}\ny = list(s)": True,
    "s = set()\nfor w in words: s.add(w)\nindex = dict(zip(s, range(3)))": True,
    "first = next(iter(set(words)))": True,
    "first = set(words).pop()": True,
    "a, b = set(words)": True,
    "print(set(words))": True,
    "f'{set(words)}'": True,
    "y = list(set(words))": True,
    "y['a'] = list(set(words))": True,
    "','.join(set(words))": True,
    "[*set(words)]": True,
    "f(*set(words))": True,
    "encode(set(words))": True,
    "for w in set(words) | set(numbers): use(w)": True,
    "for w in set(words).union(x): use(w)": True,
    "for w in vocabulary: use(w)": True,
    "vocabulary.pop()": True,
    "encode(vocabulary)": True,
    "for w in vocabulary - ids: use(w)": True,
    "sum(table[w] for w in set(words))": True,
    "for p in set(pairs): use(p)": True,
    "for p in set(names): use(p)": True,
    "for c in set(colors): use(c)": True,
    "hash(x)": True,
    "hash('a')": True,
    "y = list(set(table))": True,
    "list(set(words)), x": True,
    "y = {'words': list(set(words))}": True,
    "f([list(set(words))])": True,
    "y = list(set(words)) + ['z']": True,
    "def split(): return list(set(words)), x\na, b = split()": True,
    "y = [list(set(row)) for row in table]": True,
    "y = [w for row in table for w in set(row.split())]": True,
    "count(w for row in table for w in set(row))": True,
    "y = set(words)": True,
    "s = set(words)\nlen(s)": True,
    # order ignored
    "len(set(words)), x": False,
    "y = [sorted(set(words)), x]": False,
    "y = [len(set(row)) for row in table]": False,
    "sorted(w for row in table for w in set(row))": False,
    "y = [p for row in table for p in row if p in vocabulary]": False,
    "y = sorted(set(words)) + list(words)": False,
    "y = [list(row) for row in table]": False,
    "len(set(words))": False,
    "sorted(set(words))": False,
    "sorted(w for w in set(words))": False,
    "max(set(words)), min({'a', 'b'})": False,
    "x in {'a', 'b'}": False,
    "x in set(words)": False,
    "for n in {1, 2, 3}: use(n)": False,
    "for n in set(numbers): use(n)": False,
    "for n in set(range(3)): use(n)": False,
    "for n in set(grid): use(n)": False,
    "for n in set(array): use(n)": False,
    "for n in set(labels): use(n)": False,
    "for n in ids: use(n)": False,
    "for n in ids | {4}: use(n)": False,
    "for t in set(things): use(t)": False,
    "for w in words: use(w)": False,
    "numbers.pop()": False,
    "for w in table: use(w)": False,
    "isinstance(x, set)": False,
    "x: set[str] = None": False,
    "vocabulary = 3\nfor w in vocabulary: use(w)": False,
    "len(vocabulary), x in vocabulary": False,
}


@pytest.mark.parametrize("cell", CELLS)
def test_cells(notebook, cell):
    """A set counts if its items' hashes vary and it is not only searched or sorted."""
    notebook.run(**VALUES)
    assert notebook.dependencies(cell).hashes is CELLS[cell]


OBJECTS = {
    "for t in set(things): use(t)": True,
    "list(set(labels))": True,
    "for t in crowd: use(t)": True,
    "[*tree.children]": True,
    "def walk(v):\n    for child in v.children: walk(child)\nwalk(tree)": True,
    "len(crowd), x in crowd": False,
    "for n in ids: use(n)": False,
    "for w in vocabulary: use(w)": False,
    "for t in things: use(t)": False,
}


@pytest.mark.parametrize("cell", OBJECTS)
def test_sets_of_objects(notebook, cell):
    """Their order depends on the objects' addresses and not on the hash seed."""
    notebook.run(
        "class Tree:\n    def __init__(self, *children): self.children = set(children)\n"
        "tree = Tree(Tree())\ncrowd = {object(), object()}",
        **VALUES,
    )
    found = notebook.dependencies(cell)
    assert ("object.__hash__" in found.nondeterministic_calls) is OBJECTS[cell]
    assert found.hashes is ("vocabulary" in cell or "tree" in cell)  # those make one


SORTED = {
    "sorted(things, key=id)": True,
    "things.sort(key=lambda thing: id(thing))": True,
    "def first(xs): return min(xs, key=id)\nfirst(things)": True,
    "def first(xs, id): return min(xs, key=id)\nfirst(things, len)": False,
    "sorted(things, key=len)": False,
    "{id(thing): thing for thing in things}": False,
}


@pytest.mark.parametrize("cell", SORTED)
def test_orders_by_address(notebook, cell):
    """Sorting by ``id`` gives a different order each time."""
    notebook.run(**VALUES)
    assert ("id" in notebook.dependencies(cell).nondeterministic_calls) is SORTED[cell]


def test_orders_by_another_id(notebook):
    """A function ``id`` of the notebook returns no address."""
    notebook.run("def id(thing): return 3", **VALUES)
    assert not notebook.dependencies("sorted(things, key=id)").nondeterministic_calls


def test_orders_by_hash(notebook):
    """Sorting by ``hash`` depends on the hash seed, unless the items are known."""
    notebook.run(**VALUES)
    assert notebook.dependencies("sorted(words, key=hash)").hashes


BODIES = {
    "for w in set(words): use(w)": True,
    "for w in set(text.split()): use(w)": True,
    "return list({w for w in text})": True,
    "return [w for w in {'a', 'b'}]": True,
    "return {w: 1 for w in {'a', text}}": True,
    "s = set(text)\n    return list(s)": True,
    "s = set()\n    s.add(text)\n    return s.pop()": True,
    "return text.join({'a', 'b'})": True,
    "return encode({'a', 'b'})": True,
    "return f'{set(text)}'": True,
    "a, b = set(text)\n    return a": True,
    "return [*set(text)]": True,
    "return encode(*set(text))": True,
    "for w in vocabulary: use(w)": True,
    "for w in set(text) | set(words): use(w)": True,
    "yield from set(text)": True,
    "return hash(text)": True,
    "return sum(table[w] for w in {'a', 'b'})": True,
    "return text in {'a', 'b'}": False,
    "return len(set(text))": False,
    "return sorted(set(text))": False,
    "return sorted(w for w in set(text))": False,
    "return sorted({w for w in text})": False,
    "for n in {1, 2, 3}: use(n)": False,
    "for n in {1, 2, 3, 4, 5, 6}: use(n)": False,
    "for n in set(numbers): use(n)": False,
    "for n in ids: use(n)": False,
    "for w in words: use(w)": False,
    "return isinstance(text, set)": False,
    "return text if text in {'a', 'b'} else max({'c', 'd'})": False,
}


@pytest.mark.parametrize("body", BODIES)
def test_functions(notebook, body):
    """The same rules apply in functions of earlier cells."""
    notebook.run(f"def f(text):\n    {body}", **VALUES)
    assert notebook.dependencies("f(x)").hashes is BODIES[body]


@pytest.mark.parametrize(
    ("code", "hashes"),
    [
        ("def make(): return set(words)\nfor w in make(): use(w)", True),
        ("class A:\n    def __init__(self): self.seen = set()\n"
         "    def all(self): return [w for w in self.seen]\nA().all()", True),
        ("class A:\n    def __init__(self, label=None): self.label = label if label else 'ab'\n"
         "    def all(self): return [w for w in self.label]\nA().all()", False),
        ("class A:\n    def __init__(self, seen=None): self.seen = seen or set()\n"
         "    def all(self): return [w for w in self.seen]\nA().all()", True),
        ("class A:\n    @classmethod\n    def make(cls):\n        a = cls()\n"
         "        a.seen = set(words)\n        return a\na = A.make()\nx = [*a.seen]", True),
        ("class A:\n    @staticmethod\n    def make():\n        a = A()\n"
         "        a.seen = set(words)\n        return a\na = A.make()\nx = [*a.seen]", True),
    ],
)  # fmt: skip
def test_between(notebook, code, hashes):
    """A set made in one function and iterated in another is found, in one cell or two."""
    notebook.run(**VALUES)
    assert notebook.dependencies(code).hashes is hashes
    made, _, used = code.rpartition("\n")
    notebook.run(made)
    assert notebook.dependencies(used).hashes is hashes


@pytest.mark.parametrize(
    ("cell", "hashes"),
    [("Move('a')", False), ("{Move('a'): 1}", False), ("hash(Move('a'))", True),
     ("[*{Move('a')}]", True), ("key(Move('a'))", True)],
)  # fmt: skip
def test_how_a_class_makes_hashes_is_not_their_order(notebook, cell, hashes):
    """A frozen dataclass has a ``__hash__`` method, which sets and dictionaries call."""
    notebook.run(
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Move:\n    name: str\n"
        "def key(move): return hash(move.name)"
    )
    assert notebook.dependencies(cell).hashes is hashes
