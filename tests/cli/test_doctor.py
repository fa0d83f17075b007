"""``ipytorchseed doctor``: each problem is named, with what to do about it."""

from __future__ import annotations

import getpass
import json
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from ipytorchseed.cli import doctor as command
from ipytorchseed.cli import main
from ipytorchseed.ledger.store import Ledger
from tests.render.explanations import EXPLANATIONS
from tests.test_schemas import check

doctor = sys.modules[command.callback.__module__]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user's folders, empty.

    The kernels and versions of this machine are hidden.
    """
    monkeypatch.setenv("IPYTORCHSEED_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.setenv("PYDEVD_USE_FRAME_EVAL", "NO")  # as ipykernel does when it is imported
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    for name in ("work", "data", "ipython/profile_default/startup", "jupyter/kernels/old"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data").chmod(0o700)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def told(code):
    """Run it, check exit code, form and privacy, and return its JSON."""
    done = CliRunner().invoke(main, ["doctor", "--json"], catch_exceptions=False)
    found = check("doctor", done.stdout)
    assert done.exit_code == code, found["findings"]
    assert str(Path.cwd()) not in found["block"]
    assert getpass.getuser() not in found["block"].replace("\n", " ").split()
    return found


def level_of(found, which):
    """Return the level of a message."""
    (finding,) = [each for each in found["findings"] if each["which"] == which]
    return finding["level"], finding["what"], finding["fix"]


def test_where_all_is_well_it_says_so(home):
    """Versions, the ledger, a block to copy; in 80 columns; exit code 0."""
    found = told(0)
    assert found["ledger"] == {
        "path": str(home / "data/ledger.sqlite"),
        "state": "none yet",
        "runs": 0,
        "bytes": 0,
    }
    assert {"python", "torch", "ipython", "ipykernel", "anywidget"} <= found["versions"].keys()
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 0
    assert done.stdout.startswith("No problems found.\n")
    assert f"torch {found['versions']['torch']}" in " ".join(found["block"].split())
    block = done.stdout.partition("```")[2]
    assert max(map(len, block.splitlines())) <= 80


def test_the_ledger_is_told(home):
    """Sound, damaged, or writable by others."""
    with Ledger.open() as ledger:
        path = ledger.path
        ledger.add(replace(EXPLANATIONS["same"].run, started=time.time()), {})
    assert told(0)["ledger"]["runs"] == 1
    path.chmod(0o666)
    level, what, fix = level_of(told(1), "ledger")
    assert (level, "ledger.sqlite" in what) == ("problem", True)
    assert "can be written by other users" in f"{what}{fix}"
    path.chmod(0o600)
    path.write_bytes(b"no database" * 100)
    assert level_of(told(1), "ledger")[0] == "problem"
    assert path.read_bytes().startswith(b"no database")


def test_files_that_hide_a_library_are_named(home):
    """Files that hide a standard module, or one of ours.

    Other files, and a clone of the repository, are not reported.
    """
    for name in ("random.py", "train.py", "numpy.ipynb"):
        (home / "work" / name).touch()
    (home / "work/torch").mkdir()
    (home / "work/ipytorchseed").mkdir()
    (home / "work/ipytorchseed/__init__.py").touch()
    found = told(1)
    assert level_of(found, "random.py")[::2] == ("problem", "rename it")
    assert {each["which"] for each in found["findings"]} & {
        "train.py",
        "torch",
        "ipytorchseed",
    } == set()
    (home / "work/torch/__init__.py").touch()
    assert level_of(told(1), "torch")[0] == "problem"
    (home / "work/ipytorchseed.py").touch()
    assert level_of(told(1), "ipytorchseed.py")[0] == "problem"


def test_what_is_missing_or_too_old_is_named(home, monkeypatch):
    """With the line that installs it."""
    versions = {"anywidget": "0.8.1", "msgspec": None}
    real = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: versions.get(name, real(name)))
    found = told(1)
    assert level_of(found, "anywidget") == (
        "problem",
        "0.8.1 is too old",
        'pip install "anywidget>=0.9"',
    )
    assert level_of(found, "msgspec")[1] == "is not installed"
    assert [each["level"] for each in found["findings"]][:2] == ["problem", "problem"]


def test_what_ipython_loads_before_the_first_cell_is_named(home):
    """Missing extensions, startup files, a broken profile."""
    profile = home / "ipython/profile_default"
    config = profile / "ipython_config.py"
    names = ["ipytorchseed", "no_such_thing"]
    config.write_text(f"get_config().InteractiveShellApp.extensions = {names}\n")
    (profile / "startup/00-seeds.py").write_text("import random; random.seed(1)")
    found = told(0)
    assert "not installed" in level_of(found, "no_such_thing")[1]
    assert "00-seeds.py" in level_of(found, "startup files")[1]
    assert "ipytorchseed" not in [each["which"] for each in found["findings"]]
    config.write_text("1 / 0")
    assert "ZeroDivisionError" in level_of(told(1), "ipython_config.py")[1]


def test_kernels_of_another_python_are_named(home):
    """They may lack the extension: the notebook's kernel decides."""
    other = home / "venv/bin/python"
    spec = {"argv": [str(other), "-m", "ipykernel_launcher"], "language": "python"}
    file = home / "jupyter/kernels/old/kernel.json"
    file.write_text(json.dumps({**spec, "display_name": "Old"}))
    assert "is gone" in level_of(told(0), "kernel old")[1]
    other.parent.mkdir(parents=True)
    other.touch()
    level, what, fix = level_of(told(0), "kernel old")
    assert (level, fix) == ("note", f"{other} -m ipytorchseed doctor")
    assert "not this Python" in what
    assert str(home) not in told(0)["block"]
    file.write_text(json.dumps({**spec, "display_name": "O", "argv": [sys.executable]}))
    assert "kernel old" not in [each["which"] for each in told(0)["findings"]]


def test_old_widgets_in_a_new_lab_are_named(home, monkeypatch):
    """The table works, the widget does not."""
    versions = {"ipywidgets": "7.7.1", "jupyterlab": "4.2.0"}
    real = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: versions.get(name, real(name)))
    assert level_of(told(0), "ipywidgets")[2] == 'pip install "ipywidgets>=8"'


def test_a_torch_that_does_not_load_is_named(home, monkeypatch):
    """With the first line of torch's error; everything else is still checked."""

    def broken():
        raise OSError("libcudart.so.12: cannot open\nshared object file")

    monkeypatch.setattr("ipytorchseed.determinism.assessment.assess", broken)
    level, what, _ = level_of(told(1), "torch")
    assert (level, what) == ("problem", "does not load: libcudart.so.12: cannot open")
