"""Reads a notebook's file for a check, with an id for each cell; the file is never written."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from msgspec import Struct, convert
from xxhash import xxh3_64_hexdigest

from ipytorchseed.errors import UncheckableError, did_you_mean
from ipytorchseed.receipts.reading import read_file, say_unread

if TYPE_CHECKING:
    from nbformat import NotebookNode


SKIP, RAISES, VARIES = "skip-execution", "raises-exception", "ipytorchseed-varies"
"""Tags of cells: not run; allowed to raise; expected to differ. The first two are nbclient's."""

_OLDEST = 4


_LARGEST = 1 << 30
"""The most bytes of a file; a check takes some ten times as much memory."""

TOO_DEEP = "its JSON, or what a cell shows, is nested too deeply"


class _Kernelspec(Struct):
    name: str | None = None


class _Metadata(Struct):
    kernelspec: _Kernelspec | None = None


class _CellMetadata(Struct):
    tags: list[str] = []


class _Cell(Struct):
    cell_type: str
    source: str
    metadata: _CellMetadata
    id: str | None = None


class _Shape(Struct):
    """The types that a check relies on in a notebook and that nbformat does not enforce."""

    cells: list[_Cell]
    metadata: _Metadata


class Cell(Struct, frozen=True):
    """A code cell.

    Attributes:
        index: Its place among all cells of the notebook's file, counted from 0.
        id: Its id in the notebook's file; one made from its place and text where there is none.
        source: Its text.
        tags: Its tags.
        count: Its number in ``In[...]`` after *Run All*; None where it is not run.
    """

    index: int
    id: str
    source: str
    tags: frozenset[str] = frozenset()
    count: int | None = None

    @property
    def name(self) -> str:
        """Its name in a report."""
        return f"cell {self.index}" if self.count is None else f"In[{self.count}]"


class Notebook(Struct, frozen=True):
    """A notebook that has been read.

    Attributes:
        path: As the user named it.
        node: Its content in the present format, with an id for each cell.
        cells: Its code cells.
        text: The text of its file.
    """

    path: Path
    node: NotebookNode
    cells: Sequence[Cell] = ()
    text: str = ""

    def __repr__(self) -> str:  # without the content
        return f"Notebook(path={self.path!r}, cells={self.cells!r})"

    @property
    def kernel(self) -> str:
        """The kernelspec that it names."""
        return str((self.node.metadata.get("kernelspec") or {}).get("name") or "python3")

    @property
    def runnable(self) -> list[Cell]:
        """The cells that are run, in their order."""
        return [cell for cell in self.cells if cell.count is not None]

    def shows_error(self, cell: Cell, name: str) -> bool:
        """Tell whether a cell's outputs in the file show an error of that class."""
        outputs = self.node.cells[cell.index].outputs
        return any(each["output_type"] == "error" and each["ename"] == name for each in outputs)

    def line(self, cell: Cell) -> int:
        """Return the line of the file that has a cell's id, or the first line."""
        found = re.search(rf'"id":\s*"{re.escape(cell.id)}"', self.text)
        return 1 if found is None else self.text.count("\n", 0, found.start()) + 1


MARK = "\ufeff"
"""The mark that some editors write at the beginning of a text in UTF-8."""


def read(path: Path) -> Notebook:
    """Read a notebook; the file is opened for reading only.

    Args:
        path: Where it is.

    Raises:
        UncheckableError: It cannot be read or is no notebook; one line says why.
    """
    return read_text(path, _text(path))


def read_text(path: Path, text: str) -> Notebook:
    """Read a notebook from the text of its file.

    Args:
        path: Where the file is.
        text: Its content.

    Raises:
        UncheckableError: It is no notebook.
    """
    node = _parse(text.removeprefix(MARK))
    _name_cells(node)
    return Notebook(path, node, _code_cells(node), text)


def _text(path: Path) -> str:
    try:
        return read_file(path, _LARGEST).decode()
    except FileNotFoundError:
        beside = [each.name for each in path.parent.glob("*.ipynb") if each.name != path.name]
        msg = "a link to a file that is not there" if path.is_symlink() else "no such file"
        msg += did_you_mean(path.name, beside)
    except UnicodeDecodeError:
        msg = "not a notebook: it is no text in UTF-8"
    except OSError as error:
        msg = say_unread(error)
    raise UncheckableError(msg)


def import_nbformat() -> ModuleType:
    """Import nbformat, without the parsers that jsonschema builds beside it.

    JupyterLab brings rfc3987_syntax, and jsonschema imports that for two formats of which no
    notebook's schema knows. It spends two seconds on 38 parsers, built here when first used.
    """
    slow = "rfc3987_syntax"
    if slow in sys.modules or find_spec(slow) is None:
        return import_module("nbformat")
    later = ModuleType(slow)
    vars(later)["is_valid_syntax"] = lambda *args: import_module(slow).is_valid_syntax(*args)
    sys.modules[slow] = later
    try:
        return import_module("nbformat")
    finally:
        del sys.modules[slow]


def _parse(text: str) -> NotebookNode:
    nbformat = import_nbformat()
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise UncheckableError(f"not a notebook: invalid JSON, {error}") from None
    except RecursionError:
        raise UncheckableError(TOO_DEEP) from None
    major = raw.get("nbformat") if isinstance(raw, dict) else None
    if not isinstance(major, int):
        raise UncheckableError("not a notebook: its JSON says no nbformat")
    if major < _OLDEST:
        raise UncheckableError(
            f"in notebook format {major}; jupyter nbconvert --to notebook --inplace brings it to"
            f" format {_OLDEST}"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of ids that are missing or double: we give our own
            node = nbformat.reads(text, as_version=_OLDEST)
        for cell, written in zip(node.cells, raw["cells"], strict=True):
            cell["id"] = written.get("id")  # in place of what nbformat draws for a double one
        convert(node, _Shape)
    except RecursionError:
        raise UncheckableError(TOO_DEEP) from None
    except Exception as error:  # noqa: BLE001 -- nbformat raises what its parsers raise
        said = " ".join(str(error).split("\n\n")[0].split())
        raise UncheckableError(f"not a notebook: {said or type(error).__name__}") from None
    for index, cell in enumerate(node.cells):
        try:
            f"{cell.source}{cell.get('id')}".encode()
        except UnicodeEncodeError:
            raise UncheckableError(
                f"not a notebook: cell {index} holds half of a character (a lone surrogate)"
            ) from None
    return cast("NotebookNode", node)


def _name_cells(node: NotebookNode) -> None:
    """Give an id to each cell that has none of its own: the same one whenever it is read.

    Cells have ids since format 4.5.
    """
    seen: set[str] = set()
    for index, cell in enumerate(node.cells):
        name = cell.get("id")
        if not name or name in seen:
            name = f"{index}-{xxh3_64_hexdigest(cell.source.encode('utf-8', 'surrogatepass'))[:8]}"
        cell["id"] = name
        seen.add(name)


def _code_cells(node: NotebookNode) -> list[Cell]:
    """List the code cells."""
    cells: list[Cell] = []
    count = 0
    for index, cell in enumerate(node.cells):
        if cell.cell_type == "code":
            tags = frozenset(cell.metadata.get("tags", ()))
            runs = bool(cell.source.strip()) and SKIP not in tags
            count += runs
            cells.append(Cell(index, cell["id"], cell.source, tags, count if runs else None))
    return cells
