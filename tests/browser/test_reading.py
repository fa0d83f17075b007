"""Our displays can be read in both front ends, exported, unstyled and narrow."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbconvert import HTMLExporter

from tests.browser.conftest import SHOTS, opener
from tests.browser.layout import faults

CELLS = (
    "%load_ext ipytorchseed\nimport random, torch, numpy as np\n%seed 42",
    "train_generator = torch.Generator().manual_seed(0)",
    "model = torch.nn.Linear(4, 2)\nlosses = [float(model(torch.randn(8, 4)).sum()) for _ in 'abcd']"
    "\nlosses[-1]",
    "%deterministic",
    "%rng",
    "%why",
    "%seed",
    "%seed log",
    "%rng diff 3 4",
    "%%deterministic --warn\ntorch.zeros(4).index_add_(0, torch.tensor([1, 1]), torch.ones(2))"
    "\ntorch.zeros(4).put_(torch.tensor([1, 1]), torch.ones(2), accumulate=False)",
    "%%deterministic --trace\nx = torch.rand(3) + torch.randn(3, generator=train_generator)",
    "%rng who 11",
    "%replay 3 --dry",
)
ORDER = (0, 1, 2, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 4)
WIDTHS = (1400, 720)
THEMES = ("JupyterLab Light", "JupyterLab Dark")


@pytest.fixture(scope="module")
def saved(server, browser):
    """A saved notebook with each of our views, whose kernel has ended."""
    with opener(server, browser, "reading") as open_notebook:
        notebook = open_notebook(*CELLS, width=1400)
        for index in ORDER:
            notebook.run(index)
        notebook.inspector.ready()
        notebook.save()
    return notebook


@pytest.fixture(scope="module", params=["lab", "notebook"])
def opened(request, server, browser, saved):
    """The saved notebook, reopened."""
    with opener(server, browser, "reading-again") as open_notebook:
        notebook = open_notebook(name=saved.name, app=request.param)
        notebook.page.locator(".its-static").first.wait_for()
        yield notebook


@pytest.mark.parametrize("width", WIDTHS)
def test_a_notebook_that_is_opened_can_be_read(opened, width):
    """Every static view, including the inspector's copy, is checked in light and dark."""
    opened.page.set_viewport_size({"width": width, "height": 8000})
    found = []
    for theme in THEMES:
        opened.theme(theme)
        found += faults(opened.page)
        shade = theme.rpartition(" ")[2].lower()
        shoot(opened.page, f"{opened.app}-{width}-{shade}", ".jp-Notebook")
    assert found == []


@pytest.mark.parametrize("width", WIDTHS)
def test_an_exported_notebook_can_be_read(browser, saved, tmp_path, width):
    """It is exported by nbconvert."""
    path = saved.server.folder / "notebooks" / f"{saved.name}.ipynb"
    page = open_html(browser, tmp_path, HTMLExporter().from_filename(path)[0], width)
    assert faults(page) == []
    shoot(page, f"exported-{width}", "main")
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_html_without_style_can_be_read(browser, saved, tmp_path, width):
    """Some sites remove styles, classes and scripts.

    They have to scroll wide content themselves.
    """
    path = saved.server.folder / "notebooks" / f"{saved.name}.ipynb"
    book = nbformat.read(path, as_version=4)
    shown = [
        output["data"]["text/html"]
        for cell in book.cells
        for output in cell.outputs
        if "text/html" in output.get("data", {})
    ]
    assert len(shown) >= 8
    bare = re.sub(r"<style>.*?</style>", "", "<hr>".join(shown), flags=re.DOTALL)
    bare = re.sub(r"\s(?:class|style)=\"[^\"]*\"", "", bare)
    page = open_html(browser, tmp_path, f"<!doctype html><main>{bare}</main>", width)
    wide = ("wider", "the page is", "a page of")
    assert [each for each in faults(page, "main") if not each.startswith(wide)] == []
    shoot(page, f"bare-{width}", "main")
    page.close()


def open_html(browser, folder, html, width):
    """Open a page without network access."""
    file = folder / "page.html"
    file.write_text(html, "utf-8")
    page = browser.new_page()
    page.set_viewport_size({"width": width, "height": 8000})
    page.route(re.compile("^https?:"), lambda route: route.abort())
    page.goto(file.as_uri(), wait_until="domcontentloaded")
    return page


def shoot(page, name, selector):
    """Take a screenshot of the first element that matches."""
    SHOTS.mkdir(exist_ok=True)
    page.locator(selector).first.screenshot(path=SHOTS / f"reading-{name}.png")


@pytest.fixture(scope="module", params=["lab", "notebook"])
def live(request, server, browser):
    """A notebook with a long timeline and the explanation of a rerun."""
    with opener(server, browser, f"live-{request.param}") as open_notebook:
        notebook = open_notebook(*CELLS[:3], "%rng", MANY, app=request.param, height=1400)
        for index in (0, 1, 2, 4, 2, 3):
            notebook.run(index)
        inspector = notebook.inspector.ready()
        inspector.row("In[3]").first.wait_for()
        inspector.pick("In[5]").click()
        inspector.why.get_by_text(re.compile(r"In\[5\] compared")).wait_for()
        yield notebook


@pytest.mark.parametrize("width", WIDTHS)
def test_the_live_inspector_can_be_read(live, width):
    """No boxes overlap, and only the timeline has a scrollbar, as long as its rows."""
    live.page.set_viewport_size({"width": width, "height": 1400})
    assert faults(live.page, ".its-inspector") == []
    shoot(live.page, f"live-{live.app}-{width}", ".its-inspector")
    longer = live.page.evaluate(
        """() => {
            const view = document.querySelector(".its-inspector"), longer = [];
            for (let it = view; it && !it.querySelector(".jp-Cell"); it = it.parentElement) {
                const most = Math.max(it.clientHeight, view.offsetHeight + 100);
                if (it.scrollHeight > most) longer.push([it.className, it.scrollHeight, most]);
            }
            return longer;
        }"""
    )
    assert longer == []


MANY = """from msgspec.structs import replace
from ipytorchseed.notebook.extension import running
session = running().tracking.session
last = session.last
for number in range(1_000):
    session.ledger.add(replace(last, cell=str(number % 50), source=f"train({number % 50})"), {})"""
