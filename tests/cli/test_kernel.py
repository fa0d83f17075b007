"""``ipytorchseed kernel``: kernels that start right, and nobody else's touched."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
import pytest
import torch
from click.testing import CliRunner
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

from ipytorchseed.cli import main
from tests.checking.books import book, look


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """Where kernels of this user are installed."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    return tmp_path / "jupyter" / "kernels"


def run(*words):
    """Run a command; return how it ended, what it printed, and what it said on stderr."""
    done = CliRunner().invoke(main, ["kernel", *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, " ".join(done.stderr.split())


def spec_of(folder):
    """Read a kernelspec."""
    return json.loads((folder / "kernel.json").read_text())


def test_an_installed_kernel_starts_with_what_is_too_late_to_set_later(kernels):
    """Hash seed, threads, what this torch needs; this Python; the extension."""
    code, out, err = run("install", "--threads", "1", "--hash-seed", "7")
    assert (code, err) == (0, "")
    spec = spec_of(kernels / "ipytorchseed")
    assert spec["argv"][0] == sys.executable
    assert "--ext=ipytorchseed" in spec["argv"]
    assert spec["env"]["PYTHONHASHSEED"] == "7"
    assert spec["env"]["OMP_NUM_THREADS"] == spec["env"]["MKL_NUM_THREADS"] == "1"
    assert ("MKL_CBWR" in spec["env"]) is torch.backends.mkl.is_available()
    assert all(f"{name}={value}" in out for name, value in spec["env"].items())


def test_without_threads_named_it_takes_as_many_as_torch(kernels):
    """What torch does anyway, but the same in each kernel."""
    run("install")
    count = spec_of(kernels / "ipytorchseed")["env"]["OMP_NUM_THREADS"]
    assert count == str(torch.get_num_threads())


def test_in_it_nothing_is_too_late(kernels, tmp_path):
    """In a real kernel: the report has no such line, the extension is there, sets keep their order."""
    run("install", "--name", "right", "--threads", "1")
    path = book(
        tmp_path / "asks",
        "%deterministic",
        "print(*{'ada', 'bob', 'cleo', 'dan'})\nimport torch\ntorch.get_num_threads()",
        spec="right",
    )
    node = nbformat.read(path, as_version=4)
    NotebookClient(node, timeout=250).execute()
    report = node.cells[0].outputs[0]["data"]["text/plain"]
    assert "Every setting" in report or "Runs repeat on this machine" in report
    assert "too late" not in report
    assert node.cells[1].outputs[-1]["data"]["text/plain"] == "1"
    assert look(path, cold=True)[0].reproducible is True
    assert look(path, cold=True, kernel="python3")[0].first.causes[0].name == "PYTHONHASHSEED"


def test_list_and_remove(kernels):
    """Ours are listed with what they start with; a removed one is gone."""
    assert run("list")[1].startswith("no kernel of ours is installed")
    run("install", "--name", "one", "--hash-seed", "1")
    run("install", "--name", "two", "--hash-seed", "2")
    code, out, _ = run("list")
    assert code == 0
    assert "PYTHONHASHSEED=1" in out
    assert "python3" not in out
    assert run("remove", "one") == (0, f"removed one from {kernels / 'one'}\n", "")
    assert [folder.name for folder in kernels.iterdir()] == ["two"]


def test_a_kernel_of_ours_is_replaced(kernels):
    """Installing it again with other values is how one changes them."""
    run("install", "--hash-seed", "1")
    assert run("install", "--hash-seed", "2")[0] == 0
    assert spec_of(kernels / "ipytorchseed")["env"]["PYTHONHASHSEED"] == "2"


def test_other_kernels_are_never_touched(kernels):
    """Neither replaced nor removed, whatever their kernel.json holds."""
    theirs = {"mine": '{"argv": [], "metadata": {}}', "torn": "{", "odd": "[]", "bare": None}
    for name, text in theirs.items():
        folder = kernels / name
        folder.mkdir(parents=True)
        if text is not None:
            (folder / "kernel.json").write_text(text)
    known = KernelSpecManager().find_kernel_specs()
    for name in known:
        code, out, err = run("remove", name)
        assert (code, out) == (2, "")
        assert f"the kernel '{name}' is not ours; ours are: none" in err
        code, out, err = run("install", "--name", name)
        assert (code, out) == (2, "")
        assert "choose another name with --name" in err
    assert {name: KernelSpecManager().find_kernel_specs()[name] for name in known} == known
    for name, text in theirs.items():
        assert text is None or (kernels / name / "kernel.json").read_text() == text


def test_errors_of_usage(kernels):
    """A name that Jupyter does not allow, a seed out of range, a kernel that is not there."""
    assert "Invalid kernel name 'a b'" in run("install", "--name", "a b")[2]
    assert run("install", "--hash-seed", str(2**32))[0] == 2
    assert run("install", "--threads", "0")[0] == 2
    assert "'none' is not installed; ours are: none" in run("remove", "none")[2]


def test_a_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    """One line, exit code 1."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "file"))
    code, _, err = run("install")
    assert code == 1
    assert "cannot install it" in err
    assert str(Path(tmp_path, "file")) in err
