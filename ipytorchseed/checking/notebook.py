"""A notebook file as a check reads it: never written, its cells known by ids."""

from __future__ import annotations

import json
import re
import warnings
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.errors import UncheckableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

SKIP, RAISES, VARIES = "skip-execution", "raises-exception", "ipytorchseed-varies"
"""Tags of cells: not run; allowed to raise; expected to differ. The first two are nbclient's."""

_INJECTED = "injected-parameters"
"""papermill's tag for the cell that it adds."""

_OLDEST = 4


class Cell(Struct, frozen=True):
    """A code cell.

    Attributes:
        index: Its place among all cells of the notebook's file, counted from 0.
        place: Its place among the cells that are run, which may hold one with parameters more.
        id: What it is known by, in the notebook's file or, where that has none, by its text.
        source: Its text.
        tags: The tags that it carries.
        count: The number it has in ``In[...]`` after *Run All*; None where it is not run.
    """

    index: int
    place: int
    id: str
    source: str
    tags: frozenset[str] = frozenset()
    count: int | None = None

    @property
    def name(self) -> str:
        """How it is called in a report."""
        return f"cell {self.index}" if self.count is None else f"In[{self.count}]"


class Notebook(Struct, frozen=True):
    """A notebook that has been read.

    Attributes:
        path: As the user named it.
        node: Its content in the present format, with an id for each cell.
        cells: Its code cells.
        text: The file's text, to find lines in.
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
        return str(self.node.metadata.get("kernelspec", {}).get("name") or "python3")

    def line(self, cell: Cell) -> int:
        """Return the line of the file on which a cell is named, or the first."""
        found = re.search(rf'"id":\s*"{re.escape(cell.id)}"', self.text)
        return 1 if found is None else self.text.count("\n", 0, found.start()) + 1


def read(path: Path, parameters: Mapping[str, Any] | None = None) -> Notebook:
    """Read a notebook; the file is opened for reading only.

    Args:
        path: Where it is.
        parameters: Values for its parameters, as papermill gives them.

    Raises:
        UncheckableError: It cannot be read or is no notebook; one line says why.
    """
    text = _text(path)
    node = _parse(text)
    length = len(node.cells)
    if parameters:
        node = _with_parameters(node, parameters)
    _name_cells(node)
    return Notebook(path, node, _code_cells(node, added=len(node.cells) > length), text)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        msg = "no such file"
    except UnicodeDecodeError:
        msg = "not a notebook: it is no text in UTF-8"
    except OSError as error:
        msg = f"it cannot be read: {error.strerror}"
    raise UncheckableError(msg)


def _parse(text: str) -> NotebookNode:
    import nbformat

    try:
        raw = json.loads(text)
    except ValueError as error:
        msg = f"not a notebook: invalid JSON, {error}"
        raise UncheckableError(msg) from None
    major = raw.get("nbformat") if isinstance(raw, dict) else None
    if not isinstance(major, int):
        msg = "not a notebook: its JSON says no nbformat"
        raise UncheckableError(msg)
    if major < _OLDEST:
        msg = (
            f"in notebook format {major}; jupyter nbconvert --to notebook --inplace brings it to"
            f" format {_OLDEST}"
        )
        raise UncheckableError(msg)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of ids that are missing or double: we give our own
            return cast("NotebookNode", nbformat.reads(text, as_version=_OLDEST))  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001 -- nbformat raises what its parsers raise
        said = " ".join(str(error).split("\n\n")[0].split())
        msg = f"not a notebook: {said or type(error).__name__}"
        raise UncheckableError(msg) from None


def _with_parameters(node: NotebookNode, parameters: Mapping[str, Any]) -> NotebookNode:
    from papermill.parameterize import parameterize_notebook

    node.metadata.setdefault("papermill", {})  # what papermill itself adds when it reads a file
    for cell in node.cells:
        cell.metadata.setdefault("tags", [])
    made = parameterize_notebook(
        node, dict(parameters), kernel_name="python3", language="python", comment="Parameters"
    )
    for cell in made.cells:
        if _INJECTED in cell.metadata.tags:
            cell["id"] = _INJECTED  # papermill names it at random
    return cast("NotebookNode", made)


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


def _code_cells(node: NotebookNode, *, added: bool) -> list[Cell]:
    """List the code cells.

    Args:
        node: Where.
        added: Whether one with parameters stands there that the file does not have.
    """
    cells = []
    count = shift = 0
    for place, cell in enumerate(node.cells):
        shift += added and cell["id"] == _INJECTED
        if cell.cell_type != "code":
            continue
        tags = frozenset(cell.metadata.get("tags", ()))
        runs = bool(cell.source.strip()) and SKIP not in tags
        count += runs
        number = count if runs else None
        cells.append(Cell(place - shift, place, cell["id"], cell.source, tags, number))
    return cells
