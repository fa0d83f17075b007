"""Which attributes and items of a value a cell reads, where it reads nothing else of it."""

from __future__ import annotations

import pytest

HELD = """
from types import SimpleNamespace
cfg = SimpleNamespace(batch=4, rate=0.1, inner=SimpleNamespace(width=3))
params = {"n": 3, "name": "a"}
key, place = "n", 1
rates = [0.1, 0.2]
from collections import defaultdict
noted, grown, mixed = {"n": [], "x": set()}, defaultdict(list), {"n": [], "x": 3}
deep = {"train": {"rate": 0.1, "n": 3, "more": {"size": 1}}, "data": {"n": 2}}
from pandas import DataFrame
frame = DataFrame({"day": [1, 2], "price": [3, 4], "n": [0, 1]})
class Config:
    size = 2
    other = 3
class Wide(Config):
    pass
class Item:
    tax = 0.2
    def __init__(self):
        self.net, self.tags, self.sold, self.log = 10.0, [], 0, []
    def gross(self): return self.net * (1 + self.tax)
    def sell(self, n=1):
        self.sold += n
        return [self.gross() for _ in range(n)]
    @property
    def twice(self): return 2 * self.gross()
    def rename(self, name): self.name = name
    def all(self): return vars(self)
    def again(self): return self
    def inner(self): return self.__dict__
    @staticmethod
    def still(): return 1
class Named(Item):
    def gross(self): return super().gross()
class Loose(Item):
    def __getattr__(self, name): return 3
item, named, loose = Item(), Named(), Loose()
one = Config()
def rate(): return cfg.rate
def dearest(): return frame["price"].max() * params["n"]
def named(settings): return settings["name"]
def listed(settings, key): return key in settings
def one_of(key): return params[key]
def mean_of(table, key="n"): return table[key].mean() / len(table)
import numpy as np
def ones_like(values): return values * 2
array = np.arange(3)
def cost(row): return row["price"] * row["n"]
columns = ["day", "price"]
numbered = DataFrame({0: [1], "n": [2]})
mask = [True, False]
"""

PARTS = {
    "x = cfg.batch": ("cfg", {"a:batch"}),
    "x = cfg.inner.width": ("cfg", {"a:inner.width"}),
    "x = cfg.inner['width'] + 1": ("cfg", {"a:inner.width"}),
    "x = cfg.inner[key]": ("cfg", {"a:inner"}),
    "cfg.inner['width'] = 1": ("cfg", {"a:inner"}),
    "x = cfg.inner.area()": ("cfg", {"a:inner.area"}),
    "x = getattr(cfg, 'batch')": ("cfg", {"a:batch"}),
    "for part in ('one', 'two'):\n    x = getattr(cfg, part + '_x')": (
        "cfg",
        {"a:one_x", "a:two_x"},
    ),
    "x = [cfg.batch for _ in range(cfg.rate)]": ("cfg", {"a:batch", "a:rate"}),
    "x = cfg.batch * rate()": ("cfg", {"a:batch", "a:rate"}),
    "x = dearest() * frame['n']": ("frame", {"k:price", "k:n"}),
    "x = dearest()": ("params", {"k:n"}),
    "cfg.batch = 3": ("cfg", set()),
    "cfg.batch += 3": ("cfg", {"a:batch"}),
    "x = params['n']": ("params", {"k:n"}),
    "x = params[['n', 'name']]": ("params", {"k:n", "k:name"}),
    "params['n'] = 1": ("params", set()),
    "params['n'] += 1": ("params", {"k:n"}),
    "x = params.get('n', 2)": ("params", {"k:n"}),
    "x = params[key]": ("params", {"k:n"}),
    "x = one_of('n')": ("params", {"k:n", "k:name"}),
    "x = [*map(one_of, 'n')]": ("params", {"k:n", "k:name"}),
    "key += 'x'\nx = params[key]": ("params", {"k:n", "k:name"}),
    "for key in params: x = params[key]": ("params", {"a:__iter__", "k:n", "k:name"}),
    "x = rates[place]": ("rates", {"k:[1]"}),
    "x = cfg.rates[0]['low']": ("cfg", {"a:rates.0.low"}),
    "x = cfg.rates[0]": ("cfg", {"a:rates"}),
    "x = item.gross()": ("item", {"a:net"}),
    "x = item.sell(3)": ("item", {"a:net", "a:sold"}),
    "x = item.twice + 1": ("item", {"a:net"}),
    "item.rename('b')": ("item", set()),
    "x = item.still()": ("item", set()),
    "x = named.gross()": ("named", {"a:gross"}),
    "x = rates[0] + rates[-1]": ("rates", {"k:[0]", "k:[-1]"}),
    "x = rates[:2], rates[-1:]": ("rates", {"k:[:2]", "k:[-1:]"}),
    "x = rates[1:3][key]": ("rates", {"k:[1:3]"}),
    "x = rates[1:], rates[:-1], rates[:2:2]": ("rates", {"k:[1:]", "k:[:-1]", "k:[:2:2]"}),
    "x = array[:, 0] + array[-1, 1:2]": ("array", {"k:[:,0]", "k:[-1,1:2]"}),
    "x = rates[0]['low'] + params.get(3)": ("rates", {"k:[0].low"}),
    "x = deep['train'][0]": ("deep", {"k:train.[0]"}),
    "x = deep['train']['rate'] * deep['data']['n']": ("deep", {"k:train.rate", "k:data.n"}),
    "deep['train']['rate'] += 1": ("deep", {"k:train", "k:train.rate"}),
    "deep['train']['rate'] = 1": ("deep", {"k:train"}),
    "x = deep['train']['more']['size']": ("deep", {"k:train.more"}),
    "x = deep['train'][key]": ("deep", {"k:train"}),
    "x = f'{Config.size}'": ("Config", {"a:size"}),
    "x = len(params)": ("params", {"a:__len__"}),
    "x = len(cfg.rates) + cfg.inner.grid.shape[0]": (
        "cfg",
        {"a:rates.__len__", "a:inner.grid.shape"},
    ),
    "x = len(deep['train']) * deep['data'].shape[0]": (
        "deep",
        {"k:train.__len__", "k:data.shape"},
    ),
    "noted['n'].append(3)": ("noted", set()),
    "noted['x'].add(3)": ("noted", set()),
    "noted[key].extend([3])": ("noted", set()),
    "noted[key].append(len(noted['x']))": ("noted", {"k:x.__len__"}),
    "noted['n'].append(1)\nx = noted['n'][-1]": ("noted", {"k:n.[-1]"}),
    "noted['n'].pop()": ("noted", {"k:n"}),
    "grown['a'].append(3)": ("grown", set()),
    "grown[key + 'x'].append(3)": ("grown", set()),
    "mixed['n'].append(3)": ("mixed", set()),
    "mixed['x'].append(3)": ("mixed", {"k:x"}),
    "mixed[key].append(3)": ("mixed", {"k:n", "k:x"}),
    "item.log.append(3)": ("item", set()),
    "item.net.append(3)": ("item", {"a:net.append"}),
    "rates.append(3)": ("rates", set()),
    "x = frame['n'].add(frame['day'])": ("frame", {"k:n", "k:day"}),
    "x = 'n' in params": ("params", {"a:__contains__"}),
    "x = [key for key in params if key not in params]": (
        "params",
        {"a:__iter__", "a:__contains__"},
    ),
    "x = sorted(params.keys())": ("params", {"a:keys"}),
    "x = listed(params, 'n')": ("params", {"a:__contains__"}),
    "x = np.zeros_like(array) + array.mean()": ("array", {"a:shape", "a:dtype", "a:mean"}),
    "x = named(params)": ("params", {"k:name"}),
    "x = frame[frame['day'] > 1]['price'].mean()": ("frame", {"k:day", "k:price"}),
    "x = frame.loc[frame['day'] > 1, ['price', 'n']]": ("frame", {"k:day", "k:price", "k:n"}),
    "x = frame.groupby('day', sort=False)['price'].sum()": ("frame", {"k:day", "k:price"}),
    "x = frame.groupby(key)['price']": ("frame", {"a:groupby"}),
    "x = frame[key]": ("frame", {"k:n"}),
    "x = frame[columns].sum().sum()": ("frame", {"k:day", "k:price"}),
    "x = frame[frame.day > 1].price.sum()": ("frame", {"a:day", "k:price"}),
    "x = frame[~(frame['n'] > 0)].price": ("frame", {"k:n", "k:price"}),
    "x = frame.apply(lambda row: row.price * row['n'], axis=1)": ("frame", {"a:price", "k:n"}),
    "x = frame.apply(lambda row: named(row), axis=1)": ("frame", {"k:name"}),
    "x = frame.apply(lambda row, more: row.price, axis=1)": ("frame", {"a:apply"}),
    "x = frame.apply(lambda column: column.max())": ("frame", {"a:apply"}),
    "x = cfg.apply(lambda row: row.price, axis=1)": ("cfg", {"a:apply", "a:price"}),
    "x = frame.apply(cost, axis='columns')": ("frame", {"k:price", "k:n"}),
    "x = frame.groupby(by=['day', 'n'])['price'].sum()": ("frame", {"k:day", "k:n", "k:price"}),
    "x = frame.groupby('day').price.sum()": ("frame", {"k:day", "k:price"}),
    "x = frame.query('n > @one.size and day > @n')['price']": (
        "frame",
        {"k:n", "k:day", "k:price"},
    ),
    "x = frame.sort_values('n').head(2)['price']": ("frame", {"k:n", "k:price"}),
    "x = frame[frame.n > 0].nlargest(1, 'day')['price']": ("frame", {"a:n", "k:day", "k:price"}),
    "x = frame.dropna(subset=['n']).groupby('day').agg({'price': 'mean'})": (
        "frame",
        {"k:n", "k:day", "k:price"},
    ),
    "x = frame.groupby('day').agg(most=('price', 'max'))": ("frame", {"k:day", "k:price"}),
    "x = frame.query('n > 0')": ("frame", {"a:query"}),
    "x = frame.eval('total = price * n')": ("frame", {"a:eval"}),
    "x = frame.eval('price * n').sum()": ("frame", {"k:price", "k:n"}),
    "x = frame.query('day > 1').eval('price * @n')": ("frame", {"k:day", "k:price"}),
    "x = frame.sort_values(columns)['n']": ("frame", {"a:sort_values"}),
    "x = frame.dropna()['n']": ("frame", {"a:dropna"}),
    "x = frame.sample(2)['n']": ("frame", {"k:n"}),
    "x = frame.agg({'price': 'max'})": ("frame", {"k:price"}),
    "x = frame.drop(columns='n').mean()": ("frame", {"a:columns", "k:day", "k:price"}),
    "x = frame.drop('n', axis=1) ** 2": ("frame", {"a:columns", "k:day", "k:price"}),
    "x = frame.drop(labels=['n', 'day'], axis='columns', errors='ignore').values": (
        "frame",
        {"a:columns", "k:price"},
    ),
    "x = frame[frame['n'] > 0].drop(columns=['n']), frame.shape": (
        "frame",
        {"a:columns", "a:shape", "k:day", "k:price", "k:n"},
    ),
    "x = frame.drop('n')": ("frame", {"a:drop"}),
    "x = frame.drop('n', axis=place)": ("frame", {"a:drop"}),
    "x = frame.drop(columns='n', index=1)": ("frame", {"a:drop"}),
    "frame.drop(columns='n', inplace=True)": ("frame", {"a:drop"}),
    "x = frame.drop(columns=columns)": ("frame", {"a:columns", "k:n"}),
    "x = frame.drop([key, 'day'], axis=1)": ("frame", {"a:columns", "k:price"}),
    "key += 'x'\nx = frame.drop(columns=key)": ("frame", {"a:drop"}),
    "x = frame.drop(columns=[key for key in columns])": ("frame", {"a:drop"}),
}

WHOLE = {
    "x = item.all()": "item",
    "x = item.again()": "item",
    "x = item.inner()": "item",
    "x = loose.gross()": "loose",
    "x = cfg": "cfg",
    "x = sorted(params)": "params",
    "x = params[key]['n']": "params",
    "x = deep[key]['n']": "deep",
    "x = frame[frame.day > 1].mean()": "frame",
    "x = frame[mask]": "frame",
    "x = mean_of(frame, 'price')": "frame",
    "x = mean_of(frame, *columns)": "frame",
    "x = frame.query(text)['n']": "frame",
    "x = frame.query('n > 0').shape": "frame",
    "x = frame.sort_values('n').head(2)": "frame",
    "x = numbered.drop(columns='n')": "numbered",
    "x = params.drop(columns='n')": "params",
    "x = item.drop(columns='n')": "item",
    "x = frame.drop(columns='n'), frame": "frame",
    "columns.append('n')\nx = frame.drop(columns=columns)": "frame",
    "x = frame.groupby('day').agg('mean')": "frame",
    "x = frame.groupby('day').agg({key: 'mean'})": "frame",
    "x = params.copy()['n']": "params",
    "key += 'x'\nx = frame[key]": "frame",
    "columns.append('n')\nx = frame[columns]": "frame",
    "place = 0\nx = rates[place]": "rates",
    "for place in (0, 1): x = rates[place]": "rates",
    "x = rates[key > 1].net": "rates",
    "x = frame.apply(lambda row: [*row], axis=1)": "frame",
    "x = frame.apply(cost, axis=1), frame": "frame",
    "x = cfg.batch, vars(cfg)": "cfg",
    "x = getattr(cfg, key)": "cfg",
    "if mask:\n    key = 'batch'\nelse:\n    key = columns[0]\nx = getattr(cfg, key)": "cfg",
    "x = np.full_like(rates, array)": "array",
    "x = 1 in rates": "rates",
    "x = ones_like(rates)": "rates",
    "x = named(params), sorted(params)": "params",
    "x = {**params}": "params",
    "rates[0] = 1": "rates",
    "rates[0] += 1": "rates",
    "x = rates[:]": "rates",
    "x = rates[:, :]": "rates",
    "x = rates[0, key]": "rates",
    "x = array[:2].base": "array",
    "x = rates[:key]": "rates",
    "x = frame[:2]['price'], frame": "frame",
    "x = rates[True]": "rates",
    "x = rates[0], len(rates), rates": "rates",
    "x = one.size, Config.other": "Config",
    "x = Wide.size, Config.other": "Config",
    "exec(text)\nx = cfg.batch": "cfg",
}


@pytest.mark.parametrize(("cell", "told"), PARTS.items(), ids=PARTS)
def test_parts(notebook, cell, told):
    """Also through functions that read the name."""
    notebook.run(HELD)
    name, parts = told
    assert notebook.dependencies(cell).parts[name] == parts


@pytest.mark.parametrize(("cell", "name"), WHOLE.items(), ids=WHOLE)
def test_a_value_that_is_read_as_a_whole(notebook, cell, name):
    """It is handed on, gone through, or has objects or subclasses in use."""
    notebook.run(HELD)
    parts = notebook.dependencies(cell).parts
    assert parts.get(name, {"-"}) == {"-"}  # a class without methods to pass over


def test_a_name_in_an_expression_of_columns(notebook):
    """It is read beside the columns."""
    notebook.run(HELD)
    for cell in ("x = frame.eval('price * @key')", "x = frame.query(expr='price > @key')"):
        assert "key" in notebook.dependencies(cell).names


def test_a_key_that_varies_is_no_part(notebook):
    """What it looks up is known when it runs."""
    notebook.run(HELD)
    found = notebook.dependencies("x = params.get('name'), params.get(key)").parts["params"]
    assert "a:get" in found  # which no value has as a part


MODELS = """
from torch import nn
class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = 2
        self.enc, self.dec = nn.LayerNorm(2), nn.Sequential(nn.LayerNorm(2), nn.Tanh())
    def encode(self, x): return self.enc(x) * self.rate
    def forward(self, x): return self.dec(self.encode(x)) if self.training else x
class Tied(Coder):
    def __init__(self):
        super().__init__()
        self.again = self.enc
    def put(self): return [*self._modules]
class Back(nn.Module):
    def __init__(self, owner):
        super().__init__()
        self.owner = [owner]
class Sly(nn.LayerNorm):
    def __getattribute__(self, name): return super().__getattribute__(name)
sly = nn.Sequential()
sly.inner = Sly(2)
back = Coder()
back.head = Back(back)
coder, tied, parts, named = Coder(), Tied(), nn.Sequential(Coder(), nn.Tanh()), nn.ModuleDict()
named["in"] = nn.LayerNorm(2)
place = 0
"""

LAYERS = {
    "x = coder.encode(1)": ("coder", {"m:", "m:enc", "a:rate"}),
    "x = coder(1)": ("coder", {"m:", "m:enc", "m:dec", "a:rate"}),
    "x = coder.enc.weight.sum()": ("coder", {"m:", "m:enc"}),
    "x = coder.enc.eps, coder.enc.normalized_shape[0]": ("coder", {"m:"}),
    "x = coder.enc.eps + coder.dec.training": ("coder", {"m:"}),
    "x = coder.enc.eps * coder.rate * coder.dec(1)": ("coder", {"m:", "m:dec", "a:rate"}),
    "x = coder.enc.bias": ("coder", {"m:", "m:enc"}),
    "x = coder.enc.gain": ("coder", {"m:", "m:enc"}),
    "x = parts[0].enc.eps": ("parts", {"m:", "m:0"}),
    "x = sly.inner.eps": ("sly", {"m:", "m:inner"}),
    "x = coder.dec.state_dict()": ("coder", {"m:", "m:dec"}),
    "x = coder.state_dict()": ("coder", {"m:", "inside"}),
    "x = coder.training": ("coder", {"m:"}),
    "x = back.head(1)": ("back", {"m:", "inside"}),
    "x = back.enc(1)": ("back", {"m:", "m:enc"}),
    "x = tied.encode(1)": ("tied", {"m:", "inside", "a:rate"}),
    "x = tied.put()": ("tied", {"m:", "inside"}),
    "x = parts[0](1)": ("parts", {"m:", "m:0"}),
    "x = parts[-1](1)": ("parts", {"m:", "m:1"}),
    "x = parts[5](1)": ("parts", {"k:[5]"}),
    "x = named['in'](1)": ("named", {"m:", "m:in"}),
    "x = named['[in]'](1)": ("named", {"k:[in]"}),  # a name of its own, that is no number
    "x = parts[0](1) + parts[1:](1)": ("parts", {"m:", "m:0", "m:1"}),
    "x = parts[0:5](1)": ("parts", {"m:", "m:0", "m:1"}),
    "x = parts[:-1](1)": ("parts", {"k:[:-1]"}),
    "x = parts[2:](1)": ("parts", {"k:[2:]"}),
    "x = parts[place](1)": ("parts", None),
    "x = parts(1)": ("parts", None),
    "for each in parts: each(1)": ("parts", None),
    "x = coder": ("coder", None),
}


@pytest.mark.parametrize(("cell", "told"), LAYERS.items(), ids=LAYERS)
def test_layers_of_a_model(notebook, cell, told):
    """Those that it uses; all where one of them goes by several names, or leads to the others."""
    notebook.run(MODELS)
    name, parts = told
    assert notebook.dependencies(cell).parts.get(name) == parts
