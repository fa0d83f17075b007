"""Draws of imports are separate from the cell's, and importing works as usual."""

from __future__ import annotations

import importlib
import sys
import traceback

import pytest

from ipytorchseed.introspection import ownership
from ipytorchseed.session.importing import ImportWatch

PACKAGE = "random.random()\nassert __spec__.loader is __loader__\nkind = type(__loader__).__name__"


@pytest.fixture
def packages(tmp_path, monkeypatch, put_back):
    """Yield a folder of installed packages, with one of the user's modules."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "drawing_package.py").write_text(f"import random\n{PACKAGE}")
    (folder / "quiet_package.py").write_text("import drawing_package")
    (folder / "failing_package.py").write_text("import random\nrandom.random()\n1 / 0")
    (tmp_path / "own_module.py").write_text("import random\nrandom.random()")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    ownership.is_local_file.cache_clear()
    yield folder
    for name in ("drawing_package", "quiet_package", "failing_package", "own_module"):
        sys.modules.pop(name, None)


CELLS = {
    "import drawing_package": ("python",),
    "import quiet_package": ("python",),
    "import importlib\nimportlib.import_module('quiet_package')": ("python",),
    "try:\n    import failing_package\nexcept ZeroDivisionError:\n    pass": ("python",),
    "import random, drawing_package\nrandom.random()": (),
    "import random\nrandom.random()\nimport drawing_package": (),
    "import own_module": (),
    "import random\nrandom.random()": (),
    "import json": (),
}


@pytest.mark.parametrize("cell", CELLS)
def test_sources_that_imports_alone_moved_are_recorded(notebook, packages, cell):
    """It does not matter who imports. Draws of the user's own modules are the cell's."""
    run = notebook.run(cell)
    assert notebook.error is None
    assert run.imported == CELLS[cell]


class Delegating:
    """A finder that asks the finders after it, through a function."""

    def find_spec(self, name, path=None, target=None):
        """Return what another finder finds."""
        later = sys.meta_path[sys.meta_path.index(self) + 1 :]
        found = (each.find_spec(name, path, target) for each in later)
        return next((spec for spec in found if spec is not None), None)


def test_an_import_is_seen_if_another_finder_delegates_it(notebook, packages, monkeypatch):
    """To look for a package in the same way is no import."""
    monkeypatch.setattr(sys, "meta_path", [Delegating(), *sys.meta_path])
    assert (
        notebook.run("import importlib.util\nimportlib.util.find_spec('own_module')").loaded == {}
    )
    assert notebook.run("import drawing_package").imported == ("python",)
    assert [*notebook.run("import own_module").loaded] == ["own_module"]


def test_nothing_is_left_behind(notebook, packages):
    """Nothing stays in the finders or the module.

    Looking for a package imports nothing.
    """
    before = [*sys.meta_path]
    notebook.run(
        "import drawing_package, importlib.util\n"
        "loader = importlib.util.find_spec('quiet_package').loader"
    )
    assert sys.meta_path == before
    assert notebook.names["drawing_package"].kind == "SourceFileLoader"
    assert type(notebook.names["loader"]).__name__ == "SourceFileLoader"
    assert "quiet_package" not in sys.modules


def test_modules_of_ones_own_that_are_loaded_anew_are_recorded(notebook, packages):
    """They are imported or reloaded. What a package imports does not count."""
    assert notebook.run("import own_module, drawing_package").loaded.keys() == {"own_module"}
    assert notebook.run("import own_module, importlib").loaded == {}
    reload = "importlib.reload(own_module), importlib.reload(drawing_package)"
    assert notebook.run(reload).loaded.keys() == {"own_module"}
    assert notebook.names["drawing_package"].kind == "SourceFileLoader"


def test_a_failing_import_looks_as_ever(packages):
    """None of our frames is in its traceback."""
    watch = ImportWatch()
    watch.start()
    try:
        with pytest.raises(ZeroDivisionError) as caught:
            import failing_package  # noqa: F401
    finally:
        watch.stop()
    told = "".join(traceback.format_tb(caught.tb))
    assert "failing_package.py" in told
    assert "importing.py" not in told.replace("test_importing.py", "")


def test_the_time_of_imports_is_recorded(notebook, packages):
    """A run of the same cell takes no such time again."""
    (packages / "quiet_package.py").write_text("import time\ntime.sleep(0.1)")
    cell = "import time\nimport quiet_package\ntime.sleep(0.01)"
    first, second = notebook.run(cell), notebook.run(cell)
    assert 0.1 <= first.outside.importing < first.seconds
    assert first.seconds_again == pytest.approx(first.seconds - first.outside.importing)
    assert second.outside.importing == 0.0
    assert second.seconds_again == second.seconds
