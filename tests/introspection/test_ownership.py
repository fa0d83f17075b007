"""Whose code a module is: the user's, or a library's of some version."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numpy as np
import pytest
import torch

from ipytorchseed.introspection.ownership import (
    is_installed_file,
    is_local_file,
    is_local_module,
    library_version,
)

PYTHON = sys.version.partition(" ")[0]


@pytest.mark.parametrize(
    ("module", "version"),
    [
        ("json.decoder", PYTHON),
        ("builtins", PYTHON),
        ("_thread", PYTHON),
        ("numpy.random", np.__version__),
        ("torch.nn.functional", str(torch.__version__)),
        ("no.such.module", None),
        ("__main__", None),
        ("", None),
    ],
)
def test_versions(module, version):
    """A library tells its version; the notebook and what is unknown have none."""
    assert library_version(module) == version
    assert is_local_module(module) is (module == "__main__")


def test_a_module_beside_the_notebook(monkeypatch):
    """Its name may be that of a module of the standard library."""
    for name in ("helpers_of_mine", "calendar"):
        module = types.ModuleType(name)
        module.__file__ = f"/home/me/{name}.py"
        monkeypatch.setitem(sys.modules, name, module)
        assert is_local_module(name)
        assert library_version(name) is None


def test_a_package_that_tells_no_version(monkeypatch):
    """Where it was installed, it is a library all the same."""
    module = types.ModuleType("quiet")
    module.__file__ = "/opt/lib/dist-packages/quiet/__init__.py"
    monkeypatch.setitem(sys.modules, "quiet", module)
    assert library_version("quiet.inner") == ""
    assert not is_local_module("quiet")


def test_the_archive_of_the_standard_library_is_the_interpreters():
    """It is on ``sys.path``, and looked for at imports.

    One of that name elsewhere is a user's.
    """
    archive = next(path for path in sys.path if path.endswith(".zip"))
    assert is_installed_file(archive)
    assert not is_installed_file(f"/data/{Path(archive).name}")


def test_a_link_to_a_folder_of_ones_own_is_followed(tmp_path):
    """``flit install --symlink`` links the package as one.

    A folder may be behind several.
    """
    own, place = tmp_path / "own", tmp_path / "lib" / "site-packages"
    for each in (own / "inner", place):
        each.mkdir(parents=True)
    (own / "inner" / "core.py").touch()
    (place / "linked").symlink_to(own)
    (tmp_path / "short").symlink_to(place)
    assert is_local_file(str(place / "linked" / "inner" / "core.py"))
    assert is_local_file(str(tmp_path / "short" / "linked" / "inner" / "core.py"))
    (place / "other").mkdir()
    (place / "other" / "core.py").touch()
    assert not is_local_file(str(tmp_path / "short" / "other" / ".." / "other" / "core.py"))
