"""What a run set or changed, under any name, without blaming other runs for it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from ipytorchseed.session import variables
from tests.session.conftest import Notebook

IN_PLACE = {
    "append": ("x = [1]", "x.append(2)"),
    "item": ("x = {'a': 1}", "x['a'] = 2"),
    "augmented": ("x = [1]", "x += [2]"),
    "method": ("class A:\n    def go(self):\n        self.n = 2\nx = A()\nx.n = 1", "x.go()"),
    "attribute": ("class A: pass\nx = A()\nx.n = 1", "x.n = 2"),
    "tensor": ("x = torch.ones(3)", "x.add_(1)"),
    "data": ("x = torch.ones(3)", "x.data[1] = 5"),
    "shared memory": ("a = np.ones(3)\nx = torch.from_numpy(a)", "a[0] = 7"),
    "view": ("x = torch.ones(4)\nv = x[2:]", "v.zero_()"),
    "array": ("x = np.ones(3)", "x[0] = 4"),
    "train mode": ("x = nn.Dropout()", "x.eval()"),
    "optimizer": (
        "x = nn.Linear(2, 1)\nopt = torch.optim.SGD(x.parameters(), 0.1)\n"
        "x(torch.ones(2)).backward()",
        "opt.step()",
    ),
    "function": ("x = [1]\ndef f():\n    x.append(2)", "f()"),
    "argument": ("x = [1]\ndef f(y):\n    y.append(2)", "f(x)"),
    "alias": ("x = [1]\ny = x", "y.append(2)"),
    "inside another": ("x = [1]\nd = {'x': x}", "d['x'].append(2)"),
    "sorted": ("x = [2, 1]", "x.sort()"),
    "deleted item": ("x = {'a': 1, 'b': 2}", "del x['a']"),
}


@pytest.mark.parametrize(("make", "change"), IN_PLACE.values(), ids=IN_PLACE)
def test_a_change_in_place_is_the_runs(torch_names, make, change):
    """Any name may be used. Later runs, which change nothing, do not report it."""
    torch_names.run(make)
    run = torch_names.run(change)
    assert "x" in run.writes
    for cell in ("print", "import time\ntime.sleep(0.02)", "x;", "1"):
        assert "x" not in torch_names.run(cell).writes


REBOUND = {
    "statement": "x = 2",
    "exec": "exec('x = 2')",
    "globals": "globals()['x'] = 2",
    "function": "def f():\n    global x\n    x = 2\nf()",
    "loop": "for x in range(3): pass",
    "with": "import contextlib\nwith contextlib.nullcontext(2) as x: pass",
    "walrus": "(x := 2)",
    "import": "import math as x; x = 2",
    "unpacked": "x, *rest = 2, 3",
}


@pytest.mark.parametrize("cell", REBOUND.values(), ids=REBOUND)
def test_a_name_bound_is_the_runs(notebook, cell):
    """Its text may not name it."""
    notebook.run("x = 1")
    run = notebook.run(cell)
    assert run.writes["x"].series == (2.0,)
    assert "x" not in notebook.run("print").writes


def test_a_name_bound_by_one_cell_is_not_that_of_the_next(notebook):
    """Nor is a name that a callback binds between the cells."""
    assert "x" in notebook.run("x = [1]").writes
    assert notebook.run("print(1)").writes == {}
    notebook.names["came"] = [2]
    assert notebook.run("print(2)").writes == {}
    assert notebook.run("print(came)").writes == {}


def test_what_was_there_before_the_first_cell_is_not_its_making(notebook):
    """The extension may be loaded late."""
    notebook.names.update(x=[1], y=2)
    assert notebook.run("print(1)").writes == {}


def test_a_change_that_nobody_looked_for_in_time_is_nobodys(notebook):
    """It happened between two cells, so the run afterwards is not blamed."""
    notebook.run("x = [1]")
    notebook.run("x = 1\nx = [1]")
    run = notebook.run("y = 1")
    notebook.names["x"].append(2)
    notebook.run("z = 1")
    assert "x" not in run.writes


def test_an_exhausted_budget_accuses_nobody(put_back):
    """If a value was inspected fully and then only sampled, the answer is unknown."""
    notebook = Notebook(budget=0.05)
    notebook.names["a"] = np.arange(1 << 21, dtype=float)
    notebook.names["many"] = [{str(n): [n]} for n in range(100_000)]
    for _ in range(3):
        run = notebook.run("len(a), len(many)")
        assert run.writes == {}


def test_modules_are_not_made(notebook):
    """An import binds a name to a module, which is recorded by its version."""
    assert notebook.run("import math, os.path as p\nfrom math import pi").writes.keys() == {"pi"}


def test_what_was_deleted_is_not_looked_for_again(notebook):
    """Later runs behave as if it had never existed."""
    notebook.run("x = [1]")
    assert notebook.run("del x").writes == {}
    assert notebook.run("print(1)").writes == {}


def test_many_variables_are_all_kept_an_eye_on_in_turn(notebook):
    """If there is no time to inspect all after each run, they take turns."""
    notebook.run("\n".join(f"v{n} = [{n}]" for n in range(300)))
    for _ in range(40):
        notebook.run("v0.append(1)")
    known = notebook.session.variables._known
    assert len(known) == 300
    assert {each.round for each in known.values()} != {0}


def test_names_of_a_library_are_not_looked_at_again(notebook):
    """After a star import, only the cell's own variables take turns."""
    notebook.run("from json import *\nfrom textwrap import *\nfrom fractions import Fraction")
    notebook.run("mine = [1]")
    assert {*notebook.session.variables._known} == {"mine"}


def test_another_name_of_what_the_cell_changed_takes_no_time(notebook):
    """This holds even if fingerprinting it would take long."""
    notebook.run("import time\ny = x = [str(n) for n in range(200_000)]\nx;")
    notebook.run("len(x)")
    assert {"x", "y"} <= notebook.run("y[0] = 'a'").writes.keys()


def test_a_local_modules_attribute_that_the_cell_changes_is_found(notebook, tmp_path, monkeypatch):
    """It is read as ``helper.state``."""
    (tmp_path / "helper_of_a_test.py").write_text("state = [1]\ndef go():\n    state.append(2)\n")
    monkeypatch.syspath_prepend(tmp_path)
    notebook.run("import helper_of_a_test as h")
    run = notebook.run("h.go()")
    assert run.writes["helper_of_a_test.state"].series == (1.0, 2.0)


def test_of_too_many_variables_those_named_by_the_cell_are_looked_at(notebook, monkeypatch):
    """The record says that there were more.

    A generator among the others is not found.
    """
    monkeypatch.setattr(variables, "MOST_NAMES", 5)
    run = notebook.run("z = [1]\nfor n in range(9): globals()[f'v{n}'] = [n]")
    assert {"z", "v0"} <= run.writes.keys()
    assert len(run.writes) == 5
    assert any("too many variables" in note for note in run.notes)


def test_results_that_the_shell_keeps_are_no_change_of_a_run(notebook):
    """Each result makes ``Out`` grow, which matters once a cell has read it."""
    notebook.names["Out"] = {1: 2}
    notebook.run("n = len(Out)")
    notebook.names["Out"][2] = 3
    assert set(notebook.run("from operator import add\nx = exec('y = 1')").writes) == {
        "add",
        "x",
        "y",
    }


def test_a_change_after_such_runs_is_still_the_runs_that_made_it(notebook):
    """The variable was inspected after each of those runs, which did not change it."""
    notebook.run("pile = [1]\nput = pile.append")
    for _ in range(3):
        assert notebook.run("print(1)").in_place == ()
    assert "pile" in notebook.run("put(2)").in_place


def test_a_function_put_in_place_of_a_packages_may_be_called_from_anywhere(
    torch_names, monkeypatch
):
    """It may change anything in a cell that does not name it."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    torch_names.run(
        "import warnings\npile = [1]\nwarnings.showwarning = lambda *_, **__: pile.append(1)"
    )
    assert "pile" in torch_names.run("np.log(np.array([-1.0]))").in_place
