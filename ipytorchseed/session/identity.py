"""Identifies cells across kernels, and after a notebook was reopened."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from ipytorchseed.errors import LedgerError, UncheckableError
from ipytorchseed.foreign import Format
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.patterns import lazy_pattern


class Identity:
    """The keys of cells, each the same for all runs of its cell.

    Within a kernel, the front end's id identifies a cell. In another kernel, the same id may belong
    to another cell, so the id counts only if it is in the notebook's file. Otherwise a cell is
    matched by its text, if only one cell had that text. A cell without a match gets a new key: a
    wrong match would be worse than none.

    Attributes:
        notebook: The key of the notebook.
        kernel: A unique name of this kernel's process.
        keys: The keys of the cells that ran in this kernel, by id.
    """

    def __init__(self, notebook: str, kernel: str) -> None:
        self.notebook = notebook
        self.kernel = kernel
        self.keys: dict[str, str] = {}

    def key_of(self, ident: str) -> str:
        """Return the key of a cell, or its id if the cell did not run in this kernel."""
        return self.keys.get(ident, ident)

    def ident_of(self, key: str) -> str:
        """Return the id of a cell, or its key if the cell did not run in this kernel."""
        idents = {known: ident for ident, known in self.keys.items()}
        return idents.get(key, key)

    def begin(
        self, ident: str, code: str, saved: Collection[str], ledger: Ledger, history_key: str
    ) -> None:
        """Assign a key to a cell that is about to run for the first time in this kernel.

        Args:
            ident: The front end's id of the cell.
            code: The digest of the cell's code.
            saved: The ids in the notebook's file, if the front end uses these ids.
            ledger: The ledger with the earlier runs.
            history_key: The notebook's key in the ledger.
        """
        taken = {*saved, *self.keys.values()}
        self.keys[ident] = ident  # kept if the ledger cannot be read
        if ident in saved:
            return
        with suppress(LedgerError):  # reported when the run is to be stored
            alike = ledger.cells_with_text(history_key, code, self.kernel)
            if len(alike) == 1 and alike[0] not in taken:
                self.keys[ident] = alike[0]
            elif ident in taken or next(ledger.runs(history_key, ident), None):
                self.keys[ident] = f"{ident} {self.kernel}"


class FileCell(msgspec.Struct, frozen=True):
    """A code cell in the notebook's file.

    Attributes:
        id: The id in the file.
        source: The text of the cell.
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


# Reading a notebook of the maximum size takes a tenth of a second.
_FORMAT = Format("notebook", UncheckableError, "save it again in Jupyter", size=100_000_000)

# Ids that a notebook's file can hold, from nbformat 4.5 on.
_SAVED = lazy_pattern(r"[a-zA-Z0-9-_]{1,64}")

# The tag of cells that nbclient does not run.
_SKIP = "skip-execution"


def saved_ids(notebook: str, ident: str) -> frozenset[str]:
    """Return the cell ids in a notebook's file, which stay the same.

    Args:
        notebook: The notebook's path. If it does not end in ``.ipynb``, no ids are read.
        ident: The id of a cell. If a file cannot hold such an id, no ids are read.
    """
    path = Path(notebook)
    if path.suffix == ".ipynb" and _SAVED.fullmatch(ident):
        with suppress(OSError, UncheckableError):  # removed or half written
            about = path.stat()
            return _ids_in(path, about.st_mtime_ns, about.st_size)
    return frozenset()


@lru_cache(maxsize=1)
def _ids_in(path: Path, *_: int) -> frozenset[str]:
    """Return the ids in a version of a file; empty before nbformat 4.5."""
    notebook = _read(path)
    has_ids = (notebook.nbformat, notebook.nbformat_minor) >= (4, 5)
    return frozenset(cell.id for cell in notebook.cells if has_ids and cell.id)


def saved_cells(path: Path) -> list[FileCell]:
    """Return the code cells in a notebook's file that Run All would run, in order.

    Raises:
        UncheckableError: The file cannot be read, or is not a notebook.
    """
    codes = [cell for cell in _read(path).cells if cell.cell_type == "code"]
    texts = [(cell, "".join(cell.source)) for cell in codes if _SKIP not in cell.metadata.tags]
    return [FileCell(cell.id, text) for cell, text in texts if text.strip()]


def _read(path: Path) -> _Notebook:
    with _FORMAT.errors(path):
        return msgspec.json.decode(_FORMAT.read(path), type=_Notebook)
