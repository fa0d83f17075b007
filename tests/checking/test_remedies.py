"""Which edits are proposed for which cause, and when none are.

No kernel runs.
"""

from __future__ import annotations

import json
import sys

import pytest

from ipytorchseed.checking.grading import Found
from ipytorchseed.checking.notebook import read
from ipytorchseed.checking.program import Program, edit_text
from ipytorchseed.checking.remedies import UNRECORDED, FixTarget, chosen_seed, obstacle, propose
from ipytorchseed.checking.verdict import CellVerdict
from ipytorchseed.reads.seed_arguments import without_seed
from ipytorchseed.why.explanation import Cause
from tests.checking.books import book

HASH = ("environment", "PYTHONHASHSEED")
NP = "import numpy as np\n"


@pytest.fixture
def target(tmp_path):
    """Make a target: the last cell, or the one with this index, differs for a cause."""

    def make(*cells, cause=None, at=-1, made=None, wrote=None, names=None):
        notebook = read(book(tmp_path / "book", *cells))
        program = Program(notebook)
        cell = program.codes[at].cell
        found = CellVerdict(cell, Found.DIFFERENT, Found.SAME)
        known = UNRECORDED if cause is None else Cause(*cause, "it differs")
        others = [
            CellVerdict(
                code.cell,
                Found.SAME,
                Found.SAME,
                wrote=((wrote or {}).get(code.cell.index, ""),),
                lacking=[*without_seed(code.cell.source, names or {})],
            )
            for code in program.codes
        ]
        seed = chosen_seed(program)
        return FixTarget(
            program, found, known, seed, lambda name: (made or {}).get(name, ""), others
        )

    return make


LIBRARY = """\
class Forest:
    def __init__(self, trees=10, kernel="", *, random_state=None): pass
    def grow(self, years=1, seed=None): pass
    def cut(self, trees=1): pass
def shuffle(*arrays, random_state=None): pass
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library ``woods`` whose class, functions and methods take a seed."""
    (tmp_path / "woods.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("woods", None)


def ran(*cells):
    """Run cells in this process, and return the names that they leave."""
    names = {}
    for cell in cells:
        exec(cell, names)  # noqa: S102 -- a test's own text
    return names


def results(target):
    """Return the text of the edited cells, for each proposed set of edits."""
    sources = {code.cell.index: code.cell.source for code in target.program.codes}
    return [
        {
            index: edit_text(sources[index], [each for each in edits if each.cell.index == index])
            for index in {each.cell.index for each in edits}
        }
        for edits in propose(target)
    ]


SEEDED = [
    ("torch.cpu", "import torch", "import torch\ntorch.manual_seed(42);"),
    ("torch.cuda:0", "import torch as t  # it", "import torch as t  # it\nt.manual_seed(42);"),
    ("torch.cpu", "from torch import nn", "from torch import nn\nimport torch\ntorch.manual_seed(42);"),
    ("torch.cpu", "import torch\nx = torch.rand(1)", "import torch\ntorch.manual_seed(42)\nx = torch.rand(1)"),
    ("numpy", "import numpy as np, torch\nx = 1", "import numpy as np, torch\nnp.random.seed(42)\nx = 1"),
    ("numpy", "from numpy import random", "from numpy import random\nrandom.seed(42)"),
    ("numpy", "from numpy.random import seed, rand", "from numpy.random import seed, rand\nseed(42)"),
    ("python", "from random import choice", "from random import choice\nimport random\nrandom.seed(42)"),
    ("python", "import random; x = random.random()", "import random; random.seed(42); x = random.random()"),
    ("python", "import os\n%matplotlib inline\nimport random\n%pylab", "import os\n%matplotlib inline\nimport random\nrandom.seed(42)\n%pylab"),
    ("numpy", "%%time\nimport numpy\nnumpy.ones(3)", "%%time\nimport numpy\nnumpy.random.seed(42)\nnumpy.ones(3)"),
    ("numpy", "try:\n    import numpy\nexcept ImportError:\n    pass\n'é'", "try:\n    import numpy\nexcept ImportError:\n    pass\nnumpy.random.seed(42)\n'é'"),
    ("numpy", "import sklearn", "import sklearn\nimport numpy\nnumpy.random.seed(42)"),
    ("python", "import os\nfrom numpy import random", "import os\nfrom numpy import random\nimport random as _random\n_random.seed(42)"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "imports", "wanted"), SEEDED, ids=range(len(SEEDED)))
def test_a_source_is_seeded_where_its_library_is_imported(target, source, imports, wanted):
    """With the notebook's names, after the imports, before any possible draw."""
    first, *_ = results(target(imports, "draw()", cause=("rng", source)))
    assert first == {0: wanted}


def test_a_source_is_seeded_again_where_a_cell_draws(target):
    """It is the second try, if seeding after the import does not help."""
    found = results(target("import torch", "!ls\ny = 1", cause=("rng", "torch.cpu")))
    assert found[1] == {1: "import torch\ntorch.manual_seed(42)\n!ls\ny = 1"} or found[1] == {
        1: "torch.manual_seed(42)\n!ls\ny = 1"
    }
    assert len(found) == 2


def test_the_notebooks_own_seed_is_taken(target):
    """All seeds use the user's number, if a source is seeded with one."""
    cells = "import torch, numpy as np", "np.random.rand()", "torch.manual_seed(7)"
    first, *_ = results(target(*cells, at=1, cause=("rng", "numpy")))
    assert first == {0: "import torch, numpy as np\nnp.random.seed(7)"}


GENERATORS = [
    ("numpy.random.default_rng", NP + "r = np.random.default_rng()", NP + "r = np.random.default_rng(42)"),
    ("numpy.random.default_rng", "from numpy.random import default_rng as d\nr, s = d(None), d(seed=None)", "from numpy.random import default_rng as d\nr, s = d(42), d(seed=43)"),
    ("numpy.random.RandomState", NP + "r = np.random.RandomState( )", NP + "r = np.random.RandomState( 42)"),
    ("numpy.random.PCG64", NP + "r = np.random.Generator(np.random.PCG64())", NP + "r = np.random.Generator(np.random.PCG64(42))"),
    ("random.Random", "import random\n'é', random.Random()", "import random\n'é', random.Random(42)"),
    ("random.seed", "import random\nrandom.seed()", "import random\nrandom.seed(42)"),
    ("random.Random", "import random\nr = [random.Random() for _ in range(3)]", "import random\nrandom.seed(42)\nr = [random.Random(random.getrandbits(32)) for _ in range(3)]"),
    ("numpy.random.default_rng", NP + "def make():\n    return np.random.default_rng()", NP + "np.random.seed(42)\ndef make():\n    return np.random.default_rng(np.random.randint(2**31))"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "cell", "wanted"), GENERATORS, ids=range(len(GENERATORS)))
def test_what_asks_the_system_for_a_seed_is_given_one(target, name, cell, wanted):
    """Each call gets another one; repeated calls draw theirs from a seeded source."""
    first, *_ = results(target(cell, cause=("entropy", name)))
    assert first == {0: wanted}


def test_a_function_of_an_earlier_cell(target):
    """It is edited in that cell."""
    cells = "import random", "def begin():\n    random.seed()", "begin()"
    assert results(target(*cells, cause=("entropy", "random.seed"))) == [
        {1: "def begin():\n    random.seed(42)"}
    ]


ORDERS = [
    ("for x in set(names): print(x)", "for x in sorted(set(names)): print(x)"),
    ("list({*names})", "list(sorted({*names}))"),
    ("s = set(names)\nprint(*s, 'a' in s, len(s))", "s = set(names)\nprint(*sorted(s), 'a' in s, len(s))"),
    ("{n: i for i, n in enumerate(set(names) - {'a'})}", "{n: i for i, n in enumerate(sorted(set(names) - {'a'}))}"),
    ("', '.join(seen.union(names))", "', '.join(sorted(seen.union(names)))"),
    ("[x for x in seen if x]  # é", "[x for x in sorted(seen) if x]  # é"),
    ("f'{seen}'", "f'{sorted(seen)}'"),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "wanted"), ORDERS, ids=range(len(ORDERS)))
def test_a_set_whose_order_counts_is_sorted(target, cell, wanted):
    """Membership tests and lengths are left alone."""
    first, second = results(target("seen = {'a', 'b'}", cell, cause=HASH))
    assert first == {1: wanted}
    assert "key=str)" in second[1]


CALM = [
    "len(seen), 'a' in seen, sorted(seen), seen == other, max(seen)",
    "len(set(seen)), isinstance(seen, set)",
    "for x in ['a', 'b']: seen.add(x)",
]


@pytest.mark.parametrize("cell", CALM)
def test_a_set_whose_order_does_not_count(target, cell):
    """Nothing is proposed; the kernel with a hash seed is mentioned."""
    there = target("seen = {'a', 'b'}", cell, cause=HASH)
    assert propose(there) == []
    assert "kernel install" in obstacle(there)


def test_listings_are_sorted(target):
    """The cell differs without a recorded cause.

    Sorted listings stay as they are.
    """
    cell = (
        "import os, glob\nfrom pathlib import Path\nfor f in Path('.').iterdir(): print(f)\n"
        "list(Path('.').glob('*')), os.listdir(), sorted(glob.glob('*')), len(os.listdir('.'))"
    )
    first, *_ = results(target(cell))
    assert first[0].splitlines()[2:] == [
        "for f in sorted(Path('.').iterdir()): print(f)",
        "list(sorted(Path('.').glob('*'))), sorted(os.listdir()), sorted(glob.glob('*')),"
        " len(os.listdir('.'))",
    ]


def test_a_class_that_takes_a_seed_of_its_own(target, library):
    """Under its own argument name; calls that may have a seed are left alone."""
    imports = "from woods import Forest, shuffle\nimport random\nstate, more = 3, {}"
    cell = (
        "Forest(), Forest(trees=2,), Forest(random_state=None), shuffle([1], [2])\n"
        "Forest(random_state=state), Forest(**more), dict(a=1), random.Random(state)"
    )
    assert results(target(imports, cell, names=ran(imports))) == [
        {
            1: "Forest(random_state=42), Forest(trees=2, random_state=43), Forest(random_state=None),"
            " shuffle([1], [2], random_state=44)\n" + cell.split("\n")[1]
        }
    ]


def test_a_function_of_a_library_that_seeds_by_itself(target, library):
    """Only the named function gets a seed.

    If the cell calls it by another name, all calls that accept one do.
    """
    imports = "from woods import Forest, shuffle"
    cell = "Forest(), shuffle([1], [2])"
    for name, seeded in (
        ("woods.shuffle", "Forest(), shuffle([1], [2], random_state=42)"),
        (
            "woods._mixing.shuffle",
            "Forest(random_state=42), shuffle([1], [2], random_state=43)",
        ),
    ):
        there = target(imports, cell, cause=("entropy", name), names=ran(imports))
        assert results(there) == [{1: seeded}]
    helper = "def mixed(x):\n    return shuffle(x)"
    given = {"cause": ("entropy", "woods.shuffle"), "names": ran(imports)}
    found = target(imports, helper, "mixed([1, 2])", **given)
    assert results(found) == [{1: helper.replace("shuffle(x)", "shuffle(x, random_state=42)")}]


def test_a_method_that_takes_a_seed(target, library):
    """For any object; a positional seed is left alone."""
    made = "from woods import Forest\none = Forest(2)"
    given = {"cause": ("entropy", "numpy.random.default_rng"), "names": ran(made)}
    first, *_ = results(
        target(made, "one.grow(), one.cut()\nForest(3).grow(5), one.grow(1, 2)", **given)
    )
    assert first == {
        1: "one.grow(seed=42), one.cut()\n"
        "Forest(3, random_state=44).grow(5, seed=43), one.grow(1, 2)"
    }
    # the function that draws is defined in the notebook, and takes a seed
    helper = "import numpy as np\ndef draw(seed=None):\n    return np.random.default_rng(seed)"
    found = results(target(helper, "draw()", **{**given, "names": ran(helper)}))
    assert found == [{1: "draw(seed=42)"}]


BELOW = (
    ("Forest(\n    trees=2,\n)", "Forest(\n    trees=2, random_state=42\n)"),
    ("Forest(\n  trees=2\n)", "Forest(\n  trees=2, random_state=42\n)"),
    ("Forest(trees=2,\n    kernel='rbf')", "Forest(trees=2,\n    kernel='rbf', random_state=42)"),
    (
        "Forest(\n    trees=2,  # as before\n)",
        "Forest(\n    trees=2,  # as before\n, random_state=42)",
    ),
)


@pytest.mark.parametrize(("cell", "seeded"), BELOW)
def test_a_seed_follows_the_last_argument(target, library, cell, seeded):
    """A comment after the last argument stays in its line."""
    imports = "from woods import Forest"
    assert results(target(imports, cell, names=ran(imports)))[0] == {1: seeded}


def test_operations_and_threads(target):
    """Deterministic algorithms first, then one thread.

    Neither is proposed if torch is not used.
    """
    assert results(target("import torch", "x = work()")) == [
        {0: "import torch\ntorch.use_deterministic_algorithms(True)"},
        {1: "torch.set_num_threads(1)\nx = work()"},
    ]
    assert propose(target("import os", "x = work()")) == []


def test_a_file_that_the_notebook_makes_itself(target):
    """It is removed first; a file that existed before belongs to the user and stays."""
    cells = "from pathlib import Path", "log = open('out/made.log', 'a')"
    cause = ("file", "/home/out/made.log")
    made = {cause[1]: "out/made.log"}
    assert results(target(*cells, cause=cause, made=made)) == [
        {1: "Path('out/made.log').unlink(missing_ok=True)\nlog = open('out/made.log', 'a')"}
    ]
    there = target(*cells, cause=cause)
    assert propose(there) == []
    assert "no recorded cell wrote that file" in obstacle(there)


def test_a_file_is_removed_before_the_first_cell_that_writes_it(target):
    """Even if only the cell that reads or appends to it names it."""
    cells = "from pathlib import Path\nlog = Path('a') / f'{1}'", "log.touch()", "open('a/1', 'a')"
    cause = ("file", "/home/a/1")
    where = {"made": {cause[1]: "a/1"}, "wrote": {1: cause[1], 2: cause[1]}}
    assert results(target(*cells, "print(open('a/1').read())", cause=cause, **where)) == [
        {1: "Path('a/1').unlink(missing_ok=True)\nlog.touch()"}
    ]
    assert obstacle(target(*cells, cause=cause, wrote={1: cause[1]})) == "In[3]: it differs"


NEAR = [
    ("import torch\ntorch.manual_seed(3)", ("entropy", "torch.seed")),
    ("import random\nseed = 5\nrandom.seed(seed)", ("entropy", "time.time")),
    ("from sklearn.svm import SVC\nSVC(random_state=state)", ("input", "state")),
    ("import uuid\nuuid.uuid4()", ("entropy", "uuid.uuid4")),
    ("import time\nprint(time.time())", ("entropy", "time.time")),
    ("import secrets\nsecrets.token_hex()", ("entropy", "secrets.token_hex")),
    ("%%bash\ndate", ("entropy", "%%bash")),
    ("this is no Python", ("rng", "torch.cpu")),
]


@pytest.mark.parametrize(("cell", "cause"), NEAR, ids=range(len(NEAR)))
def test_hands_off(target, cell, cause):
    """Deliberate seeds, causes that no number fixes, and unparsable code."""
    assert propose(target(cell, cause=cause)) == []


def test_what_cannot_be_mended_is_named_with_its_line(target):
    """The obstacle has the cell, the line, and the call."""
    there = target("import uuid", "# one\nname = uuid.uuid4()", cause=("entropy", "uuid.uuid4"))
    assert obstacle(there).startswith("In[2], line 2: the cell calls `uuid.uuid4()`, which draws")
    assert json.dumps(obstacle(there)).isascii()
