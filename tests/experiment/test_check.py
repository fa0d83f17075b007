"""A cell is run again from the same state.

What differs is found, and nothing stays of it.
"""

from __future__ import annotations

import os
import random
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from ipytorchseed.errors import StateError
from ipytorchseed.experiment.process import Process
from ipytorchseed.fingerprint import Budget, fingerprint
from tests.conftest import everything
from tests.experiment.checking import check
from tests.trace.recorded import drift

pytestmark = pytest.mark.usefixtures("put_back")


def _names(**given):
    return {"torch": torch, "nn": nn, "np": np, "random": random, "time": time, "os": os, **given}


def _training():
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
    generator = torch.Generator().manual_seed(1)
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, generator=generator)
    return _names(
        model=model, optimizer=optimizer, loader=loader, generator=generator, losses=[],
        scheduler=torch.optim.lr_scheduler.StepLR(optimizer, 2),
    )  # fmt: skip


def _seen_twice():
    x = torch.ones(2)
    return _names(x=x, y=x[:])


def _seen_by_numpy():
    t = torch.ones(2)
    return _names(t=t, a=t.numpy())


TRAIN = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
    losses.append(loss.item())
print(losses[-1])
"""

REPEATS = {
    "training": (TRAIN, _training),
    "draws": ("a = torch.rand(3); b = np.random.rand(3); c = random.random()", _names),
    "a generator": ("a = g.normal(size=3)", lambda: _names(g=np.random.default_rng())),
    "a list that grows": ("x.append(len(x))", lambda: _names(x=[])),
    "a dictionary changed in a function": (
        "def f():\n    d['n'] = d['n'] + 1\nf()", lambda: _names(d={"n": 0})),
    "an iterator taken from": ("n = next(it)", lambda: _names(it=iter([1, 2, 3]))),
    "another name of the same": ("y[0] += 1; z = x + 1", _seen_twice),
    "numpy over torch": ("a += 1; s = t.sum()", _seen_by_numpy),
    "a flag that it sets": ("torch.set_default_dtype(torch.float64); x = torch.ones(1)", _names),
    "a variable that it sets": ("n = os.environ.get('N'); os.environ['N'] = 'x'", _names),
    "an error caught": ("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    text = str(e)", _names),
    "a name that it deletes": ("y = x; del x", lambda: _names(x=[1])),
    "a time that it only notes": ("start = time.time()\nx = 1", _names),
}  # fmt: skip


@pytest.mark.parametrize(("source", "make"), REPEATS.values(), ids=REPEATS)
def test_a_cell_that_repeats_is_found_to_repeat(source, make):
    """It is run as often as asked, and no trace is begun."""
    before = everything()
    found, cell = check(source, make(), runs=3)
    torch.set_default_dtype(torch.float32)
    os.environ.pop("N", None)
    assert found.reproducible, found.differences
    assert (cell.runs, found.operations, found.with_flags) == (3, 0, None)
    assert everything()["dispatch modes"] == before["dispatch modes"]


def test_afterwards_all_is_as_after_one_run():
    """Values, identities, sources, generators, flags."""
    once, many = _training(), _training()
    for names in (once, many):
        torch.manual_seed(5)
        names["losses"].clear()
    many["model"].load_state_dict(once["model"].state_dict())
    many["loader"].dataset.tensors = once["loader"].dataset.tensors
    held = {name: id(many[name]) for name in ("model", "optimizer", "losses", "generator")}
    torch.manual_seed(5)
    exec(TRAIN, {**once, "print": print})  # noqa: S102 -- a cell's code
    state = torch.get_rng_state()
    torch.manual_seed(5)
    check(TRAIN, many)
    assert torch.equal(torch.get_rng_state(), state)
    assert {name: id(many[name]) for name in held} == held
    for name in ("model", "optimizer", "losses"):
        digests = [fingerprint(names[name], budget=Budget(60)).digest for names in (once, many)]
        assert digests[0] == digests[1], name
    assert torch.equal(once["generator"].get_state(), many["generator"].get_state())


def test_an_operation_that_differs_is_named_with_its_line():
    """Two traced runs gave it the same input, and it gave other results."""
    source = "x = torch.ones(3)\ny = x * 2\n\nz = drift(y)\nw = z.exp()"
    found, _ = check(source, _names(drift=drift))
    culprit = found.culprit
    assert (culprit.operation, culprit.line, culprit.code) == (
        "ipytorchseed_tests::drift", 4, "z = drift(y)",
    )  # fmt: skip
    assert {each.name for each in found.differences} == {"z", "w"}
    assert (found.with_flags, found.entry, found.suspects) == ("differs", None, ())


def test_an_operation_of_a_model_is_named_with_its_module():
    """In its forward pass."""

    class Noisy(nn.Module):
        def forward(self, x):
            return drift(x)

    model = nn.Sequential(nn.Linear(2, 2), Noisy())
    found, _ = check("y = model(torch.ones(1, 2))", _names(model=model))
    assert (found.culprit.module, found.culprit.line) == ("model.1", 1)


PUT = "for _ in range(30):\n    out = torch.zeros(500).put_(index, value, accumulate=True)\n    total += out"


@pytest.fixture
def many_threads():
    """More threads than cores, so that they take turns in another order each time."""
    before = torch.get_num_threads()
    torch.set_num_threads(8)
    yield
    torch.set_num_threads(before)


def test_deterministic_flags_are_tried(many_threads):
    """A real operation of the CPU that adds in any order, and repeats under them."""
    names = _names(
        index=torch.randint(0, 500, (500_000,)), value=torch.randn(500_000), total=torch.zeros(500)
    )
    found, _ = check(PUT, names)
    assert found.culprit.operation == "aten::put_"
    assert found.culprit.known == "switches"
    assert found.with_flags == "repeats"


def test_flags_under_which_it_stops_are_an_error():
    """Torch has no deterministic algorithm for it, and says so."""
    source = "x = torch.zeros(4).put_(torch.tensor([1]), drift(torch.ones(1)))"
    found, _ = check(source, _names(drift=drift))
    assert found.with_flags == "error"
    assert found.flags_said.startswith("RuntimeError: put_ does not have a deterministic")


def test_a_cell_that_only_fails_under_flags_is_an_error_there():
    """Whatever it raises; two failures alike are no repetition."""
    source = "y = drift(torch.ones(1))\nif torch.are_deterministic_algorithms_enabled():\n    1 / 0"
    found, _ = check(source, _names(drift=drift))
    assert (found.with_flags, found.flags_said) == ("error", "ZeroDivisionError: division by zero")


OUTSIDE = {
    "entropy": ("x = torch.tensor(np.random.default_rng().random(3))\ny = x * 2",
                "the cell calls `numpy.random.default_rng()`, which draws from the operating"),
    "a clock": ("x = torch.tensor(time.time(), dtype=torch.float64) * 2",
                "the cell calls `time.time()`, which reads the clock"),
    "the system": ("x = list(os.urandom(4))",
                   "the cell calls `os.urandom()`, which draws from the operating system"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "told"), OUTSIDE.values(), ids=OUTSIDE)
def test_a_difference_from_outside_torch_is_put_down_to_what_the_cell_asks(source, told):
    """No operation is accused."""
    found, _ = check(source, _names())
    assert not found.reproducible
    assert found.culprit is None
    assert [each.startswith(told) for each in found.suspects] == [True]


def test_threads_that_race_are_named():
    """Which one comes first differs each time: of twelve, one order in 479 million."""
    source = """\
import threading
got = []
def work(k):
    time.sleep(random.SystemRandom().random() / 50)
    got.append((k, float(torch.ones(1) * k)))
threads = [threading.Thread(target=work, args=(k,)) for k in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    found, _ = check(source, _names())
    assert found.culprit is None
    assert any("their order varies from run to run" in each for each in found.suspects)


def test_memory_read_before_it_is_written_is_named():
    """The operation that gave it, its line, and who read it."""
    source = "\nx = torch.empty(300_007)\n\ny = x.sum().item()"
    for _ in range(9):  # memory may hold equal numbers by chance
        blocks = [torch.full((300_007,), value) for value in range(9)]
        del blocks  # so that new memory has old numbers
        found, _ = check(source, _names())
        if found.differences:
            break
    assert found.culprit is not None, found
    assert (found.culprit.operation, found.culprit.line) == ("aten::empty", 2)
    assert found.culprit.unwritten
    assert found.culprit.read_by == ("aten::sum", 4)
    assert found.with_flags == "repeats"


def test_memory_that_is_never_written_is_suspected():
    """No operation reads it: it is what the cell made."""

    class Count(Interrupt):
        def __call__(self):
            return next(self.left)

    source = "y = torch.empty(9).fill_(2)\nx = torch.empty(9)\nz = count()"
    found, _ = check(source, _names(count=Count(99)))
    assert found.culprit is None
    assert found.suspects[0].startswith("the cell calls `torch.empty()`, which does not set")


def test_a_run_that_raises_where_the_first_did_not_is_a_difference():
    """A file that is there only once."""
    source = "n = flag.pop()"

    class Once(list):
        def __deepcopy__(self, memo):
            return Once()

    found, _ = check(source, _names(flag=Once([1])))
    assert [(each.what, each.detail) for each in found.differences][-1] == (
        "error", "no error → IndexError: pop from empty list",
    )  # fmt: skip


def test_what_only_the_first_run_finds_is_told():
    """Something that is not put back, such as a cache outside the notebook."""
    import json as far

    far.seen = []
    try:
        source = "import json\njson.seen.append(1)\nn = min(len(json.seen), 2)"
        found, _ = check(source, _names())
    finally:
        del far.seen
    assert found.first_only
    assert found.culprit is None
    assert "only the first run differs" in found.notes[-1]


def test_what_cannot_be_copied_is_named():
    """And what may follow from it."""
    found, _ = check("x = next(numbers)", _names(numbers=(i for i in range(9))))
    assert found.notes[0].startswith("numbers cannot be copied (generator: ")


def test_a_cell_that_makes_nothing_has_nothing_to_compare():
    """It is not run again."""
    found, cell = check("pass", _names())
    assert (found.compared, cell.runs) == (0, 1)


class Interrupt:
    """Interrupts when it is called for a certain time, copied or not."""

    def __init__(self, stop):
        self.left = iter(range(stop - 1))

    def __deepcopy__(self, _):
        return self

    def __call__(self):
        """Count down."""
        if next(self.left, None) is None:
            raise KeyboardInterrupt


def test_an_interrupt_puts_everything_back():
    """In whichever run it comes."""
    for stop in (2, 3, 4, 5):
        names = _names(drift=drift, x=torch.ones(2), count=[0], seen=[])
        kept = names["x"], names["seen"]
        names["interrupt"] = Interrupt(stop)
        source = "x += 1\nseen.append(torch.rand(1))\ny = drift(x)\ninterrupt()"
        state = torch.get_rng_state()
        with pytest.raises(KeyboardInterrupt):
            check(source, names)
        after = torch.get_rng_state()
        torch.set_rng_state(state)
        torch.rand(1)
        assert torch.equal(torch.get_rng_state(), after)
        assert names["x"] is kept[0]
        assert names["x"].tolist() == [2.0, 2.0]
        assert names["seen"] is kept[1]
        assert len(names["seen"]) == 1


def test_progress_names_the_runs():
    """And, where it traces, the operations."""
    told = []
    check("y = drift(torch.ones(1))", _names(drift=drift), progress=told.append)
    assert told[0] == "run 2 of 2"
    assert told[1] == "a traced run"
    assert told[-1] == "with deterministic algorithms, run 2 of 2"


def test_what_fails_to_go_back_keeps_nothing_else_from_it(tmp_path, monkeypatch):
    """An error while sources are restored.

    Folder, environment and filters are back all the same.
    """
    process = Process.now()
    failing = StateError("a state does not fit")

    def fail(_: object) -> None:
        raise failing

    monkeypatch.setattr("ipytorchseed.experiment.process.restore", fail)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOMETHING_NEW", "1")
    filters = [*warnings.filters]
    warnings.filters.insert(0, warnings.filters[-1])
    with pytest.raises(StateError, match="does not fit"):
        process.put_back()
    assert "SOMETHING_NEW" not in os.environ
    assert str(Path.cwd()) == process.folder
    assert warnings.filters == filters


@pytest.mark.parametrize("endless", [torch.zeros(1).expand(10**13),
                                     np.broadcast_to(np.zeros(1), (10**13,))])  # fmt: skip
def test_what_is_larger_than_the_machine_is_not_read_whole(endless):
    """Of the same memory over and over, a sample is compared, and that is said."""
    found, _ = check("made = endless", _names(endless=endless))
    assert found.reproducible
    assert "not compared in full: endless, made" in found.notes


def test_what_could_not_be_looked_at_is_said(monkeypatch):
    """Never that it repeats."""

    def broken(*_):
        raise RuntimeError("CUDA error")

    monkeypatch.setattr("ipytorchseed.fingerprint.elements._elements", broken)
    found, _ = check("made = [torch.ones(3)]", _names())
    assert "not compared in full: made" in found.notes


class _Silent(type):
    def __getattribute__(cls, name):
        if name in ("__module__", "__name__", "__qualname__"):
            raise RuntimeError(name)
        return super().__getattribute__(name)


class _Odd(metaclass=_Silent):
    number = 1


def test_a_class_that_tells_no_name_is_no_obstacle():
    """Not even its module is asked of it: that runs the code of its metaclass."""
    found, _ = check("made = odd.number + 1", _names(odd=_Odd()))
    assert found.reproducible
    assert not found.notes
