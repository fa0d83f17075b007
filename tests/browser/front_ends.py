"""A real JupyterLab and a real Notebook 7 from one server, used as a user does."""

from __future__ import annotations

import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError

import nbformat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from playwright.sync_api import Dialog, Locator, Page

ROOT = Path(__file__).parents[2]

_CELL = "window.jupyterapp.shell.currentWidget.content.widgets[index]"

# Milliseconds to wait on a slow machine.
PATIENCE = 60_000

# The path at which each front end opens a notebook.
APPS = {"lab": "lab/tree", "notebook": "notebooks"}

# The default theme.
THEME = "JupyterLab Light"

_SERVE = """
from ipytorchseed.checking.notebook import import_nbformat
import_nbformat()
from jupyterlab.labapp import main
from tests.forking import forking
with forking():
    main()
"""


class Server:
    """A Jupyter server with its own folder, data folder and settings.

    Its kernels are forks.

    Args:
        folder: Its working folder.

    Attributes:
        lab: A page with JupyterLab and no open notebook, if there is one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lab: Page | None = None
        self._token = secrets.token_hex(16)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        home = self.folder / ".home"
        notebooks = self.folder / "notebooks"
        notebooks.mkdir(parents=True)
        settings = home / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
        settings.parent.mkdir(parents=True)
        settings.write_text('{"fetchNews": "false", "checkForUpdates": false}', "utf-8")
        options = {
            "ServerApp.port": self._port,
            "ServerApp.port_retries": 0,
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.root_dir": notebooks,
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "IdentityProvider.token": self._token,
            "LabApp.expose_app_in_browser": True,
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "LabApp.extension_manager": "readonly",
            "JupyterNotebookApp.expose_app_in_browser": True,
        }
        environment = {
            **os.environ,
            "HOME": str(home),
            "IPYTHONDIR": str(home / "ipython"),
            "IPYTORCHSEED_DATA_DIR": str(home / "ledger"),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT),
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        self._log = (self.folder / "server.log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, *words],
            env=environment,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._wait()
        return self

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE / 1000
        while True:
            try:
                urllib.request.urlopen(self.link("api/status"), timeout=5).close()  # noqa: S310 -- ours
            except (URLError, ConnectionError, TimeoutError):
                if time.monotonic() > deadline or self._process.poll() is not None:
                    self.__exit__()
                    told = (self.folder / "server.log").read_text("utf-8", "replace")
                    msg = f"Jupyter did not start:\n{told[-3000:]}"
                    raise RuntimeError(msg) from None
                time.sleep(0.2)
            else:
                return

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:  # it waits for a kernel that does not exit
            self._process.kill()
            self._process.wait(20)
        self._log.close()

    def link(self, path: str) -> str:
        """Return the address of a path, with the token."""
        return f"{self.url}/{path}?token={self._token}"

    def write(self, name: str, cells: Sequence[str]) -> Path:
        """Write a notebook of code cells."""
        book = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(text) for text in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        path = self.folder / "notebooks" / f"{name}.ipynb"
        nbformat.write(book, path)
        return path


class Notebook:
    """A notebook in a front end.

    Args:
        page: A page of the browser.
        server: The server.
        name: The name of the notebook.
        app: ``lab`` or ``notebook``.
        alone: Whether the page is only for this notebook.

    Attributes:
        errors: Uncaught errors of the page, and blocked requests to other hosts.
    """

    def __init__(self, page: Page, server: Server, name: str, app: str, *, alone: bool) -> None:
        self.page, self.server, self.name, self.app = page, server, name, app
        self._alone = alone
        self.errors: list[str] = []
        self._listeners = {"pageerror": self._failed, "dialog": self._asked}
        for event, listener in self._listeners.items():
            page.on(event, listener)
        page.set_default_timeout(PATIENCE)

    def _failed(self, error: object) -> None:
        self.errors.append(str(error))

    def _asked(self, dialog: Dialog) -> None:
        if dialog.type != "beforeunload":
            self.errors.append(f"{dialog.type}: {dialog.message}")
        dialog.accept()

    def open(self) -> None:
        """Open it, and wait until its kernel is ready."""
        path = f"{self.name}.ipynb"
        if self.page.url.startswith(self.server.url):
            self.command("docmanager:open", path=path)
        else:
            self.page.goto(self.server.link(f"{APPS[self.app]}/{path}") + "&reset")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.idle()
        self.errors.clear()  # Notebook 7 reports some while it starts

    def reload(self) -> None:
        """Reload the page; the kernel keeps running."""
        self.page.reload()
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.idle()

    def idle(self) -> None:
        """Wait until the kernel is idle."""
        self.page.wait_for_function(
            """() => {
                const panel = window.jupyterapp?.shell.currentWidget;
                const kernel = panel?.sessionContext?.session?.kernel;
                return kernel?.status === "idle" && kernel.connectionStatus === "connected";
            }"""
        )

    def cell(self, index: int) -> Locator:
        """Return a cell."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def run(self, index: int, text: str | None = None, *, wait: bool = True) -> str:
        """Run a cell with the keyboard, and return the text of its outputs.

        Args:
            index: The index of the cell.
            text: The text to write into it first; None to keep its text.
            wait: Whether to wait until it has finished.
        """
        self.page.evaluate(f"index => {{ {_CELL}.model.executionCount = null; }}", index)
        self.cell(index).locator(".cm-content").click()
        if text is not None:
            self.page.keyboard.press("Control+A")
            self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Control+Enter")
        if not wait:
            return ""
        self.page.wait_for_function(f"index => {_CELL}.model.executionCount !== null", arg=index)
        return self.output(index)

    def output(self, index: int) -> str:
        """Return the text of a cell's outputs."""
        return self.cell(index).locator(".jp-Cell-outputArea").inner_text()

    def command(self, name: str, **args: object) -> None:
        """Run a command of the front end, as its menus do."""
        self.page.evaluate(
            "async ([name, args]) => { await window.jupyterapp.commands.execute(name, args); }",
            [name, args],
        )

    def restart(self) -> None:
        """Restart the kernel."""
        self.page.evaluate(
            "async () => { await window.jupyterapp.shell.currentWidget"
            ".sessionContext.restartKernel(); }"
        )
        self.idle()

    def shut_down(self) -> None:
        """Shut down the kernel."""
        self.page.evaluate(
            "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.shutdown(); }"
        )

    def close(self) -> None:
        """Shut down the kernel and leave the page.

        JupyterLab stays loaded in it, for the next notebook.
        """
        if self.page.evaluate("() => document.body.dataset.jpThemeName") != THEME:
            self.theme(THEME)  # the server keeps it
        self.shut_down()
        if self._alone or self.server.lab is not None:
            self.page.close()
            return
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.dispose()")
        self.server.lab = self.page

    def theme(self, name: str) -> None:
        """Change the theme, and wait until JupyterLab has removed its splash screen.

        It removes the screen by a timer, which fails in the page if a second change overtakes it.
        """
        self.command("apputils:change-theme", theme=name)
        self.page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def save(self) -> nbformat.NotebookNode:
        """Save it, and return the content of the file."""
        self.command("docmanager:save")
        path = self.server.folder / "notebooks" / f"{self.name}.ipynb"
        self.page.wait_for_function(
            "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
        )
        return nbformat.read(path, as_version=4)

    @property
    def inspector(self) -> Inspector:
        """The inspector in it."""
        return Inspector(self.page.locator(".its-inspector:not(.its-card, .its-line)").last)

    def view(self, index: int) -> Inspector:
        """Return the inspector in a cell's output."""
        return Inspector(self.cell(index).locator(".its-inspector"))


class Inspector:
    """The inspector as a user sees it.

    Args:
        root: Its outermost element.
    """

    def __init__(self, root: Locator) -> None:
        self.root = root

    def ready(self) -> Self:
        """Wait until it shows the kernel's answer."""
        self.root.and_(self.root.page.locator(".its-live")).wait_for()
        return self

    def says(self, source: str, what: str) -> None:
        """Wait until the row of a source has this text."""
        title = re.compile(rf"^{re.escape(source)}$")
        name = self.root.page.locator(".its-name span", has_text=title)
        self.root.locator(".its-now > div", has=name).get_by_text(what).wait_for()

    def press(self, name: str) -> None:
        """Press a button with the keyboard."""
        self.root.get_by_role("button", name=name, exact=True).press("Enter")

    def save_as(self, name: str) -> None:
        """Save all states under a name."""
        self.press("Save…")
        self.root.get_by_label("Name").fill(name)
        self.root.page.keyboard.press("Enter")

    def unfold(self, *, unfolded: bool) -> None:
        """Unfold or fold all details."""
        self.root.evaluate(
            "(it, open) => it.querySelectorAll('details').forEach(each => each.open = open)",
            unfolded,
        )

    def row(self, name: str) -> Locator:
        """Return the row of a run."""
        button = self.root.page.get_by_role("button", name=name, exact=True)
        return self.root.locator("tr.its-row", has=button)

    def pick(self, name: str) -> Locator:
        """Return the buttons that choose runs of this name, ``In[3]`` or a pattern."""
        name = name.replace("[", r"\[").replace("]", r"\]") if "[" in name else name
        return self.root.locator(".its-pick", has_text=re.compile(rf"^(?:{name})$"))

    @property
    def why(self) -> Locator:
        """The explanation."""
        return self.root.locator(".its-why")

    @property
    def told(self) -> Locator:
        """The message about the last action."""
        return self.root.locator(".its-told")
