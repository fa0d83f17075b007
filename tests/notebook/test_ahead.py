"""What the first cell needs is prepared before it, while the kernel is idle."""

from __future__ import annotations

import time

import pytest

from ipytorchseed.ledger.place import NAME
from tests.kernel import Kernel

READY = "'ipytorchseed.session.session' in __import__('sys').modules"
LOAD = "%load_ext ipytorchseed"

# Seconds, several times the delay of the preparation.
LONGER = 0.5


def open_files(kernel):
    """Return the names of files under our folders that are open in the kernel."""
    at = "__import__('pathlib').Path('/proc/self/fd').iterdir()"
    paths = kernel.value(f"[str(each.resolve()) for each in {at}]")
    return {path for path in paths if path.endswith(NAME)}


def until_ready(kernel):
    """Wait until the preparation is done."""
    until = time.monotonic() + 60
    while not (kernel.value(READY) and kernel.ledger.exists()):
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("load", ["outside", "in a cell"])
def test_the_first_cell_finds_the_ledger_open(tmp_path, load):
    """The cell uses the prepared ledger; nothing is recorded before a cell runs."""
    with Kernel(tmp_path, *(["--ext=ipytorchseed"] if load == "outside" else [])) as kernel:
        if load == "in a cell":
            assert kernel.run(LOAD).status == "ok"
        until_ready(kernel)
        before = open_files(kernel)
        assert kernel.runs() == []
        reply, runs = kernel.record("x = 1")
        assert (reply.stderr, [run.source for run in runs]) == ("", ["x = 1"])
        assert open_files(kernel) == before == {str(kernel.ledger)}


LEAVE = {
    "unloaded": "%unload_ext ipytorchseed",
    "not tracking": "%config IPyTorchSeed.tracking = False",
}


@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
def test_nothing_is_made_ready_for_a_cell_that_does_not_come(tmp_path, leave):
    """The cell that loads the extension also unloads it, or switches tracking off."""
    with Kernel(tmp_path) as kernel:
        kernel.run(f"{LOAD}\n{leave}")
        time.sleep(LONGER)
        assert not kernel.value(READY)
        assert not kernel.ledger.exists()


def test_unloading_closes_what_no_cell_used(tmp_path):
    """A cell that unloads has already begun; a silent one finds the ledger unused."""
    with Kernel(tmp_path, "--ext=ipytorchseed") as kernel:
        until_ready(kernel)
        kernel.run("%unload_ext ipytorchseed", silent=True)
        assert open_files(kernel) == set()


def test_a_ledger_chosen_meanwhile_is_used_instead(tmp_path):
    """The prepared ledger is closed and stays empty."""
    with Kernel(tmp_path, "--ext=ipytorchseed") as kernel:
        until_ready(kernel)
        kernel.run(f"%config IPyTorchSeed.ledger = {str(tmp_path / 'mine')!r}", silent=True)
        kernel.run("x = 1")
        assert kernel.runs() == []
        assert open_files(kernel) == {str(tmp_path / "mine" / NAME)}


def test_a_ledger_that_cannot_be_used_is_told_with_the_first_cell(tmp_path):
    """The report appears once, and not in an idle kernel, where no one would see it."""
    (tmp_path / ".ipytorchseed").write_text("in the way")
    with Kernel(tmp_path) as kernel:
        assert kernel.run(LOAD).stderr == ""
        time.sleep(LONGER)
        assert kernel.value(READY)
        assert "cannot be" in kernel.run("x = 1").stderr
        assert kernel.run("x = 2").stderr == ""


def test_cells_that_come_at_once_do_without(tmp_path):
    """With Run All, the first cell uses what is ready and prepares the rest itself."""
    with Kernel(tmp_path) as kernel:
        for cell in (LOAD, "a = 1", "b = 2"):
            kernel.post(cell)
        kernel.run("c = 3")
        assert [run.source for run in kernel.runs()] == ["a = 1", "b = 2", "c = 3"]
        assert open_files(kernel) == {str(kernel.ledger)}
