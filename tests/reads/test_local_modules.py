"""Modules next to the notebook are the user's code; installed ones are not."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

from ipytorchseed.introspection.ownership import is_installed_file, is_local_module
from ipytorchseed.reads.dependencies import look_up

HELPERS = """
import json
import time
import numpy as np
SCALE = 2
OFFSET = 1
table = {"a": 1}
class Net:
    depth = 3
    def forward(self, x): return x * SCALE
def f(x): return g(x) + OFFSET
def g(x): return x * SCALE
def stamp(): return time.time()
def lazy():
    from beside import K
    return K
"""

CASES = {
    "helpers.SCALE": "helpers.SCALE",
    "hs.SCALE": "helpers.SCALE",
    "helpers.f(1)": "helpers.f helpers.g helpers.OFFSET helpers.SCALE",
    "f(1)": "f helpers.g helpers.OFFSET helpers.SCALE",
    "helpers.Net()": "helpers.Net helpers.SCALE",
    "net.forward(1)": "net helpers.Net helpers.SCALE",
    "helpers.table['a'] = 2": "helpers.table",
    "helpers.np.ones(3)": "",
    "helpers.json.dumps(1)": "",
    "helpers.missing": "",
    "helpers.__file__": "",
    "from helpers import SCALE": "helpers.SCALE",
    "from helpers import f as k\nk(1)": "helpers.f helpers.g helpers.OFFSET helpers.SCALE",
    "import helpers as other\nother.g(1)": "helpers.g helpers.SCALE",
    "import helpers\nhelpers.g(1)": "helpers.g helpers.SCALE",
    "def k():\n    import helpers as h\n    return h.OFFSET\nk()": "helpers.OFFSET",
    "from helpers import *\ng(1)": "helpers.g helpers.SCALE",
    "helpers.SCALE = 3": "",
    "helpers.SCALE = 3\nhelpers.SCALE": "",
    "helpers.SCALE += 1": "helpers.SCALE",
    "vars(helpers)": "helpers.SCALE helpers.OFFSET helpers.table helpers.Net helpers.f helpers.g"
    " helpers.stamp helpers.lazy beside.K",
    "helpers.lazy()": "helpers.lazy beside.K",
    "pack.part.K": "pack.part.K",
    "pack.part.f()": "pack.part.f pack.part.K pack.other.J",
    "import pack.part\npack.part.K": "pack.part.K",
    "from pack import part\npart.K": "pack.part.K",
    "unseen.x": "",
    "use()": "use helpers.SCALE",
}


@pytest.fixture
def with_modules(notebook, local_module):
    """Return a notebook with modules next to it."""
    local_module("helpers", HELPERS)
    local_module("beside", "K = 4")
    local_module("pack.__init__", "")
    local_module("pack.other", "J = 3")
    local_module("pack.part", "K = 4\ndef f():\n    from .other import J\n    return K + J")
    return notebook.run(
        """
        import beside, helpers, helpers as hs, pack.part, pack.other
        from helpers import f
        net = helpers.Net()
        def use(): return hs.SCALE
        """
    )


@pytest.mark.parametrize("cell", CASES)
def test_cells(with_modules, cell):
    """Attributes of local modules are inputs with dotted names, and are followed."""
    assert with_modules.inputs(cell) == set(CASES[cell].split())


def test_places(with_modules):
    """Their values can be looked up again in the module."""
    found = with_modules.dependencies("helpers.f(1)")
    assert look_up(found.names["helpers.SCALE"], with_modules.names) == 2


@pytest.mark.parametrize(
    ("cell", "sets"),
    [
        ("helpers.SCALE = 3", "helpers.SCALE"),
        ("hs.SCALE += 1", "helpers.SCALE"),
        ("hs.new, x = 1, 2", "helpers.new"),
        ("import helpers as other\nother.SCALE: int = 3", "helpers.SCALE"),
        ("pack.part.K = 1", "pack.part.K"),
        ("def k():\n    helpers.SCALE = 3\nk()", "helpers.SCALE"),
        ("net.depth = 4", ""),
        ("helpers.np.nothing = 1", "numpy.nothing"),
        ("helpers.SCALE", ""),
    ],
)
def test_set_attributes(with_modules, cell, sets):
    """A module's attribute that a cell sets is listed under its dotted name."""
    assert with_modules.dependencies(cell).sets == {
        each: tuple(each.rsplit(".", 1)) for each in sets.split()
    }


def test_clocks(with_modules):
    """A clock that a local module reads counts."""
    assert with_modules.dependencies("helpers.stamp()").nondeterministic_calls == {"time.time"}


def test_reloaded(with_modules):
    """After a reload, the new values count; earlier functions keep their code."""
    helpers = with_modules.names["helpers"]
    held = with_modules.names["f"]
    with open(helpers.__file__, "a", encoding="utf-8") as file:  # noqa: PTH123
        file.write("\ndef g(x): return table\n")
    importlib.invalidate_caches()
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        importlib.reload(helpers)
    finally:
        sys.dont_write_bytecode = before
    assert with_modules.names["f"] is held
    assert with_modules.inputs("f(1)") == {"f", "helpers.g", "helpers.OFFSET", "helpers.table"}


def test_imported_again(with_modules):
    """After a new import, the old module object is not used for lookups."""
    del sys.modules["helpers"]
    importlib.import_module("helpers")
    assert with_modules.inputs("f(1)") == {"f"}


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("__main__", True),
        ("json", False),
        ("numpy", False),
        ("torch.nn", False),
        ("builtins", False),
        ("sys", False),
        ("ipytorchseed.reads", False),
        ("no such module", False),
        (None, False),
        (3, False),
    ],
)
def test_which_modules(name, local):
    """The notebook and files outside of installed packages are the user's."""
    importlib.import_module("ipytorchseed.reads")
    assert is_local_module(name) is local


def test_which_files(tmp_path):
    """Files in the folders of the interpreter and of packages count as installed."""
    assert is_installed_file(json.__file__)
    assert is_installed_file("<frozen importlib>")
    assert is_installed_file(
        f"{tmp_path}/lib/site-packages/a.py".replace("/", __import__("os").sep)
    )
    assert is_installed_file(str(tmp_path / "b-1.0.dist-info" / "entry_points.txt"))
    assert is_installed_file(str(tmp_path / "b.egg-info" / "entry_points.txt"))
    assert not is_installed_file(str(tmp_path / "dist-info" / "entry_points.txt"))
    assert not is_installed_file(str(tmp_path / "a.py"))


def test_odd_entries(monkeypatch):
    """Entries of ``sys.modules`` need not be modules."""
    for value in (None, 3, object(), type("A", (), {"__file__": "a.py"})()):
        monkeypatch.setitem(sys.modules, "odd entry", value)
        assert not is_local_module("odd entry")
