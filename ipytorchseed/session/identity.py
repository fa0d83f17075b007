"""Identifies cells across kernels, and across openings of the notebook's file."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import msgspec

from ipytorchseed.errors import LedgerError, UncheckableError
from ipytorchseed.foreign import Format
from ipytorchseed.ledger.store import Ledger


class Identity:
    """Gives every cell of this kernel a key that all runs of the cell share.

    Within a kernel, the front end's id identifies a cell. In another kernel the same id may belong
    to another cell, unless the id is in the notebook's file. Other cells are matched by their
    text, if only one cell had that text. A cell without a match gets a new key, because a wrong
    match would be worse than none.

    Attributes:
        notebook: The notebook's key.
        kernel: A unique name of this kernel's process.
    """

    def __init__(self, notebook: str, kernel: str) -> None:
        self.notebook = notebook
        self.kernel = kernel
        self._keys: dict[str, str] = {}

    def key_of(self, ident: str) -> str:
        """Return the key of a cell; the id itself if it did not run in this kernel."""
        return self._keys.get(ident, ident)

    def ident_of(self, key: str) -> str:
        """Return the front end's id of a cell; the key if it did not run in this kernel."""
        idents = {known: ident for ident, known in self._keys.items()}
        return idents.get(key, key)

    def knows(self, ident: str) -> bool:
        """Return whether a cell already has a key."""
        return ident in self._keys

    def begin(
        self, ident: str, code: str, saved: Collection[str], ledger: Ledger, history_key: str
    ) -> None:
        """Give a key to a cell that is about to run for the first time in this kernel.

        Args:
            ident: The front end's id.
            code: The digest of the cell's text.
            saved: Ids in the notebook's file, if the front end uses them.
            ledger: Has the earlier runs.
            history_key: The key of this process's runs in it.
        """
        known = ident in saved
        self._keys[ident] = ident if known else self._find(ident, code, saved, ledger, history_key)

    def _find(
        self, ident: str, code: str, saved: Collection[str], ledger: Ledger, history_key: str
    ) -> str:
        """Return the key of the cell with this text in an earlier kernel, or a new key."""
        kernel, taken = self.kernel, {*saved, *self._keys.values()}
        try:
            alike = ledger.cells_with_text(history_key, code, kernel)
            if len(alike) == 1 and alike[0] not in taken:
                return alike[0]
            known = ident in taken or next(ledger.runs(history_key, ident), None)
        except LedgerError:  # reported when the run is to be stored
            return ident
        return f"{ident} {kernel}" if known else ident


class FileCell(msgspec.Struct, frozen=True):
    """A code cell of the notebook's file.

    Attributes:
        id: Its id in the file.
        source: Its text.
    """

    id: str
    source: str


class _Metadata(msgspec.Struct):
    tags: list[str] = []


class _Cell(msgspec.Struct):
    cell_type: str = ""
    id: str = ""
    source: str | list[str] = ""
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Notebook(msgspec.Struct):
    nbformat: int
    nbformat_minor: int
    cells: list[_Cell]


# A notebook of that size is read in a tenth of a second.
_FORMAT = Format("notebook", UncheckableError, "save it again in Jupyter", size=100_000_000)

# The tag of cells that nbclient does not run.
_SKIP = "skip-execution"


def saved_ids(path: Path) -> frozenset[str]:
    """Return the ids of a notebook file's cells; none before nbformat 4.5.

    Raises:
        UncheckableError: It cannot be read, or is not a notebook.
    """
    notebook = _read(path)
    has_ids = (notebook.nbformat, notebook.nbformat_minor) >= (4, 5)
    return frozenset(cell.id for cell in notebook.cells if has_ids and cell.id)


def saved_cells(path: Path) -> list[FileCell]:
    """Return the code cells of a notebook's file that are run, in order.

    Raises:
        UncheckableError: It cannot be read, or is not a notebook.
    """
    codes = [cell for cell in _read(path).cells if cell.cell_type == "code"]
    texts = [(cell, "".join(cell.source)) for cell in codes if _SKIP not in cell.metadata.tags]
    return [FileCell(cell.id, text) for cell, text in texts if text.strip()]


def _read(path: Path) -> _Notebook:
    with _FORMAT.errors(path):
        return msgspec.json.decode(_FORMAT.read(path), type=_Notebook)
