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


@pytest.mark.parametrize("load", ["outside", "in a cell"])
def test_what_the_first_cell_needs_is_imported_before_it(tmp_path, load):
    """Nothing is recorded, and no ledger is made, before a cell runs."""
    with Kernel(tmp_path, *(["--ext=ipytorchseed"] if load == "outside" else [])) as kernel:
        if load == "in a cell":
            assert kernel.run(LOAD).status == "ok"
        until = time.monotonic() + 60
        while not kernel.value(READY):
            assert time.monotonic() < until
            time.sleep(0.02)
        assert open_files(kernel) == set()
        reply, runs = kernel.record("x = 1")
        assert (reply.stderr, [run.source for run in runs]) == ("", ["x = 1"])
        assert open_files(kernel) == {str(kernel.ledger)}


def test_nothing_is_imported_for_a_cell_that_is_not_recorded(tmp_path):
    """The cell that loads the extension also switches tracking off."""
    with Kernel(tmp_path) as kernel:
        kernel.run(f"{LOAD}\n%config IPyTorchSeed.tracking = False")
        time.sleep(LONGER)
        assert not kernel.value(READY)
        assert not kernel.ledger.exists()


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
