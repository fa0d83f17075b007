"""``%check`` compares what the notebook shows with a run in a fresh kernel."""

from __future__ import annotations

import os
import time

import nbformat
import pytest

from tests.checking.books import alive, book
from tests.kernel import Kernel
from tests.test_schemas import check

LOAD = "%load_ext ipytorchseed"


def write(folder, *cells):
    """Write a notebook whose cells have the ids ``cell-0``, ``cell-1``, ..."""
    return book(folder / "notebook", *cells)


def open_kernel(folder, path, **env):
    """Return a kernel that knows its notebook's path, as from JupyterLab."""
    return Kernel(folder, JPY_SESSION_NAME=str(path), BOOK_MARK=str(folder), **env)


def run_all(kernel, *cells):
    """Run cells under their ids."""
    for place, cell in enumerate(cells):
        assert kernel.run(cell, f"cell-{place}").status == "ok"


def follow(kernel):
    """Return ``%check``'s last displayed text, and what was printed until then."""
    printed = ""
    while True:
        message = kernel.published()
        printed += message["content"].get("text", "")
        if message["msg_type"] == "update_display_data":
            text = message["content"]["data"]["text/plain"]
            if "%check stop" not in text and text:
                return text, printed


def wait_for_end(folder):
    """Wait until no process of the fresh kernel is left."""
    until = time.monotonic() + 60
    while len(left := alive(str(folder))) > 1:
        assert time.monotonic() < until, left
        time.sleep(0.2)


def test_a_notebook_that_gives_the_same(tmp_path):
    """The asking kernel stays usable and unchanged; writes go to a copy of the folder."""
    cells = (
        LOAD,
        "import random\nrandom.seed(3)",
        "from pathlib import Path\nPath('out.txt').write_text(f'{random.random()}');",
        "print(Path('out.txt').read_text(), Path('../beside/data.txt').read_text())\n%rng --text",
        "%check",
    )
    here = tmp_path / "here"
    for name in ("here", "beside"):
        (tmp_path / name).mkdir()
    (tmp_path / "beside" / "data.txt").write_text("data")
    path = write(here, *cells)
    with open_kernel(here, path) as kernel:
        run_all(kernel, *cells[:-1])
        kernel.run("state = random.getstate()", silent=True)
        written = (here / "out.txt").stat().st_mtime_ns
        shown, button = kernel.run("%check", "cell-4").displays
        assert "Nothing recorded here" in shown["text/plain"]
        assert "Stop" in button["text/plain"]
        kernel.post("print(40 + 2)")
        told, printed = follow(kernel)
        assert "✓ In a fresh kernel, the file gives the same output: 4 cells compared." in told
        assert printed == "42\n"
        assert (here / "out.txt").stat().st_mtime_ns == written
        assert kernel.run("random.getstate() == state").shown == "True"
        assert [run.outputs.displays for run in kernel.runs()[-4:]] == [()] * 4
        wait_for_end(here)


def test_a_notebook_that_does_not(tmp_path):
    """Text and JSON name what only this kernel has, the first difference, the edits."""
    cells = (LOAD, "import numpy as np", "x = np.random.rand(3)\nprint(x.sum())", "x.max() > 2")
    path = write(tmp_path, *cells)
    with open_kernel(tmp_path, path) as kernel:
        run_all(kernel, *cells)
        os.utime(path)
        told = check("notebook_check", kernel.run("%check --json").stdout)
    assert [(each["kind"], each["name"], each["runs"]) for each in told["remarks"]] == [
        ("unseeded", "numpy", [3])
    ]
    first = told["verdict"]["first_divergence"]
    assert (first["id"], first["causes"][0]["name"]) == ("cell-2", "numpy")
    assert told["changes"][0].startswith("stdout: ")
    assert "+np.random.seed(42)" in told["edits"]


def test_it_is_stopped(tmp_path):
    """The word, the kernel's end or the next check stop it; an interrupt does not."""
    cells = (LOAD, "import time\nfor _ in range(6000): time.sleep(.1)")
    path = write(tmp_path, *cells)
    with open_kernel(tmp_path, path) as kernel:
        kernel.run("1", "cell-0")
        kernel.run(LOAD)
        kernel.run("x = 1", "cell-1")
        shown = kernel.run("%check").displays[0]["text/plain"]
        assert "not in the file yet. Save it and ask again" in shown
        while "1 of 2" not in shown:
            message = kernel.published()
            shown = message["content"].get("data", {}).get("text/plain", "")
        kernel.interrupt()
        assert len(alive(str(tmp_path))) > 1
        kernel.run("%check stop")
        wait_for_end(tmp_path)
        kernel.run("%check")
    wait_for_end(tmp_path)


def test_it_writes_nowhere_else_unasked(tmp_path, tmp_path_factory, monkeypatch):
    """A file outside the notebook's folder is named; nothing is run."""
    outside = tmp_path_factory.mktemp("outside") / "out.txt"
    cells = (LOAD, f"open({str(outside)!r}, 'w').write('x');")
    path = write(tmp_path, *cells)
    with open_kernel(tmp_path, path, TMPDIR=str(tmp_path)) as kernel:
        run_all(kernel, *cells)
        shown = kernel.run("%check").displays[0]["text/plain"]
    assert f"The file was not run: its cells write {outside}" in " ".join(shown.split())


def test_without_a_file_this_kernel_alone_is_looked_at(tmp_path):
    """This happens in Colab, and the answer says so."""
    with Kernel(tmp_path) as kernel:
        kernel.run(LOAD)
        kernel.run("limit = 3", "a")
        kernel.run("top = 3", "a")
        kernel.run("limit + 1", "b")
        shown = kernel.run("%check").displays[0]["text/plain"]
        told = check("notebook_check", kernel.run("%check --json").stdout)
    assert "`limit` is read by `In[4]`, and no cell sets it now" in shown
    assert shown.endswith("file could not be found, so only this kernel was checked.")
    assert (told["path"], told["verdict"]) == ("", None)


def test_where_nobody_asks_it_does_nothing(tmp_path, monkeypatch):
    """This is so in a notebook that ``check`` or nbconvert runs."""
    with Kernel(tmp_path) as kernel:
        kernel.run(LOAD)
        kernel.attended = False
        reply = kernel.run("%check")
    assert reply.stdout == "%check does nothing here: a program runs this notebook.\n"


@pytest.mark.parametrize("line", ["%check --now --yes", "%check stop"])
def test_words_and_options(tmp_path, line):
    """``--now`` starts no kernel, and ``stop`` without a check does nothing."""
    path = write(tmp_path, LOAD)
    with open_kernel(tmp_path, path) as kernel:
        kernel.run(LOAD)
        kernel.run("x = 1")
        reply = kernel.run(line)
        assert (reply.status, len(reply.displays)) == ("ok", "now" in line)
        assert kernel.complete("%check s")[:1] == ["stop"]
        wrong = kernel.run("%check 5")
        assert "%check: " in str(wrong.error or wrong.stderr)
    assert nbformat.read(path, as_version=4).cells[0].source == LOAD
