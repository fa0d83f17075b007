"""``%rng`` in a real kernel: a static copy first, then the widget."""

from __future__ import annotations

import subprocess
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

import ipytorchseed as its
from ipytorchseed.errors import LookupFailure
from tests.kernel import Kernel

LOADED = "__import__('sys').modules.keys() & {'anywidget', 'ipywidgets'}"

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel where the extension is loaded and the package is imported."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("import ipytorchseed")
        yield kernel


def test_the_widget_stack_is_not_loaded_before_it_is_needed(tmp_path):
    """Loading the extension, running cells and printing text do not import it."""
    with Kernel(tmp_path) as kernel:
        for cell in (
            "%load_ext ipytorchseed",
            "1",
            "%rng --text",
            "%why --json",
            "import ipytorchseed",
        ):
            kernel.run(cell)
        assert kernel.value(LOADED) == set()


@pytest.mark.parametrize("line", ["%rng", "ipytorchseed.inspector()"])
def test_static_html_is_shown_first_and_the_widget_second(kernel, line):
    """A front end without widgets shows text, without an address in memory."""
    reply = kernel.run(line)
    assert (reply.status, reply.results, reply.stderr) == ("ok", [], "")
    static, live = reply.displays
    assert VIEW not in static
    assert "<script" not in static["text/html"]
    assert "text/html" not in live
    assert live["text/plain"].startswith("The live inspector")
    assert kernel.value(LOADED) == {"anywidget", "ipywidgets"}


def test_what_is_returned_is_what_is_shown(kernel):
    """It is shown once, as the last expression or by ``display``, and looks the same."""
    reply = kernel.run("shown = ipytorchseed.inspector()")
    assert (reply.status, reply.displays, reply.stderr) == ("ok", [], "")
    assert len(kernel.run("shown").displays) == 2
    assert len(kernel.run("display(shown)\n1").displays) == 2
    assert kernel.run("print(shown)").stdout.startswith("No seed set yet.")
    runs = [kernel.record("ipytorchseed.inspector()")[1][0] for _ in range(2)]
    assert runs[0].outputs.result == runs[1].outputs.result


def test_every_display_is_of_one_widget(kernel):
    """This holds after the extension was unloaded and loaded again."""
    before = kernel.run("%rng").displays[1][VIEW]["model_id"]
    kernel.run("%reload_ext ipytorchseed")
    assert kernel.run("%rng").displays[1][VIEW]["model_id"] == before


def test_in_a_shell_that_has_not_loaded_it_it_says_what_to_do(monkeypatch):
    """The error is one sentence."""
    monkeypatch.setattr("ipytorchseed.notebook.extension.get_ipython", InteractiveShell)
    with pytest.raises(LookupFailure, match="%load_ext ipytorchseed"):
        its.inspector()


@pytest.mark.parametrize("first", ["", "import ipytorchseed.inspector.inspector; "])
def test_its_name_is_the_function_whatever_was_imported(first):
    """The package has the same name as the function."""
    code = f"{first}import ipytorchseed as its; print(callable(its.inspector))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
