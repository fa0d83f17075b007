"""The fixes that a check names: the notebook's own code, with few edits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ipytorchseed.checking.causes import for_notebook
from ipytorchseed.checking.grading import Found
from ipytorchseed.checking.notebook import read
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.reads.seed_arguments import without_seed
from ipytorchseed.why.explanation import Blame, Cause, Change
from ipytorchseed.why.finders.operations import MENDS
from tests.checking.books import book
from tests.checking.test_remedies import library, ran  # noqa: F401 -- a fixture

DRAWS = "entropy", "numpy.random.default_rng"


@pytest.fixture
def fix(tmp_path):
    """Return the fix of a cause of the last cell of a notebook."""

    def reword(*cells, cause, fix="", rerun=False, kind="", names=None):
        notebook = read(book(tmp_path / "book", *cells))
        cell = notebook.cells[-1]
        writes = {cause[1]: Fingerprint("0" * 16, kind)}
        blame = (Blame(SimpleNamespace(cell=cell.id, writes=writes), "changed it"),) if kind else ()
        known = Cause(*cause, "it differs", fix=fix, blame=blame)
        lacking = [*without_seed(cell.source, names or {})]
        left = (Change("variable", cause[1]),) if kind else ()
        found = CellVerdict(
            cell, Found.DIFFERENT, Found.SAME, left, causes=(known,), lacking=lacking
        )
        verdict = for_notebook(notebook, Verdict(notebook.path, [found], rerun=rerun))
        return verdict.cells[0].causes[0].fix

    return reword


OURS = [
    (("rng", "numpy"), "%seed 1", "numpy.random.seed(1)"),
    (("rng", "torch.cuda:0"), "%seed 1", "torch.manual_seed(1)"),
    (("rng", "rng"), "%seed 1", "%load_ext ipytorchseed\n%seed 1"),
    (("rng", "python"), "%%deterministic 42", "random.seed(42)  # at the top of this cell"),
    (("operation", "aten::put_"), MENDS, "torch.use_deterministic_algorithms(True)"),
    (("flag", "torch.x"), "torch.x(2)", "torch.x(2)"),
]


@pytest.mark.parametrize(("cause", "ours", "plain"), OURS)
def test_plain_code_where_the_extension_is_not_loaded(fix, cause, ours, plain):
    """Magics are suggested only if the notebook loads the extension."""
    assert fix("x = 1", cause=cause, fix=ours) == plain
    assert fix("%load_ext ipytorchseed", "x = 1", cause=cause, fix=ours) == ours


def test_a_cell_that_changes_its_own_input(fix):
    """A second run would start from the first, unless the cell creates the input."""
    wanted = "create `t` in this cell, or give the changed value a new name"
    assert fix("t *= 1.8", cause=("input", "t"), kind="tensor", rerun=True) == wanted
    assert fix("t *= 1.8", cause=("input", "t"), kind="tensor") == ""


METHODS = [
    ("shuffle([1])", "pass `random_state=42` to `shuffle()`"),
    ("tree.grow(3)", "pass `seed=42` to `tree.grow()`"),
    ("tree.grow(3, 4)", ""),
    ("tree.cut(3)", ""),
]


@pytest.mark.parametrize(("cell", "wanted"), METHODS)
def test_the_seed_of_a_function_or_method(fix, library, cell, wanted):  # noqa: F811
    """The fix names the callee with the seed argument, not the generator inside it."""
    cells = "from woods import Forest, shuffle", "tree = Forest(random_state=1)", cell
    given = {"fix": "default_rng(42)", "names": ran(*cells[:2])}
    assert fix(*cells, cause=DRAWS, **given) == (wanted or "default_rng(42)")
