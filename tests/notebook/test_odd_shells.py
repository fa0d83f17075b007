"""In shells in odd states our magics work, or give the reason in one line.

Cells always run.
"""

from __future__ import annotations

import pytest

from tests.kernel import Kernel, files_of_ours

SHADOW = "; ".join(
    f"{name} = None"
    for name in (
        *("print", "open", "len", "isinstance", "type", "list", "dict", "str", "sorted", "id"),
        *("__import__", "Exception", "torch", "np", "numpy", "time", "random", "sys", "os"),
    )
)

PATCHED = """
import builtins, functools
def patched(function):
    return functools.wraps(function)(lambda *args, **kwargs: function(*args, **kwargs))
for name in ('open', 'print', 'len', 'isinstance', 'getattr', '__import__'):
    setattr(builtins, name, patched(getattr(builtins, name)))
"""

TRANSFORMER = """
def broken(lines):
    raise ValueError('a transformer of another tool')
get_ipython().input_transformers_post.append(broken)
"""

STATES = {
    "the working folder is removed": "import os, torch._inductor.config  # torch cannot be loaded without one\nos.mkdir('gone'); os.chdir('gone')\n"
    "os.rmdir('../gone')",
    "builtins and modules are shadowed": SHADOW,
    "builtins are patched": PATCHED,
    "the namespace is reset": "%reset -f",
    "autoreload is on": "%load_ext autoreload\n%autoreload 2",
    "a loop of the user's own": "import asyncio\nloop = asyncio.new_event_loop()\n"
    "asyncio.set_event_loop(loop)",
    "no loop": "import asyncio\nasyncio.set_event_loop(None)",
    "unloaded and loaded": "%unload_ext ipytorchseed\n%load_ext ipytorchseed",
    "a key that is no name": "globals()[3] = globals()[(1, 2)] = 'odd'",
    "stdout is replaced": "import io, sys\nkept = sys.stdout\nsys.stdout = io.StringIO()",
}

MAGICS = (
    "%seed 42 -q",
    "%%deterministic 42 --isolate\nx = 6 * 7",
    "%%deterministic --check\nx = 6 * 7",
    "%%deterministic --trace\nx = 6 * 7",
    "%rng --text",
    "%why",
    "%seed each 3 -q",
    "y = x",
    "%seed off -q",
)


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
@pytest.mark.timeout(200)
def test_magics_work_in_an_odd_shell(tmp_path, state):
    """Each cell runs, and none of our code fails."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("x = 0")
        assert kernel.run(state).status == "ok"
        for cell in MAGICS:
            reply = kernel.run(cell)
            assert reply.error is None, (cell, reply.error.traceback)
            assert "internal error" not in reply.stderr, (cell, reply.stderr)
        assert kernel.value("(x, y)") == (42, 42)


@pytest.mark.timeout(100)
def test_cells_run_under_a_broken_transformer(tmp_path):
    """Every cell fails because of it, ours as well; they run once it is gone."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run(TRANSFORMER)
        for cell in ("x = 1", "%%deterministic --check\nx = 1", "%seed 42"):
            reply = kernel.run(cell)
            assert reply.error.ename == "ValueError"
            assert not files_of_ours(reply.error.traceback)
            assert "internal error" not in reply.stderr
        kernel.value("get_ipython().input_transformers_post.clear()")
        assert kernel.run("%%deterministic --check\nx = 1").status == "ok"


@pytest.mark.timeout(100)
def test_cells_run_where_get_ipython_is_bound(tmp_path):
    """IPython's translation of any magic fails; plain cells run and are recorded."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("get_ipython = None")
        for cell in ("%seed 42", "%%deterministic 42\nx = 1", "%time x = 1"):
            reply = kernel.run(cell)
            assert (reply.error.ename, reply.stderr) == ("TypeError", "")
            assert not files_of_ours(reply.error.traceback)
        reply, (run,) = kernel.record("x = 1\nx")
        assert (reply.shown, reply.stderr, run.status) == ("1", "", "ok")
        kernel.run("del get_ipython")
        assert kernel.run("%%deterministic 42\nx").shown == "1"


@pytest.mark.timeout(100)
def test_after_unload_ext_nothing_of_ours_is_left(tmp_path):
    """The magics are unknown, and cells run."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("%unload_ext ipytorchseed")
        assert kernel.run("x = 1\nx").shown == "1"
        assert "not found" in kernel.run("%seed 42").stderr


@pytest.mark.timeout(100)
def test_in_a_removed_folder_nothing_is_imported_that_would_end_the_kernel(tmp_path):
    """Torch asks for the folder; one line tells what to do, and it works afterwards."""
    with Kernel(tmp_path, cold=True) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("import os\nos.mkdir('gone'); os.chdir('gone')\nos.rmdir('../gone')")
        for cell in (
            "%seed 42",
            "%%deterministic 42\nx = 1",
            "%%deterministic --warn\nx = 1",
            "%%deterministic --trace\nx = 1",
            "%%seeds 2\nx = 1.0",
            "%deterministic on",
            "%deterministic",
        ):
            reply = kernel.run(cell)
            told = reply.stderr + (reply.error.evalue if reply.error else "")
            assert "the working folder was removed" in told, cell
        assert kernel.run("%cd -q ..").status == "ok"
        for cell in ("%cd -q /", "%seed 42 -q", "%%deterministic 42\nx = 1"):
            assert kernel.run(cell).error is None, cell


@pytest.mark.timeout(100)
@pytest.mark.parametrize("filters", ["None", "()", "[1, None]"])
def test_cells_are_recorded_whatever_the_filters_of_warnings_are(tmp_path, filters):
    """What a cell assigns to the filters stays."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run(f"import warnings\nwarnings.filters = {filters}")
        reply, runs = kernel.record("x = r'\\d'\nrepr(warnings.filters)")
        assert (reply.shown, reply.stderr) == (repr(filters), "")
        assert len(runs) == 1


@pytest.mark.timeout(100)
def test_what_a_cell_takes_from_the_shell_stays_away(tmp_path):
    """A method replaced by None stays None in later cells, as without us."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("get_ipython().displayhook.write_output_prompt = None")
        kernel.run("x = 1")
        assert kernel.value("get_ipython().displayhook.write_output_prompt is None")


@pytest.mark.timeout(100)
def test_a_finder_that_was_put_first_is_first_in_the_next_cell(tmp_path):
    """It is asked once per module, and a cell may remove a finder that another added."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run(
            "import sys\nasked = []\nclass Finder:\n    def find_spec(self, name, *_):\n"
            "        asked.append(name)\n"
            "sys.meta_path.insert(0, Finder())"
        )
        kernel.run("import this_is_no_module")
        assert kernel.value("asked.count('this_is_no_module')") == 1
        kernel.run("del sys.meta_path[0]")
        assert kernel.value("[each for each in sys.meta_path if type(each) is Finder]") == []
