"""The size of the inspector, the time that it adds to a cell, and its delay."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.kernel import kernel, medians
from benchmarks.table import Row
from ipytorchseed.inspector.inspector import Inspector
from tests.browser.conftest import BROWSERS, HOW, WORDS
from tests.browser.front_ends import Notebook, Server
from tests.browser.test_many import FILL

if TYPE_CHECKING:
    from playwright.sync_api import Page, Playwright

KILO = 1000

LOAD = "%load_ext ipytorchseed\nimport time, random, torch"

STATE = """
import json, sys, time, ipywidgets
from pathlib import Path
from types import SimpleNamespace
import comm
from comm.base_comm import BaseComm
from IPython.core.interactiveshell import InteractiveShell
import ipytorchseed as its

class Wire(BaseComm):
    def publish_msg(self, *_, **__):
        pass

comm.create_comm = Wire
shell = InteractiveShell.instance()
shell.kernel = SimpleNamespace()
its.load_ipython_extension(shell)
shell.run_cell("import random, torch", store_history=True)
desk = __import__("ipytorchseed.notebook.extension", fromlist=["_"]).running().open_viewer()
asked = []
for number in range(1000):
    shell.run_cell("random.random(), torch.rand(2)\\n1", store_history=True)
    begin = time.perf_counter()
    desk.answer({"ask": "now"})
    asked.append(time.perf_counter() - begin)
desk.answer({"ask": "open"})
state = json.dumps(ipywidgets.Widget.get_manager_state())
print(len(state.encode()), sorted(asked)[len(asked) // 2] * 1000)
"""

ROW = """row => new Promise(done => {
    const look = () => {
        const rows = [...document.querySelectorAll(".its-inspector .its-pick")];
        if (!rows.some(each => each.textContent === row)) requestAnimationFrame(look);
        else done(performance.timeOrigin + performance.now());
    };
    look();
})"""

OPEN = "from ipytorchseed.notebook.extension import running\nrunning().open_viewer().shown();"

TIMED = """
import time, statistics
from ipytorchseed.notebook.extension import running
desk, spent = running().viewer, []
def timed(run, ran=desk.ran):
    begin = time.perf_counter()
    ran(run)
    spent.append(time.perf_counter() - begin)
desk.ran = timed
"""

ROUNDS = 25


def on_screen(notebook: Notebook, index: int, row: str) -> tuple[float, float]:
    """Run a cell; return when it started and when a row was shown, in ms since 1970."""
    page: Page = notebook.page
    page.evaluate(f"row => {{ window.shown = ({ROW})(row); }}", row)
    begin = page.evaluate("() => performance.timeOrigin + performance.now()")
    notebook.run(index)
    return begin, page.evaluate("() => window.shown")


def chromium(playwright: Playwright) -> str | None:
    """Return the path of the system's Chromium or Playwright's, or None."""
    own = playwright.chromium.executable_path
    return next(filter(None, map(shutil.which, [*BROWSERS, own])), None)


def screen() -> tuple[float, float] | None:
    """Return the times to show a row, and to open the inspector with 10,000 runs.

    Returns:
        The times in ms; None if there is no Chromium.
    """
    from playwright.sync_api import sync_playwright

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        playwright = stack.enter_context(sync_playwright())
        path = chromium(playwright)
        if path is None:
            return None
        server = stack.enter_context(Server(folder / "jupyter"))
        browser = playwright.chromium.launch(executable_path=path, args=WORDS)
        stack.callback(browser.close)
        times = []
        server.write("one", [LOAD, "%rng", "time.time()"])
        notebook = Notebook(browser.new_page(), server, "one", "lab", alone=True)
        notebook.open()
        for index in range(2):
            notebook.run(index)
        notebook.inspector.ready()
        for number in range(3, 3 + ROUNDS):
            _, shown = on_screen(notebook, 2, f"In[{number}]")
            ended = float(notebook.output(2).split()[-1]) * 1000
            times.append(shown - ended)
        server.write("many", [LOAD, "torch.rand(1)", FILL, "%rng"])
        many = Notebook(browser.new_page(), server, "many", "lab", alone=True)
        many.open()
        for index in range(3):
            many.run(index)
        begin, shown = on_screen(many, 3, "In[3]")
        return statistics.median(times), shown - begin


def rows() -> list[Row]:
    """Return the measured rows."""
    code = len((Inspector._esm + Inspector._css).encode()) / KILO  # noqa: SLF001 -- ours
    environment = {**os.environ, "IPYTORCHSEED_DATA_DIR": tempfile.mkdtemp()}
    measured = subprocess.run(
        [sys.executable, "-c", STATE], capture_output=True, check=True, env=environment, text=True
    ).stdout.split()
    state, asked = float(measured[-2]) / KILO, float(measured[-1])
    with ExitStack() as stack:
        closed = stack.enter_context(kernel(LOAD, "x = 1"))
        opened = stack.enter_context(kernel(LOAD, OPEN, "x = 1", TIMED))
        times = medians({"closed": (closed, "x = 1"), "open": (opened, "x = 1")})
        told = Path(tempfile.mkdtemp()) / "told"
        opened(f"open({str(told)!r}, 'w').write(str(statistics.median(spent) * 1000));")
        kernel_time = float(told.read_text())
    on_screen_rows = []
    seen = screen()
    if seen is None:
        print(f"Rows on screen are left out: {HOW}.")
    else:
        row, many = seen
        on_screen_rows = [
            Row("a cell's end to its row on screen", row, None, "", "ms", "under 150 ms",
                row < 150),
            Row("%rng to first rows, 10,000 runs", many, None, "", "ms", "under 1,000 ms",
                many < 1000),
        ]  # fmt: skip
    return [
        Row("JS and CSS", code, None, "", "KB", "under 40 KB", code < 40),
        Row("saved state, 1,000 runs", state, None, "", "KB", "under 100 KB", state < 100),
        Row("kernel time a cell, while open", kernel_time, None, "", "ms", "under 1 ms",
            kernel_time < 1),
        Row("round trip of x = 1, while open", times["open"], times["closed"], "closed", "ms", "",
            met=True),
        Row("... and details, once it is quiet", asked, None, "", "ms", "", met=True),
        *on_screen_rows,
    ]  # fmt: skip
