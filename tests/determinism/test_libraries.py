"""Settings of libraries, as they are in the record of a run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from matplotlib_inline import config

from ipytorchseed.determinism.libraries import BY_NAME
from tests.kernel import ROOT


def test_format_of_pictures_is_told_where_it_is_set():
    """Showing the first picture sets what is usual, which is no change."""
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
    """As they are once it is shown; what formats results is not made for it."""
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
