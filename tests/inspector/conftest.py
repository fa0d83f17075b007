"""A shell that acts as a kernel's, with widgets whose messages are kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import comm
import pytest
from comm.base_comm import BaseComm
from IPython.core.interactiveshell import InteractiveShell

import ipytorchseed as its
from ipytorchseed.inspector import messages
from ipytorchseed.notebook import extension

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Wire(BaseComm):
    """A comm without a front end, which keeps its messages."""

    sent: list[Any]

    def publish_msg(self, msg_type, data=None, *_, **__):
        """Keep a message."""
        self.__dict__.setdefault("sent", []).append((msg_type, data or {}))


class FrontEnd:
    """Does what a view does, without a browser.

    Args:
        shell: The shell.

    Attributes:
        extension: The state of the extension in it.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.extension = extension._loaded[shell].state
        self._count = 0

    def run(self, cell: str, ident: str | None = None) -> Any:
        """Run a cell as a front end does."""
        result = self.shell.run_cell(cell, store_history=True, cell_id=ident)
        return result.result

    @property
    def handler(self) -> messages.MessageHandler:
        """The handler of the inspector's messages, opened on first use."""
        opened = self.extension.open_viewer()
        assert isinstance(opened, messages.MessageHandler)
        return opened

    def ask(self, ask: str, **question: Any) -> Mapping[str, Any]:
        """Ask as a view does, and return the answer."""
        return self.handler.answer({"ask": ask, **question})

    def do(self, what: str, **wish: Any) -> Mapping[str, Any]:
        """Press a button as an up-to-date view does."""
        last = self.extension.tracking.session.last
        return self.ask("do", what=what, **{"last": last.id if last else 0, **wish})

    def said(self) -> list[Mapping[str, Any]]:
        """Return the messages to views since the last call."""
        sent = self.handler.shown().comm.__dict__.setdefault("sent", [])
        told = [data["content"] for _, data in sent if data.get("method") == "custom"]
        sent.clear()
        return told


@pytest.fixture
def front_end(put_back, tmp_path, monkeypatch) -> Iterator[FrontEnd]:
    """A shell with the extension, a separate ledger, and widgets without a front end."""
    monkeypatch.setattr(comm, "create_comm", Wire)
    monkeypatch.setattr(messages, "_made", [])
    monkeypatch.setenv("IPYTORCHSEED_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    shell = InteractiveShell()
    shell.kernel = SimpleNamespace()
    its.load_ipython_extension(shell)
    yield FrontEnd(shell)
    its.unload_ipython_extension(shell)
    shell.history_manager.end_session()
