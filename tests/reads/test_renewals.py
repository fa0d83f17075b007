"""Parts of objects that a cell sets anew before it reads them."""

from __future__ import annotations

import pytest

HELD = """
from torch import nn
class Env:
    def __init__(self): self.x, self.t, self.log = 0, 0, []
    def reset(self):
        self.x = self.t = 0
        self.log.clear()
        return self.x
    def again(self): return self.reset()
    def shift(self):
        self.x = self.t
        self.t = 0
    def maybe(self):
        if self.x:
            self.t = 0
    def early(self):
        if self.log:
            return
        self.x = 0
    def each(self):
        self.x = 0
        yield self.t
    @property
    def twice(self): return 2 * self.x
    def by_property(self):
        self.t = self.twice
        self.x = 0
    def step(self):
        self.x += 1
        self.t += 1
class Above(Env):
    def reset(self):
        super().reset()
        self.x = 0
class Hidden(Env):
    def __getattr__(self, name): return self.x
env, above, hidden, lin, net = Env(), Above(), Hidden(), nn.LayerNorm(2), nn.Sequential(nn.LayerNorm(2))
rates = {"low": 1, "high": 2}
def play(n, one):
    one.reset()
    return [one.step() for _ in range(n)]
import pandas as pd
df = pd.DataFrame({"a": [1, 2], "k": [1, 1], "b": [0, 0]})
some, all_of_it, mask = ["a", "k"], ["a", "b"], df["a"] > 1
def ratio(row): return row["a"] / row.k
def taken(row): return row["b"]
def whole(row): return sum(row)
def roll(): return env.reset() + env.step()
def show(): return env.x
"""

RESET = {"env.x", "env.t", "env.log"}

SET = {
    "s = env.reset()\nfor _ in range(3): env.step()": RESET,
    "for k in range(3):\n    env.reset()\n    while env.t < 3: env.step()": RESET,
    "env.again()\nenv.step()": RESET,
    "x = play(3, env)": RESET,
    "x = play(n=3, one=env)": RESET,
    "x = roll()": RESET,
    "env.x = 3\nenv.step()": {"env.x"},
    "env.t, env.x = 0, env.t\nenv.step()": {"env.x"},
    "env.shift()": {"env.x"},
    "rates['low'] = 2\nx = rates['low'] + rates['high']": {"rates.[low]"},
    "nn.init.normal_(lin.weight, std=2)\nx = lin(1)": {"lin.weight"},
    "lin.bias.data.zero_()\nx = lin(1)": {"lin.bias"},
    "nn.init.ones_(net[0].weight)\nx = net(1)": {"net.[0].weight"},
    "env.x = 1 if rates['low'] else 2\nenv.step()": {"env.x"},
    **{
        cell: {"df.[b]"}
        for cell in (
            "df['b'] = df['a'].map(lambda v: v * 2)\nx = df['b'].sum()",
            "df['b'] = [v * 2 for v in df['a']]\nx = df['b'].sum()",
            "df['b'] = df.groupby('k')['a'].transform('mean')\nx = df['b'].sum()",
            "df['b'] = df[['a', 'k']].sum(axis=1)\nx = df['b'].sum()",
            "df['b'] = df[df['a'] > 1]['a']\nx = df",
            "df['b'] = df[some].sum(axis=1)\nx = df['b'].sum()",
            "df['b'] = df.apply(ratio, axis=1)\nx = df['b'].sum()",
            "df['b'] = df.apply(lambda row: row.a + row['k'], axis=1)\nx = df['b'].sum()",
            "df.loc[:, 'b'] = df['a']\nx = df['b'].sum()",
            "df['b'] = 0\ndf.loc[df['a'] > 1, 'b'] = 1\nx = df['b'].sum()",
        )
    },
}

NOT_SET = [
    "env.step()\nenv.reset()",
    "show()\nenv.reset()",
    "if k: env.reset()\nenv.step()",
    "env.x += 1",
    "df['b'] = df['b'].map(lambda v: v * 2)",
    "df['b'] = df.b * 2",
    "df['b'] = [v + df['b'].sum() for v in df['a']]",
    "df['b'] = df.groupby('b')['a'].transform('mean')",
    "df['b'] = df[df['b'] > 1]['a']",
    "df['b'] = df[all_of_it].sum(axis=1)",
    "df['b'] = df[mask].sum(axis=1)",
    "some = ['b']\ndf['b'] = df[some].sum(axis=1)",
    "df['b'] = df.apply(taken, axis=1)",
    "df['b'] = df.apply(whole, axis=1)",
    "def ratio(row): return row['b']\ndf['b'] = df.apply(ratio, axis=1)",
    "df['b'] = df.apply(lambda row: row.b, axis=1)",
    "df['b'] = df.apply(lambda row: df['b'].sum(), axis=1)",
    "df['b'] = df.apply(lambda row: sum(row), axis=1)",
    "df.loc[df['a'] > 1, 'b'] = 1",
    "df['b'] = df.sum(axis=1)",
    "env.x = env.x + 1",
    "env.maybe()",
    "env.early()",
    "for _ in env.each(): pass",
    "env.by_property()",
    "above.reset()",
    "hidden.t = hidden.y\nhidden.x = 1",
    "x = k and env.reset()",
    "x = lambda: env.reset()",
    "env.reset = print\nenv.step()\nenv.x = 1",
    "rates['low'] += 1",
    "nn.init.normal_(lin.weight, mean=lin.weight.mean())",
    "lin(1)\nnn.init.zeros_(lin.weight)",
    "env.again(env.step())",
    "print(vars())\nenv.reset()",
]


@pytest.mark.parametrize(("cell", "parts"), SET.items(), ids=SET)
def test_what_is_set_first(notebook, cell, parts):
    """By the cell, a method of the user's, or a function that is given the object."""
    notebook.run(HELD)
    assert notebook.dependencies(cell).overwritten == parts


@pytest.mark.parametrize("cell", NOT_SET)
def test_what_may_be_read_first(notebook, cell):
    """Or is set in some cases only."""
    notebook.run(HELD)
    assert not notebook.dependencies(cell).overwritten - {"env.reset"}


def test_a_method_that_the_object_has_itself(notebook):
    """That of its class is not the one which runs."""
    notebook.run(HELD, "env.reset = lambda: env.x")
    assert not notebook.dependencies("env.reset()").overwritten


def test_an_estimator_that_is_fitted(notebook):
    """From the start, unless it is set to go on from where it is."""
    notebook.run("""
        class Estimator:
            __module__ = "sklearn.of_this_test"
            def __init__(self, warm_start=False): self.warm_start = warm_start
            def fit(self, X, y): return self
        plain, warm = Estimator(), Estimator(warm_start=True)
    """)
    found = notebook.dependencies("plain.fit(X, y).predict(X)\nwarm.fit(X, y)").overwritten
    assert found == {"plain.*_"}
    for cell in ("plain.fit(plain.predict(X), y)", "plain.partial_fit(X, y)", "plain.predict(X)"):
        assert not notebook.dependencies(cell).overwritten
