"""Which attributes of an object methods read, and functions that it is given to."""

from __future__ import annotations

import pytest

HELD = """
import contextlib
import dataclasses
import functools
from functools import cached_property
from types import SimpleNamespace
from typing import NamedTuple

class Base:
    def __init__(self):
        self.rate, self.size, self.__secret = 0.5, 3, 1
    def scale(self, x):
        return x * self.rate
    def hidden(self):
        return self.__secret

class Trainer(Base):
    unit = 1
    def __init__(self):
        super().__init__()
        self.log, self.losses, self.inner = "a", [], SimpleNamespace(n=1)
    def __call__(self, x): return self.step(x) + self.unit
    def __len__(self): return self.size
    def step(self, x):
        self.losses.append(self.scale(x))
        return type(self).__name__ and x
    def scale(self, x): return super().scale(x) + self.size
    def count(self): self.size += 1
    def name(self): self.log = "b"
    def deep(self): return self.inner.n
    def named_deep(self):
        held = self.inner
        return held.n * self.rate
    def named_twice(self, n):
        held = self.inner
        for held in range(n): pass
        return held
    def named_given(self, n):
        held = self.inner
        return print(held) or self.size
    def deepen(self): self.inner.n = 1
    def call_deep(self): return self.inner.n(1)
    def keyed_deep(self): return self.inner["n"]
    def later(self): return [lambda: self.log for _ in range(2)]
    def asked(self): return getattr(self, "log") if hasattr(self, "size") else 0
    def helped(self): return told(self)
    def both(self): return self.log, about(self)
    def every(self): return vars(self)
    def fluent(self): return self
    def varied(self, key): return getattr(self, key)
    def spread(self): return {**self.__dict__}
    def keyed(self): return self["log"]
    def seen(self): return locals()
    def handed(self): return map(str, [self])
    def __getitem__(self, n): return self.rate if n < len(self) else next(iter([]))
    def __enter__(self): return self.rate
    def __exit__(self, *_): self.inner.n += 1
    def judge(self, given): return given["name"]
    def listed(self, given): return [given]
    @property
    def width(self): return self.size * 2
    @cached_property
    def once(self): return self.rate
    @staticmethod
    def plain(x): return x
    @classmethod
    def made(cls): return cls()

class Net:
    def __call__(self, x): return x * self.trainer.gain

class Holding(Trainer):
    def __init__(self):
        super().__init__()
        self.net, self.nets = Net(), [Net()]
        self.net.trainer = self.nets[0].trainer = self
        self.free, self.bound, self.shut = Net(), self.step, lambda: self.log
    def run(self): return self.net(1)
    def each(self): return [net(1) for net in self.nets]
    def calls(self): return self.bound(1)
    def opens(self): return self.shut()
    def alone(self): return self.free(1)

class Answering(Trainer):
    def __getattr__(self, name): return self.log

class Slotted:
    __slots__ = ("a", "b")
    def first(self): return self.a

class Point(NamedTuple):
    x: int
    y: int
    def both(self): return self.x, self.y

@dataclasses.dataclass
class Settings:
    rate: float = 0.1
    inner: object = dataclasses.field(default_factory=lambda: SimpleNamespace(n=1))
    def twice(self): return 2 * self.rate

def told(trainer): return trainer.log
def about(trainer, *more, last=None): return trainer.size, last.rate if last is not None else 0
def outer(given): return about(given, last=given)
def shadowed(given, told): return told(given)
def gone_through(given):
    for each in given: print(each)
def counted(given): return len(given)
def whole(given): return [given]
def again(given):
    given = dataclasses.replace(given)
    return given.rate
def around(given):
    def inner(): return given.rate
    return inner()
def deep(given): return given.inner.n
def deep_section(given):
    section = given["name"]
    return section["first"]
def deep_item(given): return given["name"]["first"]
def recursive(given, n): return recursive(given, n - 1) if n else given.rate
def looks_up(settings): return settings["name"], settings["rate"]
def decorated_whole(function):
    @functools.wraps(function)
    def call(*args): return function(*args)
    return call
@decorated_whole
def decorated(given): return given.log
@contextlib.contextmanager
def managed(given): yield given.log
quick = lambda given: given.rate
trainer, answering, slotted, holding = Trainer(), Answering(), Slotted(), Holding()
slotted.a = slotted.b = 1
point, chosen = Point(1, 2), Settings()
trainer_step = trainer.step
own = Trainer()
own.step = own.name
settings = {"name": "a", "rate": 1, "other": 2}
"""

PARTS = {
    "trainer.step(1)": {"a:rate", "a:size"},
    "trainer(1)": {"a:rate", "a:size"},
    "x = [trainer[n] for n in range(2)]": {"a:rate", "a:size"},
    "x = trainer['n']": {"a:rate", "a:size"},
    "x = len(trainer)": {"a:size"},
    "trainer.count()": {"a:size"},
    "trainer.name()": set(),
    "x = trainer.deep()": {"a:inner.n"},
    "x = trainer.named_deep()": {"a:inner.n", "a:rate"},
    "x = trainer.named_twice(1)": {"a:inner"},
    "x = trainer.named_given(1)": {"a:inner", "a:size"},
    "x = deep_section(settings)": {"k:name.first"},
    "trainer.deepen()": {"a:inner"},
    "x = trainer.call_deep()": {"a:inner"},
    "x = trainer.keyed_deep()": {"a:inner.n"},
    "x = deep(trainer)": {"a:inner.n"},
    "x = deep_item(settings)": {"k:name.first"},
    "x = trainer.later()": {"a:log"},
    "x = trainer.asked()": {"a:log", "a:size"},
    "x = trainer.helped()": {"a:log"},
    "x = trainer.both()": {"a:log", "a:size"},
    "x = trainer.width": {"a:size"},
    "x = trainer.once": {"a:rate"},
    "x = trainer.hidden()": {"a:_Base__secret"},
    "x = trainer.plain(1)": set(),
    "x = trainer.inner.n, trainer.width": {"a:inner.n", "a:size"},
    "step = trainer.step": {"a:rate", "a:size"},
    "x = told(trainer)": {"a:log"},
    "x = told(trainer=trainer)": {"a:log"},
    "x = outer(trainer)": {"a:size", "a:rate"},
    "x = about(trainer, 1, 2)": {"a:size"},
    "x = about(None, last=trainer)": {"a:rate"},
    "x = around(trainer)": {"a:rate"},
    "x = recursive(trainer, 3)": {"a:rate"},
    "x = quick(trainer)": {"a:rate"},
    "x = [told(trainer) for _ in range(2)]": {"a:log"},
    "def run():\n    return told(trainer)\nx = run()": {"a:log"},
    "with managed(trainer):\n    pass": {"a:log"},
    "x = slotted.first()": {"a:a"},
    "x = point.x": {"a:x"},
    "x = chosen.rate": {"a:rate"},
    "x = chosen.inner.n, chosen.twice()": {"a:inner.n", "a:rate"},
    "x = holding.alone()": {"a:free"},
    "x = [each for each in trainer]": {"a:size", "a:rate"},
    "for each in trainer:\n    pass": {"a:size", "a:rate"},
    "with trainer:\n    pass": {"a:rate", "a:inner", "a:inner.n"},
    "x = gone_through(trainer)": {"a:size", "a:rate"},
    "x = counted(trainer)": {"a:size"},
    "x = answering.judge(settings)": {"k:name"},
    "x = answering.judge(given=settings)": {"k:name"},
    "x = looks_up(settings)": {"k:name", "k:rate"},
}

WHOLE = (
    "x = trainer.every()",
    "x = trainer.fluent()",
    "x = trainer.varied('log')",
    "x = trainer.spread()",
    "x = trainer.keyed()",
    "x = trainer.seen()",
    "x = trainer.handed()",
    "x = answering.log, answering.width",
    "x = own.step()",
    "x = own.step(settings)",
    "x = Trainer.judge(1, settings)",
    "x = answering.listed(settings)",
    "for each in Trainer, trainer:\n    pass",
    "x = holding.run()",
    "x = holding.each()",
    "x = holding.calls()",
    "x = holding.opens()",
    "x = whole(trainer)",
    "x = again(trainer)",
    "x = shadowed(trainer, told)",
    "x = about(1, trainer)",
    "x = about(*[trainer], trainer)",
    "x = decorated(trainer)",
    "x = str(trainer)",
    "x = list(map(told, [trainer]))",
    "x = told(trainer), trainer",
    "x = dict(settings)",
)


@pytest.mark.parametrize(("cell", "parts"), PARTS.items(), ids=PARTS)
def test_what_is_read_through_code_of_the_users(notebook, cell, parts):
    """Its methods, properties, and functions that it is given to."""
    notebook.run(HELD)
    found = notebook.dependencies(cell).parts
    names = [
        name
        for name in ("trainer", "slotted", "settings", "holding", "point", "chosen")
        if name in cell
    ]
    assert [found[name] for name in names] == [parts]


@pytest.mark.parametrize("cell", WHOLE)
def test_what_may_be_read_as_a_whole(notebook, cell):
    """It is handed to code that nobody followed, or looked at by names that vary."""
    notebook.run(HELD)
    found = notebook.dependencies(cell).parts
    assert {"trainer", "answering", "own", "settings", "holding"}.isdisjoint(found)


def test_a_model(notebook):
    """Its layers count wherever it is called; a label of its own does not."""
    notebook.run("""
        import torch
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.tag, self.scale = torch.nn.Identity(), "a", 2
            @torch.no_grad()
            def forward(self, x): return self.layer(x) * (self.scale if self.training else 1)
            def extra(self): return [self.tag for _ in self.modules()]
        net = Net()
        @torch.no_grad()
        def evaluate(model, x):
            model.eval()
            return model(x)
    """)
    used = {"m:", "m:layer", "a:scale"}
    assert notebook.dependencies("y = net(x)").parts["net"] == used
    assert notebook.dependencies("y = evaluate(net, 1)").parts["net"] == {"inside", *used}
    assert notebook.dependencies("w = [*net.parameters()]").parts["net"] == {"m:", "inside"}
    assert notebook.dependencies("w = net.layer.weight, net.training").parts["net"] == {
        "m:", "m:layer",
    }  # fmt: skip
    assert notebook.dependencies("w = net.tag").parts["net"] == {"a:tag"}
    assert "net" not in notebook.dependencies("net.extra()").parts
    assert "net" not in notebook.dependencies("print(net)").parts
