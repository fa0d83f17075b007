"""Reads a notebook's file for a check, with an id for each cell.

The file is never written.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct, convert
from xxhash import xxh3_64_hexdigest

from ipytorchseed.errors import UncheckableError
from ipytorchseed.foreign import ContentError, Format

if TYPE_CHECKING:
    from nbformat import NotebookNode


# Tags of cells: not run; allowed to raise; expected to differ. The first two are nbclient's.
SKIP, RAISES, VARIES = "skip-execution", "raises-exception", "ipytorchseed-varies"

_OLDEST = 4


_FORMAT = Format(
    "notebook",
    UncheckableError,
    "save it again in Jupyter",
    size=1 << 28,  # a check takes about ten times as much memory
    values=1 << 23,
    named=False,
)


class _CellMetadata(Struct):
    tags: list[str] = []


class _Cell(Struct):
    cell_type: str
    source: str
    metadata: _CellMetadata
    id: str | None = None


class _Shape(Struct):
    """The types that a check relies on and that nbformat does not enforce."""

    cells: list[_Cell]
    metadata: dict[str, Any]


class Cell(Struct, frozen=True):
    """A code cell.

    Attributes:
        index: Its place among all cells of the notebook's file, counted from 0.
        id: Its id in the notebook's file; without one, an id made from its place and text.
        source: Its text.
        tags: Its tags.
        count: Its number in ``In[...]`` after *Run All*; None if it is not run.
    """

    index: int
    id: str
    source: str
    tags: frozenset[str] = frozenset()
    count: int | None = None

    @property
    def name(self) -> str:
        """The cell's name in a report."""
        return f"cell {self.index}" if self.count is None else f"In[{self.count}]"


class Notebook(Struct, frozen=True):
    """The content of a notebook's file.

    Attributes:
        path: The path, as the user named it.
        node: The content in the current format, with an id for each cell.
        cells: The code cells.
        text: The text of the file.
    """

    path: Path
    node: NotebookNode
    cells: Sequence[Cell] = ()
    text: str = ""

    @property
    def kernel(self) -> str:
        """The kernelspec that the notebook names."""
        spec = self.node.metadata.get("kernelspec")
        return str(spec.get("name") or "python3") if isinstance(spec, dict) else "python3"

    @property
    def runnable(self) -> list[Cell]:
        """The cells that are run, in their order."""
        return [cell for cell in self.cells if cell.count is not None]

    def shown_errors(self, cell: Cell) -> set[str]:
        """Return the classes of the errors in a cell's outputs in the file."""
        outputs = self.node.cells[cell.index].outputs
        return {each["ename"] for each in outputs if each["output_type"] == "error"}

    def line(self, cell: Cell) -> int:
        """Return the line of the file that has a cell's id, or the first line."""
        found = re.search(rf'"id":\s*"{re.escape(cell.id)}"', self.text)
        return 1 if found is None else self.text.count("\n", 0, found.start()) + 1


# The byte order mark that some editors write at the start of a file in UTF-8.
MARK = "\ufeff"


def read(path: Path) -> Notebook:
    """Read a notebook from its file.

    Args:
        path: The path of the file.

    Raises:
        UncheckableError: The file cannot be read or is not a notebook; the message says why.
    """
    with _FORMAT.errors(path):
        text = _FORMAT.read(path).decode()
    return read_text(path, text)


def read_text(path: Path, text: str) -> Notebook:
    """Read a notebook from the text of its file.

    Args:
        path: The path of the file.
        text: The file's content.

    Raises:
        UncheckableError: The text is not a notebook.
    """
    with _FORMAT.errors(path):
        node = _parse(text.removeprefix(MARK))
        return Notebook(path, node, [*_code_cells(node)], text)


def import_nbformat() -> ModuleType:
    """Import nbformat without the parsers that jsonschema builds.

    JupyterLab installs rfc3987_syntax, and jsonschema imports it for two formats that the schema of
    notebooks does not use. The import spends two seconds on 38 parsers. Here they are built on
    first use.
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
    raw = _FORMAT.decode(text.encode(), json.loads)
    major = raw.get("nbformat") if isinstance(raw, dict) else None
    if not isinstance(major, int):
        raise ContentError("not a notebook: its JSON has no nbformat")
    if major < _OLDEST:
        way_out = f"jupyter nbconvert --to notebook --inplace converts it to format {_OLDEST}"
        raise UncheckableError(f"in notebook format {major}; {way_out}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about missing or duplicate ids: we add our own
            node = nbformat.reads(text, as_version=_OLDEST)
        for cell, written in zip(node.cells, raw["cells"], strict=True):
            cell["id"] = written.get("id")  # nbformat draws a new id for a duplicate
        convert(node, _Shape)
    except RecursionError:
        raise
    except Exception as error:  # nbformat raises what its parsers raise
        said = " ".join(str(error).split("\n\n")[0].split())
        raise ContentError(f"not a notebook: {said or type(error).__name__}") from error
    return cast("NotebookNode", node)


# The fields of each kind of output, with their defaults.
_FIELDS: dict[str, dict[str, Any]] = {
    "stream": {"name": "stdout", "text": ""},
    "error": {"ename": "", "evalue": "", "traceback": []},
    "display_data": {"data": {}, "metadata": {}},
    "execute_result": {"data": {}, "metadata": {}},
}


def complete(outputs: object) -> Iterator[dict[str, Any]]:
    """Yield the outputs of known kinds; give missing or invalid fields defaults.

    nbformat keeps invalid outputs, and front ends show as much of them as they can.
    """
    for each in outputs if isinstance(outputs, list) else ():
        fields = _FIELDS.get(str(each.get("output_type"))) if isinstance(each, dict) else None
        if fields is None:
            continue
        for name, absent in fields.items():
            value = each.get(name)
            if isinstance(absent, str) and isinstance(value, list):
                each[name] = "".join(map(str, value))
            elif not isinstance(value, type(absent)):
                each[name] = copy(absent)
        yield each


def _code_cells(node: NotebookNode) -> Iterator[Cell]:
    """Yield the code cells, each with a unique id.

    Cells have ids since format 4.5. A cell without one, or with a duplicate, gets an id that is
    the same each time the file is read.
    """
    seen: set[str] = set()
    count = 0
    for index, cell in enumerate(node.cells):
        digest = xxh3_64_hexdigest(f"{cell.source}{cell.id}".encode())  # raises if not UTF-8
        if not cell.id or cell.id in seen:
            cell["id"] = f"{index}-{digest[:8]}"
        seen.add(cell.id)
        if cell.cell_type == "code":
            cell["outputs"] = [*complete(cell.get("outputs"))]
            tags = frozenset(cell.metadata.get("tags", ()))
            runs = bool(cell.source.strip()) and SKIP not in tags
            count += runs
            yield Cell(index, cell.id, cell.source, tags, count if runs else None)
