"""Settings of libraries in the record of a run."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from importlib.metadata import EntryPoint

import accelerate  # its import, and that of threadpoolctl, leave filters and variables behind
import pytest
import threadpoolctl
from matplotlib_inline import config

from ipytorchseed.determinism import libraries
from ipytorchseed.determinism.libraries import BY_NAME, read_libraries
from ipytorchseed.determinism.library_calls import known_calls
from tests.kernel import ROOT


def test_format_of_pictures_is_told_where_it_is_set():
    """Showing the first picture sets the defaults, which is not a change."""
    told = BY_NAME["InlineBackend"].read
    config.InlineBackend.clear_instance()
    try:
        assert told(config) == {}
        made = config.InlineBackend.instance()
        assert told(config) == {}
        assert made.figure_formats == {"png"}  # asking sets it
        assert told(config) == {}
        made.figure_formats = {"svg", "png"}
        assert told(config) == {"figure_formats": "['png', 'svg']"}
    finally:
        config.InlineBackend.clear_instance()


def test_figures_get_their_axes_back():
    """Added axes go, removed axes come back, and the current axes are current again."""
    from matplotlib import pyplot as plt

    try:
        empty, full = plt.figure(), plt.figure()
        first, second = full.add_subplot(121), full.add_subplot(122)
        line = first.plot([1, 2])[0]
        full.sca(first)
        undo = BY_NAME["matplotlib.pyplot.figure"].keep(plt)
        full.sca(second)
        first.plot([3])
        plt.figure(empty)
        plt.plot([2])
        second.remove()
        undo()
        assert (empty.axes, full.axes) == ([], [first, second])
        assert plt.gcf() is full
        assert full.gca() is first
        assert [*first.lines] == [line]
    finally:
        plt.close("all")


@pytest.mark.parametrize("set_to", [{}, {"pprint": False, "max_seq_length": 5}])
def test_formats_of_results_are_told_before_the_first_result(set_to, tmp_path):
    """They equal those after it is shown, and the formatter is not created for it."""
    code = f"""
from traitlets.config import Config
from IPython.core.interactiveshell import InteractiveShell
from ipytorchseed.determinism.libraries import BY_NAME
shell = InteractiveShell.instance(config=Config(PlainTextFormatter={set_to!r}))
told = BY_NAME["IPython.display_formatter"].read
before = told(None)
assert "formatters" not in shell.display_formatter._trait_values
shell.display_formatter.format(1)
assert before == told(None) != {{}}, (before, told(None))
assert {set_to!r}.items() <= before.items()
shell.run_line_magic("precision", "2")
assert told(None)["float_format"] == "%.2f"
"""
    env = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, check=True)


# --------------------------------------------------------------------------------------------------
# The tables


def test_each_row_says_where_the_library_documents_it():
    """Settings and calls, each with a link."""
    rows = [*BY_NAME.values(), *known_calls().calls]
    assert len(rows) > 40
    assert [row for row in rows if not row.source.startswith("https://")] == []


def test_rows_that_a_library_brings_wait_until_it_is_imported(monkeypatch, tmp_path):
    """Then they are as those of ours; a broken one is named, and the others stay."""
    (tmp_path / "casino.py").write_text(
        "from ipytorchseed.determinism.libraries import NUMBERS, Setting\n"
        "from ipytorchseed.determinism.library_calls import Call\n"
        "odds = 3\n"
        "rows = [Setting('casino.odds', 'casino', NUMBERS, lambda casino: casino.odds,"
        " 'casino.odds = {}'),\n"
        " Call('casino', ('spin',), 'entropy', 'spins', 'seed=1', 'https://casino.example')]\n"
        "number = 5\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    points = [EntryPoint(n, f"casino:{n}", libraries.ENTRY_POINTS) for n in ("rows", "number")]
    waiting = [*points]
    monkeypatch.setattr(libraries, "_waiting", lambda: waiting)
    calls = known_calls().calls
    try:
        assert "casino.odds" not in read_libraries(["casino"])
        assert waiting == points
        importlib.import_module("casino")
        with pytest.warns(UserWarning, match=r"the rows 'number' \(casino:number\) could not"):
            told = read_libraries(["casino"])
        assert told["casino.odds"] == 3
        assert waiting == []
        BY_NAME["casino.odds"].set(4)
        assert sys.modules["casino"].odds == 4
        assert calls[-1].names == ("spin",)
        with pytest.raises(ValueError, match=r"already a setting called 'casino\.odds'"):
            libraries.register_library(BY_NAME["casino.odds"])
    finally:
        BY_NAME.pop("casino.odds", None)
        calls[:] = [each for each in calls if each.package != "casino"]
        sys.modules.pop("casino", None)


def test_the_threads_of_blas_are_told_and_put_back():
    """Of all its libraries at once."""
    setting = BY_NAME["threadpoolctl.threadpool_limits"]
    undo = setting.kept()
    try:
        setting.set(1)
        assert setting.read(threadpoolctl) == 1
        with threadpoolctl.threadpool_limits(2, "blas"):
            assert setting.read(threadpoolctl) == 2
            assert setting.can_be(2)
    finally:
        undo()
    assert not setting.can_be("1, 2")


def test_what_accelerators_share_is_told_and_put_back():
    """Before the first one, it is empty, and can be made so again."""
    setting = BY_NAME["accelerate.state.AcceleratorState"]
    undo = setting.keep(accelerate)
    held = accelerate.state.AcceleratorState._shared_state
    try:
        held.clear()
        assert read_libraries(["accelerate"])[setting.name] == {}
        held |= {"_mixed_precision": "no", "device": "cpu", "distributed_type": "NO"}
        held["num_processes"] = 1
        told = read_libraries(["accelerate"])[setting.name]
        assert (told["mixed_precision"], told["device"]) == ("no", "cpu")
        assert setting.can_be({})
        assert not setting.can_be(told)
        setting.set({})
        assert held == {}
    finally:
        undo()
