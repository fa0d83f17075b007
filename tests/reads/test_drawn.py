"""What of a cell's results hangs on the numbers that it draws."""

from __future__ import annotations

import pytest

from ipytorchseed.reads.drawn import find_drawn

HANGS = {
    "x = random.random()": "x",
    "x = np.random.rand(3); y = x * 2; z = 1": "x y",
    "_ = random.random(); m = max(xs)": "_",
    "w = np.random.rand(3); w[:] = 0; v = w + 1": "",
    "w = np.random.rand(3); w[0] = 0; v = w.sum()": "w v",
    "random.shuffle(xs); xs.sort(); y = xs[0]": "",
    "random.shuffle(xs); xs.sort(key=str); y = xs[0]": "xs y",
    "random.shuffle(xs); y = xs[0]; xs.sort()": "y",
    "mixed = rng.permutation(ids); y = np.sort(mixed) + 1": "mixed",
    "mixed = rng.permutation(ids); y = np.sort(mixed * rng.normal(3))": "mixed y",
    "y = sorted(random.sample(xs, 3))": "y",
    "a = np.arange(9); head = a[:5]; np.random.shuffle(a)": "a head",
    "a = [0]; a.append(random.random()); n = len(a)": "a n",
    "out = []\nfor x in xs:\n    if rng.random() < 0.5:\n        out.append(x)": "out",
    "n = 0\nif random.random() < 0.5:\n    n = 1": "n",
    "n = 0\nwhile n < 3:\n    m = n\n    n = random.random()": "n m",
    "y = [x + random.random() for x in xs]; z = [x for x in xs]": "y",
    "for x in np.random.permutation(5):\n    last = x": "x last",
    "s = np.array(np.random.rand(3)).sum()": "s",
    "noise = np.random.rand(3); del noise; y = 1": "",
}

UNKNOWN = [
    "x = random.random(); train(model)",
    "x = random.random(); y = model.fit(x)",
    "def f(): return random.random()\ny = f()",
    "x = (lambda: random.random())()",
    "with open('a') as f: x = random.random()",
    "x = df.sample(3)",
    "x = [*map(f, xs)]",
    "opts.x = random.random()",
    "np.add(x, random.random(), out=y)",
    "np.put(y, 0, random.random())",
    "x = (",
]


@pytest.mark.parametrize(("cell", "names"), HANGS.items(), ids=HANGS)
def test_what_hangs_on_draws(cell, names):
    """By value or by order; not what was overwritten, or sorted again."""
    assert find_drawn(cell, {"rng"}).names == {*names.split()}


@pytest.mark.parametrize("cell", UNKNOWN)
def test_code_that_may_draw_for_all_one_knows(cell):
    """Of it nothing is said."""
    assert find_drawn(cell, ()) is None


def test_order_that_it_finds():
    """What is sorted does not hang on it."""
    cell = "out = sorted(xs); first = xs[0]; ys.sort(); last = ys[-1]"
    assert find_drawn(cell, (), ["xs", "ys"]).names == {"xs", "first"}


def test_what_is_shown():
    """The last expression and the text printed are results too; steps on the way are known."""
    found = find_drawn("x = np.random.rand(3); y = x + 1; print(len(xs)); y", ())
    assert (found.result, found.stdout) == (True, False)
    assert found.used == {"x": {"y"}, "y": {""}}
    found = find_drawn("x = random.random(); print(x); 3", ())
    assert (found.result, found.stdout) == (False, True)
