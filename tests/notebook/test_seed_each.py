"""``%seed each`` gives a cell the same numbers, whatever ran before it.

Different cells get different streams.
"""

from __future__ import annotations

import itertools
import re

import nbformat
import pytest
from nbconvert.preprocessors import ExecutePreprocessor

from tests.checking.books import look
from tests.forking import forking
from tests.kernel import Kernel
from tests.notebook.looking import digests

DRAW = "random.random(), np.random.rand(), torch.rand(1).item()"

# Results of cells under ``%seed each 42``, on any machine and in every version.
UNDER_42 = {
    "torch.rand(3)": "tensor([0.0080, 0.3184, 0.9186])",
    "torch.randperm(5)": "tensor([1, 4, 3, 2, 0])",
}


@pytest.fixture
def each(kernel):
    """A kernel in which the rule ends with the test."""
    yield kernel
    kernel.run("%seed off -q")


def test_cells_in_any_order_any_number_of_times_give_the_same_numbers_each(each):
    """The order of cells and draws between them do not matter."""
    told = "Each cell now starts from its own seed, derived from 42 and the cell's text"
    assert told in each.run("%seed each 42").stdout
    given = {}
    for order in (*itertools.permutations("abc"), "aaa", "cb"):
        for cell in order:
            given.setdefault(cell, set()).add(each.run(DRAW, cell).shown)
            each.run("torch.rand(7)", "another")
    assert [len(numbers) for numbers in given.values()] == [1, 1, 1]


def test_two_cells_have_different_streams(each):
    """This holds for cells with the same text, in every source."""
    each.run("%seed each 42 -q")
    drawn = [each.run(DRAW, f"cell {number}").shown.strip("()").split(", ") for number in range(20)]
    assert [len(set(column)) for column in zip(*drawn, strict=True)] == [20, 20, 20]


def test_a_cell_is_known_by_its_text_whatever_its_id(each):
    """Each opening gives the same numbers; comments and blank lines do not count."""
    each.run("%seed each 42 -q")
    first = each.run(f"{DRAW}, 'text'", "a1b2").shown
    same = f"# edited\n\n{DRAW}, 'text'  # here too\n"
    assert each.run(same, "a1b2").shown == first
    assert each.run(f"{DRAW}, 'next'", "a1b2").shown.split(",")[0] != first.split(",")[0]


def test_without_an_id_and_in_a_new_kernel_the_numbers_are_the_same(each, tmp_path):
    """Order and ids do not matter, as in a terminal and in nbconvert."""
    cells = [f"{DRAW}, {number}" for number in range(3)]
    each.run("%seed each 42 -q")
    first = {cell: each.run(cell, f"id of {cell}").shown for cell in cells}
    with Kernel(tmp_path) as other:
        other.run("%load_ext ipytorchseed\nimport random\nimport numpy as np\nimport torch")
        other.run("%seed each 42 -q")
        for cell in reversed(cells):
            assert other.run(cell).shown == first[cell]
            assert other.run(cell).shown == first[cell]


def test_cells_of_one_text_are_told_apart_in_the_order_of_their_first_run(each, tmp_path):
    """Their ids do not matter."""
    cell = f"{DRAW}, 'alike'"
    each.run("%seed each 42 -q")
    first = [each.run(cell, name).shown for name in ("a", "b", "a")]
    assert first[0] == first[2] != first[1]
    with Kernel(tmp_path) as other:
        other.run("%load_ext ipytorchseed\nimport random\nimport numpy as np\nimport torch")
        other.run("%seed each 42 -q")
        colab = [{"colab": {"cell_id": name}} for name in ("Xy1", "Xy2", "Xy1")]
        assert [other.run(cell, metadata=sent).shown for sent in colab] == first


def test_another_seed_gives_every_cell_other_numbers(each):
    """Seeds are derived from the common seed."""
    drawn = [each.run(f"%seed each {seed} -q") and each.run(DRAW, "a").shown for seed in (1, 2, 1)]
    assert drawn[0] == drawn[2] != drawn[1]


def test_the_numbers_are_the_same_in_every_kernel(each, tmp_path):
    """A cell's seed depends only on the common seed and the cell's text."""
    cell = f"{DRAW}, 'every kernel'"
    with Kernel(tmp_path) as other:
        other.run("%load_ext ipytorchseed\nimport random\nimport numpy as np\nimport torch")
        other.run("%seed each 42 -q")
        each.run("%seed each 42 -q")
        assert other.run(cell, "a1b2").shown == each.run(cell, "c3d4").shown


def test_same_gives_every_cell_the_seed_itself(each):
    """With ``--same``, python, numpy and torch draw from that seed in each cell."""
    by_hand = each.run(f"%seed 42 -q\n{DRAW}").shown
    assert "every source is seeded with 42" in each.run("%seed each 42 --same").stdout
    assert {each.run(DRAW, name).shown for name in ("a", "b", "c")} == {by_hand}


def test_off_ends_it(each):
    """Later cells continue from the current states."""
    each.run("%seed each 42 -q")
    assert each.run("%seed off").stdout == "Cells are no longer seeded.\n"
    assert each.run(DRAW, "a").shown != each.run(DRAW, "a").shown
    assert each.run("%seed off").stdout == "%seed each was not on.\n"


def test_the_cell_that_sets_the_rule_is_not_seeded(each):
    """The rule applies to later cells."""
    each.run("%seed 7 -q")
    before = digests(each)
    each.run("%seed each 42")
    assert digests(each) == before


def test_a_run_inside_a_cell_is_not_seeded_again(each):
    """Otherwise two draws of one cell would be equal."""
    each.run("%seed each 42 -q")
    nested = "get_ipython().run_cell('print(torch.rand(1).item())');"
    printed = each.run(f"{nested}\n{nested}\n{nested}", "a").stdout.split()
    assert len(set(printed)) == 3


@pytest.mark.parametrize("above", ["%%capture out\n", "%%time\n", "%%deterministic\n"])
def test_a_cell_magic_above_changes_nothing(each, above):
    """The cell is seeded once, before all of its code."""
    each.run("%seed each 42 -q")
    each.run(f"r = {DRAW}", "a")
    expected = each.value("repr(r)")
    each.run(f"{above}r = {DRAW}", "a")
    assert each.value("repr(r)") == expected


def test_a_seed_in_the_cell_comes_after_the_cells_own(each):
    """``%seed`` and ``%%deterministic`` with a seed take precedence in their cell."""
    by_hand = each.run(f"%seed 9 -q\n{DRAW}").shown
    each.run("%seed each 42 -q")
    assert each.run(f"%seed 9 -q\n{DRAW}", "a").shown == by_hand
    assert each.run(f"%%deterministic 9\n{DRAW}", "a").shown == by_hand


def test_a_silent_run_is_not_seeded(each):
    """A front end's silent requests are not cells."""
    each.run("%seed each 42 -q")
    each.run("pass", "a")
    before = digests(each)
    each.run("pass", "b", silent=True)
    assert digests(each) == before


def test_a_variable_may_give_the_seed(each):
    """It is read once, when the rule is set."""
    each.run("n = 42\n%seed each $n -q\nn = 43")
    first = each.run(DRAW, "a").shown
    each.run("%seed each 42 -q")
    assert each.run(DRAW, "a").shown == first


def test_the_status_tells_the_rule_and_the_cells_seed(each):
    """The last seed is the one of the cell."""
    each.run("%seed each 42 -q")
    (shown,) = each.run("%seed", "a").displays
    text = " ".join(shown["text/plain"].split())
    assert "Each cell now starts from its own seed, derived from 42 and the cell's text." in text
    seed = re.search(r"Last seed: (\d+)\.", text).group(1)
    assert text.count(f"seed {seed}") == 3


def test_a_source_that_cannot_be_seeded_never_stops_a_cell(each):
    """The error is reported once; this cell and later ones run."""
    each.run(
        "import ipytorchseed as its\n"
        "its.register_source('broken', seed=lambda n: 1 / 0, read=bytes, write=bytes)"
    )
    each.run("%seed each 42 -q")
    replies = [each.run("'ran'", name) for name in ("a", "b", "b")]
    each.run("from tests.rng.known import forget_source\nforget_source('broken')")
    assert [(reply.status, reply.shown) for reply in replies] == [("ok", "'ran'")] * 3
    told = "".join(reply.stderr for reply in replies)
    assert told.count("ZeroDivisionError") == 1
    assert "%unload_ext ipytorchseed" in told


def test_each_cell_has_its_numbers_in_nbconvert_and_in_check(tmp_path):
    """Other cells ran before, in another order, and ids differ."""
    told = tmp_path / "told"
    tell = f"with open({str(told)!r}, 'a') as file: print(_, file=file)"
    sources = ["%load_ext ipytorchseed", "import torch; torch.rand(7);", "%seed each 42"]
    sources += [source for cell in reversed(UNDER_42) for source in (cell, tell)]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in sources])
    path = tmp_path / "book.ipynb"
    nbformat.write(book, path)
    with forking():
        ExecutePreprocessor(timeout=250).preprocess(book, {"metadata": {"path": str(tmp_path)}})
    first = told.read_text("utf-8")
    assert first == "".join(f"{numbers}\n" for numbers in reversed(UNDER_42.values()))
    told.unlink()
    assert look(path)[0].reproducible
    # Both runs of a check append to this file, each from its own kernel at its own pace.
    assert sorted(told.read_text("utf-8").splitlines()) == sorted(2 * first.splitlines())
