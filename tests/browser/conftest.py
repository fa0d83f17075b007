"""One browser and one server for this folder's tests, and a notebook for each."""

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

# The folder for screenshots, which git ignores.
SHOTS = Path(__file__).parent / "screenshots"

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
    """Enter a context at the first use; leave it after this folder's last test.

    It must not last for the session, as Playwright's event loop runs in this thread.
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
    """Chromium: the system's, or Playwright's."""
    try:
        return _held(request, lambda: chromium(tmp_path_factory.mktemp("chromium")))
    except FileNotFoundError as error:
        report_missing(str(error))


@contextmanager
def chromium(profile: Path, **options: Any) -> Iterator[BrowserContext]:
    """Start the browser.

    Args:
        profile: The folder of its profile.
        **options: Options of Playwright.

    Raises:
        FileNotFoundError: There is no browser. The message says how to install one.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        path = next(filter(None, map(shutil.which, BROWSERS)), str(own) if own.exists() else None)
        if path is None:
            raise FileNotFoundError(HOW)
        with playwright.chromium.launch_persistent_context(
            profile,  # a cache on disk, so that compiled scripts are reused
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
    """Yield a function that opens notebooks of given cells.

    Check at the end that no script failed in a page. A notebook is opened in the JupyterLab that
    is already loaded, or in a new page if it has a name or should be ``alone``.
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
    """A function that opens notebooks; a script that fails in the page fails the test."""
    with opener(server, browser, request.node.name) as open_one:
        yield open_one


@pytest.fixture
def shoot() -> Callable[..., None]:
    """Take a screenshot."""
    SHOTS.mkdir(exist_ok=True)

    def take(notebook: Notebook, name: str) -> None:
        notebook.inspector.root.screenshot(path=SHOTS / f"{name}.png")

    return take
