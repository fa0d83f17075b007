"""``ipytorchseed kernel``: installs kernels, and leaves all others alone."""

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
    """The folder in which this user's kernels are installed."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    return tmp_path / "jupyter" / "kernels"


def run(*words):
    """Run a command; return its exit code, standard output and standard error."""
    done = CliRunner().invoke(main, ["kernel", *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, " ".join(done.stderr.split())


def spec_of(folder):
    """Read a kernelspec."""
    return json.loads((folder / "kernel.json").read_text())


def test_an_installed_kernel_starts_with_what_is_too_late_to_set_later(kernels):
    """Hash seed, threads, torch's variables; this Python; the extension."""
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
    """As torch does, but the same in each kernel."""
    run("install")
    count = spec_of(kernels / "ipytorchseed")["env"]["OMP_NUM_THREADS"]
    assert count == str(torch.get_num_threads())


def test_in_it_nothing_is_too_late(kernels, tmp_path):
    """In a real kernel.

    The report has no such line, the extension is loaded, sets keep their order.
    """
    run("install", "--name", "right", "--threads", "1")
    path = book(
        tmp_path / "asks",
        "%deterministic",
        "import torch\ntorch.get_num_threads()",
        spec="right",
    )
    node = nbformat.read(path, as_version=4)
    NotebookClient(node, timeout=250).execute()
    report = node.cells[0].outputs[0]["data"]["text/plain"]
    assert "can still change results" in report or "Runs repeat on this machine" in report
    assert "start Jupyter" not in report
    assert node.cells[1].outputs[-1]["data"]["text/plain"] == "1"
    path = book(tmp_path / "order", "print(*{f'name {n}' for n in range(20)})", spec="right")
    assert look(path, cold=True)[0].reproducible is True
    assert look(path, cold=True, kernel="python3")[0].first.causes[0].name == "PYTHONHASHSEED"


def test_list_and_remove(kernels):
    """Our kernels are listed with their settings; a removed one is gone."""
    assert run("list")[1].startswith("no kernel of ipytorchseed is installed")
    run("install", "--name", "one", "--hash-seed", "1")
    run("install", "--name", "two", "--hash-seed", "2")
    code, out, _ = run("list")
    assert code == 0
    assert "PYTHONHASHSEED=1" in out
    assert "python3" not in out
    assert run("remove", "one") == (0, f"removed one from {kernels / 'one'}\n", "")
    assert [folder.name for folder in kernels.iterdir()] == ["two"]


def test_a_kernel_of_ours_is_replaced(kernels):
    """Installing it again changes its values."""
    run("install", "--hash-seed", "1")
    assert run("install", "--hash-seed", "2")[0] == 0
    assert spec_of(kernels / "ipytorchseed")["env"]["PYTHONHASHSEED"] == "2"


def test_other_kernels_are_never_touched(kernels):
    """They are not replaced or removed, whatever their kernel.json contains."""
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
        assert (
            f"the kernel '{name}' was not installed by ipytorchseed; kernels you can remove: none"
            in err
        )
        code, out, err = run("install", "--name", name)
        assert (code, out) == (2, "")
        assert "choose another --name" in err
    assert {name: KernelSpecManager().find_kernel_specs()[name] for name in known} == known
    for name, text in theirs.items():
        assert text is None or (kernels / name / "kernel.json").read_text() == text


NO_NAMES = ["..", ".", "", " ", "a b", "a/b", "../x", "/etc/x", "..\\x", ".x", "-x", "_x", "a\n", "ä",
            "a\x1b[2J", "\u202ea", "a:b", "a\x00"]  # fmt: skip


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
@pytest.mark.parametrize("command", [["install", "--name"], ["remove", "--"]], ids=lambda c: c[0])
def test_a_name_that_is_none_is_refused(kernels, tmp_path, command, name):
    """It names a folder: `..` would be the user's whole Jupyter folder.

    Nothing is touched.
    """
    theirs = {kernels / "mine" / "kernel.json", kernels.parent / "lab" / "settings.json"}
    for file in theirs:
        file.parent.mkdir(parents=True)
        file.write_text("{}")
    code, out, err = run(*command, name)
    assert (code, out) == (2, "")
    assert "beginning with a letter or digit" in err
    assert err.isprintable()
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == theirs


def mark(folder):
    """Write a kernelspec that carries our mark."""
    folder.mkdir(parents=True)
    spec = {"argv": ["python"], "display_name": "x", "metadata": {"ipytorchseed": {}}}
    (folder / "kernel.json").write_text(json.dumps(spec))


def test_a_link_is_not_ours(kernels, tmp_path):
    """Link and target are not replaced or removed, despite our mark."""
    mark(tmp_path / "elsewhere")
    kernels.mkdir(parents=True)
    (kernels / "linked").symlink_to(tmp_path / "elsewhere")
    (kernels / "half").mkdir()
    (kernels / "half" / "kernel.json").symlink_to(tmp_path / "elsewhere" / "kernel.json")
    (kernels / "loose").symlink_to(tmp_path / "nowhere")
    before = (tmp_path / "elsewhere" / "kernel.json").read_text()
    for name in ("linked", "half", "loose"):
        assert "was not installed by ipytorchseed" in run("install", "--name", name)[2]
        assert (
            "was not installed by ipytorchseed; kernels you can remove: none"
            in run("remove", name)[2]
        )
    assert (kernels / "linked").is_symlink()
    assert (kernels / "half" / "kernel.json").is_symlink()
    assert (kernels / "loose").is_symlink()
    assert (tmp_path / "elsewhere" / "kernel.json").read_text() == before


def test_a_folder_that_is_no_kernel_is_not_replaced(kernels):
    """Jupyter does not list it; it may be anything."""
    (kernels / "notes").mkdir(parents=True)
    (kernels / "notes" / "thesis.txt").write_text("mine")
    assert "was not installed by ipytorchseed" in run("install", "--name", "notes")[2]
    assert (kernels / "notes" / "thesis.txt").read_text() == "mine"


def test_a_kernel_that_another_hides_is_looked_at_too(kernels, tmp_path, monkeypatch):
    """Jupyter shows one of two with the same name; the hidden one is not replaced."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "first"))
    mark(tmp_path / "first" / "kernels" / "two")
    theirs = kernels / "two" / "kernel.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text('{"argv": [], "metadata": {}}')
    assert "was not installed by ipytorchseed" in run("install", "--name", "two")[2]
    assert "was not installed by ipytorchseed" in run("remove", "two")[2]
    assert theirs.read_text() == '{"argv": [], "metadata": {}}'
    theirs.unlink()
    theirs.parent.rmdir()
    assert (
        "was not installed by ipytorchseed" in run("remove", "two")[2]
    )  # it was not installed here
    assert (tmp_path / "first" / "kernels" / "two" / "kernel.json").exists()


def test_what_else_is_in_the_folder_stays(kernels):
    """A logo from the user survives a second install."""
    run("install")
    logo = kernels / "ipytorchseed" / "logo-64x64.png"
    logo.write_text("logo")
    assert run("install", "--hash-seed", "3")[0] == 0
    assert sorted(file.name for file in logo.parent.iterdir()) == ["kernel.json", logo.name]
    assert run("remove", "ipytorchseed")[0] == 0
    assert not logo.parent.exists()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"metadata": "ipytorchseed"}',
        '{"metadata": ["ipytorchseed"]}',
        '{"metadata": {"ipytorchseed": 1}}',
        '{"argv": 3, "metadata": {"ipytorchseed": {}}}',
        "\x00",
    ],
    ids=lambda text: text[:30],
)
def test_what_is_hardly_a_kernel_is_not_ours(kernels, text):
    """No command fails because of the content of its file."""
    (kernels / "odd").mkdir(parents=True)
    (kernels / "odd" / "kernel.json").write_text(text)
    assert run("list")[1].startswith("no kernel of ipytorchseed is installed")
    assert "was not installed by ipytorchseed" in run("remove", "odd")[2]
    assert "was not installed by ipytorchseed" in run("install", "--name", "odd")[2]
    assert (kernels / "odd" / "kernel.json").read_text() == text


@pytest.mark.parametrize("option", ["--threads", "--hash-seed"])
@pytest.mark.parametrize(
    "value", ["x", "-1", "", "1.5", "9" * 30, "1e3", "\x1b[2J\u202e"], ids=ascii
)
def test_a_number_that_is_none_is_refused(kernels, option, value):
    """One line names the option; nothing is installed."""
    code, out, err = run("install", option, value)
    assert (code, out) == (2, "")
    assert f"Invalid value for '{option}'" in err
    assert err.isprintable()
    assert not kernels.exists()


def test_errors_of_usage(kernels):
    """A seed out of range, and a kernel that does not exist."""
    assert run("install", "--hash-seed", str(2**32))[0] == 2
    assert run("install", "--threads", "0")[0] == 2
    assert "'none' is not installed; kernels you can remove: none" in run("remove", "none")[2]


def test_a_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    """One line, exit code 2."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "file"))
    code, _, err = run("install")
    assert code == 2
    assert str(Path(tmp_path, "file")) in err
