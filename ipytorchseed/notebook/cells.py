"""Reads the running cell's id from the front end, and the ids in the file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell

from ipytorchseed.errors import UncheckableError
from ipytorchseed.patterns import lazy_pattern

# Ids that a notebook's file can hold, from nbformat 4.5 on.
_SAVED = lazy_pattern(r"[a-zA-Z0-9-_]{1,64}")

# Prefixes of ids in VS Code's Interactive Window, where each run has a new id.
_EACH_RUN = lazy_pattern(r"vscode-interactive|[^#]*\.interactive#")


def cell_id(shell: InteractiveShell, info: ExecutionInfo) -> str | None:
    """Return the front end's id of the cell; None if it sends no lasting id.

    Args:
        shell: The running shell.
        info: IPython's description of the run.
    """
    told = getattr(info, "cell_id", None)
    if not told:
        told = getattr(shell, "parent_header", None)
        for key in ("metadata", "colab", "cell_id"):
            told = told.get(key) if isinstance(told, dict) else None
    return str(told) if told and not _EACH_RUN.match(str(told)) else None


class SavedIds:
    """The cell ids in a notebook's file, which stay the same when it is opened again.

    Args:
        path: The notebook's path. If it does not end in ``.ipynb``, no ids are read.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._version: tuple[int, int] | None = None
        self._ids: frozenset[str] = frozenset()

    def around(self, ident: str) -> frozenset[str]:
        """Return the file's ids if ``ident`` has the form of one, else an empty set."""
        if not _SAVED.fullmatch(ident) or self._path.suffix != ".ipynb":
            return frozenset()
        with suppress(OSError, UncheckableError):  # removed or half written: keep the last ids
            about = self._path.stat()
            version = about.st_mtime_ns, about.st_size
            if version != self._version:
                from ipytorchseed.session.identity import saved_ids

                self._version = version
                self._ids = saved_ids(self._path)
        return self._ids
