"""``%%deterministic --trace`` and ``%rng who`` tell which line drew how much."""

from __future__ import annotations

import json
import re
import sys

import pytest

from tests.kernel import Kernel

SETUP = """
from torch import nn
dropout = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
g = torch.Generator().manual_seed(1)
loader = torch.utils.data.DataLoader([*range(6)], batch_size=3, shuffle=True, generator=g)
""".strip()

CELL = """
%%deterministic 42 --trace
random.random()
np.random.rand(3)
for batch in loader:
    dropout(torch.ones(2, 4))
torch.rand(5)
""".strip()


@pytest.fixture(scope="module")
def traced(loaded):
    """A kernel with a traced run, and the run's number."""
    loaded.run(SETUP)
    return loaded.run(CELL, "traced").execution_count


def _rows(text):
    rows = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    return [row for row in rows if len(row) > 4 and row[0] != "Source"]


def test_who_lists_operation_line_module_and_numbers(kernel, traced):
    """Draws from python and numpy are listed too, as is the loader's base seed."""
    (shown,) = kernel.run(f"%rng who {traced}").displays
    rows = _rows(shown["text/plain"])
    assert ["python", "2", "1", "python's own", "2"] in rows
    assert ["numpy", "6", "1", "numpy's own", "3"] in rows
    assert ["torch.cpu", "5", "1", "aten::rand", "6"] in rows
    assert ["torch.cpu", "32", "2", "aten::bernoulli_", "5", "dropout.1"] in rows
    assert ["g", "2", "1", "aten::random_", "4", "DataLoader"] in rows
    assert "not known on which line" not in shown["text/plain"]
    assert "<table>" in shown["text/html"]


def test_a_traced_run_gives_the_same_numbers(kernel):
    """It leaves nothing behind."""
    plain = kernel.run("%%deterministic 42\ntorch.rand(3)")
    traced = kernel.run("%%deterministic 42 --trace\ntorch.rand(3)")
    assert plain.shown == traced.shown
    assert traced.stdout == f"Who drew how much: %rng who {traced.execution_count}\n"
    assert kernel.value("__import__('sys').gettrace() is None") is True


def test_a_run_that_was_not_traced_is_told_how_to_be(kernel):
    """On Python 3.12 and later, the calls that drew are known without a trace."""
    number = kernel.run("torch.rand(1)").execution_count
    reply = kernel.run(f"%rng who {number}")
    if sys.version_info >= (3, 12):
        (shown,) = reply.displays
        assert ["torch.cpu", "torch.rand"] in _rows(shown["text/plain"])
        assert "%%deterministic --trace" in shown["text/plain"]
        return
    said = reply.stderr
    assert f"In[{number}] was not traced; put %%deterministic --trace at the top" in said


def test_a_traced_cell_that_fails_is_listed_up_to_there(kernel):
    """The trace ends with the run."""
    reply = kernel.run("%%deterministic --trace\ntorch.rand(2)\n1 / 0")
    assert reply.error.ename == "ZeroDivisionError"
    (shown,) = kernel.run(f"%rng who {reply.execution_count}").displays
    assert ["torch.cpu", "2", "1", "aten::rand", "2"] in _rows(shown["text/plain"])
    assert kernel.run("torch.rand(1)").error is None


TO_FILE = """
%%deterministic 42 --trace {name} --summaries
x = torch.rand(3)
y = torch.ones(2, 4) * {factor}
y
""".strip()


def test_a_trace_goes_to_a_file(kernel):
    """`trace diff` reads its lines, and ``%rng who`` still works."""
    cells = [
        TO_FILE.format(name=name, factor=factor)
        for name, factor in (("a.trace", 2.0), ("b.trace", 3.0))
    ]
    first, second = map(kernel.run, cells)
    assert re.match(r"\d+ operations recorded in a.trace\n", first.stdout)
    assert first.results != second.results
    told = kernel.run(
        "!{__import__('sys').executable} -m ipytorchseed trace diff a.trace b.trace --json"
    ).stdout
    found = json.loads(told)["first_divergence"]
    assert (found["operation"], found["line"], found["module"]) == ("aten::mul", 3, "")
    assert found["code"] == "y = torch.ones(2, 4) * 3.0"
    who = kernel.run(f"%rng who {first.execution_count}").displays[0]["text/plain"]
    assert ["torch.cpu", "3", "1", "aten::rand", "2"] in _rows(who)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--trace /none/a.trace", "no trace can be written to /none/a.trace"),
        ("--summaries", "--summaries needs --trace FILE"),
        ("--trace --summaries", "--summaries needs --trace FILE"),
    ],
)
def test_what_cannot_be_traced_is_said_in_one_line(kernel, line, told):
    """No code of the cell has run, and settings are restored."""
    reply = kernel.run(f"%%deterministic {line}\nran = True")
    assert told in f"{reply.error.evalue if reply.error else ''}{reply.stderr}"
    assert (
        kernel.value("'ran' in globals() or torch.are_deterministic_algorithms_enabled()") is False
    )


def test_a_number_after_trace_is_the_seed(kernel):
    """This was so before the option took a file."""
    plain = kernel.run("%%deterministic 42\ntorch.rand(3)")
    assert kernel.run("%%deterministic --trace 42\ntorch.rand(3)").shown == plain.shown


def test_traces_outlive_the_kernel(loaded, traced, tmp_path):
    """They are in the ledger with their run."""
    (number,) = [run.id for run in loaded.runs() if run.execution_count == traced]
    with Kernel(tmp_path, IPYTORCHSEED_DATA_DIR=str(loaded.ledger.parent)) as later:
        later.run("%load_ext ipytorchseed")
        shown = later.run(f"%rng who #{number}").displays[0]["text/plain"]
    assert "aten::bernoulli_" in shown
