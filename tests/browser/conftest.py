"""One browser and one server for the tests of this folder; a notebook for each."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from tests.browser.front_ends import Notebook, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from playwright.sync_api import BrowserContext

_T = TypeVar("_T")
_HELD = pytest.StashKey[dict[str, Any]]()

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


def _held(request: pytest.FixtureRequest, start: Callable[[], AbstractContextManager[_T]]) -> _T:
    """Enter a context for the first test that asks.

    Leave it after the last test of this folder.

    Not that of the session: as long as Playwright is there, its event loop runs in this thread.
    """
    folder = request.node.parent
    held = folder.stash.setdefault(_HELD, {})
    if request.fixturename not in held:
        context = start()
        held[request.fixturename] = context.__enter__()
        folder.addfinalizer(partial(context.__exit__, None, None, None))
        folder.addfinalizer(partial(held.pop, request.fixturename))
    return held[request.fixturename]


@pytest.fixture(scope="module")
def browser(request, tmp_path_factory, report_missing) -> BrowserContext:
    """Chromium: the system's, or Playwright's own."""
    try:
        return _held(request, lambda: chromium(tmp_path_factory.mktemp("chromium")))
    except FileNotFoundError as error:
        report_missing(str(error))


@contextmanager
def chromium(profile: Path, **options: Any) -> Iterator[BrowserContext]:
    """Start the browser.

    Args:
        profile: A folder for what it keeps.
        **options: As Playwright has them.

    Raises:
        FileNotFoundError: There is no browser; the message says how to install one.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        path = next(filter(None, map(shutil.which, BROWSERS)), str(own) if own.exists() else None)
        if path is None:
            raise FileNotFoundError(HOW)
        with playwright.chromium.launch_persistent_context(
            profile,  # one with files: a script that was compiled once is not compiled again
            executable_path=path,
            args=WORDS,
            permissions=["clipboard-read", "clipboard-write"],
            **options,
        ) as launched:
            yield launched


@pytest.fixture(scope="module")
def server(request, tmp_path_factory, browser) -> Server:
    """The server."""
    return _held(request, lambda: Server(tmp_path_factory.mktemp("jupyter")))


@contextmanager
def opener(
    server: Server, browser: BrowserContext, title: str
) -> Iterator[Callable[..., Notebook]]:
    """Give what opens notebooks of given cells.

    At the end no script has failed in a page.

    A notebook is opened in the JupyterLab that is already there; one that is to be ``alone``, or
    has
    a name, in its own page.
    """
    opened = []

    def open_one(
        *cells: str,
        app: str = "lab",
        width: int = 1200,
        height: int = 900,
        name: str = "",
        alone: bool = False,
    ) -> Notebook:
        alone = alone or bool(name) or app != "lab"
        if not name:
            name = f"{re.sub(r'[^a-z0-9]+', '-', title).strip('-')}-{len(opened)}"
            server.write(name, cells)
        page = None
        if not alone:
            page, server.lab = server.lab, None
        page = page or browser.new_page()
        page.set_viewport_size({"width": width, "height": height})
        notebook = Notebook(page, server, name, app, alone=alone)
        opened.append(notebook)
        notebook.open()
        return notebook

    yield open_one
    for notebook in opened:
        notebook.close()
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
