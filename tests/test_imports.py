"""Importing the package costs nothing.

Each claim is proved in its own interpreter.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ipytorchseed as its

ROOT = Path(__file__).parents[1]

# Modules that a plain import must not import.
HEAVY = (
    "IPython",
    "anywidget",
    "click",
    "importlib.metadata",
    "ipyparallel",
    "ipywidgets",
    "jinja2",
    "nbclient",
    "nbformat",
    "numpy",
    "rich",
    "scipy",
    "torch",
    "xxhash",
)


def heavy_modules_after(code):
    """Run code in a fresh interpreter; return those of ``HEAVY`` that it imported."""
    script = f"{code}\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    return _run(script).split()


def _run(script):
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "code",
    [
        "import ipytorchseed",
        "import ipytorchseed as its; dir(its); its.__version__",
        "import ipytorchseed.errors",
    ],
)
def test_importing_the_package_imports_nothing_heavy(code):
    """Neither torch nor IPython nor any library that is not used yet."""
    assert heavy_modules_after(code) == []


def test_what_a_magic_loads_brings_no_source():
    """An imported library adds a source, and only the user's cells import it."""
    files = (ROOT / "ipytorchseed/notebook").glob("[a-z]*.py")
    names = ", ".join(f"ipytorchseed.notebook.{file.stem}" for file in files)
    brought = {*heavy_modules_after(f"import {names}")}
    assert brought.isdisjoint({"ipywidgets", "numpy", "scipy", "torch"})


def test_the_test_before_can_fail():
    """It sees what is imported, also by way of something else."""
    assert heavy_modules_after("") == []
    assert heavy_modules_after("import numpy, click") == ["click", "numpy"]


@pytest.mark.parametrize(
    "code",
    [
        "its.snapshot().digests",
        "its.restore(its.snapshot())",
        "its.register_source('dice', seed=int, read=bytes, write=int)",
        "from ipytorchseed.rng.generators import find_generators; find_generators({'x': [1]})",
        "from ipytorchseed.rng.table import sources; [s.read() for s in sources()]",
    ],
)
def test_looking_before_numpy_and_torch_are_imported_imports_neither(code):
    """What is not there has no state; looking does not bring it."""
    brought = heavy_modules_after(f"import ipytorchseed as its; {code}")
    assert not {"numpy", "torch", "IPython"} & {*brought}


def test_a_snapshot_taken_before_torch_is_imported_is_put_back_after():
    """It holds python's state alone; what came later stays where it is."""
    assert _run("""
import random
import ipytorchseed as its
snapshot = its.snapshot()
first = random.random()
its.seed(1)
import numpy, torch
here = its.snapshot()
its.restore(snapshot)
assert random.random() == first
now = its.snapshot()
assert [*snapshot.states] == ["python"]
assert [now.states[name] == here.states[name] for name in here.states] == [False, True, True]
print("done")
""").split() == ["done"]


def test_seeding_before_numpy_and_torch_are_imported_seeds_them_too():
    """They are imported for it, and a later import finds them seeded."""
    brought = heavy_modules_after("""
import ipytorchseed as its
its.seed(42)
import random, numpy, torch
numbers = random.random(), numpy.random.random(), torch.rand(1).item()
random.seed(42), numpy.random.seed(42), torch.manual_seed(42)
assert numbers == (random.random(), numpy.random.random(), torch.rand(1).item())
""")
    assert {"numpy", "torch"} <= {*brought}


def test_dir_lists_the_public_names():
    """For completion, before any of them was used."""
    names = _run("import ipytorchseed as its; print(*dir(its))").split()
    assert names == sorted(its.__all__)
    assert {"seed", "snapshot", "restore", "register_source", "seed_worker"} <= {*names}


@pytest.mark.parametrize("name", its.__all__)
def test_every_public_name_can_be_had(name):
    """Each loads from where it lives, and is then kept."""
    assert getattr(its, name) is getattr(its, name)
    assert name in vars(its)


def test_an_unknown_name_is_an_attribute_error():
    """As of any module."""
    with pytest.raises(AttributeError, match="module 'ipytorchseed' has no attribute 'sede'"):
        its.sede  # noqa: B018 -- the look itself


def test_public_names_are_those_that_type_checkers_see():
    """The lazy table and the imports for type checkers name the same things."""
    source = (ROOT / "ipytorchseed/__init__.py").read_text(encoding="utf-8")
    for name, home in its._HOME.items():
        assert f"    from {home} import {name} as {name}\n" in source
