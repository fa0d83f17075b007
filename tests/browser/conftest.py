"""One browser and one server for the tests of a file; a notebook for each."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.front_ends import Notebook, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

SHOTS = Path(__file__).parent / "screenshots"
"""Where pictures are left, to be looked at; git ignores them."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

HOW = "no Chromium is found: apt-get install chromium, or: python -m playwright install chromium"

WORDS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium: the system's, or Playwright's own. In CI a missing one is a failure.

    For one file: as long as Playwright is there, its event loop runs in this thread.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        path = next(filter(None, map(shutil.which, BROWSERS)), str(own) if own.exists() else None)
        if path is None and os.environ.get("CI"):
            pytest.fail(HOW)
        if path is None:
            pytest.skip(HOW)
        launched = playwright.chromium.launch(executable_path=path, args=WORDS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory, browser) -> Iterator[Server]:
    """The server."""
    with Server(tmp_path_factory.mktemp("jupyter")) as started:
        yield started


@contextmanager
def opener(server: Server, browser: Browser, title: str) -> Iterator[Callable[..., Notebook]]:
    """Give what opens notebooks of given cells; at the end no script has failed in a page."""
    opened = []

    def open_one(
        *cells: str, app: str = "lab", width: int = 1200, height: int = 900, name: str = ""
    ) -> Notebook:
        if not name:
            name = f"{re.sub(r'[^a-z0-9]+', '-', title).strip('-')}-{len(opened)}"
            server.write(name, cells)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        notebook = Notebook(page, server, name, app)
        opened.append(notebook)
        notebook.open()
        return notebook

    yield open_one
    for notebook in opened:
        notebook.shut_down()
        notebook.page.close()
    assert [error for notebook in opened for error in notebook.errors] == []


@pytest.fixture
def open_notebook(server, browser, request) -> Iterator[Callable[..., Notebook]]:
    """Open a notebook of given cells; a test fails where a script failed in the page."""
    with opener(server, browser, request.node.name) as open_one:
        yield open_one


@pytest.fixture
def shoot() -> Callable[..., None]:
    """Take a picture of what a test shows."""
    SHOTS.mkdir(exist_ok=True)

    def take(notebook: Notebook, name: str) -> None:
        notebook.inspector.root.screenshot(path=SHOTS / f"{name}.png")

    return take
