"""A cell's output is recorded without changing how it is shown."""

from __future__ import annotations

import json

import pytest

from ipytorchseed.why.changes import find_changes
from tests.kernel import Kernel


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel whose outputs are recorded."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        kernel.run("import sys, threading")
        assert kernel.run("%load_ext ipytorchseed").status == "ok"
        yield kernel


def test_what_is_printed_is_recorded_without_its_noise(kernel):
    """Prints, writes, threads and subcommands are compared; equal output is equal."""
    cell = (
        "print('a', object())\nsys.stdout.write('b\\n')\n"
        "t = threading.Thread(target=print, args=('c',)); t.start(); t.join()\n!echo d"
    )
    first, second = (kernel.record(cell)[1][0] for _ in range(2))
    assert first.outputs.stdout == second.outputs.stdout
    assert first.outputs.stdout.summary == "4 lines"
    assert kernel.record("print('a', 2)")[1][0].outputs.stdout.digest != first.outputs.stdout.digest
    assert kernel.record("x = 1")[1][0].outputs.stdout is None


@pytest.fixture
def piped(tmp_path, monkeypatch):
    """A kernel that shows the process's own output, as kernels do outside tests."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        yield kernel


def test_what_programs_print_comes_in_any_order(piped):
    """It arrives separately from the cell's own prints, and may be late."""
    cell = "import subprocess\nprint(1)\nsubprocess.run(['sh', '-c', 'echo 2; echo 3'])\nprint(4);"
    runs = [piped.record(cell)[1][0] for _ in range(5)]
    assert not any(find_changes(runs[0], run) for run in runs)
    assert not runs[0].outputs.stdout.exact


def test_what_comes_late_is_not_the_next_cells(piped):
    """Background programs and native code may print at any time."""
    before, *after = (
        piped.record(cell)[1][0]
        for cell in (
            "import os, time\nfor _ in range(40): time.sleep(0.01)",
            "import subprocess\nsubprocess.Popen('sleep 0.2; echo late', shell=True).pid;",
            "import os, time\nfor _ in range(40): time.sleep(0.01)",
        )
    )
    assert before.outputs.stdout is None
    assert not after[1].outputs.stdout.exact
    assert not find_changes(before, after[1])


def test_what_is_not_shown_is_not_recorded(kernel):
    """It is redirected, captured, or written to standard error."""
    for cell in (
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    print(1)",
        "%%capture\nprint(1)\nfrom IPython.display import display\ndisplay(2)",
        "print(1, file=sys.stderr)",
    ):
        _, (run,) = kernel.record(cell)
        assert (run.outputs.stdout, run.outputs.displays) == (None, ())


def test_a_stream_that_the_user_put_around_ours_is_heard_once(kernel):
    """It may also stay for later cells."""
    kernel.run(
        "class Tee:\n    def __init__(self, out): self.out = out\n"
        "    def write(self, text): return self.out.write(text)\n"
        "    def flush(self): self.out.flush()\n"
        "sys.stdout, plain = Tee(sys.stdout), sys.stdout"
    )
    _, (run,) = kernel.record("print(5)")
    kernel.run("sys.stdout = plain")
    assert run.outputs.stdout.series == (5.0,)
    kernel.run(
        "was = sys.stdout.write\nsys.stdout.write = lambda text: was(text.replace('6', '7'))"
    )
    _, (run,) = kernel.record("print(6)")
    assert len(run.outputs.stdout.series) == 1
    assert vars_of_stdout(kernel) <= {"write"}


def vars_of_stdout(kernel):
    """Return the instance attributes of the stream between cells."""
    return kernel.value("{n for n in vars(__import__('sys').stdout) if n in ('write', 'flush')}")


FIGURE = """
import matplotlib.pyplot as plt
plt.plot([1, {last}])
plt.show()
"""


def test_a_figure_is_recorded_by_its_pixels(kernel):
    """Equal figures are equal, and others differ; no figure stays in memory."""
    kernel.run("%matplotlib inline")
    runs = [kernel.record(FIGURE.format(last=last))[1][0] for last in (2, 2, 3)]
    assert [len(run.outputs.displays) for run in runs] == [1, 1, 1]
    assert "image/png" in runs[0].outputs.displays[0].summary
    assert runs[0].outputs.displays == runs[1].outputs.displays != runs[2].outputs.displays


def test_widgets_are_shown_as_ever(kernel):
    """Names of their models differ in each run, which does not count."""
    kernel.run("import ipywidgets\nfrom IPython.display import display")
    shown = [kernel.record("display(ipywidgets.IntSlider(3))") for _ in range(2)]
    assert [len(reply.displays) for reply, _ in shown] == [1, 1]
    assert shown[0][1][0].outputs.displays == shown[1][1][0].outputs.displays
    out = "out = ipywidgets.Output()\nwith out:\n    print('inside')\nlen(out.outputs)"
    assert kernel.run(out).status == "ok"


def why(kernel, run, against):
    """Return the answer of ``%why`` for a run."""
    line = f"%why {run.execution_count} --against {against.execution_count} --json"
    return json.loads(kernel.run(line).stdout)


def test_of_much_output_the_same_is_known_and_the_rest_is_not_claimed(kernel):
    """Megabytes are digested; if the end differs, it may be times and addresses."""
    cell = "for n in range(9): print('x' * 1_000_000)\nprint({})"
    first, again, other = (kernel.record(cell.format(end))[1][0] for end in ("1", "1", "2"))
    assert first.outputs.stdout == again.outputs.stdout != other.outputs.stdout
    assert first.outputs.stdout.summary == "9,000,011 characters"
    told = [why(kernel, run, first) for run in (again, other)]
    assert [each["verdict"] for each in told] == ["same", "unexplained"]
    assert "the printed output was not read in full" in told[1]["message"]
    begins = kernel.record("print(7)\n" + cell.format("1"))[1][0]
    told = why(kernel, begins, first)
    assert [change["what"] for change in told["changed"]] == ["stdout"]


def test_our_method_of_a_stream_is_no_content(kernel):
    """A variable may hold it; what it refers to changes with each cell."""
    kernel.run("import sys\nheld = sys.stdout.write")
    first, again = (kernel.record("print(held.__name__)")[1][0] for _ in range(2))
    assert first.reads["held"] == again.reads["held"]
    assert why(kernel, again, first)["verdict"] == "same"
    kernel.run("del held")


def test_more_displays_than_are_kept_are_compared(kernel):
    """A difference in one of the last is found; the limit is lowered for the test."""
    limit = "from ipytorchseed.session import outputs\noutputs._MOST_DISPLAYS = {}"
    kernel.run(limit.format(10))
    cell = (
        "from IPython.display import display\n"
        "for n in range(15): display({{'text/plain': str(n)}}, raw=True)\n"
        "display({{'text/plain': '{}'}}, raw=True)"
    )
    first, again, other = (kernel.record(cell.format(end))[1][0] for end in "aab")
    kernel.run(limit.format(1_000))
    assert first.outputs.displays == again.outputs.displays != other.outputs.displays
    assert len(first.outputs.displays) == 10
    assert first.outputs.displays[-1].summary == "many more"


HOSTILE = """
class Text(str):
    def refuse(self, *_): raise AssertionError('the text was asked')
    __getitem__ = encode = isprintable = refuse
class Words(dict):
    items = keys = __iter__ = None
class Named:
    def __str__(self): return Text('named')
print(Named())
from IPython.display import display
try:
    display({'text/html': '<b>', 'application/json': Words(a=1)}, raw=True)
except Exception as error:
    told = type(error)
"""


def test_what_is_shown_is_not_asked_and_not_broken(kernel):
    """Texts and bundles may have their own class; the cell runs as without us."""
    reply, (run,) = kernel.record(HOSTILE)
    assert (reply.status, reply.stdout) == ("ok", "named\n")
    assert run.outputs.stdout.summary == "1 line"


def test_how_a_result_is_shown_is_recorded(kernel):
    """Its class may read more than it holds, and what it prints is recorded."""
    kernel.run(
        "class Side:\n    def _repr_html_(self):\n        print('shown')\n"
        "        return f'<b>{there}</b>'\nside, there = Side(), 1"
    )
    (first,), (again,) = (kernel.record("side")[1] for _ in range(2))
    kernel.run("there = 2")
    reply, (other,) = kernel.record("side")
    assert "<b>2</b>" in reply.results[0]["text/html"]
    assert first.outputs.result == other.outputs.result
    assert first.outputs.shown.summary == "text/html, text/plain"
    assert first.outputs.shown == again.outputs.shown
    assert first.outputs.shown.digest != other.outputs.shown.digest
    assert other.outputs.stdout == first.outputs.stdout is not None
    for cell in ("side;", "x = side", "print(side)"):
        assert kernel.record(cell)[1][0].outputs.shown is None
