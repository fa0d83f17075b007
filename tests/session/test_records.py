"""The ledger's record of a run: states, settings, values read and set, its end."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
import torch

from ipytorchseed.ledger.store import Ledger
from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import register_source
from tests.session.conftest import Notebook


def test_a_run_tells_which_cell_it_was_and_how_it_ended(notebook):
    """The record has the text, number, kernel, times and status."""
    run = notebook.run("x = 1", cell="a1")
    assert (run.cell, run.source, run.execution_count, run.status) == ("a1", "x = 1", 1, "ok")
    assert (run.notebook, run.kernel) == ("here.ipynb", notebook.session.kernel)
    assert 0 <= run.seconds < 60
    assert run.id == 1
    assert notebook.session.ledger.run(1) == run


def test_states_before_and_after(torch_names):
    """Changed states differ, and full states are stored and can be restored."""
    run = torch_names.run("random.random(); np.random.rand()")
    moved = {name for name in run.before if run.before[name] != run.after[name]}
    assert (set(run.before), moved) == ({"python", "numpy", "torch.cpu"}, {"python", "numpy"})
    states = torch_names.session.ledger.states([*run.before.values(), *run.after.values()])
    assert {digest(state) for state in states.values()} == {
        *run.before.values(),
        *run.after.values(),
    }


def test_the_time_spent_looking_is_not_the_cells(notebook, monkeypatch):
    """The clock starts after the inputs were inspected."""
    look = notebook.session.variables.look

    def look_slowly(*arguments):
        time.sleep(0.1)
        return look(*arguments)

    monkeypatch.setattr(notebook.session.variables, "look", look_slowly)
    notebook.names["value"] = [1.0]
    began = time.perf_counter()
    run = notebook.run("value")
    assert "value" in run.reads
    assert run.seconds <= time.perf_counter() - began - 0.1


GENERATORS = {
    "numpy": ("g = np.random.default_rng(0)", "g.random()", "numpy.random.Generator"),
    "legacy": ("g = np.random.RandomState(0)", "g.rand()", "numpy.random.RandomState"),
    "python": ("g = random.Random(0)", "g.random()", "random.Random"),
    "torch": ("g = torch.Generator()", "torch.rand(1, generator=g)", "torch.Generator"),
}


@pytest.mark.parametrize(("make", "draw", "kind"), GENERATORS.values(), ids=GENERATORS)
def test_a_generator_is_there_after_the_run_that_makes_it(torch_names, make, draw, kind):
    """Later runs have it before and after, even if they do not name it.

    This ends when it is deleted.
    """
    made = torch_names.run(make)
    idle = torch_names.run("1")
    drew = torch_names.run(draw)
    gone = torch_names.run("del g")
    after = torch_names.run("1")
    assert "g" not in made.before
    assert made.generators == {"g": kind}
    assert idle.before["g"] == idle.after["g"] == made.after["g"]
    assert drew.before["g"] != drew.after["g"]
    assert gone.before["g"] == drew.after["g"]
    assert "g" not in {**gone.after, **after.before, **after.generators}


def test_generators_are_found_wherever_they_appear(torch_names):
    """As attributes, in containers, by exec, or under another name.

    One object is listed once.
    """
    torch_names.run("class Data: pass\nds = Data()")
    run = torch_names.run("ds.rng = np.random.default_rng(1)\nrngs = {'a': random.Random(2)}")
    assert {*run.generators} == {"ds.rng", "rngs['a']"}
    run = torch_names.run("exec('h = torch.Generator()')")
    assert {*run.generators} == {"ds.rng", "rngs['a']", "h"}
    run = torch_names.run("also = h")
    assert {*run.generators} == {"ds.rng", "rngs['a']", "h"}


def test_generators_that_were_there_first_are_known_from_the_first_cell(notebook):
    """The extension may be loaded late."""
    notebook.names.update(random=random, g=random.Random(3))
    run = notebook.run("1 + 1")
    assert [*run.generators] == ["g"]


def test_a_generator_that_only_a_function_names_has_a_state_before(notebook):
    """It appeared between cells, and the cell reaches it through a function."""
    notebook.run("def draw():\n    return g.random()")
    notebook.names["g"] = random.Random(3)
    run = notebook.run("draw()")
    assert run.before["g"] != run.after["g"]


def test_a_generator_deep_in_what_a_cell_reads_is_kept_in_full(torch_names):
    """It can be restored."""
    run = torch_names.run("g = np.random.default_rng(0)")
    kept = torch_names.session.ledger.states([run.after["g"]])
    assert len(kept) == 1


def test_settings_are_those_of_the_beginning(torch_names, monkeypatch):
    """They are flags, environment variables and versions."""
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    threads = torch.get_num_threads()
    run = torch_names.run(f"torch.set_num_threads({threads + 1})")
    later = torch_names.run("1")
    torch.set_num_threads(threads)
    assert run.settings["torch.num_threads"] == threads
    assert later.settings["torch.num_threads"] == threads + 1
    assert later.settings["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert later.settings["torch"] == torch.__version__
    assert later.settings["torch.default_dtype"] == "torch.float32"


@pytest.mark.parametrize("cell", ["x = 1", "names = ['a', 'b']", "def f(x):\n    return x + y"])
def test_on_a_cell_that_runs_no_code_no_setting_bears(cell, torch_names):
    """Only versions and hardware are recorded."""
    run = torch_names.run(cell)
    assert run.settings["torch"] == torch.__version__
    assert not {"torch.num_threads", "PYTHONHASHSEED", "folder"} & run.settings.keys()
    assert not run.reads


def test_what_a_cell_reads_is_recorded_as_it_was_when_it_began(notebook):
    """It reads directly or through calls. Numbers are stored, other contents are not."""
    notebook.run("x = 2\nxs = [1.5, 2.5]\nsecret = 'swordfish'\ndef f():\n    return x")
    run = notebook.run("xs.append(f())\nsecret;")
    assert {*run.reads} == {"xs", "f", "x", "secret"}
    assert run.reads["xs"].series == (1.5, 2.5)
    assert run.writes["xs"].series == (1.5, 2.5, 2.0)
    assert run.reads["x"].series == (2.0,)
    assert "swordfish" not in repr(run.reads)


def test_names_of_the_shell_are_no_variables(notebook):
    """Results and texts of earlier cells count as variables.

    Other names of the shell do not.
    """
    notebook.names.update(_=3, __=4, _5=6, _i="x", Out={})
    run = notebook.run("_, __, _5, _i, In, Out, get_ipython")
    assert ({*run.reads}, run.writes) == ({"_", "__", "_5", "_i", "In", "Out"}, {})


def test_the_result_is_recorded(torch_names):
    """Equal results have equal digests; None has no record."""
    first = torch_names.run("torch.arange(3) * 2")
    second = torch_names.run("torch.tensor([0, 2, 4])")
    other = torch_names.run("torch.tensor([0, 2, 5])")
    assert (
        first.outputs.result.digest == second.outputs.result.digest != other.outputs.result.digest
    )
    assert torch_names.run("None").outputs.result is None


def test_what_a_failed_cell_did_not_come_to_set_is_not_its_doing(notebook):
    """The name has the value of an earlier cell.

    What was set before the error is recorded.
    """
    notebook.run("made = [1]; number = 1")
    cell = "number = 1; rows = [2]; 1 / 0; made = [3]"
    for _ in range(2):
        assert {*notebook.run(cell).writes} == {"number", "rows"}
    assert {*notebook.run("number = 1; rows = [2]; made = [3]").writes} == {
        "number", "rows", "made"
    }  # fmt: skip


def test_an_error_is_recorded_without_addresses(notebook):
    """Equal errors are equal, and what was set before is recorded."""
    cell = "made = 3\nraise ValueError(f'no {object()}')"
    first, second = notebook.run(cell), notebook.run(cell)
    assert first.status == "error"
    assert first.outputs.error == second.outputs.error == "ValueError: no <object object at>"
    assert first.writes["made"].series == (3.0,)


def test_a_cell_that_does_not_parse_leaves_a_record(notebook):
    """It read and set nothing."""
    run = notebook.run("if")
    assert (run.status, run.reads, run.writes) == ("error", {}, {})


def test_draws_between_cells_are_told_apart_from_those_of_cells(torch_names):
    """The record has both states.

    The second cell afterwards does not report it again.
    """
    first = torch_names.run("1")
    random.random()
    torch.rand(1)
    second, third = torch_names.run("2"), torch_names.run("3")
    assert second.between == {
        name: (first.after[name], second.before[name]) for name in ("python", "torch.cpu")
    }
    assert (first.between, third.between) == ({}, {})


def test_seeding_for_each_cell_is_nothing_between(torch_names):
    """It belongs to the run, but earlier changes are still reported."""
    torch_names.run("1")
    run = torch_names.run("2", prepare=lambda: random.seed(5))
    assert run.between == {}
    random.random()
    run = torch_names.run("3", prepare=lambda: random.seed(5))
    assert [*run.between] == ["python"]
    assert run.between["python"][1] != run.before["python"]


def test_a_source_that_cannot_be_read_is_noted_and_hides_nothing(notebook):
    """The record has its error.

    Other sources are recorded, and the cell is still prepared.
    """

    def read():
        msg = "no dice"
        raise OSError(msg)

    register_source("dice", seed=int, read=read, write=int)
    prepared = []
    run = notebook.run("x = 1", prepare=lambda: prepared.append(1))
    assert prepared == [1]
    assert "python" in run.before
    assert "dice" not in run.before
    assert run.notes == ("dice cannot be read: OSError: no dice",)


def test_seeds_applied_in_a_run_are_logged_with_it(notebook):
    """Seeds between runs are logged without a run."""
    session = notebook.session
    notebook.names["seed"] = lambda: session.log_seed(42, "now")
    run = notebook.run("seed()", cell="a1")
    session.log_seed(43, "new")
    assert run.seeds == ((42, "now"),)
    logged = [(e.seed, e.how, e.execution_count, e.cell) for e in session.ledger.seeds()]
    assert logged == [(42, "now", 1, "a1"), (43, "new", None, None)]


def test_names_to_ignore_are_not_looked_at(put_back):
    """They are not among the reads, the writes or the generators."""
    notebook = Notebook(ignore=frozenset({"large", "g"}))
    notebook.run("import random\nlarge = [1]\ng = random.Random(2)\nx = 1")
    run = notebook.run("large.append(g.random())\nx")
    assert ({*run.reads}, run.writes) == ({"x"}, {})
    assert run.generators == {}


def test_without_tracking_nothing_is_recorded_and_cells_are_still_prepared(put_back):
    """Seeding before each cell continues."""
    notebook = Notebook(tracking=False)
    prepared = []
    assert notebook.run("x = 1", prepare=lambda: prepared.append(1)) is None
    assert (prepared, notebook.session.ledger.counts().runs) == ([1], 0)


class Key(str):
    """A key that must not be hashed or compared once it is in a namespace."""

    __slots__ = ()
    awake = False

    def __hash__(self):
        assert not Key.awake
        return 1

    def __eq__(self, other):
        raise AssertionError


def test_names_that_are_no_plain_text_are_passed_over(put_back, monkeypatch):
    """They are not compared, as this would run user code."""
    notebook = Notebook()
    notebook.run("x = [1]")
    notebook.names[Key("odd")] = [3]
    monkeypatch.setattr(Key, "awake", True)
    assert {*notebook.run("y = x").writes} == {"y"}
    assert {*notebook.run("import random\nr = random.Random(3)\nr.random()").writes} == {"r"}
    assert {*notebook.run("r.random(), x").reads} == {"r", "x"}


META = """
class Meta(type):
    __hash__ = None
    def __eq__(self, other): raise RuntimeError("compared")
class A(metaclass=Meta):
    __slots__ = ("x", "__dict__")
    def f(self): return limit
limit, a = 3, A()
"""


def test_classes_that_cannot_be_hashed_or_compared(put_back):
    """Cells that create, read and change them are recorded as usual."""
    notebook = Notebook()
    assert {*notebook.run(META).writes} == {"Meta", "A", "limit", "a"}
    assert {*notebook.run("a.f(), A").reads} == {"a", "A", "Meta", "limit"}
    assert "a" in notebook.run("a.x = [2]").writes
    assert notebook.run("1 / 0\na = A()").status == "error"
    assert {*notebook.run("a.f()").reads} >= {"a", "limit"}


def test_where_the_budget_is_spent_the_record_says_so(put_back):
    """Large values are sampled.

    The cell is not reported to have changed what it read.
    """
    notebook = Notebook(budget=0.0)
    notebook.names["a"] = np.zeros(1 << 22)
    run = notebook.run("a.sum()")
    assert run.reads["a"].exact is False
    assert "a" not in run.writes


def test_equal_runs_have_equal_records(put_back):
    """This excludes number, kernel and times, and ignores the history of the process."""
    records = []
    for _ in range(2):
        notebook = Notebook()
        random.seed(3)
        notebook.run("import random\nx = {'b': [1, 2.5], 'a': (None, 'text')}")
        run = notebook.run("y = [random.random(), x]\ny")
        records.append((run.before, run.after, run.reads, run.writes, run.outputs, run.code))
    assert records[0] == records[1]


def test_a_closed_session_looks_at_nothing(notebook):
    """Its ledger is closed, too."""
    notebook.session.begin_cell("a", "x = 1", 1, notebook.names)
    notebook.session.close()
    assert notebook.session.end_cell(notebook.names) is None


def test_runs_can_be_asked_for_by_another_process_at_once(tmp_path, put_back):
    """A run that ``end_cell`` returned is on disk."""
    notebook = Notebook(Ledger.open(tmp_path / "ledger.sqlite"))
    run = notebook.run("x = 1")
    with Ledger.open(tmp_path / "ledger.sqlite", read_only=True) as ledger:
        assert ledger.run(run.id) == run
    notebook.session.close()


def test_the_notebooks_file_is_read_once_for_a_cell(notebook):
    """It may be large or on a network, and front ends save it again and again."""
    read = []

    def saved(ident):
        read.append(ident)
        return frozenset({ident})

    for _ in range(3):
        assert notebook.session.cell_of("first", "x = 1", saved) == "first"
    assert notebook.session.cell_of("second", "x = 1", saved) == "second"
    assert read == ["first", "second"]


def test_a_rank_is_known_from_the_first_cell_on_whatever_that_is(notebook, monkeypatch):
    """A launcher has set it before. Its runs have their own key."""
    assert notebook.run("x = 1").notebook == notebook.session.notebook
    monkeypatch.setattr(notebook.session, "_find_rank", lambda: 3)
    assert notebook.run("print(x)").notebook == f"{notebook.session.notebook}, rank 3"
    monkeypatch.setattr(notebook.session, "_find_rank", lambda: None)
    assert notebook.run("x = 1").notebook == f"{notebook.session.notebook}, rank 3"
