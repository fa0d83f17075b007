"""Paths as a receipt has them: told from the notebook's folder, and without anybody's name."""

from __future__ import annotations

import getpass
import os.path as paths
import re
from os import sep

from msgspec import Struct

_HOME, _USER = "~", "<user>"
"""What stands for the home folder at the begin of a path, and for the user's name inside one."""


class Places(Struct, frozen=True):
    """The folders of a machine that paths are told from.

    Attributes:
        root: The notebook's, absolute.
        home: The user's, absolute.
        user: The user's name; empty where there is none.
    """

    root: str
    home: str
    user: str

    @classmethod
    def here(cls, notebook: str) -> Places:
        """Describe this machine.

        Args:
            notebook: The path of a notebook's file, or the folder that it is known by.
        """
        path = paths.abspath(notebook)
        try:
            user = getpass.getuser()
        except (ImportError, KeyError, OSError):  # in a container, there may be none
            user = ""
        root = paths.dirname(path) if path.endswith(".ipynb") else path
        return cls(root, paths.expanduser("~"), user)

    def hide(self, path: str) -> str:
        """Return an absolute path as it is written; what is none stays as it is."""
        if not paths.isabs(path):
            return path
        if _is_in(path, self.root) or not _is_in(self.home, self._shared(path)):
            path = paths.relpath(path, self.root)
        elif _is_in(path, self.home):
            path = _HOME + path[len(self.home) :]
        return _swap(path.replace(sep, "/"), self.user, _USER)

    def find(self, path: str) -> str:
        """Return the path on this machine that a written one stands for."""
        first, _, rest = path.partition("/")
        whole = paths.join(self.home, rest) if first == _HOME else paths.join(self.root, path)
        return paths.normpath(_swap(whole, _USER, self.user or _USER))

    def scrub(self, text: str) -> str:
        """Return a text without the home folder and the user's name in paths that it may hold."""
        if self.home != sep:
            text = re.sub(rf"(?<!\w){re.escape(self.home)}(?!\w)", _HOME, text)
        return text.replace(f"/{self.user}/", f"/{_USER}/") if self.user else text

    def _shared(self, path: str) -> str:
        """Return the innermost folder that holds both a path and the notebook."""
        try:
            return paths.commonpath([self.root, path])
        except ValueError:  # on another drive
            return sep


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(sep) + sep) or folder == sep


def _swap(path: str, part: str, other: str) -> str:
    """Put one word in the place of another wherever that is all of a part of a path."""
    return "/".join(other if each and each == part else each for each in path.split("/"))
